"""Small dense matrices of SymPy scalars: products, transposes, determinants and inverses by cofactors.

Rows are tuples. SymPy's own matrix classes are not used on the way: every operation here is scalar arithmetic that a
reader can follow.
"""

from collections.abc import Iterable
from importlib import import_module

import sympy
from flint import fmpq, fmpq_mat
from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.cofactors import adjugate, by_cofactors
from recipe_compiler.algebra.scalars.transcendentals import NO_NUMBERS, contains

import_module("sympy.tensor.tensor")  # SymPy loads it at the first sum: once here, else in each process that decides

Rows = tuple[tuple[Expr, ...], ...]

ZERO = sympy.Integer(0)


class TooLargeError(Exception):
    """A symbolic determinant beyond the size that cofactors can do."""


def total(terms: list[Expr]) -> Expr:
    """Return the sum of scalars."""
    return sympy.Add(*terms)


def dot(x: Iterable[Expr], y: Iterable[Expr]) -> Expr:
    """Return sum_i x_i y_i, leaving out products with 0.

    For a product with 0, SymPy would check of every part of the other factor whether it is finite; here the factor only
    must not contain a pole.
    """
    return total([a * b for a, b in zip(x, y, strict=True) if not (_is_zero_product(a, b) or _is_zero_product(b, a))])


def _is_zero_product(a: Expr, b: Expr) -> bool:
    """Whether a is 0, and b has a value."""
    return a is ZERO and not contains(b, *NO_NUMBERS)


def product(left: Rows, right: Rows) -> Rows:
    """Return the matrix A B, A l x m and B m x n; of many numbers by python-flint, which sums fractions faster."""
    if len(right) > limits.COORDINATES:
        a, b = numbers(left), numbers(right)
        if a is not None and b is not None:
            return written_out(a * b)
    columns = tuple(zip(*right, strict=True))
    return tuple(tuple(dot(row, column) for column in columns) for row in left)


def transpose(a: Rows) -> Rows:
    """Return A.T, m x n of n x m."""
    return tuple(zip(*a, strict=True))


def identity(n: int) -> Rows:
    """Return the n x n identity matrix."""
    return tuple(tuple(sympy.Integer(int(i == j)) for j in range(n)) for i in range(n))


def filled(rows: int, cols: int, value: int) -> Rows:
    """Return a matrix with one number everywhere."""
    return tuple(tuple(sympy.Integer(value) for _ in range(cols)) for _ in range(rows))


def determinant(a: Rows) -> Expr:
    """Return det A of an n x n matrix; of numbers by elimination.

    Raises:
        TooLargeError: a symbolic matrix beyond what cofactors can do.
    """
    exact = numbers(a)
    if exact is not None:
        return rational(exact.det())
    if len(a) > limits.COORDINATES:
        raise TooLargeError(f"determinant of a symbolic {len(a)} x {len(a)} matrix")
    return by_cofactors(a, total, sympy.Integer(1), lambda x: x == 0)


def inverse(a: Rows) -> Rows:
    """Return the n x n inverse adj(A)/det(A), of numbers by elimination; the caller must know that det A is not 0.

    Raises:
        TooLargeError: a symbolic matrix beyond what cofactors can do.
    """
    n = len(a)
    if n == 1:
        return ((1 / a[0][0],),)
    if _is_diagonal(a):
        return tuple(tuple(1 / a[i][i] if i == j else sympy.Integer(0) for j in range(n)) for i in range(n))
    exact = numbers(a)
    if exact is not None and exact.det() != 0:
        return written_out(exact.inv())
    over = 1 / determinant(a)
    return tuple(tuple(x * over for x in row) for row in adjugate(a, determinant))


def cholesky(a: Rows) -> Rows:
    """Return the lower triangular L with L L^T = A; the caller must know that A is positive definite."""
    n, found = len(a), [[sympy.Integer(0)] * len(a) for _ in a]
    for j in range(n):
        for i in range(j, n):
            rest = a[i][j] - sum(found[i][k] * found[j][k] for k in range(j))
            found[i][j] = sympy.sqrt(rest) if i == j else rest / found[j][j]
    return tuple(map(tuple, found))


def numbers(a: Rows) -> fmpq_mat | None:
    """Return a matrix of rational numbers for python-flint; None of any other."""
    flat = [x for row in a for x in row]
    exact = [fmpq(int(x.p), int(x.q)) for x in flat if isinstance(x, sympy.Rational)]
    return fmpq_mat(len(a), len(a[0]) if a else 0, exact) if len(exact) == len(flat) else None


def written_out(a: fmpq_mat) -> Rows:
    """Return a matrix of python-flint as rows."""
    return tuple(tuple(rational(x) for x in row) for row in a.tolist())


def rational(x: fmpq) -> Expr:
    """Return a number of python-flint as one of SymPy's."""
    return sympy.Rational(int(x.p), int(x.q))


def kronecker(a: Rows, b: Rows) -> Rows:
    """Return the Kronecker product A x B, (k m) x (l n) of k x l and m x n: blocks a_ij B."""
    return tuple(tuple(x * y for x in row for y in other) for row in a for other in b)


def add(terms: tuple[Rows, ...]) -> Rows:
    """Return the sum of matrices of one shape."""
    if len(terms) == 1:
        return terms[0]
    return tuple(tuple(total(list(entry)) for entry in zip(*lines, strict=True)) for lines in zip(*terms, strict=True))


def _is_diagonal(a: Rows) -> bool:
    """Whether all entries off the diagonal are zero as written."""
    return all(x == 0 for i, row in enumerate(a) for j, x in enumerate(row) if i != j)
