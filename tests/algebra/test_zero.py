"""The normal form: true identities in its transcendentals vanish, false ones never do."""

import pytest
import sympy
from sympy import Abs, Function, Rational, cos, cosh, exp, log, sign, sin, sinh, sqrt, symbols, tan, tanh

from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero

x, y = symbols("x y", real=True)
p, q = symbols("p q", positive=True)
U = Function("U", real=True)(x, y)

IDENTITIES = {
    "powers of a root": sqrt(1 + x**2) ** 3 - (1 + x**2) * sqrt(1 + x**2),
    "nested roots": (sqrt(sqrt(1 + x**2) + 1)) ** 4 - (1 + x**2) - 1 - 2 * sqrt(1 + x**2),
    "rationalised": 1 / (sqrt(x**2 + 1) + x) - (sqrt(x**2 + 1) - x),
    "exp of a sum": exp(x + y) - exp(x) * exp(y),
    "exp of a fraction": exp(x / 3) ** 2 * exp(x / 6) ** 2 - exp(x),
    "sigmoid": 1 / (1 + exp(-x)) - exp(x) / (1 + exp(x)),
    "softplus": sympy.diff(log(1 + exp(x)), x) - 1 / (1 + exp(-x)),
    "circle": sin(x) ** 2 + cos(x) ** 2 - 1,
    "tangent": sympy.diff(tan(x), x) - 1 / cos(x) ** 2,
    "hyperbolic": tanh(x) - sinh(x) / cosh(x),
    "logs": log(p * q) - log(p) - log(q) + log(8) - 3 * log(2),
    "absolute value": Abs(x) * sign(x) - x,
    "real powers": p**x * p ** (1 - x) - p,
    "partial fractions": 1 / (p - q) - 1 / (p + q) - 2 * q / (p**2 - q**2),
    "abstract": sympy.diff(U**2, x, y) - 2 * sympy.diff(U, x) * sympy.diff(U, y) - 2 * U * sympy.diff(U, x, y),
    "large power": sympy.diff((1 + x + y + p + q) ** 60, x) - 60 * (1 + x + y + p + q) ** 59,
}

FALSE = {
    "nearly": x - x * (1 + Rational(1, 10**30)),
    "series": exp(x) - 1 - x - x**2 / 2,
    "one-signed": Abs(x) - x,
    "branch": sqrt(1 + 2 * x + x**2) - 1 - x,
    "derivative order": sympy.diff(U, x) - sympy.diff(U, y),
    "sine": sin(x) - x,
    "constant": p - p + Rational(1, 7),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_an_identity_vanishes(name: str) -> None:
    assert is_zero(IDENTITIES[name])


@pytest.mark.parametrize("name", FALSE)
def test_what_is_not_zero_does_not_vanish(name: str) -> None:
    assert not is_zero(FALSE[name])


@pytest.mark.parametrize(
    "e", [sympy.nan, sympy.zoo + x, sympy.I * x - sympy.I * x * y, sympy.diff(sign(x), x)], ids=str
)
def test_what_is_not_defined_has_no_normal_form(e: sympy.Expr) -> None:
    with pytest.raises(NoNormalFormError):
        is_zero(e)


def test_division_by_a_hidden_zero_has_no_normal_form() -> None:
    hidden = (x + 1) ** 2 - x**2 - 2 * x - 1
    with pytest.raises(NoNormalFormError, match="division by zero"):
        is_zero(1 / hidden - 1 / hidden**2)
