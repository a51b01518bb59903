"""Block matrices over the state: the shape of a place, and the matrix that is zero."""

from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.shapes import Shape

Matrix = tuple[tuple[Formula, ...], ...]
"""A matrix over z, block by block: place (a, b) has the shape size(a) x size(b)."""


def place_shape(row: Block, col: Block) -> Shape:
    """Return the shape of the block (a, b) of a matrix over z, size(a) x size(b)."""
    return Shape(row.shape.rows, col.shape.rows)


def zeros(blocks: tuple[Block, ...]) -> Matrix:
    """Return the zero matrix over z, block by block."""
    return tuple(tuple(zero(place_shape(row, col)) for col in blocks) for row in blocks)
