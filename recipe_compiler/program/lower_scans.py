"""Lowering of a recursion over the rows: one loop forwards that keeps the states, one backwards for their adjoints.

Both leave their values in arrays over the rows, which sums over rows read like fields of the data. The computations of
a row stay within its iteration: rows depend on each other. The equations are in `scheme/adjoints.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.combine import nested
from recipe_compiler.program.contraction import scalar
from recipe_compiler.program.definition import DATUM, ROW, Definitions
from recipe_compiler.program.loops import Array, Assign, Comment, Constant, For, Ref, Statement
from recipe_compiler.program.program import Recursion, RowState
from recipe_compiler.program.traverse import refs
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Index, Tensor

ZERO = Constant(Fraction(0))


@dataclass(frozen=True, slots=True)
class Scans:
    """The loops of a recursion, and the arrays that they fill; all empty if there is no recursion."""

    body: tuple[Statement, ...] = ()
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
    states, row = recursion.states, (Index(count, DATUM),)
    begin = _computed(defined, [(state.passed, state, state.stated_start) for state in states], ())
    follow = _computed(defined, [(state.passed, state, state.stated_next) for state in states], row)
    keep = _each(defined, states, lambda state, at: Assign(Ref(state.name, (ROW, *at)), Ref(state.passed, at)))
    says = tuple(
        Comment(f"{state.name}[0] = {text(state.stated_start)}, {state.name}[row + 1] = {text(state.stated_next)}")
        for state in states
    )
    loop = For(ROW, count, (*keep, *follow.of_row))
    forward = (*says, *begin.before, *begin.of_row, *follow.before, loop)
    arrays = (*_arrays(states, count, "name", "passed"), *begin.arrays, *follow.arrays)
    if not adjoint:
        return Scans(forward, arrays)
    pull = _computed(defined, [(state.first, state, state.slope) for state in states], row)
    keep = _each(defined, states, lambda state, at: Assign(Ref(state.adjoint, (ROW, *at)), Ref(state.first, at)))
    last = _each(defined, states, lambda state, at: Assign(Ref(state.first, at), ZERO))
    lines = (
        line
        for state in states
        for line in (
            f"{state.adjoint}[row] = dU/d{state.name}[row + 1], 0 after the last row",
            f"{state.first} = {text(state.slope)}",
        )
    )
    loop = For(ROW, count, (*keep, *pull.of_row), backwards=True)
    backward = (*map(Comment, lines), *last, *pull.before, loop)
    return Scans((*forward, *backward), (*arrays, *_arrays(states, count, "adjoint", "first"), *pull.arrays))


def _each(
    defined: Definitions, states: tuple[RowState, ...], store: Callable[[RowState, tuple[str, ...]], Statement]
) -> tuple[Statement, ...]:
    """Return what stores the entries of states, at the variables of loops over them."""
    every = ((state, defined.loops(state.shape.sizes)) for state in states)
    return tuple(one for own, loops in every for one in nested(loops, (store(own, tuple(v for _, v in loops)),)))


def _arrays(states: tuple[RowState, ...], count: Size, over_rows: str, running: str) -> tuple[Array, ...]:
    """Return the arrays over the rows, and those of columns that pass from row to row; numbers are scalars."""
    kept = (Array(getattr(state, over_rows), (count, *state.shape.sizes)) for state in states)
    passed = (Array(getattr(state, running), state.shape.sizes) for state in states if state.shape.sizes)
    return (*kept, *passed)


@dataclass(frozen=True, slots=True)
class _Computed:
    """What writes values of a row, what it needs that is of no row, and the arrays of both."""

    before: tuple[Statement, ...]
    of_row: tuple[Statement, ...]
    arrays: tuple[Array, ...]


def _computed(defined: Definitions, values: list[tuple[str, RowState, Tensor]], row: tuple[Index, ...]) -> _Computed:
    """Return what writes tensors into names, of one row where they have its index; all that is defined is forgotten."""
    kept, ahead = len(defined.changing), defined.ahead
    defined.ahead = True
    stores: tuple[Statement, ...] = ()
    for name, state, value in values:
        loops = defined.loops(state.shape.sizes)
        variables = dict(loops) | dict.fromkeys(row, ROW)
        found = scalar(defined, value, tuple(variables), variables)
        stores += nested(loops, (Assign(Ref(name, tuple(v for _, v in loops)), found),))
    before: tuple[Statement, ...] = ()
    of_row: tuple[Statement, ...] = ()
    waiting: set[str] = set()
    for definition in defined.changing[kept:]:
        read = list(refs(definition.body))
        if any(ROW in ref.at or ref.name in waiting for ref in read):
            waiting.add(definition.array.name)
            of_row += definition.body
        else:
            before += definition.body
    arrays = defined.computed(kept)[1]
    defined.forget(kept)
    defined.ahead = ahead
    return _Computed(before, (*of_row, *stores), arrays)
