"""Discrete blocks for the second engine: all rows of all of them written out, configuration by configuration.

Of counts those from 0 to 2 are, to 1 where these are too many, or to n where that is less: what index calculus shows of
all is looked at there.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

import sympy
from sympy import Expr, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.points.admissible_point import written
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinate, extent, positions
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import multiply
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Compare, Filled, Number
from recipe_compiler.spec.discrete import is_counts
from recipe_compiler.verdict import Evidence
from recipe_compiler.verify.core.sizes import Sizes

LAST = 2
"""The largest count that is written out."""

Configuration = tuple[tuple[Block, tuple[int, ...]], ...]
"""Each discrete block with the place of the one in each of its rows, or with its counts."""


def configurations(blocks: Sequence[Block], sizes: Sizes) -> Iterator[Configuration]:
    """Yield every configuration of the rows of discrete blocks at fixed sizes; a single empty one without such blocks.

    Raises:
        TooLargeError: there are too many.
    """
    total = 0
    for last in (LAST, 1):
        shapes = [_count_rows_and_values(block, sizes, last) for block in blocks]
        total = math.prod(values**rows for rows, values in shapes)
        if total <= limits.ENTRIES:
            for found in product(*(product(range(values), repeat=rows) for rows, values in shapes)):
                yield tuple(zip(blocks, found, strict=True))
            return
    raise TooLargeError(f"{total} values of the rows of {', '.join(b.name for b in blocks)}")


def _count_rows_and_values(block: Block, sizes: Sizes, last: int = LAST) -> tuple[int, int]:
    """Return how many rows a discrete block has, and how many values each: a column of one_hot is one row."""
    rows, cols = extent(block.shape, sizes)
    if is_counts(block):
        return rows, min(last, _find_largest_count(block, sizes)) + 1
    return (rows, cols) if len(block.shape.sizes) == 2 else (1, rows)


def _find_largest_count(block: Block, sizes: Sizes) -> int:
    """Return the largest count that is written out."""
    match block.domain.bounds:
        case (Number(n),):
            return min(LAST, int(n))
        case (ex.Symbol(name, role=ex.Role.SIZE),):
            return min(LAST, sizes[name])
        case _:
            return LAST


def require_counts_in_range(block: Block, declared: Declarations) -> Compare | None:
    """Return that a field of the data that is an end of counts, all of it, is no less than what is written out."""
    match block.domain.bounds if is_counts(block) else ():
        case (ex.Symbol(name, role=ex.Role.DATUM),):
            least = multiply(Number(Fraction(LAST)), Filled(1, block.shape), block.shape)
            return Compare(">=", ex.Symbol(name, block.shape, ex.Role.DATUM), least, block.shape)
        case _:
            return None


def map_entries_to_values(configuration: Configuration, sizes: Sizes) -> Mapping[Symbol, Expr]:
    """Return the entries of discrete blocks with their values."""
    return {
        coordinate(block, at): value
        for block, rows in configuration
        for at, value in zip(positions(block.shape, sizes), _list_entries(block, rows, sizes), strict=True)
    }


def _list_entries(block: Block, rows: Sequence[int], sizes: Sizes) -> list[Expr]:
    """Return the entries of a block, row by row."""
    if is_counts(block):
        return [sympy.Integer(count) for count in rows]
    _, places = _count_rows_and_values(block, sizes)
    return [sympy.Integer(int(k == place)) for place in rows for k in range(places)]


def neighbours(configuration: Configuration, block: Block, sizes: Sizes) -> Iterator[Configuration]:
    """Yield the configurations that a law of a block is judged by beside one, in which a row of it is another.

    A row at its first place is put at each other, a count is one larger.
    """
    _, values = _count_rows_and_values(block, sizes)
    for n, value in enumerate(dict(configuration)[block]):
        others = range(value + 1, min(value + 2, values)) if is_counts(block) else range(1, 0 if value else values)
        yield from (_replace_row(configuration, block, n, other) for other in others)


def _replace_row(configuration: Configuration, block: Block, row: int, value: int) -> Configuration:
    """Return a configuration with one row of a block another."""
    return tuple(
        (own, tuple(value if own == block and n == row else k for n, k in enumerate(rows)))
        for own, rows in configuration
    )


def format_configuration(configuration: Configuration, sizes: Sizes) -> Evidence:
    """Return a configuration as a witness has it."""
    found: list[tuple[str, str]] = []
    for block, rows in configuration:
        entries, (_, width) = _list_entries(block, rows, sizes), extent(block.shape, sizes)
        lines = tuple(tuple(entries[k : k + width]) for k in range(0, len(entries), width))
        found.append((block.name, written(lines, block.shape)))
    return tuple(found)
