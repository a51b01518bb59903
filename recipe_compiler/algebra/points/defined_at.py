"""Has a formula a value at a point? Node by node, as written: scalars forget that exp(log(x)) needs x > 0."""

from collections.abc import Callable, Iterable

from sympy import Expr

from recipe_compiler.algebra.points.admissible_point import compares
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import TooLargeError, determinant
from recipe_compiler.algebra.structure.definedness import conditions
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import Apply, Formula

Leaf = Callable[[Expr], Value]


def is_defined_at(formulas: Iterable[Formula], setting: Setting, leaf: Leaf) -> bool:
    """Whether formulas certainly have a value where `leaf` gives that of symbols and undefined functions."""
    return all(_has_value(node, setting, leaf) for formula in formulas for node in nodes(formula))


def _has_value(node: Formula, setting: Setting, leaf: Leaf) -> bool:
    try:
        match node:
            case Apply("inv" | "logdet" as fn, (arg,)):
                a = rows(arg, setting)
                return is_certainly(evaluate(determinant(a), leaf), 0 if fn == "inv" else 1)
            case _:
                return all(
                    compares(condition.op, evaluate(x + condition.offset, leaf))
                    for condition in conditions(node, smooth=False)
                    for row in rows(condition.arg, setting)
                    for x in row
                )
    except (NoValueError, NotScalarisableError, TooLargeError):
        return False
