"""Expressions in nested form have the value they had, also where a factor and its inverse meet."""

from fractions import Fraction
from math import prod

import pytest
import sympy as sp

from recipe_compiler.program.horner import nested_form
from recipe_compiler.program.loops import Call, Constant, Plus, Raise, Ref, Scalar, Times

X, Y, Z = Ref("x"), Ref("y"), Ref("z")
OVER_X = Raise(X, Fraction(-1))
AT = {"x": sp.Rational(3, 2), "y": sp.Integer(-5), "z": sp.Rational(7, 3)}
SUMS = {
    "a factor and its inverse": Plus((Times((OVER_X, X, Y)), Times((X, Y, Z)))),
    "an inverse and two factors": Plus((Times((OVER_X, X, X, Y)), Times((X, Y, Z)))),
    "inverses of both": Plus((Times((OVER_X, OVER_X, Y)), Times((OVER_X, X, OVER_X)))),
    "powers": Plus((Times((X, X, Y)), Times((Raise(X, Fraction(3)), Z)), Constant(Fraction(2)))),
    "roots": Plus((Raise(X, Fraction(3, 2)), Times((Raise(X, Fraction(11, 4)), Y)), Raise(Z, Fraction(-5, 8)))),
}  # fmt: skip


def value(scalar: Scalar) -> sp.Expr:
    match scalar:
        case Ref(name):
            return AT[name]
        case Constant(number):
            return sp.Rational(number)
        case Plus(terms):
            return sp.Add(*map(value, terms))
        case Times(factors):
            return prod(map(value, factors))
        case Raise(base, exponent):
            return value(base) ** sp.Rational(exponent)
        case Call("sqrt", (base,)):
            return sp.sqrt(value(base))
    raise AssertionError(scalar)


@pytest.mark.parametrize("name", SUMS)
def test_the_value_is_the_same(name: str) -> None:
    assert value(nested_form(SUMS[name], {})) == value(SUMS[name])
