"""Has a formula a value at a point? Node by node, as written: scalars forget that exp(log(x)) needs x > 0."""

from collections.abc import Iterable

from recipe_compiler.algebra.definedness import conditions, nodes
from recipe_compiler.algebra.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.evaluate import NoValueError, evaluate, is_certainly
from recipe_compiler.algebra.matrices import TooLargeError, determinant
from recipe_compiler.algebra.point import Point, compares
from recipe_compiler.formula.expression import Apply, Formula


def is_defined_at(formulas: Iterable[Formula], setting: Setting, at: Point) -> bool:
    """Whether formulas certainly have a value at an exact point."""
    return all(_has_value(node, setting, at) for formula in formulas for node in nodes(formula))


def _has_value(node: Formula, setting: Setting, at: Point) -> bool:
    try:
        match node:
            case Apply("inv" | "logdet" as fn, (arg,)):
                a = rows(arg, setting)
                return is_certainly(evaluate(determinant(a), at.leaf), 0 if fn == "inv" else 1)
            case _:
                return all(
                    compares(condition.op, evaluate(x + condition.offset, at.leaf))
                    for condition in conditions(node, smooth=False)
                    for row in rows(condition.arg, setting)
                    for x in row
                )
    except (NoValueError, NotScalarisableError, TooLargeError):
        return False
