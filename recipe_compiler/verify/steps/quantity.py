"""Quantities that both engines know, and what claims about moves and pieces do with them: slopes, products, zeros."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sympy import Expr

from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.matrices import Rows, total
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.recipe import Matrix, Vector
from recipe_compiler.formula.declaration import Block
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor
from recipe_compiler.verify.core.identities import Identity
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import once_at_sizes
from recipe_compiler.verify.steps.split import NOTHING, Split

LABELS = "ijkl"
"""Labels of the indices of the first, second, ... block that a quantity is over."""


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

    def plus(self, other: "Quantity", factor: int = 1) -> "Quantity":
        """Return the sum with a multiple of another that is over the same blocks."""
        c = self.split.derivation.calculus

        def entries(sizes: Sizes) -> list[Expr]:
            return [x + factor * y for x, y in zip(self.entries(sizes), other.entries(sizes), strict=True)]

        return replace(self, tensor=c.add(self.tensor, c.scale(other.tensor, factor)), entries=entries)

    def minus(self, other: "Quantity") -> "Quantity":
        """Return the difference of two that are over the same blocks."""
        return self.plus(other, -1)

    def times(self, block: Block) -> "Quantity":
        """Return the product with a block that is its last one, as a column: sum_j A_ij z_j."""
        c, slots = self.split.derivation.calculus, self.slots(len(self.over) - 1)

        def entries(sizes: Sizes) -> list[Expr]:
            x = coordinates(block, sizes)
            return [total([a * y for a, y in zip(row, x, strict=True)]) for row in self.rows(sizes)]

        tensor = c.total(c.multiply(self.tensor, c.coordinate(block.name, *slots)), *slots)
        return replace(self, over=self.over[:-1], tensor=tensor, entries=entries)

    def vanishes(self, says: str, of: str = "H") -> Identity:
        """Return the identity that it is zero; `{}` in its words is `theta,r`, and `of` its place in the document."""
        left, names = self.split.derivation.calculus.settled(self.tensor), ",".join(block.name for block in self.over)
        return Identity(says.format(names), self.split.subject.place(of), left, self.entries)

    def agrees(self, says: str, of: str) -> Identity:
        """Return the identity that both engines have the same entries."""

        def apart(sizes: Sizes) -> list[Expr]:
            own = write_out(self.tensor, sizes, make_leaf(self.split.subject.declarations, sizes))
            return [x - y for x, y in zip(own, self.entries(sizes), strict=True)]

        return replace(self, tensor=NOTHING, entries=apart).vanishes(says, of)


def vector_of(split: Split, f: Vector, scalars: Callable[[Sizes], Sequence[Expr]]) -> list[Quantity]:
    """Return a vector over z, block by block: the tensors of all, and what yields its n scalars."""
    known = once_at_sizes(scalars)

    def entries(n: int, sizes: Sizes) -> list[Expr]:
        return [known(sizes)[k] for k in split.places(n, sizes)]

    return [Quantity(split, (b,), x, partial(entries, n)) for n, (b, x) in enumerate(zip(split.blocks, f, strict=True))]


def matrix_of(split: Split, M: Matrix, scalars: Callable[[Sizes], Rows]) -> dict[tuple[int, int], Quantity]:
    """Return a matrix over z by the places of two blocks: the tensors of all, and what yields its n x n scalars."""
    known, blocks = once_at_sizes(scalars), split.blocks

    def entries(a: int, b: int, sizes: Sizes) -> list[Expr]:
        return [known(sizes)[i][j] for i in split.places(a, sizes) for j in split.places(b, sizes)]

    return {
        (a, b): Quantity(split, (blocks[a], blocks[b]), own, partial(entries, a, b))
        for a, row in enumerate(M)
        for b, own in enumerate(row)
    }


def drift_quantities(split: Split, piece: Piece) -> list[Quantity]:
    """Return the drift f_k of a piece, block by block."""
    return vector_of(split, piece.drift, lambda sizes: split.drift(piece, sizes))


def noise_quantities(split: Split, piece: Piece) -> dict[tuple[int, int], Quantity]:
    """Return the diffusion D_k of a piece, entry by entry."""
    return matrix_of(split, piece.D, lambda sizes: split.diffusion(piece, sizes))


def energy_quantity(split: Split) -> Quantity:
    """Return the energy H."""
    return Quantity(split, (), split.derivation.H, lambda sizes: [split.subject.system(sizes).H])
