"""Vectors that a matrix of rationals sends to zero, by elimination. Exact, complete."""

from fractions import Fraction

Row = tuple[Fraction, ...]


def nullspace(rows: tuple[Row, ...], width: int) -> tuple[Row, ...]:
    """Return a basis of the vectors v of a given width with `row . v = 0` for every row."""
    reduced, pivots = echelon(rows, width)
    free = [k for k in range(width) if k not in pivots]
    found: list[Row] = []
    for k in free:
        v = [Fraction(int(j == k)) for j in range(width)]
        for row, pivot in zip(reduced, pivots, strict=True):
            v[pivot] = -row[k]
        found.append(tuple(v))
    return tuple(found)


def rank(rows: tuple[Row, ...], width: int) -> int:
    """Return how many rows are linearly independent."""
    return len(echelon(rows, width)[1])


def echelon(rows: tuple[Row, ...], width: int) -> tuple[list[list[Fraction]], list[int]]:
    """Return the reduced rows, and the columns of their leading ones."""
    left = [list(row) for row in rows]
    reduced: list[list[Fraction]] = []
    pivots: list[int] = []
    for column in range(width):
        at = next((n for n, row in enumerate(left) if row[column] != 0), None)
        if at is None:
            continue
        lead = left.pop(at)
        lead = [x / lead[column] for x in lead]
        left = [_less(row, lead, column) for row in left]
        reduced = [_less(row, lead, column) for row in reduced] + [lead]
        pivots.append(column)
    return reduced, pivots


def _less(row: list[Fraction], lead: list[Fraction], column: int) -> list[Fraction]:
    """Return a row without its entry in the column that another one leads."""
    share = row[column]
    return [x - share * y for x, y in zip(row, lead, strict=True)] if share else row
