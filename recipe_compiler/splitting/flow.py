"""The interface of flows: the table gives one for a piece, and a word becomes statements by its changes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from recipe_compiler.derive.recipe import Derivation, Matrix, Vector, col_coordinate, col_slots, row_slots
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.transforms import Transform
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.program import Propagator
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.diagonal import diagonal
from recipe_compiler.tensor.terms import Coordinate, Tensor, Term


@dataclass(frozen=True, slots=True)
class Change:
    """The effect of a flow, or of one of its stages, on blocks of the state: T(z') = T(z) + eps rate + N(0, eps two_D).

    T is the identity except for blocks with a transform. `rate` is a vector over the state, `two_D` a matrix over it.
    """

    moved: tuple[str, ...]
    """The blocks that it moves, all at once."""
    rate: Vector
    """It may depend on eps."""
    two_D: Matrix
    propagator: Propagator | None = None
    """Arrays that are computed for them before the chain."""
    B_hat: Matrix | None = None
    """The covariance that its noise gives up for that of the gradient: N(0, eps (two_D - eps B_hat))."""
    implicit: bool = False
    """Whether the rate is taken at the value that the block moves to: there is one block then, and no noise."""
    turns: int = 0
    """How many substitutions solve an implicit change exactly; 0 if it is solved by iteration."""
    image: bool = False
    """Whether the rates are the new values themselves, free of eps; without noise."""
    transforms: Mapping[str, Transform] = field(default_factory=dict[str, Transform])
    """T by block."""


@dataclass(frozen=True, slots=True)
class Flow:
    """The flow of a piece over a time t = s eps, everything that the piece does not move being frozen meanwhile."""

    row: str
    """The row of the table, as reports name it."""
    says: str
    """The flow after a time t as a formula, with its assumptions."""
    changes: Callable[[Derivation, Piece, Fraction], tuple[Change, ...]]
    """Its changes in a share s of the step, stage by stage; an exact flow has one.

    The derivation and its piece are made of the formulas as they are stated where the flow is `as_stated`.
    """
    as_stated: bool = False
    """Whether it is computed from the formulas as they are stated, not multiplied out."""
    order: int | None = None
    """The weak order of a numerical flow; None of an exact one."""
    is_iterated: bool = False
    """Whether a step solves its equations by iteration, to a tolerance."""
    ends_beyond: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """The blocks that it never leads to a value outside their domain, and whether it may lead to no number instead."""
    may_end: bool = False
    """Whether a solution may leave its domain, or the finite numbers, within a step: it is not a number then."""
    momentum: str = ""
    """The momentum that it turns where it reflects the position."""


class NoRowError(Exception):
    """A row of the table is not the flow of a piece; the message says why, to the user."""


def find_affine_degree(piece: Piece, declarations: Declarations) -> int:
    """Return the degree of the drift of a piece in the blocks that it moves, jointly. Raises NoRowError beyond 1."""
    moved = frozenset(piece.moved)
    degrees = [find_degree(f, moved, declarations) for f in piece.drift]
    if None in degrees:
        raise NoRowError(f"its drift is not a polynomial in {', '.join(piece.moved)}")
    highest = max((n for n in degrees if n is not None), default=0)
    if highest > 1:
        raise NoRowError(f"its drift is of degree {highest} in {', '.join(piece.moved)}")
    return highest


def is_frozen(derivation: Derivation, piece: Piece, *tensors: Tensor) -> bool:
    """Whether tensors do not depend on what a piece moves."""
    declarations = derivation.declarations
    return all(find_degree(tensor, frozenset(piece.moved), declarations) == 0 for tensor in tensors)


def find_degree(tensor: Tensor, blocks: frozenset[str], declarations: Declarations) -> int | None:
    """Return the degree in the coordinates of `blocks` jointly; None if it is not a polynomial in them.

    -xi r has degree 1 in {r} and 2 in {r, xi}; exp(r) and U(r) are no polynomials in r. A tensor in canonical form is
    read term by term: a degree is never too small, and may be too large where terms cancel that do not look alike.
    """
    held = blocks | {function.name for function in declarations.functions if set(function.of) & blocks}
    degrees = [_find_degree_of_term(term, blocks, held) for term in tensor.terms]
    return None if None in degrees else max((n for n in degrees if n is not None), default=0)


def _find_degree_of_term(term: Term, blocks: frozenset[str], held: frozenset[str]) -> int | None:
    found = 0
    for atom, exponent in term.factors:
        if isinstance(atom, Coordinate):
            if atom.block not in blocks:
                continue
            if exponent.denominator != 1 or exponent < 0:
                return None
            found += int(exponent)
        elif not held.isdisjoint(names_of(Tensor((), (Term(Fraction(1), ((atom, exponent),)),)))):
            return None
    return found


def find_diagonal(derivation: Derivation, n: int, matrix: Tensor) -> Tensor | None:
    """Return the diagonal of a matrix over block n, None if it is not diagonal by its form; a scalar is its own."""
    block = derivation.blocks[n]
    return diagonal(matrix, *row_slots(block), *col_slots(block)) if block.shape.sizes else matrix


def find_slope(derivation: Derivation, f: Tensor, n: int, name: str = "") -> Tensor:
    """Return df_i/dz_i for the entries i of block n. Raises NoRowError where one of f depends on others of z."""
    c, block = derivation.calculus, derivation.blocks[n]
    found = find_diagonal(derivation, n, c.settled(c.diff(f, col_coordinate(block))))
    if found is None:
        raise NoRowError(f"entries of {name or block.name} drift by others of {block.name}")
    return found


def find_friction(derivation: Derivation, piece: Piece, n: int, m: int) -> Tensor:
    """Return F = -df/dz of the drift f = b - F z of block n by block m, a matrix."""
    c, block = derivation.calculus, derivation.blocks[m]
    return c.settled(c.scale(c.diff(piece.drift[n], col_coordinate(block)), -1))


def require_alone(derivation: Derivation, piece: Piece, n: int) -> None:
    """Raise NoRowError where the drift of block n depends on another block that the piece moves."""
    c, block = derivation.calculus, derivation.blocks[n]
    for other in derivation.blocks:
        slope = c.diff(piece.drift[n], col_coordinate(other))
        if other.name in piece.moved and other != block and not c.settled(slope).is_zero:
            raise NoRowError(f"entries of {block.name} drift by others of {other.name}")
