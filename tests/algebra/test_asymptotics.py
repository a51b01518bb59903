"""Leading exponents at an edge are exact; what cancels or is not smooth is refused."""

from fractions import Fraction

import pytest
import sympy
from sympy import Expr, Rational, exp, log, sin, sqrt, symbols

from recipe_compiler.algebra.structure.asymptotics import NotExpandedError, density, size

y, a, b = symbols("y a b", positive=True)
c = symbols("c", real=True)


@pytest.mark.parametrize(
    ("energy", "exponent"),
    [
        (y - (a - 1) * log(y), a - 1),
        (-(a - 1) * log(2 * y) - (b - 1) * log(1 - y), a - 1),
        (y**2 + log(1 + y), sympy.Integer(0)),
        (-c * log(y) * exp(-y), c),
        (-a * log(y**3) + log(y) ** 3 * y, 3 * a),
    ],
    ids=str,
)
def test_the_exponent_of_a_density(energy: Expr, exponent: Expr) -> None:
    found = density(energy, y)
    assert found.barrier is None
    assert sympy.expand(found.exponent - exponent) == 0


@pytest.mark.parametrize(
    ("energy", "barrier"),
    [
        (a / y, a),
        (-a / y + log(y) ** 4, -a),
        ((log(y) - c) ** 2 / (2 * a), 1 / (2 * a)),
        (log(y) ** 3, sympy.Integer(-1)),
    ],
    ids=str,
)
def test_beyond_every_power(energy: Expr, barrier: Expr) -> None:
    assert density(energy, y).barrier == barrier


@pytest.mark.parametrize("energy", [(exp(y) - 1) / y**2, log(sin(y)), sin(1 / y), log(c + y)], ids=str)
def test_what_is_not_known_is_refused(energy: Expr) -> None:
    with pytest.raises(NotExpandedError):
        density(energy, y)


@pytest.mark.parametrize(
    ("e", "power", "is_exact"),
    [
        (y * (1 - y), Fraction(1), True), (sqrt(y) * exp(-y), Fraction(1, 2), True), (a + y, Fraction(0), True),
        (y**2 * sin(y), Fraction(3), False), (y - y * exp(y), Fraction(2), False),
        (y ** Rational(-1, 2), Fraction(-1, 2), True),
    ],
    ids=str,
)  # fmt: skip
def test_sizes(e: Expr, power: Fraction, is_exact: bool) -> None:
    found = size(e, y)
    assert found is not None
    assert (found.power, found.is_exact) == (power, is_exact)
