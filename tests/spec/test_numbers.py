"""Numbers are exact and decimal, or refused."""

from fractions import Fraction

import pytest

from recipe_compiler.spec.fields import exact


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", Fraction(1, 1000)),
        ("0.1", Fraction(1, 10)),
        ("-1/3", Fraction(-1, 3)),
        (".5", Fraction(1, 2)),
        ("2.", Fraction(2)),
        ("+7", Fraction(7)),
        ("1.5E2", Fraction(150)),
        ("1/0.5", Fraction(2)),
        ("0", Fraction(0)),
    ],
)
def test_a_number_is_read_exactly(text: str, value: Fraction) -> None:
    assert exact(text) == value


@pytest.mark.parametrize(
    "text",
    ["010", "1:30", "1_000", "0x10", "0o7", ".nan", "nan", ".inf", "inf", "true", "no", "", ".", "e3", "1e", "1/0"],
)
def test_what_means_something_else_elsewhere_is_none(text: str) -> None:
    assert exact(text) is None


@pytest.mark.parametrize(
    "text",
    ["1e999", "1e999999999", "9" * 5000, "1 2", "--1", "\u0661", "1,5", "/2", "1/"],
)
def test_what_is_out_of_bounds_or_no_number_is_none(text: str) -> None:
    assert exact(text) is None
