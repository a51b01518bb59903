"""Polynomials with rational coefficients, as exponents and coefficients."""

from collections.abc import Sequence
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

Monomials = tuple[tuple[tuple[int, ...], Fraction], ...]


def monomials(H: Expr, z: Sequence[Symbol]) -> Monomials | None:
    """Return the exponents and rational coefficients of a polynomial, None of anything else."""
    if not _is_polynomial(H, set(z)):
        return None
    try:
        polynomial = sympy.Poly(H, *z)
    except sympy.PolynomialError:
        return None
    found: list[tuple[tuple[int, ...], Fraction]] = []
    for exponents, coefficient in polynomial.terms():
        if not isinstance(coefficient, sympy.Rational):
            return None
        found.append((tuple(int(e) for e in exponents), Fraction(int(coefficient.p), int(coefficient.q))))
    return tuple(found)


def _is_polynomial(H: Expr, z: set[Symbol]) -> bool:
    """Whether an expression is made of coordinates by sums, products and natural powers, as written."""
    if not H.has(*z):
        return True
    match H:
        case sympy.Symbol():
            return True
        case sympy.Pow():
            return H.exp.is_Integer and H.exp > 0 and _is_polynomial(H.base, z)
        case sympy.Add() | sympy.Mul():
            return all(_is_polynomial(part, z) for part in H.args)
        case _:
            return False
