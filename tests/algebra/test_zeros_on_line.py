"""Zeros of functions of one coordinate are isolated exactly, and what a function does there is read off."""

from fractions import Fraction

import pytest
import sympy
from sympy import Abs, Expr, Rational, exp, sqrt, symbols

from recipe_compiler.algebra.zero.zeros_on_line import Root, order, roots

x = symbols("x", real=True)
w = x**4 - 2 * x**2 + Rational(1, 2)


def first_zero(e: Expr) -> Root:
    found = roots(e, x)
    assert found
    return found[0]


def test_the_four_zeros_of_the_double_well_are_isolated() -> None:
    found = roots(w, x)
    assert found is not None
    assert [round(float(root.low), 4) for root in found] == [-1.3066, -0.5412, 0.5412, 1.3066]
    for root in found:
        assert root.high - root.low <= Fraction(1, 2**40)
        values = [w.subs(x, sympy.Rational(edge.numerator, edge.denominator)) for edge in (root.low, root.high)]
        assert values[0] * values[1] < 0


@pytest.mark.parametrize("e", [x**2 + 1, 1 / (1 + x**2), x**2 - 2 * x + 2], ids=str)
def test_no_zeros_are_none(e: Expr) -> None:
    assert roots(e, x) == ()


@pytest.mark.parametrize("e", [exp(x) - 1, x - sqrt(2), sympy.Integer(0)], ids=str)
def test_what_is_no_rational_function_is_not_known(e: Expr) -> None:
    assert roots(e, x) is None


@pytest.mark.parametrize(
    ("e", "power", "even"),
    [
        (sqrt(Rational(3, 2) * sqrt(Abs(w))), Fraction(1, 4), True),
        (w**3 * exp(x), Fraction(3), False),
        (Abs(w) / (1 + x**2), Fraction(1), True),
        (w + Abs(w) ** Rational(1, 2), Fraction(1, 2), True),
        (1 + w, Fraction(0), True),
    ],
    ids=str,
)
def test_orders_at_an_irrational_zero(e: Expr, power: Fraction, even: bool) -> None:
    found = order(e, x, first_zero(w), {})
    assert found is not None
    assert (found.power, found.even) == (power, even)


def test_terms_that_cancel_have_no_order() -> None:
    assert order(sqrt(Abs(x)) - sqrt(Abs(x)) * exp(x), x, first_zero(x), {}) is None
