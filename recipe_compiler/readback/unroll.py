"""A recursion written out row by row, as its Program states it: U is differentiated as a whole, without an adjoint.

Differentiated at a point, by a central difference in so many digits that it is the slope in all that are compared:
written out, U of few rows of a filter is an expression of which SymPy makes no derivative in good time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from recipe_compiler.algebra.scalars.constraints import log_jacobian
from recipe_compiler.algebra.scalars.symbols import length, positions
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.extents import valued
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.program import Gradient, Recursion, RowState
from recipe_compiler.readback.mean import stated_value
from recipe_compiler.readback.names import Names, rounded
from recipe_compiler.tensor.scalars import Scalar
from recipe_compiler.tensor.terms import Tensor

DIGITS, STEP = 240, 80
"""Digits in which differences are taken, and the step, 10**-80: of the slopes 160 digits are left."""


def unrolled(recursion: Recursion, count: Size, here: Names) -> tuple[Scalar, list[Scalar]]:
    """Return -log prior and -log likelihood of every row of a recursion: s_0 = start, s_(n+1) = next(s_n, row n).

    Solutions pass on stage by stage before their row is read.
    """
    states, terms = {state: _entries(state, state.start, here, 0) for state in recursion.states}, list[Scalar]()
    solved = [state for state in recursion.states if state.at]
    others = [state for state in recursion.states if not state.at]
    for row in range(length(count, here.sizes)):
        for weights in _weights(recursion, here):
            inside = {state.at: lambda at, own=states[state]: own[at[3:]] for state in solved}
            now = _knowing(here, others, states, {**inside, **weights})
            states |= {state: _entries(state, state.next, now, row) for state in solved}
        now = _knowing(here, recursion.states, states)
        terms.append(stated_value(recursion.term, now, (), row, {}))
        states |= {state: _entries(state, state.next, now, row) for state in others}
    return stated_value(recursion.prior, here, (), 0, {}), terms


Entries = dict[tuple[int, ...], Scalar]
Known = Mapping[str, Callable[[tuple[int, ...]], Scalar]]


def _weights(recursion: Recursion, here: Names) -> Iterator[Known]:
    """Yield the weights of every stage of every step inside of a row."""
    own = recursion.stages
    if own is not None:
        stages = zip(*(numbers for _, numbers in own.weights), strict=True)
        each = [dict(zip((name for name, _ in own.weights), numbers, strict=True)) for numbers in stages]
        for weights in each * length(own.count, here.sizes):
            yield {name: lambda _, x=x: sp.Rational(x) for name, x in weights.items()}


def _knowing(
    here: Names, own: Iterable[RowState], states: Mapping[RowState, Entries], more: Known | None = None
) -> Names:
    known = {state.name: lambda at, entries=states[state]: entries[at[1:]] for state in own}
    return replace(here, known={**here.known, **known, **(more or {})})


def _entries(state: RowState, tensor: Tensor, here: Names, row: int) -> Entries:
    places = positions(state.shape, here.sizes)
    return {at: rounded(stated_value(tensor, here, at, row, {}), here.digits) for at in places}


def slope_along(gradient: Gradient, recursion: Recursion, here: Names, along: Sequence[Scalar]) -> Scalar:
    """Return v . dU/dz of the sampled variables by a central difference over all rows, (U(z + h v) - U(z - h v))/(2 h).

    With 240 digits behind the point and h = 1e-80 the error, h**2 times third derivatives, is far below the digits that
    are compared.
    """
    places = tuple((part.block, part.start) for part in gradient.parts)

    def U(at: Names, step: Scalar) -> Scalar:
        z = zip(at.block(gradient.block), along, strict=True)
        at = at.given({gradient.block.name: [x + step * v for x, v in z]})
        prior, terms = unrolled(recursion, gradient.count or 0, at)
        return sp.Add(prior, *terms) - sp.Add(*log_jacobians(gradient.block, places, at))

    many = DIGITS + max(0, int(sp.log(abs(U(here, sp.Integer(0))) + 1, 10)))  # as many as U has before its point, too
    wide, h = replace(here, digits=many), sp.Float(10, many) ** -STEP
    return (U(wide, h) - U(wide, -h)) / (2 * h)


def log_jacobians(whole: Block, places: tuple[tuple[Block, Size], ...], here: Names) -> list[Scalar]:
    """Return log |det dg/du| for each block b = g(u) that lies in a set."""
    z = tuple(here.block(whole))
    found: list[Scalar] = []
    for block, start in places:
        if block.constraint is not None:
            first = valued(start, here.sizes)
            u = z[first : first + len(positions(block.sampled.shape, here.sizes))]
            found.append(log_jacobian(block.constraint, u, length(block.shape.sizes[0], here.sizes)))
    return found
