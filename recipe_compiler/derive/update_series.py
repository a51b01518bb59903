"""The formulas of a claimed update as power series in the step size, with draws in them, for every size."""

from dataclasses import dataclass, field
from fractions import Fraction

from recipe_compiler.derive.ordered_update import ClaimedDraw, Step
from recipe_compiler.derive.powers import (
    ONE,
    ZERO,
    NotReadError,
    TensorSeries,
    added,
    apart,
    composed,
    draw,
    monomial,
    raised,
    renamed,
    scaled,
    times,
    total,
)
from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.elementwise import Corner, named
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import Size
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.inverses import grid_indices
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.terms import Grid, Index, Slot, Tensor

HALF = Fraction(1, 2)
_SMOOTH = named(lambda row: row.corner is Corner.NONE)


@dataclass(slots=True)
class StepReading:
    """One reading of one claimed step: series of its formulas, each computed once."""

    step: Step
    c: Calculus
    used: int = 0
    updated: dict[str, TensorSeries] = field(default_factory=dict[str, TensorSeries])
    covariances: dict[str, TensorSeries] = field(default_factory=dict[str, TensorSeries])

    def new(self, name: str) -> TensorSeries:
        """Return the next value of a block, with the free index of a vector over z."""
        if name not in self.updated:
            block, formula = self.block(name)
            self.updated[name] = self.series(formula, row_slots(block))
        return self.updated[name]

    def block(self, name: str) -> tuple[Block, Formula]:
        """Return a block and the formula of its next value."""
        blocks = self.step.declarations.blocks
        return next((b, f) for b, f in zip(blocks, self.step.new, strict=True) if b.name == name)

    def covariance(self, item: ClaimedDraw) -> TensorSeries:
        """Return the covariance of a draw over the power of eps that `scale` splits off, with slots i and j."""
        if item.name not in self.covariances:
            block = Block(item.name, item.shape)
            slots = (*row_slots(block), *col_slots(block))
            if item.covariance is None:
                found = monomial(ZERO, self.c.delta(*slots) if slots else self.c.constant(1))
            else:
                found = self.series(item.covariance, slots)
            self.covariances[item.name] = found
        return self.covariances[item.name]

    def scale(self, item: ClaimedDraw) -> Fraction:
        """Return the power of eps that a draw is of: half the lowest one of its covariance."""
        covariance = self.covariance(item)
        return covariance.low / 2 if covariance.parts else ZERO

    def series(self, formula: Formula, at: tuple[Slot, ...]) -> TensorSeries:
        """Return the entry of a formula at the given slots."""
        if not _moves(formula):
            return monomial(ZERO, convert(formula, self.step.declarations, *at))
        c = self.c
        match formula:
            case ex.Symbol(name, _, Role.STEP):
                return monomial(ONE, c.constant(1))
            case ex.Symbol(name, _, Role.NOISE):
                return self.drawn(name, at)
            case ex.Next(name):
                block, _ = self.block(name)
                return renamed(c, self.new(name), dict(zip(row_slots(block), at, strict=True)))
            case ex.Add(terms):
                return added(c, [self.series(term, at) for term in terms])
            case ex.Multiply(left, right):
                return times(c, self.spread(left, at), self.spread(right, at))
            case ex.Power(base, exponent) if isinstance(exponent, ex.Number):
                return raised(c, self.series(base, at), exponent.value)
            case ex.MatMul(left, right):
                return self.product(left, right, at)
            case ex.Transpose(arg):
                return self.series(arg, at[::-1])
            case ex.Entry(arg, places):
                return self.series(arg, places)
            case ex.Apply(fn, args):
                return self.apply(fn, args, at)
            case _:
                raise NotReadError(f"{type(formula).__name__} of what a step changes")

    def spread(self, formula: Formula, at: tuple[Slot, ...]) -> TensorSeries:
        """Return an operand that may be a scalar among vectors or matrices."""
        return self.series(formula, at if formula.shape.sizes else ())

    def drawn(self, name: str, at: tuple[Slot, ...]) -> TensorSeries:
        """Return a component of a draw."""
        item = next(item for item in self.step.draws if item.name == name)
        if not self.covariance(item).parts:
            return TensorSeries({})
        return monomial(self.scale(item), self.c.atom(draw(name, *at)))

    def inner(self, size: Size) -> Index:
        """Return an index that no caller uses, to be summed over."""
        self.used += 1
        return Index(size, f"@u{self.used}")

    def product(self, left: Formula, right: Formula, at: tuple[Slot, ...]) -> TensorSeries:
        """Return a matrix product: a sum over the inner axis, none for column times row."""
        size = left.shape.cols
        outer = 0 if left.shape.rows is None else 1
        if size is None:
            return times(self.c, self.series(left, at[:outer]), self.series(right, at[outer:]))
        index = self.inner(size)
        found = times(self.c, self.series(left, (*at[:outer], index)), self.series(right, (index, *at[outer:])))
        return total(self.c, found, index)

    def apply(self, fn: str, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> TensorSeries:
        """Return a function of the language of something that a step changes."""
        if fn == "sqrt":
            return raised(self.c, self.series(args[0], at), HALF)
        if fn in _SMOOTH:
            return composed(self.c, fn, self.series(args[0], at))
        match fn, args:
            case "sum", (arg,):
                axes = tuple(self.inner(size) for size in arg.shape.sizes)
                return total(self.c, self.series(arg, axes), *axes)
            case "trace", (arg,):
                index = self.inner(arg.shape.sizes[0])
                return total(self.c, self.series(arg, (index, index)), index)
            case "diag", (arg,) if len(arg.shape.sizes) == 1:
                return times(self.c, monomial(ZERO, self.c.delta(*at)), self.series(arg, at[:1]))
            case "outer", (left, right):
                return times(self.c, self.series(left, at[:1]), self.series(right, at[1:]))
            case "inv", (arg,):
                return self.inverse(arg, at)
            case _:
                raise NotReadError(f"{fn} of what a step changes")

    def inverse(self, matrix: Formula, at: tuple[Slot, ...]) -> TensorSeries:
        """Return inv(A + B) = inv(A) - inv(A) B inv(A) + ..., A being the value at eps = 0, B the rest."""
        size = matrix.shape.sizes[0]
        row, col = grid_indices(size)
        here, there = self.inner(size), self.inner(size)
        whole = self.series(matrix, (here, there))
        first, _ = apart(whole, "inv")
        entry = self.c.rename(first, {here: row, there: col})
        grid = Grid(row, col, Tensor(sorted_indices((row, col, *entry.free)), entry.terms))
        found: list[TensorSeries] = []
        start, end = at
        share, left = monomial(ZERO, self.c.inverse(grid, (start, end))), at
        while share.parts:
            found.append(share)
            share = self.corrected(grid, matrix, share, left)
        return added(self.c, [*found, share])

    def corrected(self, grid: Grid, matrix: Formula, share: TensorSeries, at: tuple[Slot, ...]) -> TensorSeries:
        """Return -inv(A) B X of a matrix X given at its slots."""
        size = matrix.shape.sizes[0]
        one, two, row = self.inner(size), self.inner(size), self.inner(size)
        _, rest = apart(self.series(matrix, (one, two)), "inv")
        before = monomial(ZERO, self.c.inverse(grid, (row, one)))
        start = at[0]
        if not isinstance(start, Index) or start == at[1]:
            raise NotReadError("an entry of the inverse of what a step changes")
        moved = renamed(self.c, share, {start: two})
        found = total(self.c, times(self.c, times(self.c, before, rest), moved), one, two)
        return scaled(self.c, renamed(self.c, found, {row: start}), -1)


def _moves(formula: Formula) -> bool:
    """Whether eps, a draw or an updated block occurs."""
    return any(
        isinstance(node, ex.Next) or (isinstance(node, ex.Symbol) and node.role in {Role.STEP, Role.NOISE})
        for node in nodes(formula)
    )
