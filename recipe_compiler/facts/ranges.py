"""Ranges and signs of the entries of a formula: one domain of intervals, with what each end rests on.

An end of an interval is a number or infinite, reached or not, and known by declarations. Intervals of products and
powers are those of interval arithmetic, with open and infinite ends; `nonzero_given` says that 0 is none of the values,
whatever the ends are.

Worked example, `1 - v` with v in (0, 1): [1, 1] + (-1, 0) = (0, 1), the lower end by "v < 1 inside its domain". So
`log(1 - v)` is defined, and negative by "v > 0 inside its domain".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import inf

from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS, Signs
from recipe_compiler.algebra.scalars.transposes import plain
from recipe_compiler.facts.fold import Domain
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import add, negate, nodes
from recipe_compiler.formula.constraints import VECTORS, Constraint
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DISCRETE, DomainName, Kind
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.verdict import declared_of

Given = frozenset[str]
NOTHING: Given = frozenset()
MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


@dataclass(frozen=True, slots=True)
class Bound:
    """An end of an interval, `open` where it is not reached, and the declarations by which it is known."""

    at: Fraction | float
    open: bool = False
    given: Given = NOTHING

    def __neg__(self) -> "Bound":
        """Return the end of the mirrored interval."""
        return Bound(-self.at, self.open, self.given)


@dataclass(frozen=True, slots=True)
class Range:
    """Every entry x has low <= x <= high; with `nonzero`, none is 0, known by `by`."""

    low: Bound = Bound(-inf)
    high: Bound = Bound(inf)
    nonzero_given: Given | None = None
    """The declarations by which 0 is none of the values, beside what the ends say; None where it may be."""

    def shows(self, op: str, number: int = 0) -> Given | None:
        """Return the declarations by which every entry x has `x op number`, op in `> >= < <= !=`; None if not known."""
        match op:
            case ">" | ">=":
                low = self.low
                off = low.at == number == 0 and self.nonzero_given is not None
                if low.at > number or (low.at == number and (op == ">=" or low.open)):
                    return low.given
                return low.given | (self.nonzero_given or NOTHING) if off else None
            case "<" | "<=":
                return (-self).shows(MIRRORED[op], -number)
            case _:
                sides = (self.nonzero_given if number == 0 else None, self.shows(">", number), self.shows("<", number))
                return next((given for given in sides if given is not None), None)

    @property
    def positive(self) -> bool:
        """Whether every entry is positive."""
        return self.shows(">") is not None

    @property
    def nonnegative(self) -> bool:
        """Whether no entry is negative."""
        return self.low.at >= 0

    @property
    def nonpositive(self) -> bool:
        """Whether no entry is positive."""
        return self.high.at <= 0

    @property
    def nonzero(self) -> bool:
        """Whether no entry is zero."""
        return self.shows("!=") is not None

    @property
    def bounded(self) -> bool:
        """Whether both ends are numbers."""
        return -inf < self.low.at and self.high.at < inf

    @property
    def given(self) -> Given:
        """The declarations by which its sign is known: the sharpest of positive, nonnegative, negative, nonzero."""
        sharpest = (self.shows(op) for op in (">", "<", ">=", "<=", "!="))
        return next((given for given in sharpest if given is not None), NOTHING)

    def __neg__(self) -> "Range":
        """Return the range of -x."""
        return Range(-self.high, -self.low, self.nonzero_given)

    def known_by(self, given: Given) -> "Range":
        """Return the same range, known by further declarations."""
        low, high = (
            replace(end, given=end.given | given if abs(end.at) != inf else NOTHING) for end in (self.low, self.high)
        )
        return Range(low, high, None if self.nonzero_given is None else self.nonzero_given | given)

    @property
    def sides(self) -> Given:
        """The declarations by which its sign is one of two, all it is known by where it is not."""
        if self.nonnegative:
            return self.low.given
        return self.high.given if self.nonpositive else self.low.given | self.high.given


UNKNOWN = Range()


def between(low: Fraction | float, high: Fraction | float, given: Given = NOTHING, *, open: bool = False) -> Range:
    """Return the interval from low to high, without its finite ends if it is open."""
    below, above = (Bound(x, open, given) if abs(x) != inf else Bound(x) for x in (low, high))
    return Range(below, above)


def known(name: str, says: str) -> Given:
    """Return what is declared of a name, as the only premise."""
    return frozenset({declared_of(name, says)})


Form = Callable[[Formula, Declarations], "tuple[bool, Given] | None"]
"""Whether a square matrix is positive definite, not only semidefinite, and by what; None where it is neither."""


class Ranges(Domain[Range]):
    """The domain of ranges; `form` says of which matrices quadratic forms, traces and determinants have a sign."""

    top = UNKNOWN

    def __init__(self, scaled_form: Callable[[Formula, Declarations], "tuple[Formula, Given] | None"], form: Form):
        self.scaled_form, self.form = scaled_form, form

    def number(self, value: Fraction) -> Range:
        """Return the interval of one number."""
        return between(value, value)

    def name(self, symbol: ex.Symbol | ex.FunctionAt, declarations: Declarations) -> Range:
        """Return the range that the declaration of a name gives its entries."""
        if isinstance(symbol, ex.Symbol) and symbol.role in {ex.Role.SIZE, ex.Role.STEP}:
            return between(Fraction(1), inf) if symbol.role is ex.Role.SIZE else between(Fraction(0), inf, open=True)
        match declarations.find(symbol.name):
            case Block() as block:
                return _range_of_block(block)
            case Parameter() | Function() as item:
                return _range_of_kinds(item.name, item.kinds, matrix=len(item.shape.sizes) == 2)
            case Datum() as item:
                return _range_of_kinds(item.name, item.known, matrix=False)
            case _:
                return UNKNOWN

    def add(self, x: Range, y: Range) -> Range:
        """Return the range of x + y."""
        return Range(_add_bounds(x.low, y.low, -inf), _add_bounds(x.high, y.high, inf))

    def times(self, x: Range, y: Range) -> Range:
        """Return the range of x y, from the four products of ends."""
        every = x.low.given | x.high.given | y.low.given | y.high.given
        corners = [_multiply_bounds(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
        low = min(corners, key=lambda end: (end.at, end.open))
        high = max(corners, key=lambda end: (end.at, not end.open))
        sides = x.sides | y.sides

        def known_by(end: Bound) -> Bound:
            return replace(end, given=NOTHING if abs(end.at) == inf else sides if end.at == 0 else every)

        parts = (x.shows("!="), y.shows("!="))
        nonzero = None if parts[0] is None or parts[1] is None else parts[0] | parts[1]
        return Range(known_by(low), known_by(high), nonzero)

    def power(self, x: Range, exponent: Fraction) -> Range:
        """Return the range of x**exponent where it is defined."""
        if exponent.denominator != 1:
            found = _range_of_real_power(x)
            return found if exponent > 0 or found.positive else between(Fraction(0), inf, open=True)
        n = int(exponent)
        if n < 0:
            return _range_of_reciprocal(self.power(x, Fraction(-n)))
        return (
            _range_of_modulus_power(x, n)
            if n % 2 == 0
            else Range(_raise_bound(x.low, n), _raise_bound(x.high, n), x.shows("!="))
        )

    def function(self, name: str, x: Range) -> Range:
        """Return the range of an elementwise function of x."""
        row = FUNCTIONS.get(name)
        if row is None:
            return UNKNOWN
        low, high = map(Fraction, row.between) if row.between is not None else (-inf, inf)
        zero = Fraction(0)
        match row.signs, name:
            case _, "sign":
                return Range(_least_sign(x), -_least_sign(-x), x.shows("!="))
            case Signs.OF_ARGUMENT, _:
                below = Bound(zero, x.low.open, x.low.given) if x.nonnegative else Bound(low, low != -inf)
                above = Bound(zero, x.high.open, x.high.given) if x.nonpositive else Bound(high, high != inf)
                return Range(below, above, x.shows("!="))
            case Signs.POSITIVE, _:
                return between(zero, high, open=True)
            case Signs.NEGATIVE, _:
                return between(-inf, zero, open=True)
            case Signs.POSITIVE_AT_POSITIVE, _:
                return Range(Bound(zero, True, x.low.given)) if x.positive else UNKNOWN
            case _, "abs":
                return _range_of_modulus_power(x, 1)
            case _, "sqrt":
                return self.power(x, Fraction(1, 2))
            case _, "log":
                below = Bound(zero, x.low.at > 1 or x.low.open, x.low.given) if x.low.at >= 1 else Bound(-inf)
                above = Bound(zero, x.high.at < 1 or x.high.open, x.high.given) if x.high.at <= 1 else Bound(inf)
                return Range(below, above)
            case _:
                return between(low, high, open=not row.reached)

    def join(self, x: Range, y: Range) -> Range:
        """Return the least interval that contains both ranges."""
        low = min(x.low, y.low, key=lambda end: (end.at, end.open))
        high = max(x.high, y.high, key=lambda end: (end.at, not end.open))
        parts = (x.shows("!="), y.shows("!="))
        nonzero = None if parts[0] is None or parts[1] is None else parts[0] | parts[1]
        return Range(_cite_both(low, x.low, y.low), _cite_both(high, x.high, y.high), nonzero)

    def joint(self, name: str, values: list[Range]) -> Range:
        """Return the range of a function of several arguments."""
        match name, values:
            case "power", [base, _]:
                return _range_of_real_power(base)
            case "where", [_, _, yes, no]:
                return self.join(yes, no)
            case "maximum", [x, y]:
                return self._range_of_maximum(x, y)
            case "minimum", [x, y]:
                return -self._range_of_maximum(-x, -y)
            case _:
                return UNKNOWN

    def _range_of_maximum(self, x: Range, y: Range) -> Range:
        """Return the range of maximum(x, y)."""
        low = max(x.low, y.low, key=lambda end: (end.at, end.open))
        high = max(x.high, y.high, key=lambda end: (end.at, not end.open))
        return Range(low, _cite_both(high, x.high, y.high), self.join(x, y).nonzero_given)

    def total(self, x: Range) -> Range:
        """Return the range of a sum of one or more entries: an end stays only if more entries cannot pass it."""
        low = x.low if x.low.at >= 0 else Bound(-inf)
        high = x.high if x.high.at <= 0 else Bound(inf)
        return Range(low, high)

    def whole(self, formula: Formula, declarations: Declarations, ask: Callable[[Formula], Range]) -> Range:
        """Return the range that a theorem about the whole formula gives."""
        return self._range_by_theorem(formula, declarations, ask)

    def assumed(self, declarations: Declarations) -> dict[Formula, Range]:
        """Return the ranges of formulas that assumptions compare with a number or with each other."""
        found: dict[Formula, Range] = {}
        for compare in declarations.assume:
            given: Given = frozenset({text(compare)})
            sides = (compare.op, compare.left, compare.right), (MIRRORED.get(compare.op), compare.right, compare.left)
            for op, left, right in sides:
                if compare.op == "==" and isinstance(right, ex.Number | ex.Symbol):
                    same = self.number(right.value) if isinstance(right, ex.Number) else self.name(right, declarations)
                    formula = plain(left, declarations)
                    found[formula] = self.meet(found.get(formula, UNKNOWN), same.known_by(given))
                elif op in MIRRORED:
                    number = isinstance(right, ex.Number | ex.Filled)
                    end = Bound(Fraction(right.value) if number else Fraction(0), op in {">", "<"}, given)
                    apart = left if number else add([left, negate(right)], compare.shape)
                    side, formula = Range(low=end) if ">" in op else Range(high=end), plain(apart, declarations)
                    found[formula] = self.meet(found.get(formula, UNKNOWN), side)
        return found

    def meet(self, x: Range, y: Range) -> Range:
        """Return a range with the sharper of both ends."""
        low = x.low if (x.low.at, x.low.open) >= (y.low.at, y.low.open) else y.low
        high = x.high if (-x.high.at, x.high.open) >= (-y.high.at, y.high.open) else y.high
        return Range(low, high, y.nonzero_given if x.nonzero_given is None else x.nonzero_given)

    def _range_by_theorem(self, formula: Formula, declarations: Declarations, ask: Callable[[Formula], Range]) -> Range:
        """Return the range of a form, trace, diagonal entry, mean or difference of ordered entries; else UNKNOWN."""
        match formula:
            case ex.MatMul(ex.Transpose(ex.Symbol(w)), arg) | ex.MatMul(arg, ex.Symbol(w)) if _is_simplex_column(
                w, declarations
            ):
                return ask(arg)
            case ex.MatMul() if not formula.shape.sizes and (form := self.scaled_form(formula, declarations)):
                return self.times(ask(form[0]), Range(Bound(Fraction(0), False, form[1])))
            case ex.Apply("trace" | "det", (arg,)):
                return self._range_of_form(arg, declarations)
            case ex.Apply("diag", (ex.Symbol(name, shape),)) if shape.cols and _has_positive_diagonal(
                name, declarations
            ):
                return _positive_range(f"the diagonal of {name} is positive")
            case ex.Entry(ex.Symbol(name), (i, j)) if i == j and _has_positive_diagonal(name, declarations):
                return _positive_range(f"the diagonal of {name} is positive")
            case ex.Entry(ex.Apply("cholesky"), (i, j)) if i == j:
                return Range(low=Bound(Fraction(0), True))
            case ex.Entry(arg, (i, j)) if i == j and not isinstance(arg, ex.Explicit):
                return self._range_of_form(arg, declarations)
            case ex.Add((ex.Entry(ex.Symbol(a), (i,)), ex.Multiply(ex.Number(c), ex.Entry(ex.Symbol(b), (j,))))) if (
                c == -1 and a == b
            ):
                return _range_of_difference(a, i, j, declarations)
            case ex.Add((ex.Multiply(ex.Number(c), ex.Entry(ex.Symbol(b), (j,))), ex.Entry(ex.Symbol(a), (i,)))) if (
                c == -1 and a == b
            ):
                return _range_of_difference(a, i, j, declarations)
            case ex.Add() if item := _find_choice(formula, declarations):
                puts = ({item.name: ex.Number(Fraction(value))} for value in item.values)
                cases = reduce(self.join, (ask(substitute(formula, put)) for put in puts))
                return cases.known_by(known(item.name, item.says_values))
            case _:
                return UNKNOWN

    def _range_of_form(self, matrix: Formula, declarations: Declarations) -> Range:
        """Return [0, oo) if the matrix is semidefinite, (0, oo) if it is definite, else the unknown range."""
        found = self.form(matrix, declarations)
        return UNKNOWN if found is None else Range(Bound(Fraction(0), *found))


def _find_choice(formula: Formula, declarations: Declarations) -> Datum | None:
    """Return the only number of the data with few values in a formula; None where there is none, or another."""
    names = {node.name for node in nodes(formula) if isinstance(node, ex.Symbol) and node.role is ex.Role.DATUM}
    found = [item for item in declarations.data if item.name in names and item.is_choice]
    return found[0] if len(found) == 1 else None


def _positive_range(says: str) -> Range:
    """Return (0, oo), known by one declaration."""
    return Range(Bound(Fraction(0), True, frozenset({says})))


def _range_of_kinds(name: str, kinds: tuple[Kind, ...], *, matrix: bool) -> Range:
    """Return the range of the entries of a name of some kinds: off the diagonal of a diagonal matrix they are 0."""
    diagonal = matrix and Kind.DIAGONAL in kinds
    entrywise = {Kind.POSITIVE, Kind.NONNEGATIVE}
    whole = entrywise if matrix and not diagonal else entrywise | {Kind.PD, Kind.PSD}
    for kind in (Kind.POSITIVE, Kind.NONNEGATIVE, Kind.PD, Kind.PSD):
        if kind in kinds and kind in whole:
            strict = kind in {Kind.POSITIVE, Kind.PD} and not diagonal
            return Range(Bound(Fraction(0), strict, known(name, f"is {kind}")))
    nonzero = Kind.NONZERO in kinds and not diagonal
    return replace(UNKNOWN, nonzero_given=known(name, f"is {Kind.NONZERO}")) if nonzero else UNKNOWN


def _range_of_block(block: Block) -> Range:
    """Return the range of the coordinates of a block in the interior of its domain."""
    several = isinstance(block.shape.rows, int) and block.shape.rows > 1  # one share alone is 1
    name, zero, one = block.name, Fraction(0), Fraction(1)
    above_zero = Bound(zero, True, known(name, "> 0 inside its domain"))
    match block.domain.name, block.domain.bounds:
        case _ if block.constraint is Constraint.SIMPLEX:
            return Range(above_zero, Bound(one, several, known(name, f"<{'' if several else '='} 1 inside its domain")))
        case DomainName.SIMPLEX, _:
            return Range(above_zero, Bound(one, True, known(name, "< 1 inside its domain")))
        case ((DomainName.POSITIVE | DomainName.NONNEGATIVE), _):
            return Range(above_zero)
        case DomainName.INTERVAL, (low, high):
            return Range(_end_of_domain(low, name, ">", -inf), _end_of_domain(high, name, "<", inf))
        case DomainName.CIRCLE, ():
            ends = (known(name, ">= 0 inside its domain"), known(name, "<= 2*pi inside its domain"))
            return Range(Bound(zero, False, ends[0]), Bound(Fraction(44, 7), True, ends[1]))
        case kind, _ if kind in DISCRETE:
            return Range(Bound(zero, False, known(name, f"is {kind}")))
        case _:
            return UNKNOWN


def _end_of_domain(bound: Formula, name: str, op: str, infinite: float) -> Bound:
    """Return an end of a domain, infinite where it is no number."""
    if not isinstance(bound, ex.Number):
        return Bound(infinite)
    return Bound(bound.value, True, known(name, f"{op} {bound.value} inside its domain"))


def _is_simplex_column(name: str, declarations: Declarations) -> bool:
    """Whether a block is one column of shares that add up to 1."""
    block = declarations.find(name)
    return isinstance(block, Block) and block.constraint is Constraint.SIMPLEX and block.shape.cols is None


def _has_positive_diagonal(name: str, declarations: Declarations) -> bool:
    """Whether a block is a matrix with a positive diagonal: a factor, a covariance."""
    block = declarations.find(name)
    return isinstance(block, Block) and block.constraint is not None and block.constraint not in VECTORS


def _range_of_difference(name: str, i: int, j: int, declarations: Declarations) -> Range:
    """Return the range of the difference of entries i and j of a block whose entries increase."""
    block = declarations.find(name)
    increases = isinstance(block, Block) and block.constraint in {Constraint.ORDERED, Constraint.POSITIVE_ORDERED}
    found = _positive_range(f"{name} increases") if increases and i != j else UNKNOWN
    return found if i > j else -found


def _add_bounds(a: Bound, b: Bound, infinite: float) -> Bound:
    """Return the sum of two ends, infinite if one of them is."""
    return Bound(infinite) if infinite in (a.at, b.at) else Bound(a.at + b.at, a.open or b.open, a.given | b.given)


def _multiply_bounds(a: Bound, b: Bound) -> Bound:
    """Return the product of two bounds, where 0 times infinity is 0, reached where a 0 is reached."""
    zeros = [end for end in (a, b) if end.at == 0]
    return Bound(Fraction(0), all(end.open for end in zeros)) if zeros else Bound(a.at * b.at, a.open or b.open)


def _cite_both(end: Bound, a: Bound, b: Bound) -> Bound:
    """Return an end that cites the declarations of two others; none if it is infinite."""
    return replace(end, given=a.given | b.given if abs(end.at) != inf else NOTHING)


def _raise_bound(end: Bound, n: int) -> Bound:
    """Return the n-th power of an end; infinity unchanged."""
    return end if abs(end.at) == inf else replace(end, at=end.at**n)


def _least_sign(x: Range) -> Bound:
    """Return the lower end of the range of sign(x)."""
    least = Fraction(1) if x.positive else Fraction(0) if x.nonnegative else Fraction(-1)
    given = x.shows(">" if least > 0 else ">=") if least >= 0 else None
    return Bound(least, False, given or NOTHING)


def _range_of_modulus_power(x: Range, n: int) -> Range:
    """Return the range of |x|**n."""
    if x.nonpositive and not x.nonnegative:
        return _range_of_modulus_power(-x, n)
    if x.nonnegative:
        low = _raise_bound(x.low, n) if x.low.at > 0 or x.low.open else Bound(Fraction(0))
        return Range(low, _cite_both(_raise_bound(x.high, n), x.low, x.high), x.shows("!="))
    far = max(x.high, -x.low, key=lambda end: (end.at, not end.open))
    nonzero = x.shows("!=")
    low = Bound(Fraction(0), nonzero is not None, nonzero or NOTHING)
    return Range(low, _cite_both(_raise_bound(far, n), x.low, x.high), nonzero)


def _range_of_real_power(x: Range) -> Range:
    """Return the range of a real power of x where it is defined: x is not negative there."""
    positive = x.shows(">")
    return Range(Bound(Fraction(0), positive is not None, positive or NOTHING))


def _range_of_reciprocal(x: Range) -> Range:
    """Return the range of 1/x where x is not 0."""
    if x.nonpositive and not x.nonnegative:
        return -_range_of_reciprocal(-x)
    if not x.nonnegative:
        return replace(UNKNOWN, nonzero_given=NOTHING)
    low, high, both = x.low, x.high, x.low.given | x.high.given
    least = Bound(Fraction(0), True, low.given)
    if high.at not in {inf, 0}:
        least = Bound(1 / Fraction(high.at), high.open, both)
    most = Bound(inf) if low.at == 0 else Bound(1 / Fraction(low.at), low.open, low.given)
    return Range(least, most, NOTHING)
