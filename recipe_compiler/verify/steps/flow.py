"""Is each piece moved by its flow? The row of the table that it fits, and that what is emitted solves its equation.

The index calculus finds the row by degrees, for every size: that a row is a flow is shown once, row by row. The second
engine takes what a step does in each share, written out at small sizes, and decides that it solves the equation of the
piece, dz = f_k dt + sqrt(2 D_k) dW.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import cast

from sympy import Expr, Integer, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics import flows as second
from recipe_compiler.algebra.dynamics.propagators import Propagated, solve_linear_sde
from recipe_compiler.algebra.dynamics.system import Vector
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import component, coordinates
from recipe_compiler.algebra.scalars.transforms import transformed
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.program.program import EPS, Propagator
from recipe_compiler.spec.words import Letter, letter_text, letters
from recipe_compiler.splitting.flow import Change, Flow
from recipe_compiler.splitting.flow_table import find_flow
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.scalars import Leaf
from recipe_compiler.tensor.terms import Atom, Component
from recipe_compiler.verdict import Answer, Refuted, Undecided, undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.identities import Identity, Scalars
from recipe_compiler.verify.core.scalars import make_leaf
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import once_at_sizes
from recipe_compiler.verify.steps.split import NOTHING, Split, decide_identities, rows_of, write_matrix, write_vector


def flow(split: Split) -> Answer:
    """Decide that each piece is moved by the flow of dz = f_k dt + sqrt(2 D_k) dW over its share s of the step.

    With m and C the mean and covariance of what is emitted, the second engine decides, at small sizes, m(0) = z, C(0) =
    0, dm/deps = s f_k(m) and dC/deps = s (J C + C J.T + 2 D_k), J = df_k/dz; for a flow of T(z) the same of w = T(z) by
    Ito's formula (Arnold 1974). Numerical flows are compared stage by stage. Refuted: a negative share of a piece with
    noise. Undecided where no row of the table fits.

    Example: O of Langevin dynamics with M = I and C = c I, dr = -c r dt + sqrt(2 c) dW: m = exp(-s c eps) r and C = (1
    - exp(-2 s c eps)) I. dC/deps = 2 s c exp(-2 s c eps) = s (-2 c C + 2 c).
    """
    for place, letter in enumerate(letters(split.scheme.word), 1):
        if letter.share < 0 and any(piece.is_noisy for piece in split.pieces if piece.name == letter.piece):
            at = ((f"letter {place}", letter_text(letter)),)
            return Answer(Refuted("noise cannot be reversed: the shares of a piece with noise must be positive", at))
    try:
        named = split.numerical
        flows = {piece.name: find_flow(split.derivation, piece, named.get(piece.name, "")) for piece in split.pieces}
    except ModelError as error:
        return Answer(Undecided(tuple(fault.problem for fault in error.faults)))
    try:
        known = with_step(split.subject.declarations)
        found = decide_identities(split, list(_flow_identities(split, flows)), known, _small_sizes(split))
    except second.NotPutError as reason:
        return undecided(f"second engine: {reason}")
    if not is_proved(found):
        return found
    pieces: dict[str, list[str]] = {}
    for name, own in flows.items():
        pieces.setdefault(own.row, []).append(name)
    rows = "; ".join(f"{', '.join(names)}: {row}" for row, names in pieces.items())
    data = tuple((name, f"{own.row}: {own.says}") for name, own in flows.items())
    return found.but(by=f"{rows}; second engine", data=data)


def assume_existence(split: Split, pieces: Iterable[Piece]) -> tuple[str, ...]:
    """Return the assumption that solutions exist for a whole step, for pieces whose solutions may explode.

    A chain ends there, so no law is kept by its steps and no moment is that of the equation, unless it happens never.
    """

    def may_end(piece: Piece) -> bool:
        try:
            return find_flow(split.derivation, piece, split.numerical.get(piece.name, "")).may_end
        except ModelError:
            return False  # `flow` says that it has none

    names = [piece.name for piece in pieces if may_end(piece)]
    return (f"no solution of {', '.join(names)} explodes within a step",) if names else ()


def _small_sizes(split: Split) -> tuple[Sizes, ...]:
    """Return the sizes at which no piece moves too many coordinates; all sizes if there is one block."""

    def most(sizes: Sizes) -> int:
        counts = [[len(coordinates(b, sizes)) for b in split.blocks if b.name in piece.moved] for piece in split.pieces]
        return max(map(sum, counts))

    every = split.subject.sizes
    return tuple(sizes for sizes in every if most(sizes) <= limits.FEW_COORDINATES) or every[:1]


def with_step(declarations: Declarations) -> Declarations:
    """Return the declarations with the step size eps as a positive parameter."""
    eps = Parameter(EPS, SCALAR, (Kind.POSITIVE,))
    return replace(declarations, parameters=(*declarations.parameters, eps))


def _flow_identities(split: Split, flows: Mapping[str, Flow]) -> Iterator[Identity]:
    """Yield what makes each change a flow: its initial value, and the growth of its mean and covariance."""
    shares = dict.fromkeys((letter.piece, letter.share) for letter in letters(split.scheme.word))
    pieces = {piece.name: piece for piece in split.pieces}
    for name, share in shares:
        flow, piece = flows[name], pieces[name]
        changes = tuple(own for own in flow.changes(split.derivation, piece, share) if not own.image)
        by = _exact_flow_identities if flow.order is None else _stage_identities
        for what, entries in by(split, piece, changes, share):
            says = f"{what} of {letter_text(Letter(name, share))}"
            yield Identity(says, split.subject.place("D"), NOTHING, entries, flow.says)


def _stage_identities(
    split: Split, piece: Piece, changes: tuple[Change, ...], share: Fraction
) -> Iterator[tuple[str, Scalars]]:
    """Yield that two stages of a numerical flow each take half of the drift of their piece, and its noise once."""
    s = rational(share)

    def halves(n: int, sizes: Sizes) -> list[Expr]:
        name, leaf, f = split.blocks[n].name, _leaf_with_step(split, sizes), split.drift(piece, sizes)
        rates = [write_vector(split, change.rate, sizes, leaf) for change in changes if name in change.moved]
        return [Integer(len(rates) - 2), *(rate[k] - s * f[k] / 2 for rate in rates for k in split.places(n, sizes))]

    def noise(sizes: Sizes) -> list[Expr]:
        leaf, D = _leaf_with_step(split, sizes), split.diffusion(piece, sizes)
        drawn = [write_matrix(split, change.two_D, sizes, leaf) for change in changes]
        n = range(len(D))
        return [sum((own[i][j] for own in drawn), Integer(0)) - 2 * s * D[i][j] for i in n for j in n]

    for n, block in enumerate(split.blocks):
        if block.name in piece.moved:
            yield f"the halves of the drift of {block.name}", partial(halves, n)
    yield "the noise", noise
    for change in changes:
        if change.implicit and change.turns:
            says = f"the residual of {change.moved[0]} after {change.turns} substitutions"
            yield says, partial(_implicit_residual, split, change)


def _implicit_residual(split: Split, change: Change, sizes: Sizes) -> list[Expr]:
    """Return new - (z + eps rate(new)) of an implicit change, with its substitutions composed from z on."""
    eps, z = _step_symbol(split, sizes), split.z(sizes)
    places = split.places(split.subject.names.index(change.moved[0]), sizes)
    rate, old = write_vector(split, change.rate, sizes, _leaf_with_step(split, sizes)), [z[k] for k in places]

    def put_in(x: Sequence[Expr]) -> list[Expr]:
        there = dict(zip(old, x, strict=True))
        return [z[k] + eps * rate[k].xreplace(there) for k in places]

    new: list[Expr] = list(old)
    for _ in range(change.turns):
        new = put_in(new)
    return [x - y for x, y in zip(new, put_in(new), strict=True)]


def _exact_flow_identities(
    split: Split, piece: Piece, changes: tuple[Change, ...], share: Fraction
) -> Iterator[tuple[str, Scalars]]:
    """Yield what makes the law of one change that of the exact flow (theory: `algebra/dynamics/flows.py`)."""
    (change,) = changes
    s, law = rational(share), once_at_sizes(partial(law_of, split, change))
    z = "T(z)" if change.transforms else "z"

    def by(identity: Callable[[second.StepLaw, Vector, Rows], Iterator[Expr]]) -> Scalars:
        def entries(sizes: Sizes) -> list[Expr]:
            own = law(sizes)
            return [
                *identity(own, *second.transform_by_ito(own, split.drift(piece, sizes), split.diffusion(piece, sizes)))
            ]

        return entries

    yield "the part that is not linear in the moved blocks", by(second.gaussian_defects)
    yield f"{z}' - {z} at eps = 0", by(lambda law, f, D: second.initial_defects(law))
    yield f"d E[{z}']/d eps - f(E[{z}'])", by(lambda law, f, D: second.mean_defects(law, s, f))
    spread = f"d Cov[{z}']/d eps - (J Cov[{z}'] + Cov[{z}'] J.T + 2D)"
    yield spread, by(lambda law, f, D: second.covariance_defects(law, s, f, D))


def _leaf_with_step(split: Split, sizes: Sizes) -> Leaf:
    """Return the leaf that writes atoms, the step size included, as SymPy symbols at fixed sizes."""
    return make_leaf(with_step(split.subject.declarations), sizes)


def _step_symbol(split: Split, sizes: Sizes) -> Symbol:
    """Return the SymPy symbol of the step size."""
    declarations = with_step(split.subject.declarations)
    return cast(Symbol, component(declarations.parameters[-1], (), declarations, sizes))


def law_of(split: Split, change: Change, sizes: Sizes) -> second.StepLaw:
    """Return the law of T(z) + eps rate + N(0, eps two_D) at fixed sizes: mean (n) and covariance (n x n) in eps."""
    eps, z, leaf = _step_symbol(split, sizes), split.z(sizes), _leaf_with_step(split, sizes)
    more: tuple[Mapping[Expr, Expr], ...] = ()
    if change.propagator is not None:
        known = _define_propagator(change.propagator, eps, sizes, leaf)
        leaf, more = _leaf_with_arrays(change.propagator, known, eps, sizes, leaf), (known.rates, known.first)
    rate, two_D = write_vector(split, change.rate, sizes, leaf), write_matrix(split, change.two_D, sizes, leaf)
    pairs = ((change.transforms.get(block.name), x) for block in split.blocks for x in coordinates(block, sizes))
    w = tuple(transformed(own, x) for own, x in pairs) if change.transforms else ()
    mean = tuple(x + eps * own for x, own in zip(w or z, rate, strict=True))
    return second.StepLaw(eps, z, mean, tuple(tuple(eps * entry for entry in row) for row in two_D), w, *more)


def _define_propagator(of: Propagator, eps: Symbol, sizes: Sizes, leaf: Leaf) -> Propagated:
    """Return the arrays that a step precomputes, defined by the equations that they solve (see `Propagator`)."""
    F, two_D = (rows_of(of.blocks, grid, sizes, leaf) for grid in (of.F, of.two_D))
    return solve_linear_sde(of.change[0][0], F, two_D, rational(of.share), eps)


def _leaf_with_arrays(of: Propagator, known: Propagated, eps: Symbol, sizes: Sizes, other: Leaf) -> Leaf:
    """Return the leaf that gives a propagator's array entries their values, and leaves other atoms to `other`."""
    counts = [len(coordinates(block, sizes)) for block in of.blocks]
    entries: dict[str, tuple[int, int, Rows]] = {}
    for names, rows in ((of.change, known.change), (of.integral, known.integral), (of.covariance, known.covariance)):
        for a, line in enumerate(names):
            entries |= {name: (sum(counts[:a]), sum(counts[:b]), rows) for b, name in enumerate(line)}

    def leaf(atom: Atom) -> Expr | None:
        if not isinstance(atom, Component) or atom.name not in entries:
            return other(atom)
        row, column, rows = entries[atom.name]
        i, j = (k for k in atom.at if isinstance(k, int))
        return rows[row + i][column + j] / eps

    return leaf
