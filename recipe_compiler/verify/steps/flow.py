"""Is each piece moved by its flow? The row of the table that it fits, and that what is emitted solves its equation.

The index calculus finds the row by degrees, for every size: that a row is a flow is shown once, row by row. The second
engine takes what a step does in each share, written out at small sizes, and decides that it solves the equation of the
piece, dz = f_k dt + sqrt(2 D_k) dW.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from sympy import Expr, Integer, Symbol

from recipe_compiler.algebra.dynamics import flows as second
from recipe_compiler.algebra.dynamics.propagators import Propagated, propagated
from recipe_compiler.algebra.dynamics.system import Vector
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import component, coordinates
from recipe_compiler.algebra.scalars.transforms import transformed
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.program.program import EPS, Propagator
from recipe_compiler.spec.words import Letter, letter_text, letters
from recipe_compiler.splitting.flow import Change, Flow
from recipe_compiler.splitting.flow_table import flow_of
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.scalars import Leaf
from recipe_compiler.tensor.terms import Atom, Component
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.identities import Identity, Scalars
from recipe_compiler.verify.core.scalars import leaf_of
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.steps.split import NOTHING, Split, decided, derived, derived_matrix, rows_of

MOST = 4
"""Coordinates that a piece moves together, up to which its flow is looked at."""


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
        flows = {piece.name: flow_of(split.derivation, piece, named.get(piece.name, "")) for piece in split.pieces}
    except ModelError as error:
        return Answer(Undecided(tuple(fault.problem for fault in error.faults)))
    try:
        declarations = with_step(split.subject.dynamics.declarations)
        found = decided(split, list(_identities(split, flows)), declarations, _looked_at(split))
    except second.NotPutError as reason:
        return Answer(Undecided((f"second engine: {reason}",)))
    if not isinstance(found.decision, Proved):
        return found
    data = tuple((name, f"{own.row}: {own.says}") for name, own in flows.items())
    return replace(found, decision=replace(found.decision, by=f"{_rows(flows)}; second engine", data=data))


def assumed_to_last(split: Split, pieces: Iterable[Piece]) -> tuple[str, ...]:
    """Return what is assumed of pieces whose solutions may end within a step: that none does; else nothing.

    A chain ends there, so no law is kept by its steps and no moment is that of the equation, unless it happens never.
    """
    names = [piece.name for piece in pieces if _may_end(split, piece)]
    return (f"no solution of {', '.join(names)} explodes within a step",) if names else ()


def _may_end(split: Split, piece: Piece) -> bool:
    try:
        return flow_of(split.derivation, piece, split.numerical.get(piece.name, "")).may_end
    except ModelError:
        return False  # `flow` says that it has none


def _looked_at(split: Split) -> tuple[Sizes, ...]:
    """Return the sizes at which no piece moves more than `MOST` coordinates; of one block all of them are."""
    blocks = split.subject.dynamics.declarations.blocks

    def count(piece: Piece, sizes: Sizes) -> int:
        return sum(len(coordinates(block, sizes)) for block in blocks if block.name in piece.moved)

    every = split.subject.sizes
    return tuple(sizes for sizes in every if max(count(piece, sizes) for piece in split.pieces) <= MOST) or every[:1]


def _rows(flows: Mapping[str, Flow]) -> str:
    """Return the rows with the pieces that have each: `A, B: shift; O: Ornstein-Uhlenbeck, entry by entry`."""
    pieces: dict[str, list[str]] = {}
    for name, own in flows.items():
        pieces.setdefault(own.row, []).append(name)
    return "; ".join(f"{', '.join(names)}: {row}" for row, names in pieces.items())


def with_step(declarations: Declarations) -> Declarations:
    """Return the declarations with the step size eps as a positive parameter."""
    eps = Parameter(EPS, SCALAR, (Kind.POSITIVE,))
    return replace(declarations, parameters=(*declarations.parameters, eps))


def _identities(split: Split, flows: Mapping[str, Flow]) -> Iterator[Identity]:
    """Yield what makes each change a flow: where it starts, how its mean moves, how its covariance grows."""
    shares = dict.fromkeys((letter.piece, letter.share) for letter in letters(split.scheme.word))
    pieces = {piece.name: piece for piece in split.pieces}
    for name, share in shares:
        piece, says = pieces[name], flows[name].says
        changes = tuple(own for own in flows[name].changes(split.derivation, piece, share) if not own.image)
        own = _asked if flows[name].order is None else _asked_of_stages
        for what, entries in own(split, piece, changes, share):
            yield Identity(
                f"{what} of {letter_text(Letter(name, share))}", split.subject.place("D"), NOTHING, entries, says
            )


def _asked_of_stages(
    split: Split, piece: Piece, changes: tuple[Change, ...], share: Fraction
) -> Iterator[tuple[str, Scalars]]:
    """Yield what makes the stages of a numerical flow those of its piece: each a half of its drift, the noise once."""
    s, declarations = rational(share), with_step(split.subject.dynamics.declarations)

    def halves(block: Block) -> Scalars:
        def entries(sizes: Sizes) -> list[Expr]:
            leaf, index = leaf_of(declarations, sizes), split.derivation.dynamics.declarations.blocks.index(block)
            places = split.places(index, sizes)
            rates = [derived(split, change.rate, sizes, leaf) for change in changes if block.name in change.moved]
            f = split.drift(piece, sizes)
            count = [Integer(len(rates) - 2)]
            return count + [rate[k] - s * f[k] / 2 for rate in rates for k in places]

        return entries

    def noise(sizes: Sizes) -> list[Expr]:
        leaf, D = leaf_of(declarations, sizes), split.diffusion(piece, sizes)
        drawn = [derived_matrix(split, change.two_D, sizes, leaf) for change in changes]
        n = range(len(D))
        return [sum((own[i][j] for own in drawn), Integer(0)) - 2 * s * D[i][j] for i in n for j in n]

    for block in split.derivation.dynamics.declarations.blocks:
        if block.name in piece.moved:
            yield f"the halves of the drift of {block.name}", halves(block)
    yield "the noise", noise
    for change in changes:
        if change.implicit and change.turns:
            yield f"the residual of {change.moved[0]} after {change.turns} substitutions", _left(split, change)


def _left(split: Split, change: Change) -> Scalars:
    """Return what an equation is off by, new - (z + eps rate(new)), after its substitutions, composed from z on."""
    declarations = with_step(split.subject.dynamics.declarations)
    (name,) = change.moved
    block = next(n for n, own in enumerate(split.subject.names) if own == name)

    def entries(sizes: Sizes) -> list[Expr]:
        eps = cast(Symbol, component(declarations.parameters[-1], (), declarations, sizes))
        places, z = split.places(block, sizes), split.z(sizes)
        rate = derived(split, change.rate, sizes, leaf_of(declarations, sizes))

        def put_in(x: Sequence[Expr]) -> list[Expr]:
            there = dict(zip((z[k] for k in places), x, strict=True))
            return [z[k] + eps * rate[k].xreplace(there) for k in places]

        new: list[Expr] = [z[k] for k in places]
        for _ in range(change.turns):
            new = put_in(new)
        return [x - y for x, y in zip(new, put_in(new), strict=True)]

    return entries


def _asked(split: Split, piece: Piece, changes: tuple[Change, ...], share: Fraction) -> Iterator[tuple[str, Scalars]]:
    (change,) = changes
    s, laws = rational(share), dict[tuple[tuple[str, int], ...], second.StepLaw]()
    z = "T(z)" if change.transforms else "z"

    def asked(identity: Callable[[second.StepLaw, Vector, Rows], Iterator[Expr]]) -> Scalars:
        def entries(sizes: Sizes) -> list[Expr]:
            at = tuple(sizes.items())
            laws[at] = laws.get(at) or law_of(split, change, sizes)
            of = second.of_law(laws[at], split.drift(piece, sizes), split.diffusion(piece, sizes))
            return list(identity(laws[at], *of))

        return entries

    yield "the part that is not linear in the moved blocks", asked(second.frozen)
    yield f"{z}' - {z} at eps = 0", asked(lambda law, f, D: second.starts(law))
    yield f"d E[{z}']/d eps - f(E[{z}'])", asked(lambda law, f, D: second.drifts(law, s, f))
    yield (
        f"d Cov[{z}']/d eps - (J Cov[{z}'] + Cov[{z}'] J.T + 2D)",
        asked(lambda law, f, D: second.spreads(law, s, f, D)),
    )


def law_of(split: Split, change: Change, sizes: Sizes) -> second.StepLaw:
    """Return the law of T(z) + eps rate + N(0, eps two_D) at fixed sizes: mean (n) and covariance (n x n) in eps."""
    declarations = with_step(split.subject.dynamics.declarations)
    eps = cast(Symbol, component(declarations.parameters[-1], (), declarations, sizes))
    z, leaf = split.z(sizes), leaf_of(declarations, sizes)
    known = None if change.propagator is None else _propagated(change.propagator, eps, sizes, leaf)
    if change.propagator is not None and known is not None:
        leaf = _with_arrays(change.propagator, known, eps, sizes, leaf)
    rate, two_D = derived(split, change.rate, sizes, leaf), derived_matrix(split, change.two_D, sizes, leaf)
    w = _transformed(split, change, sizes)
    mean = tuple(x + eps * own for x, own in zip(w or z, rate, strict=True))
    covariance = tuple(tuple(eps * entry for entry in row) for row in two_D)
    more = () if known is None else (known.rates, known.first)
    return second.StepLaw(eps, z, mean, covariance, w, *more)


def _transformed(split: Split, change: Change, sizes: Sizes) -> Vector:
    """Return T(z) of all coordinates; nothing where no block has a transform."""
    blocks = split.subject.dynamics.declarations.blocks
    pairs = ((change.transforms.get(block.name), x) for block in blocks for x in coordinates(block, sizes))
    return tuple(transformed(own, x) for own, x in pairs) if change.transforms else ()


def _propagated(of: Propagator, eps: Symbol, sizes: Sizes, leaf: Leaf) -> Propagated:
    """Return what is computed before the chain, known by what it solves: the definition of `Propagator`."""
    F, two_D = (rows_of(of.blocks, grid, sizes, leaf) for grid in (of.F, of.two_D))
    return propagated(of.change[0][0], F, two_D, rational(of.share), eps)


def _with_arrays(of: Propagator, known: Propagated, eps: Symbol, sizes: Sizes, other: Leaf) -> Leaf:
    """Return what gives entries of the arrays of a propagator, and all other atoms as before."""
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
