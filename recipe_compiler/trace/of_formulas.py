"""The moments of a claimed step for every size: its formulas as power series in the step size, with tensors in them.

Nothing here looks at H or at the recipe: this is the second way to f and D.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from recipe_compiler.derive.recipe import col_slots, row_coordinate, row_slots, zero_matrix, zero_vector
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import replaced
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.elementwise import Corner, named
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import Size
from recipe_compiler.tensor.atoms import indices, moved, nested
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.products import rebuilt
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Coordinate,
    Grid,
    Index,
    MatrixFunction,
    Slot,
    Tensor,
    Term,
)
from recipe_compiler.trace.moments import Coefficients, Moments, moments
from recipe_compiler.trace.series import ONE, ZERO, Arithmetic, NoExpansionError, Series
from recipe_compiler.trace.stated_step import ClaimedDraw, Step
from recipe_compiler.trace.tensors import (
    TensorDraw,
    TensorSeries,
    draw,
    is_draw,
    slopes,
    tensor_arithmetic,
    with_indices,
)

TOP = Fraction(3)
STEP, NEXT = "eps.", "next."
_SMOOTH = named(lambda row: row.corner is Corner.NONE)


def tensor_moments(step: Step, only: Sequence[int] = (), top: Fraction = TOP) -> Moments[Tensor]:
    """Return E[dz] and Cov[dz] of a claimed step given z, block by block, for every size; of some blocks `only`.

    Powers of eps up to `top` are kept. An entry of the mean has the free indices `row_slots(a)` of its block, one of
    the covariance these and `col_slots(b)`.

    Raises:
        NoExpansionError: the expansion of a formula, or a third moment of an estimated gradient's noise, is not known.
        ModelError: a formula that has no entrywise meaning.
    """
    c = calculus(step.declarations)
    S = tensor_arithmetic(c, top)
    at = TensorSeries(c, S)
    reading = Reading(step, c, S, at)
    blocks = [step.declarations.blocks[a] for a in only or range(len(step.new))]
    here = [S.constant(c.atom(row_coordinate(block))) for block in blocks]
    change = [S.subtract(reading.new(block.name), z) for block, z in zip(blocks, here, strict=True)]
    draws = [reading.draw(item) for item in step.draws]
    found = moments(S, change, draws, lambda series, b: at.as_columns(series, blocks[b]))
    return replace(
        found,
        mean=tuple(S.mapped(c.settled, x) for x in found.mean),
        covariance=tuple(tuple(S.mapped(c.settled, x) for x in row) for row in found.covariance),
        zeros=Coefficients(
            zero_vector(c, blocks),
            zero_matrix(c, blocks),
        ),
    )


@dataclass(slots=True)
class Reading:
    """One reading of one claimed step: series of its formulas, each computed once.

    A formula is converted with eps, draws and next values as coordinates of their own; of the tensor, what holds none
    of them is a coefficient, and each other factor is expanded.
    """

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
            pairs = zip(self.step.declarations.blocks, self.step.new, strict=True)
            block, formula = next(pair for pair in pairs if pair[0].name == name)
            self.updated[name] = self.formula(formula, row_slots(block))
        return self.updated[name]

    def draw(self, item: ClaimedDraw) -> TensorDraw:
        """Return a draw over the power of eps that it is of: half the lowest one of its covariance."""
        if item.name not in self.draws:
            block = Block(item.name, item.shape)
            slots = (*row_slots(block), *col_slots(block))
            if item.covariance is None:
                found = self.S.constant(self.c.delta(*slots) if slots else self.c.constant(1))
            else:
                found = self.formula(item.covariance, slots)
            scale = found.low / 2 if found.parts else ZERO
            covariance = self.S.shift(found, -2 * scale)
            draw = TensorDraw(item.name, item.shape, item.says, item.gaussian, covariance, self.at, scale)
            self.draws[item.name] = draw
        return self.draws[item.name]

    def formula(self, formula: Formula, at: tuple[Slot, ...]) -> Series[Tensor]:
        """Return the entry of a formula at the given slots."""
        return self.series(convert(as_coordinates(formula), self.step.declarations, *at))

    def series(self, tensor: Tensor) -> Series[Tensor]:
        """Return a tensor that eps, draws and next values may be in."""
        if not any(map(_is_random_or_small, _list_atoms(tensor))):
            return self.S.constant(tensor)
        return self.S.add(self.S.constant(Tensor(tensor.free, ())), *(self.term(x, tensor.free) for x in tensor.terms))

    def term(self, term: Term, free: tuple[Index, ...]) -> Series[Tensor]:
        """Return a product, summed over its indices that are not free."""
        moves = {index: self.inner(index.size) for index in indices(term.factors) - set(free)}
        found = self.S.constant(self.c.constant(term.coefficient))
        for atom, exponent in term.factors:
            if _is_random_or_small(atom):
                own = self.factor(moved(atom, moves), exponent)
            elif nested(atom):
                own = self.S.constant(rebuilt(self.c, atom, exponent, moves))
            else:
                own = self.S.constant(self.c.atom(moved(atom, moves), exponent))
            found = self.S.multiply(found, own)
        return self.at.total(found, *moves.values())

    def factor(self, atom: Atom, exponent: Fraction) -> Series[Tensor]:
        """Return a power of an atom that moves."""
        match atom:
            case Coordinate(name) if name == STEP:
                return self.S.constant(self.S.one, exponent)
            case Coordinate(name, at) if name.startswith(NEXT):
                block = self.step.declarations.find(name.removeprefix(NEXT))
                slots = row_slots(block) if isinstance(block, Block) else ()
                return self.S.power(self.at.rename(self.new(name.removeprefix(NEXT)), slots, at), exponent)
            case Coordinate(name):
                item = self.draw(next(item for item in self.step.draws if draw(item.name).block == name))
                drawn = self.S.constant(self.c.atom(atom), item.scale) if item.covariance.parts else Series({})
                return self.S.power(drawn, exponent)
            case Base(arg):
                return self.S.power(self.series(arg), exponent)
            case Applied(fn, (arg,)) if fn in _SMOOTH:
                found = self.S.compose(slopes(self.c, fn), self.series(arg), fn)
                return self.S.power(found, exponent)
            case MatrixFunction("inv", grid, (start, end)):
                return self.S.power(self.inverse(grid, (start, end)), exponent)
            case _:
                what = atom.fn if isinstance(atom, Applied | MatrixFunction) else type(atom).__name__
                raise NoExpansionError(f"{what} of what a step changes")

    def inner(self, size: Size) -> Index:
        """Return an index that no caller uses, to be summed over."""
        self.used += 1
        return Index(size, f"@u{self.used}")

    def inverse(self, grid: Grid, at: tuple[Slot, Slot]) -> Series[Tensor]:
        """Return inv(A + B) = inv(A) - inv(A) B inv(A) + ..., A being the value at eps = 0, B the rest."""
        start, end = at
        here, there = self.inner(grid.row.size), self.inner(grid.row.size)
        first, rest = self.S.apart(self.series(grid.entry), "inv")
        if rest.parts and (not isinstance(start, Index) or start == end):
            raise NoExpansionError("an entry of the inverse of what a step changes")
        rest = self.at.rename(rest, (grid.row, grid.col), (here, there))
        own = Grid(grid.row, grid.col, with_indices(first, (grid.row, grid.col)))
        before = self.S.constant(self.c.inverse(own, (start, here)))
        share = self.S.constant(self.c.inverse(own, (start, end)))
        found = [share]
        while share.parts and rest.parts:  # X becomes -inv(A) B X
            product = self.S.multiply(self.S.multiply(before, rest), self.at.rename(share, (start,), (there,)))
            share = self.S.scale(self.at.total(product, here, there), -ONE)
            found.append(share)
        return self.S.add(*found)


def as_coordinates(formula: Formula) -> Formula:
    """Return a formula with eps, draws and next values as coordinates that no document can declare."""
    return replaced(formula, _as_coordinate)


def _as_coordinate(formula: Formula) -> Formula | None:
    match formula:
        case ex.Symbol(_, shape, Role.STEP):
            return ex.Symbol(STEP, shape, Role.BLOCK)
        case ex.Symbol(name, shape, Role.NOISE):
            return ex.Symbol(draw(name).block, shape, Role.BLOCK)
        case ex.Next(name, shape):
            return ex.Symbol(f"{NEXT}{name}", shape, Role.BLOCK)
        case _:
            return None


def _list_atoms(tensor: Tensor) -> Iterator[Atom]:
    """Return the atoms of all terms of a tensor."""
    return (atom for term in tensor.terms for atom, _ in term.factors)


def _is_random_or_small(atom: Atom) -> bool:
    """Return whether eps, a draw or a next value occurs in an atom."""
    match atom:
        case Coordinate(name):
            return name == STEP or name.startswith(NEXT) or is_draw(atom)
        case MatrixFunction(_, grid):
            return any(map(_is_random_or_small, _list_atoms(grid.entry)))
        case _:
            return any(_is_random_or_small(inner) for arg in nested(atom) for inner in _list_atoms(arg))
