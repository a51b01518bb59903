"""How many forms vanish together at most: where many do, heavy tails do not keep a scale from zero.

Forms that vanish at theta are rows [a c] orthogonal to (theta, 1): they lie in one hyperplane, modulo a prime as well.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb

from flint import nmod_mat

from recipe_compiler.verify.from_data.energy import Form
from recipe_compiler.verify.from_data.ranks import PRIMES, residues

MOST_PLANES = 20_000
"""Hyperplanes looked at, in all sets of forms together."""


def most_left_over(forms: Sequence[Form], width: int) -> int:
    """Return a number of forms at least that many of which differ from zero at every theta.

    Forms vanishing at one theta are rows [a c] in one hyperplane of (theta, 1); all hyperplanes through `width` rows
    are counted, in parts of the rows and modulo a prime, which can only make the number smaller.
    """
    rows = residues(forms, width + 1, PRIMES[0])
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
