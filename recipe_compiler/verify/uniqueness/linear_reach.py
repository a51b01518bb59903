"""Linear equations dz = A z dt + sqrt(2D) dW: noise reaches all of z if [D, A D, A**2 D, ...] has full rank.

The columns of D are then constant fields, and so are their brackets with the linear part: Hoermander's condition is
Kalman's, and one exact rank is that of every state.
"""

from fractions import Fraction

import sympy

from recipe_compiler.algebra.dynamics.brackets import circulation
from recipe_compiler.algebra.dynamics.system import System
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.nullspace import rank

LARGEST = 40
"""Coordinates up to which the rank is found."""

_Row = tuple[Fraction, ...]


def reached(s: System) -> int | None:
    """Return how many directions noise reaches in a linear equation with numbers; None of any other."""
    n = len(s.z)
    D = _numbers(s.D)
    if n > LARGEST or D is None:
        return None
    A = _numbers(tuple(tuple(slope(x, at) for at in s.z) for x in circulation(s)))
    if A is None:
        return None
    fresh = [row for row in zip(*D, strict=True) if any(row)]
    found: tuple[_Row, ...] = ()
    while fresh:
        news: list[_Row] = []
        for v in fresh:
            if rank((*found, v), n) > len(found):
                found = (*found, v)
                news.append(v)
        fresh = [tuple(sum((a * x for a, x in zip(row, v, strict=True)), Fraction(0)) for row in A) for v in news]
    return len(found)


def _numbers(matrix: tuple[tuple[sympy.Expr, ...], ...]) -> tuple[_Row, ...] | None:
    """Return the entries of a matrix as rational numbers; None if one is not."""
    found: list[_Row] = []
    for row in matrix:
        values = [sympy.expand(x) for x in row]
        if not all(isinstance(x, sympy.Rational) for x in values):
            return None
        found.append(tuple(Fraction(int(x.p), int(x.q)) for x in values if isinstance(x, sympy.Rational)))
    return tuple(found)
