"""The moments of a claimed step for every size: its formulas as power series in the step size, with tensors in them.

Nothing here looks at H or at the recipe: this is the second way to f and D.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.elementwise import Corner, named
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import Size
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.inverses import grid_indices
from recipe_compiler.tensor.terms import Grid, Index, Slot, Tensor
from recipe_compiler.trace.moments import Coefficients, Moments, moments
from recipe_compiler.trace.series import HALF, ONE, ZERO, Arithmetic, NoExpansionError, Series
from recipe_compiler.trace.stated_step import ClaimedDraw, Step
from recipe_compiler.trace.tensors import TensorDraw, TensorRing, TensorSeries, draw, with_indices

TOP = Fraction(3)
_SMOOTH = named(lambda row: row.corner is Corner.NONE)


def tensor_moments(step: Step, only: Sequence[int] = ()) -> Moments[Tensor]:
    """Return E[dz] and Cov[dz] of a claimed step given z, block by block, for every size; of some blocks `only`.

    An entry of the mean has the free indices `row_slots(a)` of its block, one of the covariance these and
    `col_slots(b)`.

    Raises:
        NoExpansionError: the expansion of a formula, or a third moment of an estimated gradient's noise, is not known.
        ModelError: a formula that has no entrywise meaning.
    """
    c = calculus(step.declarations)
    S = Arithmetic(TensorRing(c), TOP)
    at = TensorSeries(c, S)
    reading = Reading(step, c, S, at)
    blocks = [step.declarations.blocks[a] for a in only or range(len(step.new))]
    here = [S.constant(c.coordinate(block.name, *row_slots(block))) for block in blocks]
    change = [S.subtract(reading.new(block.name), z) for block, z in zip(blocks, here, strict=True)]
    draws = [reading.draw(item) for item in step.draws]
    found = moments(S, change, draws, lambda series, b: at.as_columns(series, blocks[b]))
    return replace(
        found,
        mean=tuple(S.mapped(c.settled, x) for x in found.mean),
        covariance=tuple(tuple(S.mapped(c.settled, x) for x in row) for row in found.covariance),
        zeros=Coefficients(
            tuple(c.zero(*row_slots(a)) for a in blocks),
            tuple(tuple(c.zero(*row_slots(a), *col_slots(b)) for b in blocks) for a in blocks),
        ),
    )


@dataclass(slots=True)
class Reading:
    """One reading of one claimed step: series of its formulas, each computed once."""

    step: Step
    c: Calculus
    S: Arithmetic[Tensor]
    at: TensorSeries
    used: int = 0
    updated: dict[str, Series[Tensor]] = field(default_factory=dict[str, Series[Tensor]])
    draws: dict[str, TensorDraw] = field(default_factory=dict[str, TensorDraw])

    def new(self, name: str) -> Series[Tensor]:
        """Return the next value of a block, with the free index of a vector over z."""
        if name not in self.updated:
            block, formula = self.block(name)
            self.updated[name] = self.series(formula, row_slots(block))
        return self.updated[name]

    def block(self, name: str) -> tuple[Block, Formula]:
        """Return a block and the formula of its next value."""
        blocks = self.step.declarations.blocks
        return next((b, f) for b, f in zip(blocks, self.step.new, strict=True) if b.name == name)

    def draw(self, item: ClaimedDraw) -> TensorDraw:
        """Return a draw over the power of eps that it is of: half the lowest one of its covariance."""
        if item.name not in self.draws:
            block = Block(item.name, item.shape)
            slots = (*row_slots(block), *col_slots(block))
            if item.covariance is None:
                found = self.S.constant(self.c.delta(*slots) if slots else self.c.constant(1))
            else:
                found = self.series(item.covariance, slots)
            scale = found.low / 2 if found.parts else ZERO
            covariance = self.S.shift(found, -2 * scale)
            self.draws[item.name] = TensorDraw(
                item.name, item.shape, item.says, item.gaussian, covariance, self.at, scale
            )
        return self.draws[item.name]

    def series(self, formula: Formula, at: tuple[Slot, ...]) -> Series[Tensor]:
        """Return the entry of a formula at the given slots."""
        if not _moves(formula):
            return self.S.constant(convert(formula, self.step.declarations, *at))
        S = self.S
        match formula:
            case ex.Symbol(name, _, Role.STEP):
                return S.constant(S.ring.one, ONE)
            case ex.Symbol(name, _, Role.NOISE):
                item = self.draw(next(item for item in self.step.draws if item.name == name))
                return S.constant(self.c.atom(draw(name, *at)), item.scale) if item.covariance.parts else Series({})
            case ex.Next(name):
                return self.at.rename(self.new(name), row_slots(self.block(name)[0]), at)
            case ex.Add(terms):
                return S.add(*(self.series(term, at) for term in terms))
            case ex.Multiply(left, right):
                return S.multiply(*(self.series(x, at if x.shape.sizes else ()) for x in (left, right)))
            case ex.Power(base, exponent) if isinstance(exponent, ex.Number):
                return S.power(self.series(base, at), exponent.value)
            case ex.MatMul(left, right):
                return self.product(left, right, at)
            case ex.Transpose(arg):
                return self.series(arg, at[::-1])
            case ex.Entry(arg, places):
                return self.series(arg, places)
            case ex.Apply(fn, args):
                return self.apply(fn, args, at)
            case _:
                raise NoExpansionError(f"{type(formula).__name__} of what a step changes")

    def inner(self, size: Size) -> Index:
        """Return an index that no caller uses, to be summed over."""
        self.used += 1
        return Index(size, f"@u{self.used}")

    def product(self, left: Formula, right: Formula, at: tuple[Slot, ...]) -> Series[Tensor]:
        """Return a matrix product: a sum over the inner axis, none for column times row."""
        size = left.shape.cols
        outer = 0 if left.shape.rows is None else 1
        inner = () if size is None else (self.inner(size),)
        found = self.S.multiply(self.series(left, (*at[:outer], *inner)), self.series(right, (*inner, *at[outer:])))
        return self.at.total(found, *inner) if inner else found

    def apply(self, fn: str, args: tuple[Formula, ...], at: tuple[Slot, ...]) -> Series[Tensor]:
        """Return a function of the language of something that a step changes."""
        arg = args[0]
        match fn:
            case "sqrt":
                return self.S.power(self.series(arg, at), HALF)
            case "sum":
                axes = tuple(self.inner(size) for size in arg.shape.sizes)
                return self.at.total(self.series(arg, axes), *axes)
            case "trace":
                index = self.inner(arg.shape.sizes[0])
                return self.at.total(self.series(arg, (index, index)), index)
            case "diag" if len(arg.shape.sizes) == 1:
                return self.S.multiply(self.S.constant(self.c.delta(*at)), self.series(arg, at[:1]))
            case "outer":
                return self.S.multiply(self.series(arg, at[:1]), self.series(args[1], at[1:]))
            case "inv":
                return self.inverse(arg, at)
            case _ if fn in _SMOOTH:
                return self.S.compose(TensorRing(self.c).slopes(fn), self.series(arg, at), fn)
            case _:
                raise NoExpansionError(f"{fn} of what a step changes")

    def inverse(self, matrix: Formula, at: tuple[Slot, ...]) -> Series[Tensor]:
        """Return inv(A + B) = inv(A) - inv(A) B inv(A) + ..., A being the value at eps = 0, B the rest."""
        size = matrix.shape.sizes[0]
        start, end = at
        row, col = grid_indices(size)
        here, there = self.inner(size), self.inner(size)
        first, rest = self.S.apart(self.series(matrix, (here, there)), "inv")
        if rest.parts and (not isinstance(start, Index) or start == end):
            raise NoExpansionError("an entry of the inverse of what a step changes")
        entry = self.c.rename(first, {here: row, there: col})
        grid = Grid(row, col, with_indices(entry, (row, col)))
        before = self.S.constant(self.c.inverse(grid, (start, here)))
        share = self.S.constant(self.c.inverse(grid, (start, end)))
        found = [share]
        while share.parts and rest.parts:  # X becomes -inv(A) B X
            moved = self.at.rename(share, (start,), (there,))
            product = self.S.multiply(self.S.multiply(before, rest), moved)
            share = self.S.scale(self.at.total(product, here, there), -ONE)
            found.append(share)
        return self.S.add(*found)


def _moves(formula: Formula) -> bool:
    """Whether eps, a draw or an updated block occurs."""
    return any(
        isinstance(node, ex.Next) or (isinstance(node, ex.Symbol) and node.role in {Role.STEP, Role.NOISE})
        for node in nodes(formula)
    )
