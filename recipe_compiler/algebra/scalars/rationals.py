"""Exact numbers, as Python's fractions and as SymPy's rationals."""

from fractions import Fraction

import sympy
from sympy import Expr


def rational(value: Fraction) -> Expr:
    """Return a fraction as a SymPy number."""
    return sympy.Rational(value.numerator, value.denominator)


def fraction(value: sympy.Rational) -> Fraction:
    """Return a SymPy number as a fraction."""
    return Fraction(int(value.p), int(value.q))
