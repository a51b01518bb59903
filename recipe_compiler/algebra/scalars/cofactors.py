"""Determinants and adjugates by cofactors, in any arithmetic: of SymPy scalars here, of traced numbers in `lint`.

Nothing is imported: the child process of a trace does without SymPy, which takes longer to load than most traces.
"""

from collections.abc import Callable, Sequence
from typing import Any

Table = Sequence[Sequence[Any]]
"""Rows of anything that adds and multiplies."""


def by_cofactors(a: Table, total: Callable[[list[Any]], Any], one: Any, is_zero: Callable[[Any], bool]) -> Any:
    """Return det a of an n x n matrix in any arithmetic, expanded along rows, minors computed once: n 2**n products.

    det a = sum_k (-1)**k a_0k det(a without row 0 and column k); [[a, b], [c, d]] has a d - b c.
    """
    n = len(a)
    minors: dict[tuple[int, ...], Any] = {(): one}
    for row in reversed(a):
        grown: dict[tuple[int, ...], list[Any]] = {}
        for columns, minor in minors.items():
            for column in (k for k in range(n) if k not in columns and not is_zero(row[k])):
                place = sum(c < column for c in columns)
                key = tuple(sorted((*columns, column)))
                grown.setdefault(key, []).append((-1) ** place * row[column] * minor)
        minors = {key: found for key, terms in grown.items() if not is_zero(found := total(terms))}
    return minors.get(tuple(range(n)), one - one)


def adjugate(a: Table, det: Callable[[Any], Any]) -> tuple[tuple[Any, ...], ...]:
    """Return adj(a), n x n, with a adj(a) = det(a) I, in any arithmetic.

    adj(a)_ij = (-1)**(i + j) det(a without row j and column i): [[a, b], [c, d]] has [[d, -b], [-c, a]].
    """
    n = range(len(a))
    return tuple(tuple((-1) ** (i + j) * det(_delete_row_and_column(a, j, i)) for j in n) for i in n)


def _delete_row_and_column(a: Table, row: int, column: int) -> tuple[tuple[Any, ...], ...]:
    """Return the matrix without one row and one column."""
    return tuple(tuple(x for j, x in enumerate(r) if j != column) for i, r in enumerate(a) if i != row)
