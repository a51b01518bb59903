"""Quantities that both engines know, and what claims about moves and pieces do with them: slopes, products, zeros."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sympy import Expr

from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.matrices import Rows, total
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.formula.declaration import Block
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor
from recipe_compiler.verify.core.identities import Identity
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import once_at_sizes
from recipe_compiler.verify.steps.split import Split

LABELS = "ijkl"
"""Of the indices of the first, second, ... block that a quantity is over."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A scalar, or a vector or matrix over some blocks: a tensor for every size, and entries at fixed sizes."""

    split: Split
    over: tuple[Block, ...]
    tensor: Tensor
    """Its free indices are those of `slots`."""
    entries: Callable[[Sizes], Sequence[Expr]]
    """By the second engine, row by row."""

    def slots(self, place: int) -> tuple[Index, ...]:
        """Return the indices of the block at a place among those it is over."""
        return tuple(Index(size, LABELS[place]) for size in self.over[place].shape.sizes)

    def rows(self, sizes: Sizes) -> Rows:
        """Return its entries, a row for each set of all indices but the last."""
        found, width = self.entries(sizes), len(coordinates(self.over[-1], sizes))
        return tuple(tuple(found[k : k + width]) for k in range(0, len(found), width))

    def slope(self, by: Block) -> "Quantity":
        """Return its derivative by the coordinates of a block, each engine its own; they are the last index."""
        found = replace(self, over=(*self.over, by))
        c = self.split.derivation.calculus
        tensor = c.diff(self.tensor, Coordinate(by.name, found.slots(len(self.over))))

        def entries(sizes: Sizes) -> list[Expr]:
            x = coordinates(by, sizes)
            return [slope(e, y) for e in map(off_kinks, self.entries(sizes)) for y in x]

        return replace(found, tensor=tensor, entries=once_at_sizes(entries))

    def minus(self, other: "Quantity") -> "Quantity":
        """Return the difference of two that are over the same blocks."""

        def entries(sizes: Sizes) -> list[Expr]:
            return [x - y for x, y in zip(self.entries(sizes), other.entries(sizes), strict=True)]

        return replace(self, tensor=self.split.derivation.calculus.subtract(self.tensor, other.tensor), entries=entries)

    def times(self, block: Block) -> "Quantity":
        """Return the product with a block that is its last one, as a column: sum_j A_ij z_j."""
        c, slots = self.split.derivation.calculus, self.slots(len(self.over) - 1)

        def entries(sizes: Sizes) -> list[Expr]:
            x = coordinates(block, sizes)
            return [total([a * y for a, y in zip(row, x, strict=True)]) for row in self.rows(sizes)]

        tensor = c.total(c.multiply(self.tensor, c.coordinate(block.name, *slots)), *slots)
        return replace(self, over=self.over[:-1], tensor=tensor, entries=entries)

    def vanishes(self, says: str) -> Identity:
        """Return the identity that it is zero, at the energy of the document."""
        left = self.split.derivation.calculus.settled(self.tensor)
        return Identity(says, self.split.subject.place("H"), left, self.entries)


def drift_of(split: Split, piece: Piece, block: Block) -> Quantity:
    """Return the drift of a block by a piece."""
    n = split.subject.names.index(block.name)

    def entries(sizes: Sizes) -> list[Expr]:
        f = split.drift(piece, sizes)
        return [f[k] for k in split.places(n, sizes)]

    return Quantity(split, (block,), piece.drift[n], entries)


def energy_of(split: Split) -> Quantity:
    """Return H."""
    return Quantity(split, (), split.derivation.H, lambda sizes: [split.subject.system(sizes).H])
