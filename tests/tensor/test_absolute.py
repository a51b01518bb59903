"""Absolute values, signs and their arguments: one form for products that are equal, at zero too."""

from fractions import Fraction
from itertools import product

import pytest

from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.scalars import scalarise
from recipe_compiler.tensor.terms import Coordinate, Tensor

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


@pytest.mark.parametrize("a", WHOLE)
def test_a_product_keeps_its_value_wherever_it_is_defined(c: Calculus, a: int) -> None:
    for exponents in product((a,), WHOLE, WHOLE):
        tensor = multiplied(c, c.coordinate("xi"), exponents)
        for x in (Fraction(-2), Fraction(0), Fraction(3, 5)):
            expected = value(x, exponents)
            assert expected is None or at(tensor, x) == expected, exponents


EQUAL = [
    ((1, 0, 1), (0, 1, 0)), ((0, 1, 1), (1, 0, 0)), ((2, -1, 0), (0, 1, 0)), ((1, -1, 0), (0, 0, 1)),
    ((0, 3, 1), (3, 0, 0)), ((0, 2, 1), (1, 1, 0)), ((2, 0, 1), (1, 1, 0)), ((0, 0, 3), (0, 0, 1)),
    ((-1, 0, 1), (0, -1, 0)),
]  # fmt: skip
DIFFERENT = [((0, 0, 2), (0, 0, 0)), ((0, 1, 0), (1, 0, 0)), ((0, 0, 2), (0, 0, 1))]
"""At zero, or below."""


@pytest.mark.parametrize(("one", "other"), [*EQUAL, *DIFFERENT])
def test_equal_products_have_one_form_and_others_do_not(
    c: Calculus, one: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    x = c.coordinate("xi")
    assert (multiplied(c, x, one) == multiplied(c, x, other)) is ((one, other) in EQUAL)
