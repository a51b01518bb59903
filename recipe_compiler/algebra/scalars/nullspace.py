"""Matrices of rational numbers by python-flint: reduced rows, rank, and the vectors they send to zero. Exact."""

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

Row = tuple[Fraction, ...]


def nullspace(rows: tuple[Row, ...], width: int) -> tuple[Row, ...]:
    """Return a basis of the vectors v of a given width with `row . v = 0` for every row."""
    return tuple(tuple(fraction(x) for x in v) for v in null_vectors(matrix(rows, width)))


def null_vectors(a: fmpq_mat) -> list[list[fmpq]]:
    """Return a basis of the vectors v with a v = 0: one for each column without a leading one, in their order."""
    reduced, pivots = echelon(a)
    n = range(a.ncols())
    found: list[list[fmpq]] = []
    for free in (k for k in n if k not in pivots):
        v = [fmpq(int(k == free)) for k in n]
        for row, pivot in enumerate(pivots):
            v[pivot] = -reduced[row, free]
        found.append(v)
    return found


def rank(rows: tuple[Row, ...], width: int) -> int:
    """Return how many rows are linearly independent."""
    return matrix(rows, width).rref()[1]


def echelon(a: fmpq_mat) -> tuple[fmpq_mat, list[int]]:
    """Return the reduced rows, and the columns of their leading ones."""
    reduced, count = a.rref()
    return reduced, [next(k for k in range(a.ncols()) if reduced[row, k] != 0) for row in range(count)]


def matrix(rows: Sequence[Sequence[Fraction]], width: int) -> fmpq_mat:
    """Return rows of a given width as python-flint's matrix."""
    return fmpq_mat(len(rows), width, [fmpq(x.numerator, x.denominator) for row in rows for x in row])


def fraction(x: fmpq) -> Fraction:
    """Return a number of python-flint as one of Python's."""
    return Fraction(int(x.p), int(x.q))
