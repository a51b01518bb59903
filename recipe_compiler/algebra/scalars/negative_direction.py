"""An exact direction in which a symmetric matrix of rationals is negative, or that there is none; determinants."""

from fractions import Fraction
from functools import lru_cache
from math import lcm

from flint import fmpq, fmpz_mat

from recipe_compiler.algebra.scalars.nullspace import fraction, matrix

REMEMBERED = 16
"""Matrices of which it is remembered: several claims ask about the same ones."""

Matrix = tuple[tuple[Fraction, ...], ...]
Column = tuple[Fraction, ...]

ELIMINATED = 8
"""Rows up to which one elimination gives the direction; of more, the characteristic polynomial says whether to look."""
BITS = 40
"""Binary digits of a direction that floats propose."""


def negative_direction(a: Matrix) -> Column | None:
    """Return v with v.T a v < 0 for a symmetric matrix, None if it is positive semidefinite. Exact, complete."""
    if len(a) <= ELIMINATED:
        return _eliminated(a)
    if is_semidefinite(a):
        return None
    proposed = _proposed(a)
    return proposed if proposed is not None and form(a, proposed) < 0 else _eliminated(a)


@lru_cache(maxsize=REMEMBERED)
def is_semidefinite(a: Matrix | tuple[tuple[fmpq, ...], ...]) -> bool:
    """Whether a symmetric matrix is positive semidefinite: the signs of its characteristic polynomial alternate.

    All its roots are real, and none is negative if and only if all their elementary symmetric functions are >= 0.
    """
    n = len(a)
    coefficients = _whole(a).charpoly().coeffs()
    return all((-1) ** (n - k) * c >= 0 for k, c in enumerate(coefficients))


def determinant(a: Matrix) -> Fraction:
    """Return the determinant of a square matrix."""
    return fraction(matrix(a, len(a)).det())


def form(a: Matrix, v: Column) -> Fraction:
    """Return v.T a v."""
    image = (sum((x * y for x, y in zip(row, v, strict=True) if x and y), Fraction(0)) for row in a)
    return sum((x * y for x, y in zip(v, image, strict=True)), Fraction(0))


def _eliminated(a: Matrix) -> Column | None:
    """Pivot on a positive diagonal entry and go on with the Schur complement s.

    A direction w of s lifts to v with the same value. A zero pivot with something beside it is indefinite on the spot.
    """
    n = len(a)
    for i in range(n):
        if a[i][i] < 0:
            return _unit(n, i)
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
    w = _eliminated(schur)
    if w is None:
        return None
    found = dict(zip(rest, w, strict=True))
    found[pivot] = -sum((share[i] * found[i] for i in rest), Fraction(0))
    return tuple(found[i] for i in range(n))


def _proposed(a: Matrix) -> Column | None:
    """Return a rational vector near the eigenvector of the least eigenvalue, a unit vector where one will do."""
    below = next((i for i in range(len(a)) if a[i][i] < 0), None)
    if below is not None:
        return _unit(len(a), below)
    import numpy as np  # most proofs need no floats

    try:
        vectors = np.linalg.eigh(np.array([[float(x) for x in row] for row in a]))[1]
    except (OverflowError, np.linalg.LinAlgError):
        return None
    return tuple(Fraction(round(float(x) * 2**BITS), 2**BITS) for x in vectors[:, 0])


def _whole(a: Matrix | tuple[tuple[fmpq, ...], ...]) -> fmpz_mat:
    """Return a positive multiple of a matrix in whole numbers."""
    common = lcm(*(x.denominator for row in a for x in row))
    return fmpz_mat([[x.numerator * (common // x.denominator) for x in row] for row in a])


def _unit(n: int, i: int) -> Column:
    return tuple(Fraction(int(k == i)) for k in range(n))
