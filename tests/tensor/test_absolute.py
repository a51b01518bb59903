"""Absolute values, signs and their arguments: one form for products that are equal, at zero too."""

from fractions import Fraction
from itertools import product

import pytest

from recipe_compiler.formula.shapes import Shape
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.scalars import scalarise
from recipe_compiler.tensor.terms import Applied, Coordinate, Index, Tensor

VECTOR = Shape("d")
ROW = Index("d", "i")
WHOLE = range(-3, 4)


def multiplied(c: Calculus, x: Tensor, exponents: tuple[int, int, int]) -> Tensor:
    """Return `x**a abs(x)**b sign(x)**s`."""
    parts = (x, c.applied("abs", x), c.applied("sign", x))
    return c.multiply(*(c.power(part, n) for part, n in zip(parts, exponents, strict=True) if n))


def value(x: Fraction, exponents: tuple[int, int, int]) -> Fraction | None:
    """Return the same number worked out by hand, None where it is not defined."""
    if x == 0 and min(exponents) < 0:
        return None
    parts = (x, abs(x), Fraction((x > 0) - (x < 0)))
    found = Fraction(1)
    for part, n in zip(parts, exponents, strict=True):
        found *= part**n if n else 1
    return found


def at(tensor: Tensor, x: Fraction) -> object:
    return scalarise(tensor, {}, {}, lambda atom: x if isinstance(atom, Coordinate) else None)


@pytest.mark.parametrize("exponents", [*product(WHOLE, WHOLE, WHOLE)], ids=str)
def test_a_product_keeps_its_value_wherever_it_is_defined(c: Calculus, exponents: tuple[int, int, int]) -> None:
    tensor = multiplied(c, c.coordinate("xi"), exponents)
    for x in (Fraction(-2), Fraction(0), Fraction(3, 5)):
        expected = value(x, exponents)
        if expected is not None:
            assert at(tensor, x) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1, 0, 1), (0, 1, 0)), ((0, 1, 1), (1, 0, 0)), ((2, -1, 0), (0, 1, 0)), ((1, -1, 0), (0, 0, 1)),
        ((0, 3, 1), (3, 0, 0)), ((0, 2, 1), (1, 1, 0)), ((2, 0, 1), (1, 1, 0)), ((0, 0, 3), (0, 0, 1)),
        ((-1, 0, 1), (0, -1, 0)),
    ],
)  # fmt: skip
def test_equal_products_have_one_form(c: Calculus, one: tuple[int, int, int], other: tuple[int, int, int]) -> None:
    x = c.coordinate("xi")
    assert multiplied(c, x, one) == multiplied(c, x, other)


@pytest.mark.parametrize(("one", "other"), [((0, 0, 2), (0, 0, 0)), ((0, 1, 0), (1, 0, 0)), ((0, 0, 2), (0, 0, 1))])
def test_what_differs_at_zero_or_below_stays_apart(
    c: Calculus, one: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    x = c.coordinate("xi")
    assert multiplied(c, x, one) != multiplied(c, x, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("abs(theta)*sign(theta)", "theta"),
        ("abs(-2*theta)", "2*abs(theta)"),
        ("sign(-theta/3)", "-sign(theta)"),
        ("abs(theta - r)*sign(r - theta)", "r - theta"),
        ("abs(q)*sign(q)", "q"),
        ("sign(q)", "ones"),
        ("abs(theta + r)**3*sign(theta + r)", "(theta + r)**3"),
    ],
)
def test_formulas_in_two_ways_are_one_tensor(c: Calculus, read, one: str, other: str) -> None:
    assert c.is_zero(c.subtract(read(one, ROW, shape=VECTOR), read(other, ROW, shape=VECTOR)))


def test_the_absolute_value_of_a_sum_over_places_is_no_product_with_one_place(c: Calculus, read) -> None:
    tensor = read("abs(sum(theta))*theta*sign(theta)", ROW, shape=VECTOR)
    atoms = [atom for term in tensor.terms for atom, _ in term.factors]
    assert len([atom for atom in atoms if isinstance(atom, Applied)]) == 2


def test_the_flux_of_the_mirrored_law_vanishes(c: Calculus, read) -> None:
    """D = |x|, H = |x| - (a - 1) log|x|: D H' - D' + f = 0 with the drift f = a sign(x) - x."""
    assert c.is_zero(read("a*sign(xi) - xi + abs(xi)*(sign(xi) - (a - 1)/xi) - sign(xi)"))
    assert not c.is_zero(read("a*sign(xi) - xi + abs(xi)*(sign(xi) - (a - 1)/xi) + sign(xi)"))
