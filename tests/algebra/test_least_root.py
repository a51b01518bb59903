"""Least positive roots of polynomials: exact where they can be, enclosed on the side that is asked for."""

from fractions import Fraction

import pytest

from recipe_compiler.algebra.zero.zeros_on_line import least_positive_root


@pytest.mark.parametrize(
    ("coefficients", "written"),
    [
        ((-2, 3), "2/3"), ((2, -5, 1), "5/2 - sqrt(17)/2"), ((-6, 11, -6, 1), "1"), ((4, -4, 1), "2"),
        ((-2, 0, 0, 1), "the least positive root of eps**3 - 2"), ((0, -3, 1), "3"),
    ],
)  # fmt: skip
def test_roots_are_written_exactly(coefficients: tuple[int, ...], written: str) -> None:
    assert str(least_positive_root(coefficients)) == written


@pytest.mark.parametrize("coefficients", [(1, 1), (1, 0, 1), (2, 3, 1), (5,)])
def test_some_have_none(coefficients: tuple[int, ...]) -> None:
    assert least_positive_root(coefficients) is None


def test_roots_that_nearly_meet_are_told_apart() -> None:
    """One is rational, the other the square root of 2 within 1e-40."""
    near = Fraction(14142135623730950488016887242096980785697, 10**40)
    n, d = near.numerator, near.denominator
    product = (2 * n, -2 * d, -n, d)  # (d x - n)(x**2 - 2)
    found = least_positive_root(product)
    assert found is not None
    assert (found.exact is None) is (near**2 > 2)


def test_decimals_stay_on_the_side_of_what_they_are_compared_to() -> None:
    root = least_positive_root((-2, 0, 1))
    assert root is not None
    close = Fraction(14142135623730950488016887242096, 10**31)
    below, above = root.decimals(close)
    assert close <= Fraction(below) < Fraction(above)
    assert Fraction(below) ** 2 < 2 < Fraction(above) ** 2
