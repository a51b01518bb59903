"""Noise that reaches every direction: in linear equations, and by minors of brackets.

For dz = A z dt + sqrt(2D) dW noise reaches all of z if [D, A D, A**2 D, ...] has full rank: the columns of D are
constant fields, and so are their brackets with the linear part; Hoermander's condition is Kalman's, and one exact rank
is that of every state.

Else minors of brackets without a common zero do: at each state one of them shows that brackets span all directions.
Polynomials with rational coefficients have no common zero, real or complex, where 1 is a combination of them.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, islice

import sympy
from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics.brackets import circulation, fields, independent, never_zero
from recipe_compiler.algebra.dynamics.system import System
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.scalars import untyped
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.matrices import determinant
from recipe_compiler.algebra.scalars.rational_matrices import rank
from recipe_compiler.algebra.scalars.rationals import fraction

_Row = tuple[Fraction, ...]


def find_spanning_minors(s: System, at: Sequence[Point]) -> tuple[Expr, ...]:
    """Return minors of the columns of D and their brackets that have no common zero; nothing where none are found.

    Each is a determinant of n fields V_k, [n, n]: columns of D and brackets [X, Y]_i = sum_j (X_j d_j Y_i - Y_j d_j
    X_i). At each state one of them is not zero, so the brackets span all n directions there (Hormander 1967, Theorem
    1.1). One alone does where its terms have one sign; of polynomials with rational coefficients a Groebner basis {1}
    shows it: for `x` and `1 + x y`, 1 = (1 + x y) - y x. With H = (x**2 + r**2)/2, D = diag(0, 1) and Q = [[0, -1], [1,
    0]], b = (r, -x): (0, 1) and its bracket (1, 0) with b have the determinant -1.

    Args:
        s: the dynamics, up to 6 coordinates.
        at: points; brackets that are independent at one are tried first.
    """
    variables: set[sympy.Basic] = set()
    found: list[Expr] = []
    for minor in _list_minors(s, at) if len(s.z) <= limits.COORDINATES else ():
        if never_zero(minor):
            return (minor,)
        free: list[sympy.Basic] = sorted(minor.free_symbols, key=str)
        if not set(free) <= set(s.z) or not minor.is_polynomial(*free) or len(variables | set(free)) > limits.SIZES:
            continue
        polynomial = sympy.Poly(minor, *free)
        if polynomial.domain in {sympy.ZZ, sympy.QQ} and int(polynomial.total_degree()) <= limits.DEGREE:
            variables |= set(free)
            found.append(minor)
    ordered = sorted(found, key=lambda e: (int(e.count_ops()), str(e)))
    kept = _find_unit_combination(ordered, sorted(variables, key=str))
    return () if kept is None else tuple(kept)


def _list_minors(s: System, at: Sequence[Point]) -> Iterator[Expr]:
    """Yield nonzero determinants of brackets: of those independent at a point, then of the shortest ones."""
    n = len(s.z)
    every = sorted(fields(s), key=lambda v: (sum(int(x.count_ops()) for x in v), str(v)))
    chosen = [tuple(independent(every, place, n)) for place in at]
    chosen += islice(combinations(every[: limits.TRIALS], n), limits.CANDIDATES) if n <= limits.FEW_COORDINATES else ()
    for vectors in dict.fromkeys(chosen):
        minor = determinant(vectors) if len(vectors) == n else sympy.Integer(0)
        if minor.count_ops() < limits.TERMS and (expanded := sympy.expand(minor)) != 0:
            yield expanded


def _find_unit_combination(minors: list[Expr], variables: list[sympy.Basic]) -> list[Expr] | None:
    """Return the first minors whose ideal contains 1, so that they have no common zero."""
    ideal: list[Expr] = []
    used: list[Expr] = []
    for minor in minors:
        if not variables:
            return [minor]
        if ideal and untyped.reduced(minor, ideal, *variables, order="grevlex")[1] == 0:
            continue
        used.append(minor)
        ideal = list(untyped.groebner([*ideal, minor], *variables, order="grevlex").exprs)
        if ideal == [1]:
            return used
    return None


def compute_kalman_rank(s: System) -> int | None:
    """Return the rank of [D, A D, ..., A**(n-1) D] for a linear dz = A z dt + sqrt(2 D) dW; None if it is not linear.

    D and A are n x n matrices of rational numbers; A is the Jacobian of b = -Q grad H + div Q, the drift up to a
    combination of the columns of D. Rank n is Kalman's condition: noise reaches all directions. For A = [[0, 1], [-1,
    0]] and D = diag(0, 1) it is 2, since A D has the column (1, 0).

        >>> x, r = z = sympy.symbols("x r", real=True)
        >>> D, Q = (tuple(tuple(map(sympy.S, row)) for row in rows) for rows in (((0, 0), (0, 1)), ((0, -1), (1, 0))))
        >>> compute_kalman_rank(System(z, (x**2 + r**2) / 2, D, Q))
        2
    """
    n = len(s.z)
    D = _read_rationals(s.D)
    if n > limits.STATE or D is None:
        return None
    A = _read_rationals(tuple(tuple(slope(x, at) for at in s.z) for x in circulation(s)))
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


def _read_rationals(matrix: tuple[tuple[sympy.Expr, ...], ...]) -> tuple[_Row, ...] | None:
    """Return the entries of a matrix as rational numbers; None if one is not."""
    found: list[_Row] = []
    for row in matrix:
        values = [sympy.expand(x) for x in row]
        if not all(isinstance(x, sympy.Rational) for x in values):
            return None
        found.append(tuple(fraction(x) for x in values if isinstance(x, sympy.Rational)))
    return tuple(found)
