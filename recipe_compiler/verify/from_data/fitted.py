"""How many forms vanish together at most: where many do, heavy tails do not keep a scale from zero.

Forms that vanish at theta are rows [a c] orthogonal to (theta, 1): they lie in one hyperplane, modulo a prime as well.
Of a density p h(p l) each, forms S that vanish together leave p**excess, excess = |S| - rank S, once theta is
integrated over. It is largest where S has the rank of all: a form that is independent of S vanishes somewhere with it.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, groupby
from math import comb, lcm
from typing import Any

from flint import nmod_mat

from recipe_compiler.verify.from_data.energy import Form
from recipe_compiler.verify.from_data.irrational import are_fractions, over_units, units_of
from recipe_compiler.verify.from_data.ranks import PRIMES, is_consistent, rank_of, residues

MOST_PLANES = 20_000
"""Hyperplanes looked at, in all sets of forms together."""

MOST_REDUCED = 400_000
"""Forms that are rewritten where another one vanishes, in all."""

Row = tuple[Any, ...]
"""A form; times what makes its numbers whole ones, where they are fractions."""


def most_left_over(forms: Sequence[Form], width: int) -> int:
    """Return a number of forms at least that many of which differ from zero at every theta.

    Forms vanishing at one theta are rows [a c] in one hyperplane of (theta, 1); all hyperplanes through `width` rows
    are counted, in parts of the rows and modulo a prime, which can only make the number smaller.
    """
    own = over_units(forms, units_of(forms, width + 1))
    rows = residues(own, width + 1, PRIMES[0]) if are_fractions(own) else None
    if rows is None or len(rows) <= width:
        return 0
    size = _size(len(rows), width)
    if size is None:
        return 0
    parts = [rows[first : first + size] for first in range(0, len(rows), size)]
    return sum(len(part) - _most_in_one(part, width, PRIMES[0]) for part in parts)


def _size(count: int, width: int) -> int | None:
    """Return the largest size of a set for which the hyperplanes are not too many; None where there is none."""
    sizes = (size for size in range(count, width, -1) if -(-count // size) * comb(size, width) <= MOST_PLANES)
    return next(sizes, None)


def _most_in_one(rows: Sequence[tuple[int, ...]], width: int, prime: int) -> int:
    """Return how many rows lie in one hyperplane at most; all of them where they do not span the space."""
    flat = [x for row in rows for x in row]
    if len(rows) <= width or nmod_mat(len(rows), width + 1, flat, prime).rank() <= width:
        return len(rows)
    most = 0
    for chosen in combinations(rows, width):
        normal, nullity = nmod_mat(width, width + 1, [x for row in chosen for x in row], prime).nullspace()
        if nullity != 1:
            continue
        v = [int(normal[k, 0]) for k in range(width + 1)]
        most = max(most, sum(sum(x * y for x, y in zip(row, v, strict=True)) % prime == 0 for row in rows))
    return most


def most_together(forms: Sequence[Form], width: int) -> int | None:
    """Return how many forms vanish together at most, exactly; None where there are too many to look at."""
    if width > 1 and comb(len(forms), width) > MOST_REDUCED:
        return None
    own = over_units(forms, units_of(forms, width + 1))
    return _most_vanishing([_whole(form) for form in own] if are_fractions(own) else own)


def excess(forms: Sequence[Form], width: int) -> int | None:
    """Return the largest e = |S| - rank S of forms S that vanish together; None where there are too many to look at.

    Densities p h(p l) of S leave p**e once theta is integrated over. Of the forms theta - 1, theta - 1, theta - 2 it is
    1.

        >>> from flint import fmpq
        >>> excess([(fmpq(1), fmpq(-1)), (fmpq(1), fmpq(-1)), (fmpq(1), fmpq(-2))], 1)
        1
    """
    most = most_together(forms, width)
    return None if most is None else most - rank_of(forms, width).rank


def consistent_end(forms: Sequence[Form], width: int) -> int | None:
    """Return how many of the last forms vanish together, the largest number; None where all do."""
    found = (k for k in range(len(forms)) if not is_consistent(forms[len(forms) - k - 1 :], width))
    return next(found, None)


def disjoint_bases(forms: Sequence[Form], width: int) -> int:
    """Return a number of sets of forms that have none in common, each of rank m: each determines theta, m coordinates.

    As many as taking one after the other finds, which may be fewer than there are.
    """
    left, count = list(forms), 0
    while width and (found := rank_of(left, width)).rank == width:
        left = [form for k, form in enumerate(left) if k not in found.attained]
        count += 1
    return count


def _whole(form: Form) -> Row:
    by = lcm(*(int(x.q) for x in form))
    return tuple(int(x.p) * (by // int(x.q)) for x in form)


def _most_vanishing(rows: Sequence[Row]) -> int:
    """Return how many vanish together: the first one that moves, and as many later ones as do where it does."""
    moving = [row for row in rows if any(row[:-1])]
    always = sum(not any(row) for row in rows)
    if not moving:
        return always
    if len(moving[0]) == 2:
        zeros = sorted(Fraction(c, a) if isinstance(c, int) else c / a for a, c in moving)
        return always + max(len(list(equal)) for _, equal in groupby(zeros))
    most = 0
    for k, first in enumerate(moving):
        if len(moving) - k <= most:
            break
        most = max(most, 1 + _most_vanishing(list(_where_zero(first, moving[k + 1 :]))))
    return always + most


def _where_zero(first: Row, others: Sequence[Row]) -> Iterator[Row]:
    """Yield multiples of forms where one of them is zero, without a coordinate that it has."""
    at = next(k for k, a in enumerate(first) if a)
    for row in others:
        yield tuple(first[at] * x - row[at] * y for k, (x, y) in enumerate(zip(row, first, strict=True)) if k != at)
