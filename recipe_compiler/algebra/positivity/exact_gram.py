"""From a floating-point Gram matrix to an exact one: round, project onto the system exactly, check."""

from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat

from recipe_compiler.algebra.positivity.sos_system import System
from recipe_compiler.algebra.scalars.negative_direction import is_semidefinite
from recipe_compiler.algebra.scalars.nullspace import echelon, null_vectors

BITS = (3, 8, 14, 20, 27)
"""Binary digits kept, tried in turn: the fewest that do make the shortest certificate."""
LARGEST_PROJECTION = 220
"""Rows of a system whose projection is computed where unknowns occur in several rows."""

Gram = tuple[tuple[fmpq, ...], ...]


def exact(found: System, near: list[np.ndarray]) -> tuple[Gram, ...] | None:
    """Return positive semidefinite Gram matrices that solve the system exactly, near given ones; None without any."""
    for bits in BITS:
        q = [fmpq(round(float(near[n][i, j]) * 2**bits), 2**bits) for n, i, j in found.unknowns]
        solved = _projected(found, q)
        if solved is None:
            return None
        grams = _matrices(found, solved)
        if all(is_semidefinite(gram) for gram in grams):
            return grams
    return None


def kernel(near: np.ndarray, tolerance: float, largest: int = 24) -> list[list[fmpq]] | None:
    """Return simple rational vectors that span the near-kernel of a matrix; None if it is none, or has no simple ones.

    The reduced echelon form of the near-kernel has simple entries where the exact one has.
    """
    if not len(near):
        return None
    values, vectors = np.linalg.eigh(near)
    scale = max(1.0, float(abs(values).max()))
    basis = [vectors[:, k].copy() for k in range(len(values)) if abs(values[k]) < tolerance * scale]
    if not basis or len(basis) == len(near):
        return None
    rows = np.array(basis)
    pivots: list[int] = []
    for r in range(len(rows)):
        masked = abs(rows[r:]).copy()
        masked[:, pivots] = 0
        i, j = np.unravel_index(int(masked.argmax()), masked.shape)
        rows[[r, r + int(i)]] = rows[[r + int(i), r]]
        rows[r] /= rows[r, j]
        for other in range(len(rows)):
            if other != r:
                rows[other] -= rows[other, j] * rows[r]
        pivots.append(int(j))
    simple = [[Fraction(float(x)).limit_denominator(largest) for x in row] for row in rows]
    off = max(
        abs(float(s) - float(x)) for row, line in zip(simple, rows, strict=True) for s, x in zip(row, line, strict=True)
    )
    return None if off > 1e-2 else [[fmpq(s.numerator, s.denominator) for s in row] for row in simple]


def complement(rows: list[list[fmpq]]) -> list[list[fmpq]]:
    """Return a rational basis of the vectors orthogonal to all rows."""
    return null_vectors(fmpq_mat(rows))


def _projected(found: System, q: list[fmpq]) -> list[fmpq] | None:
    """Return the nearest exact solution of the system (least squares); None if it has none or is too large."""
    left = [b - sum((c * q[k] for k, c in row.items()), fmpq(0)) for row, b in zip(found.rows, found.b, strict=True)]
    uses: dict[int, int] = {}
    for row in found.rows:
        for k in row:
            uses[k] = uses.get(k, 0) + 1
    if all(n == 1 for n in uses.values()):
        for row, missing in zip(found.rows, left, strict=True):
            norm = sum((c * c for c in row.values()), fmpq(0))
            for k, c in row.items():
                q[k] += missing * c / norm
        return q
    if len(found.rows) > LARGEST_PROJECTION:
        return None
    y = _solved(found.rows, left)
    if y is None:
        return None
    for row, weight in zip(found.rows, y, strict=True):
        for k, c in row.items():
            q[k] += weight * c
    return q


def _solved(rows: tuple[dict[int, fmpq], ...], left: list[fmpq]) -> list[fmpq] | None:
    """Return a solution y of (A A.T) y = left, None if there is none."""
    n = len(rows)
    columns: dict[int, list[tuple[int, fmpq]]] = {}
    for i, row in enumerate(rows):
        for k, c in row.items():
            columns.setdefault(k, []).append((i, c))
    table = [[fmpq(0)] * (n + 1) for _ in range(n)]
    for column in columns.values():
        for i, c in column:
            for j, d in column:
                table[i][j] += c * d
    for i, missing in enumerate(left):
        table[i][n] = missing
    reduced, pivots = echelon(fmpq_mat(table))
    if n in pivots:
        return None
    y = [fmpq(0)] * n
    for row, pivot in enumerate(pivots):
        y[pivot] = reduced[row, n]
    return y


def _matrices(found: System, q: list[fmpq]) -> tuple[Gram, ...]:
    tables = [[[fmpq(0)] * len(basis) for _ in basis] for basis in found.bases]
    for (n, i, j), value in zip(found.unknowns, q, strict=True):
        tables[n][i][j] = tables[n][j][i] = value
    return tuple(tuple(tuple(row) for row in table) for table in tables)
