"""Cells: between kinks everything is smooth; on a kink there is no value to refute with."""

from fractions import Fraction
from typing import cast

import pytest
import sympy
from sympy import Abs, Expr, symbols

from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate
from recipe_compiler.algebra.scalars.sign_cells import Cell, chosen, off_kinks

x, y = symbols("x y", real=True)
p = symbols("p", positive=True)

KINKED = [
    Abs(x * y) + sympy.sign(x),
    sympy.Max(x, y, x * y),
    sympy.Min(x**2, y + 1),
    chosen(">", x, y, x, chosen("<=", x, sympy.Integer(-1), y**2, sympy.Integer(3))),
    Abs(Abs(x) - 1),
]


@pytest.mark.parametrize("e", KINKED, ids=str)
def test_off_kinks_the_value_is_the_same(e: Expr) -> None:
    for a, b in ((3, -2), (Fraction(-7, 3), 2), (Fraction(1, 2), Fraction(1, 3)), (-5, -9)):
        at = {x: Fraction(a), y: Fraction(b)}
        assert evaluate(off_kinks(e), at.__getitem__) == Fraction(
            str(e.xreplace({s: sympy.Rational(v.numerator, v.denominator) for s, v in at.items()}))
        )


def test_a_cell_is_constant_and_known_where_its_argument_has_a_sign() -> None:
    assert sympy.diff(off_kinks(Abs(x) * x), x, 2) == sympy.Mul(2, cast(Expr, Cell(x)))
    assert Cell(p) == 1
    assert Cell(-p) == -1


def test_a_cell_has_no_value_on_its_kink() -> None:
    with pytest.raises(NoValueError):
        evaluate(cast(Expr, Cell(x - 1)), {x: Fraction(1)}.__getitem__)


@pytest.mark.parametrize("op", [">", ">=", "<", "<=", "=="])
@pytest.mark.parametrize("at", [-2, 0, 3])
def test_a_comparison_chooses_its_branch_at_every_point(op: str, at: int) -> None:
    compares = {">": at > 0, ">=": at >= 0, "<": at < 0, "<=": at <= 0, "==": at == 0}
    e = chosen(op, x, sympy.Integer(0), sympy.Integer(5), sympy.Integer(7))
    assert evaluate(e, {x: Fraction(at)}.__getitem__) == (5 if compares[op] else 7)


def test_a_comparison_of_the_same_is_decided() -> None:
    assert chosen("==", x, x, p, y) == p
    assert chosen(">", x + y, y + x, p, y) == y
