"""Assumed equalities at a point: where `a == 2*b` is assumed, a drawn point has that a, not one of its own."""

from collections.abc import Iterator
from fractions import Fraction

from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate
from recipe_compiler.algebra.scalars.symbols import component
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.expression import Symbol as Name
from recipe_compiler.formula.shapes import Kind


def equate(numbers: dict[Expr, Fraction], setting: Setting) -> None:
    """Put the value of the other side in the place of that of a scalar parameter, where its kinds allow it.

    An equality may rest on a later one: there are as many passes as assumptions. What still does not hold in the end is
    no admissible point.
    """
    for _ in setting.declarations.assume:
        for compare in setting.declarations.assume:
            if compare.op != "==":
                continue
            sides = ((compare.left, compare.right), (compare.right, compare.left))
            found = next((new for side, other in sides for new in _value(side, other, numbers, setting)), None)
            if found is not None:
                numbers[found[0]] = found[1]


def _value(
    side: Formula, other: Formula, numbers: dict[Expr, Fraction], setting: Setting
) -> Iterator[tuple[Expr, Fraction]]:
    """Yield a parameter and the value of the other side, if that is one it may have."""
    if not isinstance(side, Name) or side.role is not Role.PARAMETER or side.shape.sizes:
        return
    item = setting.declarations.find(side.name)
    if not isinstance(item, Parameter) or item.value is not None:
        return
    name = component(item, (), setting.declarations, setting.sizes)
    try:
        value = evaluate(rows(other, setting)[0][0], numbers.__getitem__)
    except (NoValueError, KeyError):  # a name that has no number yet is one of the state
        return
    if isinstance(name, Symbol) and isinstance(value, Fraction) and _may_be(value, item.kinds):
        yield name, value


def _may_be(value: Fraction, kinds: tuple[Kind, ...]) -> bool:
    if Kind.POSITIVE in kinds or Kind.PD in kinds:
        return value > 0
    if Kind.NONNEGATIVE in kinds or Kind.PSD in kinds:
        return value >= 0
    return bool(value) or Kind.NONZERO not in kinds
