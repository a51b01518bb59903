"""Lowering of a recursion over the rows: one loop forwards that keeps the states, one backwards for their adjoints.

Both leave their values in arrays over the rows, which sums over rows read like fields of the data. The computations of
a row stay within its iteration: rows depend on each other. The equations are in `scheme/adjoints.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.combine import nested
from recipe_compiler.program.contraction import scalar
from recipe_compiler.program.definition import DATUM, ROW, Definitions
from recipe_compiler.program.loops import Array, Assign, Body, Comment, Constant, For, Increment, Ref, Statement
from recipe_compiler.program.program import STAGE, STEP, Recursion, RowState, Stages, Summed
from recipe_compiler.program.traverse import refs
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Component, Index, Tensor

ZERO = Constant(Fraction(0))
Own = TypeVar("Own", RowState, Summed)


@dataclass(frozen=True, slots=True)
class Scans:
    """The loops of a recursion, and the arrays that they fill; all empty if there is no recursion."""

    body: Body = ()
    """What keeps the states before every row; then their adjoints after every row, with those before the first last."""
    arrays: tuple[Array, ...] = ()


def lower_scans(
    defined: Definitions, recursion: Recursion | None, count: Size | None, *, adjoint: bool = True
) -> Scans:
    """Return the loops of a recursion, forwards for the states, backwards for their adjoints; empty without one.

    Args:
        defined: the definitions so far; constant ones go to `prepare`.
        recursion: the states that pass from row to row.
        count: the number of rows.
        adjoint: whether the adjoints are needed, too.

    Raises:
        ModelError: no emitted code can compute it.
    """
    if recursion is None or count is None:
        return Scans()
    defined.taken |= recursion.names
    row = (Index(count, DATUM),)
    every = [state for state in recursion.states if adjoint and state.slope is not None]
    solved, others = _parted(recursion.states)
    begin = _computed(defined, [(state.passed, state, state.stated_start) for state in recursion.states], ())
    inside = _Stages(defined, recursion.stages, row)
    stages = inside.loops(solved, [(state.passed, state, state.stated_next) for state in solved])
    follow = _computed(defined, [(state.passed, state, state.stated_next) for state in others], row)
    keep = _each(defined, others, lambda state, at: Assign(Ref(state.name, (ROW, *at)), Ref(state.passed, at)))
    used = {atom.name for tensor in (recursion.term, *(state.next for state in others)) for atom in _components(tensor)}
    seen = tuple(state for state in solved if state.name in used)
    read = _each(defined, seen, lambda state, at: Assign(Ref(state.name, (ROW, *at)), Ref(state.passed, at)))
    says = tuple(Comment(line) for state in recursion.states for line in _says(state))
    loop = For(ROW, count, (*keep, *stages.body, *read, *follow.of_row))
    forward = (*inside.weights, *says, *begin.before, *begin.of_row, *stages.before, *follow.before, loop)
    kept = tuple(state for state in recursion.states if state in seen or not state.at)
    arrays = (*_arrays(kept, count, "name", recursion.states, "passed"), *begin.arrays, *stages.arrays, *follow.arrays)
    arrays = (*arrays, *inside.arrays(solved, count))
    if not every:
        return Scans(forward, arrays)
    solved, others = _parted(every)
    pull = _computed(defined, [(state.first, state, state.slope) for state in others if state.slope], row)
    gained = [(state.first, state, state.slope) for state in solved if state.slope and not state.slope.is_zero]
    gain = _computed(defined, gained, row, added=True)
    back = inside.loops(solved, [(state.first, state, state.of_stage) for state in solved if state.of_stage], back=True)
    keep = _each(defined, others, lambda state, at: Assign(Ref(state.adjoint, (ROW, *at)), Ref(state.first, at)))
    last = _each(defined, every, lambda state, at: Assign(Ref(state.first, at), ZERO))
    lines = (
        line
        for state in others
        for line in (
            f"{state.adjoint}[row] = dU/d{state.name}[row + 1], 0 after the last row",
            f"{state.first} = {text(state.slope or state.next)}",
        )
    )
    loop = For(ROW, count, (*keep, *gain.of_row, *back.body, *pull.of_row), backwards=True)
    backward = (*map(Comment, lines), *last, *inside.zeros, *pull.before, *gain.before, *back.before, loop)
    over_rows = (*_arrays(others, count, "adjoint", others, "first"), *inside.running(solved))
    return Scans((*forward, *backward), (*arrays, *over_rows, *pull.arrays, *gain.arrays, *back.arrays))


def _components(tensor: Tensor) -> Iterator[Component]:
    return (atom for atom in everywhere(tensor) if isinstance(atom, Component))


def _parted(states: Iterable[RowState]) -> tuple[tuple[RowState, ...], tuple[RowState, ...]]:
    """Return the states that solve equations, which pass on before their row is read, and the others."""
    states = tuple(states)
    return tuple(state for state in states if state.at), tuple(state for state in states if not state.at)


def _says(state: RowState) -> tuple[str, ...]:
    if not state.at:
        return (f"{state.name}[0] = {text(state.stated_start)}, {state.name}[row + 1] = {text(state.stated_next)}",)
    return (f"{state.name} = {text(state.stated_start)} at first, then {text(state.stated_next)}",)


@dataclass(frozen=True, slots=True)
class _Inside:
    """The loops over steps and stages of a row, what they need of no row, and arrays."""

    before: Body = ()
    body: Body = ()
    arrays: tuple[Array, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stages:
    """What is done stage by stage, inside of a row."""

    defined: Definitions
    stages: Stages | None
    row: tuple[Index, ...]

    @property
    def weights(self) -> Body:
        """The statements that fill the weights of the stages."""
        pairs = [(name, k, x) for name, own in self._own.weights for k, x in enumerate(own)]
        return tuple(Assign(Ref(name, (k,)), Constant(x)) for name, k, x in pairs)

    @property
    def zeros(self) -> Body:
        """The statements before the loop backwards that begin its sums."""
        return _each(self.defined, self._own.sums, lambda own, at: Assign(Ref(own.name, at), ZERO))

    @property
    def _own(self) -> Stages:
        return self.stages or Stages(0, 0, (), ())

    @property
    def _count(self) -> int:
        return len(self._own.weights[0][1]) if self._own.weights else 0

    def arrays(self, solved: Iterable[RowState], count: Size) -> tuple[Array, ...]:
        """Return the weights, and the arrays of solutions before every stage."""
        weights = (Array(name, (len(own),)) for name, own in self._own.weights)
        return (*weights, *(Array(one.at, (count, self._own.count, self._count, *one.shape.sizes)) for one in solved))

    def running(self, solved: Iterable[RowState]) -> tuple[Array, ...]:
        """Return the arrays of adjoints of columns, and of sums."""
        names = [(name, one.shape.sizes) for one in solved for name in (one.adjoint, one.first)]
        return tuple(
            Array(name, sizes) for name, sizes in (*names, *((s.name, s.shape.sizes) for s in self._own.sums)) if sizes
        )

    def loops(
        self, solved: tuple[RowState, ...], values: list[tuple[str, RowState, Tensor]], *, back: bool = False
    ) -> _Inside:
        """Return the loops that keep solutions and pass them on; backwards those of their adjoints, and the sums."""
        if not values:
            return _Inside()
        indices = (*self.row, Index(self._own.count, STEP), Index(self._count, STAGE))
        if back:
            keep = _each(self.defined, solved, lambda own, at: Assign(Ref(own.adjoint, at), Ref(own.first, at)))
            found = _computed(self.defined, [*values, *((one.name, one, one.slope) for one in self._own.sums)], indices)
        else:
            place = (ROW, STEP, STAGE)
            keep = _each(self.defined, solved, lambda own, at: Assign(Ref(own.at, (*place, *at)), Ref(own.passed, at)))
            found = _computed(self.defined, values, indices)
        stage = For(STAGE, self._count, (*keep, *found.of_row), backwards=back)
        return _Inside(found.before, (For(STEP, self._own.count, (stage,), backwards=back),), found.arrays)


def _each(defined: Definitions, states: Sequence[Own], store: Callable[[Own, tuple[str, ...]], Statement]) -> Body:
    """Return what stores the entries of states, or of sums, at the variables of loops over them."""
    every = ((state, defined.loops(state.shape.sizes)) for state in states)
    return tuple(one for own, loops in every for one in nested(loops, (store(own, tuple(v for _, v in loops)),)))


def _arrays(
    kept: Sequence[RowState], count: Size, over_rows: str, passed: Sequence[RowState], running: str
) -> tuple[Array, ...]:
    """Return the arrays over the rows, and those of columns that pass from row to row; numbers are scalars."""
    arrays = (Array(getattr(state, over_rows), (count, *state.shape.sizes)) for state in kept)
    columns = (Array(getattr(state, running), state.shape.sizes) for state in passed if state.shape.sizes)
    return (*arrays, *columns)


@dataclass(frozen=True, slots=True)
class _Computed:
    """What writes values of a row, what it needs that is of no row, and the arrays of both."""

    before: Body
    of_row: Body
    arrays: tuple[Array, ...]


def _computed(
    defined: Definitions,
    values: Sequence[tuple[str, RowState | Summed, Tensor]],
    row: tuple[Index, ...],
    *,
    added: bool = False,
) -> _Computed:
    """Return what writes tensors into names, or adds them there; all that is defined is forgotten.

    It is of one row, or of a stage of it, where they have its indices.
    """
    kept, ahead = len(defined.changing), defined.ahead
    defined.ahead = True
    stores: Body = ()
    for name, own, value in values:
        loops = defined.loops(own.shape.sizes)
        variables = dict(loops) | defined.variables(row)
        found = scalar(defined, value, tuple(variables), variables)
        stores += nested(
            loops,
            (
                (Increment if added or isinstance(own, Summed) else Assign)(
                    Ref(name, tuple(v for _, v in loops)), found
                ),
            ),
        )
    before: Body = ()
    of_row: Body = ()
    waiting = {own.adjoint for _, own, _ in values if isinstance(own, RowState)}
    within = set(defined.variables(row).values())
    for definition in defined.changing[kept:]:
        read = list(refs(definition.body))
        if any(within & {*ref.at} or ref.name in waiting for ref in read):
            waiting.add(definition.array.name)
            of_row += definition.body
        else:
            before += definition.body
    arrays = defined.computed(kept)[1]
    defined.forget(kept)
    defined.ahead = ahead
    return _Computed(before, (*of_row, *stores), arrays)
