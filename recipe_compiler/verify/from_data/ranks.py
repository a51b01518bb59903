"""Ranks of exact forms: a minor that is not zero modulo a prime shows one from below, exact null vectors from above.

Where numbers of columns are irrational, but for a unit that a column has, a minor whose ball is apart from zero shows
it from below; from above the rank of the other columns and one for each of these, or the number of forms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from flint import arb_mat, fmpq, fmpq_mat, nmod_mat

from recipe_compiler.verify.from_data.energy import Form
from recipe_compiler.verify.from_data.irrational import (
    are_fractions,
    ball_of,
    in_ball,
    over_units,
    units_of,
)
from recipe_compiler.verify.from_data.values import NotReadError

PRIMES = (2**61 - 1, 2**31 - 1, 2**62 - 57)
"""A rank modulo a prime is at most the rank; where it is less, the next prime is tried."""


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank of some forms, forms that attain it, and a basis of the kernel; none where it is not exact."""

    rank: int
    attained: tuple[int, ...]
    kernel: tuple[tuple[fmpq, ...], ...]


def rank_of(forms: Sequence[Sequence[fmpq]], width: int) -> Rank:
    """Return the exact rank of A: [N, m], rows of rational numbers, or of numbers that are enclosed.

    A minor that is not zero modulo a prime bounds it from below; exact null vectors bound it from above.

    Args:
        forms: the rows; of each the first `width` numbers count.
        width: the length of a row.

    Raises:
        NotReadError: no prime, or no ball of irrational numbers, shows it.
    """
    units = units_of(forms, width)
    rows = over_units((form[:width] for form in forms), units)
    found = _of_fractions(rows, width) if are_fractions(rows) else _of_balls(rows, width)
    return replace(found, kernel=()) if any(units) else found


def _of_fractions(rows: Sequence[tuple[fmpq, ...]], width: int) -> Rank:
    for prime in PRIMES:
        attained = _first_independent(rows, width, prime)
        if attained is None:
            continue
        kernel = tuple(_kernel([rows[k] for k in attained], width))
        if all(_dot(row, v) == 0 for v in kernel for row in rows):
            return Rank(len(attained), attained, kernel)
    raise NotReadError("no prime shows the rank of the forms")


def _of_balls(rows: Sequence[tuple[fmpq, ...]], width: int) -> Rank:
    """Return the rank of rows some numbers of which are irrational."""
    others = [k for k in range(width) if not are_fractions((row[k],) for row in rows)]
    exact = [k for k in range(width) if k not in others]
    fractions = _of_fractions([tuple(row[k] for k in exact) for row in rows], len(exact))
    most = min(fractions.rank + len(others), len(rows))
    chosen, columns = _pivots_in_doubles(rows, width, most)
    minor = arb_mat(len(chosen), len(chosen), [ball_of(rows[i][j]) for i in chosen for j in columns])
    if len(chosen) < most or not minor.det() != 0:
        raise NotReadError("the rank of columns computed from the data is not certain")
    return Rank(most, tuple(sorted(chosen)), ())


def _pivots_in_doubles(rows: Sequence[tuple[fmpq, ...]], width: int, most: int) -> tuple[list[int], list[int]]:
    """Return rows and columns of a minor that may be far from zero, found in doubles."""
    try:
        left = np.array([[float(x) for x in row] for row in rows]).reshape(len(rows), width)
    except OverflowError:
        raise NotReadError("columns computed from the data have numbers outside the range of doubles") from None
    left /= np.maximum(np.abs(left).max(axis=0, initial=0.0), 1e-300)
    chosen, columns = list[int](), list[int]()
    while len(chosen) < most:
        i, j = (int(k) for k in np.unravel_index(np.argmax(np.abs(left)), left.shape))
        if not abs(left[i, j]) > 0:
            break
        chosen.append(i)
        columns.append(j)
        left -= np.outer(left[:, j] / left[i, j], left[i])
        left[i], left[:, j] = 0.0, 0.0
    return chosen, columns


def solved(matrix: Sequence[Sequence[fmpq]], right: Sequence[fmpq]) -> list[fmpq]:
    """Return x with A x = b, A: [n, n] of full rank and b: [n]; in balls where numbers are irrational.

    Raises:
        NotReadError: that is not certain.
    """
    n, entries = len(right), [x for row in matrix for x in row]
    if not n:
        return []
    if are_fractions((entries, right)):
        return [row[0] for row in fmpq_mat(n, n, entries).solve(fmpq_mat(n, 1, list(right))).tolist()]
    try:
        found = arb_mat(n, n, [ball_of(x) for x in entries]).solve(arb_mat(n, 1, [ball_of(x) for x in right]))
    except ZeroDivisionError as error:
        raise NotReadError("equations in numbers computed from the data are not certain to have a solution") from error
    return [in_ball(row[0]) for row in found.tolist()]


def is_consistent(forms: Sequence[Form], width: int) -> bool:
    """Whether all forms a_i . theta + c_i vanish together at some theta: [A c] has the rank of A, A: [N, m]."""
    return rank_of(forms, width).rank == rank_of(forms, width + 1).rank


def _first_independent(rows: Sequence[tuple[fmpq, ...]], width: int, prime: int) -> tuple[int, ...] | None:
    """Return what `_independent` does; of many rows, the first often have the largest rank that there can be."""
    some = 4 * width
    while 0 < some < len(rows):
        found = _independent(rows[:some], width, prime)
        if found is None or len(found) == width:
            return found
        some *= 4
    return _independent(rows, width, prime)


def _independent(rows: Sequence[tuple[fmpq, ...]], width: int, prime: int) -> tuple[int, ...] | None:
    """Return rows that are independent modulo a prime, as many as there are; None where it divides a denominator."""
    if not rows or not width:
        return ()
    found = residues(rows, width, prime)
    if found is None:
        return None
    columns = nmod_mat(len(rows), width, [x for row in found for x in row], prime).transpose()
    reduced, rank = columns.rref()
    return tuple(_pivots(reduced, rank, len(rows)))


def residues(rows: Sequence[Sequence[fmpq]], width: int, prime: int) -> list[tuple[int, ...]] | None:
    """Return the first numbers of rows modulo a prime; None where it divides a denominator."""
    found: list[tuple[int, ...]] = []
    for row in rows:
        own: list[int] = []
        for x in row[:width]:
            low = int(x.q) % prime
            if low == 0:
                return None
            own.append(int(x.p) % prime * (1 if low == 1 else pow(low, -1, prime)) % prime)
        found.append(tuple(own))
    return found


def _pivots(reduced: nmod_mat, rank: int, length: int) -> Iterator[int]:
    k = 0
    for row in range(rank):
        while k < length and int(reduced[row, k]) == 0:
            k += 1
        yield k
        k += 1


def _kernel(rows: Sequence[Sequence[fmpq]], width: int) -> Iterator[tuple[fmpq, ...]]:
    """Yield a basis of the vectors that independent rows map to zero."""
    if len(rows) == width:
        return
    if not rows:
        yield from (tuple(fmpq(int(i == k)) for i in range(width)) for k in range(width))
        return
    reduced, rank = fmpq_mat(len(rows), width, [x for row in rows for x in row]).rref()
    pivots = [next(k for k in range(width) if reduced[row, k] != 0) for row in range(rank)]
    for free in (k for k in range(width) if k not in pivots):
        v = [fmpq(0)] * width
        v[free] = fmpq(1)
        for row, k in enumerate(pivots):
            v[k] = -reduced[row, free]
        yield tuple(v)


def _dot(row: Sequence[fmpq], v: Sequence[fmpq]) -> fmpq:
    return sum((x * y for x, y in zip(row, v, strict=False) if y != 0 and x != 0), fmpq(0))


def inconsistent_sets(groups: Sequence[Sequence[Form]], width: int) -> list[frozenset[int]]:
    """Return the sets of groups whose forms vanish together at no theta, and of which no part is such a set."""
    found: list[frozenset[int]] = []
    for size in range(1, len(groups) + 1):
        for chosen in combinations(range(len(groups)), size):
            if any(smaller <= frozenset(chosen) for smaller in found):
                continue
            if not is_consistent([form for k in chosen for form in groups[k]], width):
                found.append(frozenset(chosen))
    return found
