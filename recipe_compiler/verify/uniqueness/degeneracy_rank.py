"""Is the rank of D + Q the same everywhere, but for surfaces that chains cross?

For D >= 0, nT (D + Q) = 0 exactly where D n = 0 and Q n = 0: if n is the normal of a surface, noise and drift are
tangent to it. Block by block these are linear equations for n. A block is zero where an equation holds it alone, with a
nonsingular entry; of what is left, equations that are constant, or that each have a nonsingular entry of a block of
their own, have the same rank everywhere. Then no surface is singled out. The same is decided of D n = 0 alone. Whether
constant null directions make chains reducible is the question of uniqueness, not of regularity.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.build import depends_on_state
from recipe_compiler.formula.expression import Formula
from recipe_compiler.verdict import Evidence
from recipe_compiler.verify.core.subject import Subject


@dataclass(frozen=True, slots=True)
class MatrixEntry:
    """A block entry of D or Q: its name in reports, the numbers of its blocks, and its formula, n_row x n_col."""

    matrix: str
    name: str
    row: int
    col: int
    formula: Formula

    @property
    def moves(self) -> bool:
        """Whether it depends on the state."""
        return depends_on_state(self.formula)


@dataclass(frozen=True, slots=True)
class Pivot:
    """Why an entry is nonsingular everywhere, except on surfaces that chains cross."""

    by: str
    given: frozenset[str] = frozenset()
    data: Evidence = ()


@dataclass(slots=True)
class Pivots:
    """The pivots used; `open` names the equation that has none."""

    pivots: list[Pivot] = field(default_factory=list[Pivot])
    zero: frozenset[int] = frozenset()
    """The blocks in which D n = 0 and Q n = 0 leave nothing of n."""
    open: str = ""


def list_nonzero_entries(subject: Subject) -> Iterator[MatrixEntry]:
    """Yield every entry of D and Q that is not shown to be zero."""
    derivation = subject.derivation
    matrices: tuple[tuple[str, Matrix | None], ...] = (("D", subject.whole.D), ("Q", subject.whole.Q))
    for name, matrix in matrices:
        for a, row in enumerate(matrix or ()):
            for b, formula in enumerate(row):
                tensors = None if derivation is None else (derivation.D if name == "D" else derivation.Q)
                if tensors is None or not tensors[a][b].is_zero:
                    yield MatrixEntry(name, f"{name}[{subject.names[a]},{subject.names[b]}]", a, b, formula)


def decide_constant_rank(entries: tuple[MatrixEntry, ...], pivot: Callable[[MatrixEntry], Pivot | None]) -> Pivots:
    """Decide that the linear equations D n = 0 and Q n = 0 for n have the same rank at every state, block by block.

    n is a vector over z. A block of n is zero where an equation holds it alone with a nonsingular entry. Among
    the rest, an equation that is constant, or that has a nonsingular entry in a block of its own, has the same rank
    everywhere; any other leaves the question open, by name. With D[r,r] = C and Q[theta,r] = -K(theta), both
    nonsingular, n = 0 is the only solution at every state.

    Args:
        entries: those of D and Q, or of D alone, that are not zero.
        pivot: returns why an entry is nonsingular everywhere; None where that is not shown.
    """
    found = Pivots()
    equations = [
        [p for p in entries if (p.matrix, p.row) == key] for key in dict.fromkeys((p.matrix, p.row) for p in entries)
    ]
    zero: set[int] = set()
    while True:
        news = {p.col: why for p, why in _list_lone_pivots(equations, zero, pivot)}
        if not news:
            break
        zero |= news.keys()
        found.pivots += news.values()
    found.zero = frozenset(zero)
    left = [[p for p in equation if p.col not in zero] for equation in equations]
    left = [equation for equation in left if equation]
    for n, equation in enumerate(left):
        if not any(place.moves for place in equation):
            continue
        others = {p.col for m, other in enumerate(left) if m != n for p in other}
        own = (pivot(p) for p in equation if p.col not in others)
        why = next((why for why in own if why is not None), None)
        if why is None:
            found.open = ", ".join(p.name for p in equation if p.moves)
            return found
        found.pivots.append(why)
    return found


def _list_lone_pivots(
    equations: list[list[MatrixEntry]], zero: set[int], pivot: Callable[[MatrixEntry], Pivot | None]
) -> Iterator[tuple[MatrixEntry, Pivot]]:
    """Yield the entries that make a block of n zero: alone in their equation, and nonsingular."""
    for equation in equations:
        unknown = [p for p in equation if p.col not in zero]
        if len(unknown) == 1:
            why = pivot(unknown[0])
            if why is not None:
                yield unknown[0], why
