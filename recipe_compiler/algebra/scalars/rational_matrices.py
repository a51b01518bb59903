"""Matrices of rational numbers, exactly: rank, null space, determinant, a direction in which one is negative, kinds.

python-flint does the elimination. A symmetric A is positive semidefinite or has a rational v with v.T A v < 0.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm

from flint import fmpq, fmpq_mat, fmpz_mat

from recipe_compiler import limits
from recipe_compiler.formula.shapes import SIGNS, Kind, Shape

Matrix = tuple[tuple[Fraction, ...], ...]
Column = tuple[Fraction, ...]
BITS = 40
"""Binary digits of a direction that floats propose."""

Row = tuple[Fraction, ...]
Numbers = tuple[tuple[Fraction, ...], ...]


def negative_direction(a: Matrix) -> Column | None:
    """Return v with v.T a v < 0 for a symmetric n x n matrix of rationals, None if it is positive semidefinite.

    Exact and complete: of [[1, 2], [2, 1]], with eigenvalues 3 and -1, elimination pivots on 1, the Schur complement is
    1 - 2*2 = -3, and its direction (1) lifts to v = (-2, 1) with v.T a v = 4 - 8 + 1 = -3.

        >>> negative_direction(((Fraction(1), Fraction(2)), (Fraction(2), Fraction(1))))
        (Fraction(-2, 1), Fraction(1, 1))
    """
    if len(a) <= limits.COORDINATES:
        return _negative_direction_by_elimination(a)
    if is_semidefinite(a):
        return None
    proposed = _propose_direction(a)
    return proposed if proposed is not None and form(a, proposed) < 0 else _negative_direction_by_elimination(a)


@lru_cache(maxsize=limits.SUBJECTS)
def is_semidefinite(a: Matrix | tuple[tuple[fmpq, ...], ...]) -> bool:
    """Whether a symmetric matrix of rationals, [n, n], is positive semidefinite, by its characteristic polynomial.

    With det(t I - A) = sum_k c_k t**k it is if and only if (-1)**(n - k) c_k >= 0 for all k: these are the elementary
    symmetric functions of the eigenvalues, which are real. diag(0, -1) has t**2 + t and is not, though its leading
    minors are 0, 0.

        >>> is_semidefinite(((Fraction(0), Fraction(0)), (Fraction(0), Fraction(-1))))
        False
    """
    n = len(a)
    coefficients = _scale_to_integers(a).charpoly().coeffs()
    return all((-1) ** (n - k) * c >= 0 for k, c in enumerate(coefficients))


def determinant(a: Matrix) -> Fraction:
    """Return det A of an n x n matrix of fractions."""
    return fraction(matrix(a, len(a)).det())


def form(a: Matrix, v: Column) -> Fraction:
    """Return v.T A v of an n x n matrix and n numbers."""
    image = (sum((x * y for x, y in zip(row, v, strict=True) if x and y), Fraction(0)) for row in a)
    return sum((x * y for x, y in zip(v, image, strict=True)), Fraction(0))


def _negative_direction_by_elimination(a: Matrix) -> Column | None:
    """Return v with v.T A v < 0 by pivoting on a positive diagonal entry and the Schur complement.

    A direction w of s lifts to v with the same value. A zero pivot with something beside it is indefinite on the spot.
    """
    n = len(a)
    for i in range(n):
        if a[i][i] < 0:
            return _unit_vector(n, i)
    for i in range(n):
        for j in range(n):
            if a[i][i] == 0 and a[i][j] != 0:
                # (x e_i + e_j): 2 x a_ij + a_jj < 0 for x of the right sign and size
                x = -(a[j][j] + 1) / a[i][j]
                return tuple(x if k == i else Fraction(int(k == j)) for k in range(n))
    pivot = next((i for i in range(n) if a[i][i] > 0), None)
    if pivot is None:
        return None
    rest = [i for i in range(n) if i != pivot]
    share = {i: a[pivot][i] / a[pivot][pivot] for i in rest}
    schur = tuple(tuple(a[i][j] - share[i] * a[pivot][j] for j in rest) for i in rest)
    w = _negative_direction_by_elimination(schur)
    if w is None:
        return None
    found = dict(zip(rest, w, strict=True))
    found[pivot] = -sum((share[i] * found[i] for i in rest), Fraction(0))
    return tuple(found[i] for i in range(n))


def _propose_direction(a: Matrix) -> Column | None:
    """Return a rational vector near the eigenvector of the least eigenvalue, or a unit vector that suffices."""
    below = next((i for i in range(len(a)) if a[i][i] < 0), None)
    if below is not None:
        return _unit_vector(len(a), below)
    import numpy as np  # most proofs need no floats

    try:
        vectors = np.linalg.eigh(np.array([[float(x) for x in row] for row in a]))[1]
    except (OverflowError, np.linalg.LinAlgError):
        return None
    return tuple(Fraction(round(float(x) * 2**BITS), 2**BITS) for x in vectors[:, 0])


def _scale_to_integers(a: Matrix | tuple[tuple[fmpq, ...], ...]) -> fmpz_mat:
    """Return a positive multiple of a matrix in whole numbers."""
    common = lcm(*(x.denominator for row in a for x in row))
    return fmpz_mat([[x.numerator * (common // x.denominator) for x in row] for row in a])


def _unit_vector(n: int, i: int) -> Column:
    """Return the i-th unit vector of length n."""
    return tuple(Fraction(int(k == i)) for k in range(n))


def nullspace(rows: tuple[Row, ...], width: int) -> tuple[Row, ...]:
    """Return a basis of the vectors v of a given width with `row . v = 0` for every row."""
    return tuple(tuple(fraction(x) for x in v) for v in null_vectors(matrix(rows, width)))


def null_vectors(a: fmpq_mat) -> list[list[fmpq]]:
    """Return a basis of the vectors v with a v = 0, one for each column without a pivot, in their order."""
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
    """Return the rank of rows of `width` numbers each."""
    return matrix(rows, width).rref()[1]


def echelon(a: fmpq_mat) -> tuple[fmpq_mat, list[int]]:
    """Return the reduced row echelon form, and the columns of its pivots."""
    reduced, count = a.rref()
    return reduced, [next(k for k in range(a.ncols()) if reduced[row, k] != 0) for row in range(count)]


def matrix(rows: Sequence[Sequence[Fraction]], width: int) -> fmpq_mat:
    """Return rows of a given width as python-flint's matrix."""
    return fmpq_mat(len(rows), width, [fmpq(x.numerator, x.denominator) for row in rows for x in row])


def fraction(x: fmpq) -> Fraction:
    """Return a number of python-flint as one of Python's."""
    return Fraction(int(x.p), int(x.q))


@lru_cache(maxsize=limits.SUBJECTS)
def kinds_shown(numbers: Numbers, shape: Shape) -> tuple[Kind, ...]:
    """Return the kinds that a matrix or vector of numbers has, each as narrow as possible.

    [[2, 1], [1, 1]] is positive definite, [[0, 1], [-1, 0]] skew, diag(1, 0) diagonal, nonnegative and semidefinite.
    """
    if len(shape.sizes) < 2 or len(numbers) != len(numbers[0]):
        return _first_kind_satisfied(numbers, SIGNS) or (Kind.REAL,)
    if not violates_exactly(numbers, Kind.DIAGONAL):
        diagonal = diagonal_of(numbers)
        definite = _first_kind_satisfied(numbers, (Kind.PD, Kind.PSD))
        return (Kind.DIAGONAL, *_first_kind_satisfied(diagonal, SIGNS), *definite)
    if not violates_exactly(numbers, Kind.SKEW):
        return (Kind.SKEW,)
    if not violates_exactly(numbers, Kind.SYMMETRIC):
        return _first_kind_satisfied(numbers, (Kind.PD, Kind.PSD, Kind.SYMMETRIC))
    return _first_kind_satisfied(numbers, (Kind.POSITIVE, Kind.NONNEGATIVE)) or (Kind.REAL,)


_ENTRY_HAS: Mapping[Kind, Callable[[Numbers, int, int], bool]] = {
    Kind.REAL: lambda a, i, j: True,
    Kind.POSITIVE: lambda a, i, j: a[i][j] > 0,
    Kind.NONNEGATIVE: lambda a, i, j: a[i][j] >= 0,
    Kind.NONZERO: lambda a, i, j: a[i][j] != 0,
    Kind.INTEGER: lambda a, i, j: a[i][j].denominator == 1,
    Kind.DIAGONAL: lambda a, i, j: i == j or not a[i][j],
    Kind.SKEW: lambda a, i, j: a[i][j] == -a[j][i],
}
"""What a kind says of an entry; kinds that are left out say that a matrix is symmetric."""


def offending_entry(numbers: Numbers, kind: Kind) -> tuple[int, int] | None:
    """Return the first entry that shows that numbers do not have a kind; None if no single one does."""
    has = _ENTRY_HAS.get(kind, lambda a, i, j: a[i][j] == a[j][i])
    entries = ((i, j) for i, row in enumerate(numbers) for j in range(len(row)))
    return next(((i, j) for i, j in entries if not has(numbers, i, j)), None)


def violates_exactly(numbers: Numbers, kind: Kind) -> bool:
    """Whether numbers do not have a kind: exact, as the numbers are rational."""
    if offending_entry(numbers, kind) is not None:
        return True
    is_negative = kind in (Kind.PSD, Kind.PD) and negative_direction(numbers) is not None
    return is_negative or (kind is Kind.PD and determinant(numbers) == 0)


def diagonal_of(numbers: Numbers) -> Numbers:
    """Return the diagonal of a square matrix as a column."""
    return tuple((row[k],) for k, row in enumerate(numbers))


def _first_kind_satisfied(numbers: Numbers, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """Return the first of some kinds that a matrix satisfies, in a tuple of one; empty if it satisfies none."""
    return next(((kind,) for kind in kinds if not violates_exactly(numbers, kind)), ())
