"""What a formula is made of: one walk for all that look into formulas."""

from fractions import Fraction

import pytest

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes, parts, rebuild
from recipe_compiler.formula.expression import Formula, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, Shape

SQUARE, COLUMN = Shape("d", "d"), Shape("d", None)
C, M = Symbol("C", SQUARE, Role.PARAMETER), Symbol("M", SQUARE, Role.PARAMETER)
R, EPS = Symbol("r", COLUMN, Role.BLOCK), Symbol("eps", SCALAR, Role.STEP)
WHOLE: tuple[Formula, ...] = (
    ex.Add((C, M), SQUARE),
    ex.Multiply(EPS, C, SQUARE),
    ex.MatMul(C, M, SQUARE),
    ex.Power(EPS, Number(Fraction(1, 2)), SCALAR),
    ex.Transpose(C, SQUARE),
    ex.Entry(R, (0,)),
    ex.Compare(">", EPS, ex.Entry(R, (1,)), SCALAR),
    ex.Apply("outer", (R, R), SQUARE),
    ex.Normal(ex.MatMul(C, M, SQUARE), COLUMN),
)


@pytest.mark.parametrize("formula", WHOLE, ids=lambda formula: type(formula).__name__)
def test_the_parts_of_a_node_are_what_it_is_made_of(formula: Formula) -> None:
    assert parts(formula)
    assert rebuild(formula, parts(formula), lambda shape: shape) == formula
    changed = rebuild(formula, [Number(Fraction(7))] * len(parts(formula)), lambda shape: shape)
    assert changed != formula


def test_the_covariance_of_a_draw_is_part_of_it() -> None:
    draw = ex.Normal(ex.Multiply(EPS, C, SQUARE), COLUMN)
    assert list(nodes(ex.Add((R, draw), COLUMN))) == [ex.Add((R, draw), COLUMN), R, draw, draw.cov, EPS, C]
