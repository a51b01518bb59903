"""Lowering of implicit shifts: new = old + eps rate(new) is solved by Newton's iteration, which starts from `old`.

With G(x) = x - old - eps rate(x), an iteration solves (1 - eps d rate/dx) dx = -G(x) and sets x to x + dx.
"""

from dataclasses import replace
from fractions import Fraction

from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.combine import entry_at, nested, plus
from recipe_compiler.program.contraction import at_loops
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.loops import (
    CHANGE,
    SIZE,
    Array,
    Assign,
    Body,
    Comment,
    Constant,
    Invoke,
    Iterate,
    Kronecker,
    Ref,
    Scalar,
    Statement,
    Times,
)
from recipe_compiler.program.program import EPS, ITERATIONS, TOLERANCE, Shift
from recipe_compiler.program.traverse import names_in
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Index, Tensor

MINUS = Constant(Fraction(-1))


def lower_implicit(defined: Definitions, shift: Shift, *, keeps: bool) -> tuple[Body, tuple[Array, ...]]:
    """Return the loops of an implicit shift, the arrays that they need, and the definitions after them.

    What the rate needs of the unknown is computed in every iteration, all else before the first. What follows may read
    both (`keeps`), as the last iteration is left before the unknown moves on; but an equation without a solution leaves
    one entry that is not a number, and what was computed of numbers, so that a step has to be refused for that entry.
    All else is forgotten.
    """
    if shift.slope is None:
        raise CompilerError(f"{shift.new} is no equation")
    before = len(defined.changing)
    loops = defined.loops(shift.block.shape.sizes)
    at = entry_at(loops)
    rate = at_loops(defined, shift.rate, loops)
    after = len(defined.changing)
    name, left, matrix = defined.named((f"{shift.new}_other", f"residual_{shift.new}", f"matrix_{shift.new}"))
    built = _matrix(defined, shift.slope, shift.block.shape.sizes, matrix)
    old, new, other, residual = Ref(shift.old, at), Ref(shift.new, at), Ref(name, at), Ref(left, at)
    fixed, for_rate, for_slope = _fixed_and_varying(defined, shift.new, before, after)
    compared = Ref(CHANGE), Ref(SIZE)
    body = (
        *for_rate,
        *nested(loops, (Assign(other, plus((old, Times((Ref(EPS), rate))))),)),
        *nested(loops, (Invoke("_progress", (*compared, old, new, other), compared),)),
    )
    advance = (
        *for_slope,
        *built,
        *nested(loops, (Assign(residual, plus((other, Times((MINUS, new))))),)),
        Invoke("_solve", (matrix, left)),
        *nested(loops, (Assign(new, plus((new, residual))),)),
    )
    place = "[i]" if loops else ""
    says = Comment(f"{shift.new}{place} = {shift.old}{place} + eps*({text(shift.rate)}), solved by Newton's iteration")
    guess = nested(loops, (Assign(new, old),))
    first = Ref(shift.new, (0,) * len(at))
    sizes = shift.block.shape.sizes or (1,)
    arrays = (Array(name, sizes), Array(left, sizes), Array(matrix, (sizes[0], sizes[0])))
    after = after if keeps else before
    own = (*arrays, *defined.computed(after)[1])
    defined.forget(after)
    # what is kept is computed already
    defined.changing = (*defined.changing[:before], *(replace(d, body=()) for d in defined.changing[before:]))
    return (says, *guess, *fixed, Iterate(ITERATIONS, TOLERANCE, body, advance, first)), own


def _fixed_and_varying(defined: Definitions, unknown: str, before: int, after: int) -> tuple[Body, Body, Body]:
    """Return what computes arrays free of the unknown, then what computes the others: for a rate, for its slope."""
    varying = {unknown}
    fixed, for_rate, for_slope = list[Statement](), list[Statement](), list[Statement]()
    for place, definition in enumerate(defined.changing[before:], before):
        names = names_in(definition.body)
        is_fixed = varying.isdisjoint(names)
        varying |= set() if is_fixed else {definition.array.name}
        (fixed if is_fixed else for_rate if place < after else for_slope).extend(definition.body)
    return tuple(fixed), tuple(for_rate), tuple(for_slope)


def _matrix(defined: Definitions, slope: Tensor, sizes: tuple[Size, ...], name: str) -> Body:
    """Return the statements that write 1 - eps slope."""
    loops = defined.over(tuple(Index(size, label) for size in sizes for label in ("i", "j")))
    value = at_loops(defined, slope, loops)
    at = tuple(variable for _, variable in loops) or (0, 0)
    one: Scalar = Kronecker(*at)
    store = Assign(Ref(name, at), plus((one, Times((MINUS, Ref(EPS), value)))))
    return nested(loops, (store,))
