"""Ranks of columns of data: doubles propose pivots, an exact minor that is not zero proves independence.

What is independent by rounding alone is not used: where the data lie on a line as they are written, doubles lie beside
it.
"""

from collections.abc import Sequence
from itertools import combinations
from math import ceil, comb, log2
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat
from scipy.linalg import qr

from recipe_compiler import limits
from recipe_compiler.verify.from_data.columns import CLEAR, fill_column

Matrix = list[list[Any]]
"""Rows of exact numbers."""


def stack_columns(columns: Sequence[Any], count: int) -> Matrix:
    """Return columns as rows."""
    return [list(row) for row in zip(*(fill_column(column, count) for column in columns), strict=True)]


def scale_to_doubles(rows: Matrix, width: int, last: float = 0.0) -> Any:
    """Return rows as doubles, each column over a power of two of its size, that of the last one at least `last`."""
    found = np.array([[float(x) for x in row] for row in rows], dtype=float).reshape(len(rows), width)
    sizes = np.abs(found).max(axis=0, initial=0.0)
    sizes[width - 1 :] = np.maximum(sizes[width - 1 :], last)
    return found / np.array([2.0 ** round(log2(x)) if x > 0 else 1.0 for x in sizes])


def find_pivots(rows: Matrix, width: int, clear: float = CLEAR, last: float = 0.0) -> list[int]:
    """Return rows that are clearly independent, as many as are found in doubles."""
    if not rows or not width:
        return []
    return _find_pivot_columns(scale_to_doubles(rows, width, last).T, clear)


def _find_pivot_columns(columns: Any, clear: float) -> list[int]:
    """Return columns of doubles that are independent beyond rounding."""
    _, triangle, order = qr(columns, pivoting=True, mode="economic")
    sizes = np.abs(np.diag(triangle))
    return sorted(int(k) for k, size in zip(order, sizes, strict=False) if size > clear * max(sizes[0], 1e-300))


def are_independent(rows: Matrix, width: int, clear: float = CLEAR, last: float = 0.0) -> bool:
    """Whether columns are linearly independent: a minor of pivots is not zero, in balls.

    Args:
        rows: A: [N, width].
        width: the number of columns.
        clear: what pivots are at least, relatively; less may be rounding.
        last: the size of what the last column is a difference of.
    """
    chosen = find_pivots(rows, width, clear, last)
    if len(chosen) < width:
        return False
    before, ctx.prec = ctx.prec, limits.BITS
    try:
        minor = arb_mat(width, width, [arb(x) for k in chosen for x in rows[k]])
        return bool(minor.det() != 0)
    finally:
        ctx.prec = before


def select_independent_columns(columns: Sequence[Any], count: int, clear: float = CLEAR) -> list[Any] | None:
    """Return columns that span all of some, and are linearly independent; None where that is not certain."""
    if not columns:
        return []
    rows = stack_columns(columns, count)
    chosen = _find_pivot_columns(scale_to_doubles(rows, len(columns)), clear) if rows else []
    kept = [columns[k] for k in chosen]
    if not chosen:
        return [] if all(x == 0 for line in rows for x in line) else None
    if not are_independent(stack_columns(kept, count), len(kept), clear):
        return None
    dropped = [columns[k] for k in range(len(columns)) if k not in chosen]
    dependent = all(find_null_vector(stack_columns([*kept, one], count), len(kept) + 1) is not None for one in dropped)
    return kept if dependent else None


def find_null_vector(rows: Matrix, width: int) -> list[fmpq] | None:
    """Return v != 0 with A v = 0 for rational rows A: [N, width], exactly; None where none is found."""
    if not all(isinstance(x, fmpq) for row in rows for x in row) or width == 0:
        return None
    chosen = find_pivots(rows, width)
    if len(chosen) == width:
        return None
    reduced, rank = fmpq_mat(len(chosen), width, [x for k in chosen for x in rows[k]]).rref()
    leads = [next(k for k in range(width) if reduced[row, k] != 0) for row in range(rank)]
    free = next(k for k in range(width) if k not in leads)
    v = [fmpq(0)] * width
    v[free] = fmpq(1)
    for row, k in enumerate(leads):
        v[k] = -reduced[row, free]
    return v if all(sum((x * y for x, y in zip(row, v, strict=True)), fmpq(0)) == 0 for row in rows) else None


def count_nonzero_rows(rows: Matrix, width: int, clear: float = CLEAR) -> int:
    """Return a number of rational rows [a c] at least that many of which have a . theta + c != 0 at every theta.

    Those that vanish together do so where independent ones do, of which all sets are gone through; of many rows those
    of each of some parts. What is 0 but for rounding counts as 0.
    """
    length = width
    while length < len(rows) and len(rows) * comb(length + 1, width - 1) <= limits.DATA:
        length += 1
    count = ceil(len(rows) / length)
    return sum(len(part) - _count_zeros(part, width - 1, clear) for part in (rows[k::count] for k in range(count)))


def _count_zeros(rows: Matrix, rank: int, clear: float) -> int:
    """Return the largest number of rows that vanish at one point; all rows where that is not known."""
    if not all(isinstance(x, fmpq) for row in rows for x in row):
        return len(rows)
    forms = fmpq_mat(len(rows), rank + 1, [x for row in rows for x in row])
    near, found = clear * max(abs(float(row[-1])) for row in rows), list[int]()
    for own in combinations(rows, rank):
        some = fmpq_mat(rank + 1, rank + 1, [x for row in own for x in row] + [fmpq(0)] * rank + [fmpq(1)])
        if some.det() != 0:
            at = some.solve(fmpq_mat(rank + 1, 1, [fmpq(0)] * rank + [fmpq(1)]))
            found.append(sum(abs(float(x)) <= near for x in (forms * at).entries()))
    return max(found, default=len(rows))


def are_apart(rows: Matrix, width: int, clear: float = CLEAR) -> bool:
    """Whether residuals [a c] that vanish at one theta have independent a, nearly; False of more than are looked at.

    With two unknowns left of those of the first rows, those of all others differ: no sets of `width` rows are made.
    Points (u, v) of which no three are on a line are rows [1 u v], and [1 v u], that are apart.
    """
    if len(rows) * comb(len(rows), max(width - 2, 0)) > limits.DATA:
        return False
    return _has_rows_apart(scale_to_doubles(rows, width), clear)


def _has_rows_apart(rows: Any, clear: float) -> bool:
    sizes = np.abs(rows).max(axis=1, initial=0.0)
    if (sizes <= clear).any():
        return False
    rows = (rows / sizes[:, None])[np.abs(rows[:, :-1]).max(axis=1, initial=0.0) > clear * sizes]
    if rows.shape[1] <= 2:
        return bool((np.diff(np.sort(np.arctan(rows[:, -1] / rows[:, 0]))) > clear).all())
    for k, row in enumerate(rows[:-1]):
        j = np.abs(row[:-1]).argmax()
        left = rows[k + 1 :] - np.outer(rows[k + 1 :, j] / row[j], row)
        if not _has_rows_apart(np.delete(left, j, axis=1), clear):
            return False
    return True
