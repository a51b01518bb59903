"""An exact direction in which a symmetric matrix of rationals is negative, by elimination."""

from fractions import Fraction

Matrix = tuple[tuple[Fraction, ...], ...]
Column = tuple[Fraction, ...]


def negative_direction(a: Matrix) -> Column | None:
    """Return v with v.T a v < 0 for a symmetric matrix, None if it is positive semidefinite. Exact, complete.

    Pivot on a positive diagonal entry and go on with the Schur complement s; a direction w of s lifts to v with the
    same value. A zero pivot with something beside it is indefinite on the spot.
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
    w = negative_direction(schur)
    if w is None:
        return None
    found = dict(zip(rest, w, strict=True))
    found[pivot] = -sum((share[i] * found[i] for i in rest), Fraction(0))
    return tuple(found[i] for i in range(n))


def form(a: Matrix, v: Column) -> Fraction:
    """Return v.T a v."""
    return sum((v[i] * a[i][j] * v[j] for i in range(len(v)) for j in range(len(v))), Fraction(0))


def _unit(n: int, i: int) -> Column:
    return tuple(Fraction(int(k == i)) for k in range(n))
