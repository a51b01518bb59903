"""Coefficients of a series in index calculus, for every size: tensors, in which components of draws are coordinates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.tensor.atoms import everywhere, nested
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.rewrite import rewritten
from recipe_compiler.tensor.terms import Atom, Coordinate, Index, Slot, Tensor, Term
from recipe_compiler.trace.series import Arithmetic, NoExpansionError, Series

ARGUMENT = Coordinate("x.")
"""The argument of a function that is expanded."""
DRAW = "draw."
"""Draws are coordinates of blocks whose names begin so, as those of no document do."""


def tensor_arithmetic(c: Calculus, top: Fraction) -> Arithmetic[Tensor]:
    """Return the arithmetic of series with tensors as coefficients; those of one series have the same free indices."""
    return Arithmetic(c, top, Tensor((), ()), lambda x: x.is_zero, _is_random)


def _is_random(x: Tensor) -> bool:
    return any(is_draw(atom) for term in x.terms for atom, _ in term.factors)


def slopes(c: Calculus, fn: str) -> Callable[[Tensor], Iterator[Tensor]]:
    """Return the function that yields fn(a), fn'(a), fn''(a), ... of a scalar a."""

    def yielded(first: Tensor) -> Iterator[Tensor]:
        yield c.applied(fn, first)
        slope = c.applied(fn, c.atom(ARGUMENT))
        while True:
            slope = c.diff(slope, ARGUMENT)
            yield _substitute_argument(c, slope, first)

    return yielded


def _substitute_argument(c: Calculus, tensor: Tensor, value: Tensor) -> Tensor:
    """Return a tensor without free indices, with the formal argument replaced by a value."""
    found = rewritten(c, tensor, lambda atom, exponent: c.power(value, exponent) if atom == ARGUMENT else None)
    return c.add(Tensor(value.free, ()), found)


@dataclass(frozen=True, slots=True)
class TensorSeries:
    """Series with tensors as coefficients: their indices are summed, renamed and differentiated by."""

    c: Calculus
    S: Arithmetic[Tensor]

    def total(self, series: Series[Tensor], *over: Index) -> Series[Tensor]:
        """Return the sum over indices, sum_i S_i, whether or not they occur: n S for one that does not."""
        return self.S.mapped(lambda x: self.c.total(with_indices(x, over), *over), series)

    def rename(self, series: Series[Tensor], old: tuple[Slot, ...], new: tuple[Slot, ...]) -> Series[Tensor]:
        """Return the series with free indices replaced."""
        moves = {i: j for i, j in zip(old, new, strict=True) if isinstance(i, Index)}
        return self.S.mapped(lambda x: self.c.rename(x, moves), series)

    def differentiate(self, series: Series[Tensor], by: Coordinate) -> Series[Tensor]:
        """Return dS/dx of a coordinate x; the indices of x are free in the result, too."""
        return self.S.mapped(lambda x: self.c.diff(x, by), series)

    def as_columns(self, series: Series[Tensor], block: Block) -> Series[Tensor]:
        """Return an entry of a vector with the index of a column in the place of that of a row."""
        return self.rename(series, row_slots(block), col_slots(block))


@dataclass(frozen=True, slots=True)
class TensorDraw:
    """A centred draw w over the power of eps that it is of, and its covariance likewise, for every size."""

    name: str
    shape: Shape
    says: str
    gaussian: bool
    covariance: Series[Tensor]
    """With the slots of a matrix over a block of this shape."""
    at: TensorSeries
    scale: Fraction
    """The power of eps that was split off."""

    def own(self, atom: Atom) -> bool:
        """Whether an atom is a component of this draw."""
        return isinstance(atom, Coordinate) and atom.block == draw(self.name).block

    def degree(self, x: Tensor) -> int:
        """Return the degree of a polynomial in the draw.

        Raises:
            NoExpansionError: it is none.
        """
        return max(map(self._find_degree, x.terms), default=0)

    def _find_degree(self, term: Term) -> int:
        exponents = [exponent for atom, exponent in term.factors if self.own(atom)]
        if any(exponent.denominator != 1 or exponent < 0 for exponent in exponents):
            raise NoExpansionError(f"what is no polynomial in {self.says}")
        if any(self.own(atom) for factor, _ in term.factors for arg in nested(factor) for atom in everywhere(arg)):
            raise NoExpansionError(f"a function of {self.says}")
        return int(sum(exponents))

    def part(self, x: Tensor, degree: int) -> Tensor:
        """Return the terms of some degree in the draw."""
        return Tensor(x.free, tuple(term for term in x.terms if self._find_degree(term) == degree))

    def curvature(self, series: Series[Tensor]) -> Series[Tensor]:
        """Return sum_ij C_ij d_i d_j S, C the covariance of the draw."""
        block = Block(self.name, self.shape)
        left, right = (tuple(Index(size, label) for size in self.shape.sizes) for label in ("@i", "@j"))
        slots = (*row_slots(block), *col_slots(block))
        C = self.at.rename(self.covariance, slots, (*left, *right))
        slope = self.at.differentiate(series, draw(self.name, *left))
        curved = self.at.differentiate(slope, draw(self.name, *right))
        return self.at.total(self.at.S.multiply(C, curved), *left, *right)


def draw(name: str, *at: Slot) -> Coordinate:
    """Return a component w_i of a draw, as a coordinate of a block of its own."""
    return Coordinate(DRAW + name, at)


def is_draw(atom: Atom) -> bool:
    """Whether an atom is a component of a draw."""
    return isinstance(atom, Coordinate) and atom.block.startswith(DRAW)


def with_indices(tensor: Tensor, indices: tuple[Index, ...]) -> Tensor:
    """Return a tensor that has some free indices, whether or not they occur."""
    return Tensor(sorted_indices((*tensor.free, *indices)), tensor.terms)
