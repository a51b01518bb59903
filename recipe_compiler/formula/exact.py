"""Python's numbers made exact."""

from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Rational

from recipe_compiler.formula import tree
from recipe_compiler.formula.declared import refusal

MOST_PLACES = 400
"""Places of a Decimal before or after its point."""


def exact(number: object) -> Fraction | None:
    """Return an exact ratio; a float is the decimal it is printed as (0.1 is 1/10). None for what is no number.

    Raises SpecError for nan, the infinities, and a Decimal of more than 400 places.
    """
    if isinstance(number, bool):
        return None
    if isinstance(number, Integral):
        return Fraction(int(number))
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if isinstance(number, float | Decimal):
        if not isfinite(number):
            raise refusal(f"found {number}, which is not a number", "formulas are finite everywhere on their domain")
        if isinstance(number, float):
            return Fraction(repr(float(number)))
        if abs(number.adjusted()) > MOST_PLACES:
            raise refusal(f"found {number}, expected a number of at most {MOST_PLACES} places")
        return Fraction(number)
    return None


def literal(value: Fraction) -> tree.Tree:
    """Return the tree of a number; literals themselves have no sign."""
    return tree.Negate(tree.Literal(-value)) if value < 0 else tree.Literal(value)
