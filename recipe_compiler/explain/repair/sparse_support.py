"""Which few of many unknowns can make linear equations hold: a search over the integers modulo a prime.

It proposes; what it proposes is solved exactly and proved afterwards.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

from recipe_compiler.explain.repair.ratios import Constants, Poly

PRIME = 2**61 - 1
ROWS = 10
"""Random combinations of all equations that stand for them."""
MAX_SUBSETS = 4000


def supports(
    equations: Sequence[Poly], unknowns: Sequence[str], ring: Constants, largest: int, *, most: int
) -> Iterator[tuple[str, ...]]:
    """Yield sets of at most `largest` unknowns that suffice when the others are 0, none holding another, `most` in all.

    Equations of higher degree in the unknowns are left out.
    """
    matrix = _matrix(equations, unknowns, ring)
    found: list[frozenset[int]] = []
    tried = 0
    for size in range(1, largest + 1):
        for subset in combinations(range(len(unknowns)), size):
            tried += 1
            if tried > MAX_SUBSETS or len(found) == most:
                return
            if any(old <= set(subset) for old in found):
                continue
            if _solvable([[row[n] for n in (*subset, -1)] for row in matrix]):
                found.append(frozenset(subset))
                yield tuple(unknowns[n] for n in subset)


def _matrix(equations: Sequence[Poly], unknowns: Sequence[str], ring: Constants) -> list[list[int]]:
    """Return the augmented matrix of random combinations of the equations, the constants at random values."""
    random = Random(1905)
    values = [random.randrange(1, PRIME) for _ in ring.names]
    columns = {ring.names.index(name): n for n, name in enumerate(unknowns)}
    width = len(unknowns) + 1
    rows = [[0] * width for _ in range(ROWS)]
    for poly in equations:
        line = _line(poly, values, columns, width)
        if line is None:
            continue
        for row in rows:
            weight = random.randrange(PRIME)
            for n, value in enumerate(line):
                if value:
                    row[n] = (row[n] + weight * value) % PRIME
    return rows


def _line(poly: Poly, values: list[int], columns: dict[int, int], width: int) -> list[int] | None:
    line = [0] * width
    for exponents, coefficient in poly.to_dict().items():
        value = int(coefficient.p) * pow(int(coefficient.q), -1, PRIME) % PRIME
        where = width - 1
        for at, exponent in enumerate(exponents):
            if exponent and at in columns:
                if exponent > 1 or where != width - 1:
                    return None
                where = columns[at]
            elif exponent:
                value = value * pow(values[at], int(exponent), PRIME) % PRIME
        line[where] = (line[where] + value) % PRIME
    return line


def _solvable(augmented: list[list[int]]) -> bool:
    """Whether the last column is a combination of the others, each of which it needs."""
    rows = [row[:] for row in augmented]
    width = len(rows[0])
    top = 0
    for col in range(width - 1):
        pivot = next((n for n in range(top, len(rows)) if rows[n][col]), None)
        if pivot is None:
            return False
        rows[top], rows[pivot] = rows[pivot], rows[top]
        inverse = pow(rows[top][col], -1, PRIME)
        for n in range(top + 1, len(rows)):
            if rows[n][col]:
                factor = rows[n][col] * inverse % PRIME
                rows[n] = [(x - factor * y) % PRIME for x, y in zip(rows[n], rows[top], strict=True)]
        top += 1
    return all(not row[-1] for row in rows[top:])
