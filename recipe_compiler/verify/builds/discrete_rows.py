"""Discrete blocks for the second engine: all rows of all of them written out, configuration by configuration."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.points.admissible_point import written
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinate, extent
from recipe_compiler.formula.declaration import Block
from recipe_compiler.verify.core.sizes import Sizes

MOST = 512
"""Configurations that are written out at one choice of sizes."""

Configuration = tuple[tuple[Block, tuple[int, ...]], ...]
"""Each discrete block with the place of the one in each of its rows."""


def configurations(blocks: Sequence[Block], sizes: Sizes) -> Iterator[Configuration]:
    """Yield every configuration of the rows of discrete blocks at fixed sizes; a single empty one without such blocks.

    Raises:
        TooLargeError: there are too many.
    """
    shapes = [shape_of(block, sizes) for block in blocks]
    total = 1
    for rows, places in shapes:
        total *= places**rows
    if total > MOST:
        raise TooLargeError(f"{total} ways in which the rows of {', '.join(b.name for b in blocks)} can stand")
    for found in product(*(product(range(places), repeat=rows) for rows, places in shapes)):
        yield tuple(zip(blocks, found, strict=True))


def shape_of(block: Block, sizes: Sizes) -> tuple[int, int]:
    """Return how many rows a discrete block has, and how many places each: a column is one row."""
    rows, cols = extent(block.shape, sizes)
    return (rows, cols) if len(block.shape.sizes) == 2 else (1, rows)


def put(configuration: Configuration, sizes: Sizes) -> Mapping[Symbol, Expr]:
    """Return the entries of discrete blocks with their values."""
    found: dict[Symbol, Expr] = {}
    for block, places in configuration:
        _, count = shape_of(block, sizes)
        for row, place in enumerate(places):
            for k in range(count):
                at = (row, k) if len(block.shape.sizes) == 2 else (k,)
                found[coordinate(block, at)] = sympy.Integer(int(k == place))
    return found


def with_row(configuration: Configuration, block: Block, row: int, place: int) -> Configuration:
    """Return a configuration with one row of a block at another place."""
    return tuple(
        (own, tuple(place if own == block and n == row else k for n, k in enumerate(places)))
        for own, places in configuration
    )


def text_of(configuration: Configuration, sizes: Sizes) -> tuple[tuple[str, str], ...]:
    """Return a configuration as a witness has it."""
    found: list[tuple[str, str]] = []
    for block, places in configuration:
        _, count = shape_of(block, sizes)
        rows = tuple(tuple(sympy.Integer(int(k == place)) for k in range(count)) for place in places)
        entries = rows if len(block.shape.sizes) == 2 else tuple((x,) for x in rows[0])
        found.append((block.name, written(entries, block.shape)))
    return tuple(found)
