"""Positive semidefiniteness of small symmetric matrices of scalars, by signs of sums of principal minors.

A symmetric M is positive semidefinite exactly if e_k(M) >= 0 for k = 1..n, e_k the sum of its principal minors of
size k. That e_k >= 0 is shown term by term: squares, exponentials, what is declared nonnegative, what is assumed.
"""

from itertools import combinations

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.matrices import Rows, determinant, total

LARGEST = 4


def minors_nonnegative(a: Rows, assumed: tuple[Expr, ...]) -> bool:
    """Whether a symmetric matrix is shown to be positive semidefinite; `assumed` are scalars known to be >= 0."""
    n = len(a)
    if n > LARGEST:
        return False
    for k in range(1, n + 1):
        minors = [determinant(tuple(tuple(a[i][j] for j in at) for i in at)) for at in combinations(range(n), k)]
        if not is_nonnegative(total(minors), assumed):
            return False
    return True


def is_nonnegative(e: Expr, assumed: tuple[Expr, ...] = ()) -> bool:
    """Whether a scalar is shown to be >= 0: all its terms are, possibly after taking out one assumed scalar."""
    expanded = sympy.expand(e)
    return any(_terms_nonnegative(sympy.expand(expanded - q)) for q in (sympy.Integer(0), *assumed))


def _terms_nonnegative(e: Expr) -> bool:
    return all(_term_nonnegative(term) for term in sympy.Add.make_args(e))


def _term_nonnegative(term: Expr) -> bool:
    coefficient, rest = term.as_coeff_Mul(rational=True)
    return bool(coefficient >= 0) and all(_factor_nonnegative(x) for x in sympy.Mul.make_args(rest))


def _factor_nonnegative(e: Expr) -> bool:
    """Whether a factor is a square, an exponential, or declared nonnegative."""
    if isinstance(e, sympy.exp) or e == 1 or e is sympy.pi:
        return True
    if isinstance(e, (sympy.Symbol, AppliedUndef)):
        return bool(e.is_nonnegative)
    if isinstance(e, sympy.Pow):
        even = bool(e.exp.is_Integer and e.exp.is_even)
        return even or (bool(e.exp.is_Rational) and _factor_nonnegative(e.base))
    return False
