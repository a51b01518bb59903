"""Between which numbers the entries of a formula lie: sums and multiples of blocks with bounded domains.

For v in (0, 1) entry by entry, `ones - v` lies in (0, 1), too, whatever the size: so its logarithm is negative.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from recipe_compiler.algebra.positivity.sign_sets import MINUS, PLUS, UNKNOWN, ZERO, Sign
from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Entry,
    Explicit,
    Filled,
    Formula,
    MatMul,
    Multiply,
    Number,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import DomainName

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Range:
    """Every entry x has low <= x <= high, strictly if `above` and `below`, by declarations `by_low` and `by_high`."""

    low: Fraction
    high: Fraction
    above: bool = False
    below: bool = False
    by_low: frozenset[str] = NOTHING
    by_high: frozenset[str] = NOTHING

    def sign_less(self, number: int) -> Sign:
        """Return the signs that x - number may have."""
        low, high = self.low - number, self.high - number
        if low >= 0:
            return Sign(frozenset({PLUS} if low > 0 or self.above else {ZERO, PLUS}), self.by_low)
        if high <= 0:
            return Sign(frozenset({MINUS} if high < 0 or self.below else {MINUS, ZERO}), self.by_high)
        return UNKNOWN


def range_of(formula: Formula, declarations: Declarations) -> Range | None:
    """Return an interval that contains all entries of a formula, inside the domain; None if none is seen.

    2 v - 1 with v in (0, 1) lies in (-1, 1).
    """
    match formula:
        case Number(value):
            return Range(value, value)
        case Filled(value):
            return Range(Fraction(value), Fraction(value))
        case Entry(arg) | Transpose(arg):
            return range_of(arg, declarations)
        case Symbol(name):
            item = declarations.find(name)
            return _of_block(item) if isinstance(item, Block) else None
        case Explicit(rows):
            return reduce(_either, (range_of(entry, declarations) for row in rows for entry in row))
        case Add(terms):
            return _sum(range_of(term, declarations) for term in terms)
        case Multiply(Number(value), x) | Multiply(x, Number(value)):
            return _multiple(range_of(x, declarations), value)
        case Multiply(left, right):
            return _product(range_of(left, declarations), range_of(right, declarations))
        case MatMul(Symbol(_, _, Role.INDEX), arg) | MatMul(arg, Transpose(Symbol(_, _, Role.INDEX))):
            return range_of(arg, declarations)
        case MatMul(Transpose(Symbol(w)), arg) | MatMul(arg, Symbol(w)) if _is_shares(w, declarations):  # a mean
            return range_of(arg, declarations)
        case Apply(fn) if fn in FUNCTIONS and (between := FUNCTIONS[fn].between):
            return Range(*map(Fraction, between), above=True, below=True)
        case _:
            return None


def _of_block(block: Block) -> Range | None:
    several = block.constraint is not Constraint.SIMPLEX or _has_several(block)
    match block.domain.name, block.domain.bounds:
        case _ if block.constraint is Constraint.SIMPLEX:
            low, high = Fraction(0), Fraction(1)
        case DomainName.SIMPLEX, _:
            low, high = Fraction(0), Fraction(1)
        case DomainName.INTERVAL, (Number(low), Number(high)):
            pass
        case _:
            return None
    by_low, by_high = (
        f"{block.name} > {low} inside its domain",
        f"{block.name} <{'' if several else '='} {high} inside its domain",
    )
    return Range(low, high, True, several, frozenset({by_low}), frozenset({by_high}))


def _is_shares(name: str, declarations: Declarations) -> bool:
    """Whether a block is one column of shares that add up to 1."""
    block = declarations.find(name)
    return isinstance(block, Block) and block.constraint is Constraint.SIMPLEX and block.shape.cols is None


def _has_several(block: Block) -> bool:
    """Whether shares are known to be two or more: one alone is 1."""
    return isinstance(block.shape.rows, int) and block.shape.rows > 1


def _sum(parts: Iterable[Range | None]) -> Range | None:
    total = Range(Fraction(0), Fraction(0))
    for part in parts:
        if part is None:
            return None
        by_low, by_high = total.by_low | part.by_low, total.by_high | part.by_high
        above, below = total.above or part.above, total.below or part.below
        total = Range(total.low + part.low, total.high + part.high, above, below, by_low, by_high)
    return total


def _either(x: Range | None, y: Range | None) -> Range | None:
    """Return where two lie that each may be."""
    if x is None or y is None:
        return None
    above, below = x.above and y.above, x.below and y.below
    return Range(min(x.low, y.low), max(x.high, y.high), above, below, x.by_low | y.by_low, x.by_high | y.by_high)


def _multiple(x: Range | None, by: Fraction) -> Range | None:
    if x is None:
        return None
    if by == 0:
        return Range(Fraction(0), Fraction(0))
    if by > 0:
        return Range(x.low * by, x.high * by, x.above, x.below, x.by_low, x.by_high)
    return Range(x.high * by, x.low * by, x.below, x.above, x.by_high, x.by_low)


def _product(x: Range | None, y: Range | None) -> Range | None:
    """Return where products of what is not negative lie."""
    if x is None or y is None or min(x.low, y.low) < 0:
        return None
    above = x.above and y.above
    below = (x.below and y.high > 0) or (y.below and x.high > 0)
    return Range(x.low * y.low, x.high * y.high, above, below, x.by_low | y.by_low, _all_of(x) | _all_of(y))


def _all_of(x: Range) -> frozenset[str]:
    """Return all that an interval rests on: a product is at most one of largest numbers where none is negative."""
    return x.by_low | x.by_high
