"""Flows that are affine entry by entry in a transform of the block: Ornstein-Uhlenbeck of the logarithm, x' = r g(x).

By Ito's formula y = T(z), entry by entry, moves by

    dy = (T' f + T'' D) dt + T' sqrt(2D) dW,

D diagonal. Where T'^2 D is frozen and the drift is b - a T(z), a and b frozen, y has a flow of the table of entries
(`entrywise.py`), and z is T^-1(y): a lognormal law, for a logarithm. T^-1 is not a number where y has left the values
of T: there a solution has left the domain. With noise every real number has to be a value, as every one is reached.
Without noise T = int dx/g makes x' = r g(x) a shift by r, and x' = g(x) (b - a T(x)) linear: of x**q, with another
multiple of x or without, x**(1 - q) (Bernoulli's equation); of exp(k x), exp(-k x). Solutions of an affine equation on
the line are monotone in time, so T(z) stays in an interval whose ends it is in.

Worked example: dz = (z - z log z) dt + sqrt(2) z dW of z > 0 has f = z - z log z and D = z**2. With T = log, T' = 1/z
and T'' = -1/z**2, the drift of y is (1 - y) - 1 = -y and its noise T'^2 D = 1: dy = -y dt + sqrt(2) dW, with the law
N(0, 1) of log z.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

from recipe_compiler.derive.recipe import Derivation, col_slots, row_slots, zero_vector
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.splitting.entrywise import LINEAR, ORNSTEIN_UHLENBECK, SHIFT, entrywise_flow
from recipe_compiler.splitting.flow import Change, Flow, NoRowError, find_diagonal, find_slope, is_frozen
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Applied, Atom, Coordinate, Tensor, Term

TRANSFORMED = "one entry by entry of log(z), or without noise of z**c or exp(c z)"
_SAYS = {
    SHIFT: "T(z') = T(z) + t g, g free of z",
    LINEAR: "T(z') = T(z) + t phi(-a t) g, g = b - a T(z) with a, b frozen, phi(y) = (exp(y) - 1)/y",
    ORNSTEIN_UHLENBECK: "T(z') = T(z) + t phi(-a t) g + N(0, t phi(-2 a t) 2 T'^2 D), g = T' f + T'' D = b - a T(z)"
    " with a, b, T'^2 D frozen, phi(y) = (exp(y) - 1)/y",
}


def find_transformed_flow(derivation: Derivation, piece: Piece) -> Flow:
    """Return the flow of a piece that is affine entry by entry in transforms T of its blocks.

    T is log z or z**c of a positive block, exp(c z) of a real one, the first for which T' f + T'' D = b - a T(z), [n],
    and T'**2 D have frozen a, b and are free of z (Ito's formula: Arnold 1974).
    """
    c, blocks = derivation.calculus, derivation.blocks
    if any(not entry.is_zero for a, row in enumerate(piece.D) for b, entry in enumerate(row) if a != b):
        raise NoRowError("its noise is correlated across blocks")
    decay, drift, D = [*zero_vector(c, blocks)], [*zero_vector(c, blocks)], [[*row] for row in piece.D]
    transforms = dict[str, Transform]()
    for n, block in enumerate(blocks):
        if block.name in piece.moved:
            transforms[block.name], decay[n], drift[n], D[n][n] = _find_first_transform(derivation, piece, n)
    row = ORNSTEIN_UHLENBECK if piece.is_noisy else SHIFT if all(a.is_zero for a in decay) else LINEAR
    names = " and ".join(dict.fromkeys(own.says(name) for name, own in transforms.items()))
    ends = {name: not own.onto for name, own in transforms.items()}
    may_end = any(ends.values())
    kept = "; z' is not a number where T(z') would be no value of T" if may_end else ", which keeps z in its domain"
    own_piece = replace(piece, drift=tuple(drift), D=tuple(map(tuple, D)))
    return Flow(
        f"{row}, of {names}",
        f"{_SAYS[row]}; T(z) is {names}{kept}",
        partial(_change_transforms, transforms, own_piece, entrywise_flow(row, decay)),
        ends_beyond=ends,
        may_end=may_end,
    )


def _change_transforms(
    transforms: Mapping[str, Transform], own: Piece, flow: Flow, derivation: Derivation, piece: Piece, share: Fraction
) -> tuple[Change, ...]:
    """Return the change of T(z) in a share of the step: of `own`, which moves T(z) as `piece` moves z."""
    (change,) = flow.changes(derivation, own, share)
    return (replace(change, transforms=transforms),)


def _find_first_transform(derivation: Derivation, piece: Piece, n: int) -> tuple[Transform, Tensor, Tensor, Tensor]:
    """Return the first transform of block n that gives an affine equation, or raise NoRowError."""
    block = derivation.blocks[n]
    reasons = [f"it has no transform of {block.name}, whose domain is {block.domain.name.value}"]
    for transform in _list_transforms(block, piece.drift[n]):
        try:
            return transform, *_transform_block(derivation, piece, n, transform)
        except NoRowError as why:
            reasons.append(str(why))
    raise NoRowError("; ".join(reasons[1:] or reasons))


def _list_transforms(block: Block, drift: Tensor) -> Iterator[Transform]:
    """Yield the transforms of a block that its drift suggests, on all of its domain."""
    factors = [factor for term in drift.terms for factor in term.factors]
    if block.domain.name is DomainName.POSITIVE:
        yield Transform(Family.LOG)
        exponents = {q: None for atom, q in factors if isinstance(atom, Coordinate) and atom.block == block.name}
        yield from (Transform(Family.POWER, 1 - q) for q in exponents if q != 1)
    elif block.domain.name is DomainName.REAL:
        rates = {k * q: None for atom, q in factors if (k := _read_rate(atom, block))}
        yield from (Transform(Family.EXP, -k) for k in rates)


def _read_rate(atom: Atom, block: Block) -> Fraction | None:
    """Return k of exp(k x), x of the block; None of any other atom."""
    match atom:
        case Applied("exp", (Tensor(_, (Term(k, ((Coordinate(name), one),)),)),)) if name == block.name and one == 1:
            return k
        case _:
            return None


def _transform_block(
    derivation: Derivation, piece: Piece, n: int, transform: Transform
) -> tuple[Tensor, Tensor, Tensor]:
    """Return a, the drift b - a T(z) and T'^2 D, a matrix, of block n under a transform, entry by entry.

    Raises NoRowError if the drift is not affine in T(z), or the noise not frozen.
    """
    c, block = derivation.calculus, derivation.blocks[n]
    rows, columns = row_slots(block), col_slots(block)
    T, first, second = _write_slopes(c, transform, c.coordinate(block.name, *rows))
    name = transform.says(block.name)
    D = find_diagonal(derivation, n, piece.D[n][n])
    if D is None:
        raise NoRowError(f"its noise is correlated: {text(piece.D[n][n])} is not diagonal")
    if not (D.is_zero or transform.onto):
        raise NoRowError(f"its noise would make {name} leave its domain")
    noise = c.settled(c.multiply(first, first, D))
    if not is_frozen(derivation, piece, noise):
        raise NoRowError(f"the noise of {name} depends on {', '.join(piece.moved)}")
    drift = c.settled(c.add(c.multiply(first, piece.drift[n]), c.multiply(second, D)))
    slope = find_slope(derivation, drift, n, name)
    a = c.settled(c.scale(c.multiply(slope, c.power(first, -1)), -1))
    if not is_frozen(derivation, piece, a, c.settled(c.add(drift, c.multiply(a, T)))):
        raise NoRowError(f"the drift of {name} is not affine in it")
    return a, drift, c.multiply(c.delta(*rows, *columns), noise) if rows else noise


def _write_slopes(c: Calculus, transform: Transform, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return T(z), T'(z) and T''(z), entry by entry."""
    p = transform.number
    match transform.family:
        case Family.LOG:
            return c.applied("log", z), c.power(z, -1), c.scale(c.power(z, -2), -1)
        case Family.POWER:
            return c.power(z, p), c.scale(c.power(z, p - 1), p), c.scale(c.power(z, p - 2), p * (p - 1))
        case Family.EXP:
            T = c.applied("exp", c.scale(z, p))
            return T, c.scale(T, p), c.scale(T, p * p)
