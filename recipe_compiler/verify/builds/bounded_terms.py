"""Summands of a log density that are at most a constant, alone, in pairs, or but for what moments of priors absorb."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations, product

from recipe_compiler import limits
from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import add, depends_on_state, multiply
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.densities import DENSITIES, EXPONENTIALS, INVERSE, POWERS
from recipe_compiler.formula.density_terms import at_most
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.expression import (
    Apply,
    Entry,
    Explicit,
    Formula,
    MatMul,
    Multiply,
    Number,
    Role,
    Symbol,
)
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verify.builds.one_datum import make_datum_index
from recipe_compiler.verify.builds.products import Law, Summands, flatten_sums
from recipe_compiler.verify.integrability.bounded import bounded_above

Moments = Mapping[str, frozenset[str]]
"""Blocks to the names of the moments that their priors have, whatever the state is."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds of summands rest on."""

    declarations: Declarations
    moments: Moments = field(default_factory=dict[str, frozenset[str]])
    bounded: frozenset[str] = frozenset()
    """States of a recursion that are shown to be bounded above."""
    floors: Mapping[str, tuple[Formula, ...]] = field(default_factory=dict[str, "tuple[Formula, ...]"])
    """States of a recursion to formulas of blocks: in every row one is at least one of these."""

    def find_absorbing_blocks(self, summands: Summands) -> frozenset[str] | None:
        """Return the blocks whose moments a sum rests on: F <= C + sum_j k_j log v_j + c_j h_j; None if not shown.

        Each summand is at most a constant; or two are, as x - log(1 + exp(x)) is at most 0; or it is a multiple of h,
        or of log v, whose exponential has a mean under the prior.
        """
        moving = (one for one in flatten_sums(summands) if depends_on_state(one[1]))
        left = _merge_summands(self._split_logarithms(moving))
        for core in list(left):
            if core in left and left[core] < 0:
                _remove_bounded_pair(left, core)
        _remove_urn_law(left, self.declarations)
        found: set[str] = set()
        for core, c in left.items():
            if self._is_bounded(core, c):
                continue
            if (below := self._bound_by_floors(core, c)) is not None:
                found |= below
                continue
            block = self._find_moment_block(core, c)
            if block is None:
                return None
            found.add(block)
        return frozenset(found)

    def _split_logarithms(self, summands: Iterable[tuple[Fraction, Formula]]) -> Iterator[tuple[Fraction, Formula]]:
        """Yield summands; logarithms of roots and of products of positive factors become those of the factors."""
        for c, term in summands:
            match term:
                case Apply("log", (Apply("sqrt", (inner,)),)):
                    yield from self._split_logarithms([(c / 2, Apply("log", (inner,), term.shape))])
                case Apply("log", (Multiply(left, right),)) if left.shape == right.shape and all(
                    sign(factor, self.declarations).positive for factor in (left, right)
                ):
                    logs = [(c, Apply("log", (factor,), term.shape)) for factor in (left, right)]
                    yield from self._split_logarithms(logs)
                case _:
                    yield c, term

    def _is_bounded(self, core: Formula, c: Fraction) -> bool:
        match core:
            case Apply("log", (Symbol(name),)) if c > 0 and name in self.bounded:
                return True
            case _:
                return bounded_above(multiply(Number(c), core, core.shape), self.declarations)

    def _bound_by_floors(self, core: Formula, c: Fraction) -> frozenset[str] | None:
        """Return the moments that a bound of -log s rests on; None where no lower bound of s is known."""
        match core:
            case Apply("log", (Symbol(name),)) if c < 0 and name in self.floors:
                logs = (((c, Apply("log", (floor,), core.shape)),) for floor in self.floors[name])
                shown = [self.find_absorbing_blocks(log) for log in logs]
                known = [one for one in shown if one is not None]
                return frozenset[str]().union(*known) if len(known) == len(shown) else None
            case _:
                return None

    def _find_moment_block(self, core: Formula, c: Fraction) -> str | None:
        """Return the block v of c log v, or h of c h, for which E v**c, or E exp(c h), is finite."""
        match core:
            case (
                Apply("log", (Symbol(name, _, Role.BLOCK) | Entry(Symbol(name, _, Role.BLOCK)),))
                | Apply("log", (MatMul(Symbol(_, _, Role.INDEX), Symbol(name, _, Role.BLOCK)),))
                | Apply("sum", (Apply("log", (Symbol(name, _, Role.BLOCK),)),))
            ):
                needed = POWERS if c > 0 else INVERSE
            case Symbol(name, _, Role.BLOCK) | Entry(Symbol(name, _, Role.BLOCK)):
                needed = EXPONENTIALS
            case _:
                return None
        return name if needed in self.moments.get(name, frozenset()) else None

    def bound_law(self, law: Law) -> frozenset[str] | None:
        """Return the blocks whose moments show that a named density is bounded, for all data; None if not shown."""
        row, entries = DENSITIES[law.stated.name], law.is_of_entries
        bounds = (*(bound.at_most for bound in row.bounds), *row.ceilings)
        found = (
            self.find_absorbing_blocks(((Fraction(1), at_most(row, text, law.stated.arguments, entries=entries)),))
            for text in bounds
        )
        return next((one for one in found if one is not None), None)


def _merge_summands(summands: Iterable[tuple[Fraction, Formula]]) -> dict[Formula, Fraction]:
    """Return the coefficient of each summand, numbers in front added."""
    found: dict[Formula, Fraction] = {}
    for c, term in summands:
        found[term] = found.get(term, Fraction(0)) + c
    return {term: c for term, c in found.items() if c}


def _remove_bounded_pair(left: dict[Formula, Fraction], core: Formula) -> None:
    """Remove -a f(x) + k x where it is bounded above: softplus for 0 <= k <= a, exp for k >= 0."""
    a = -left[core]
    match core:
        case Apply("exp", (arg,)):
            candidates, low, high = [arg], Fraction(0), None
        case Apply("log", (Apply("sum", (Apply("exp", (column,)),)),)):
            candidates, low, high = list(_list_entries(column, left)), a, a
        case Apply(fn, (arg,)) if (row := FUNCTIONS.get(fn)) is not None and row.ends is not None:
            candidates, low, high = [arg], a * row.ends[0], a * row.ends[1]
        case _:
            return
    for candidate in candidates:
        k = _find_multiple(left, candidate)
        if k is not None and k != 0 and k >= low and (high is None or k <= high):
            for c, term in flatten_sums(((Fraction(1), candidate),)):
                if depends_on_state(term):
                    left[term] -= k * c
                    if left[term] == 0:
                        del left[term]
            del left[core]
            return


def _remove_urn_law(left: dict[Formula, Fraction], declared: Declarations) -> None:
    """Remove an urn's law: prod_i G(a_i + y_i)/G(a_i) G(a)/G(a + y) = E prod_i p_i**y_i <= 1, y_i >= 0.

    a and y are the sums of a_i and y_i, and p is Dirichlet(a) (Polya). Taken are all logarithms of G, or none.
    """
    found = [(c, core) for core, c in left.items() if isinstance(core, Apply) and core.fn == "loggamma"]
    above = [core.args[0] for c, core in found for _ in range(int(c)) if isinstance(core, Apply)]
    below = [core.args[0] for c, core in found for _ in range(int(-c)) if isinstance(core, Apply)]
    if any(c.denominator > 1 for c, _ in found) or not 0 < len(above) == len(below) <= limits.CASES:
        return

    def subtract(x: Formula, y: Formula) -> Formula:
        terms = _merge_summands(flatten_sums(((Fraction(1), x), (Fraction(-1), y))))
        return add([multiply(Number(c), term, SCALAR) for term, c in terms.items()] or [Number(Fraction(0))], SCALAR)

    def is_count(y: Formula) -> bool:
        return not depends_on_state(y) and sign(y, declared).nonnegative

    for first, order in product(range(len(above)), permutations(below)):
        (whole, more), *shares = zip((*above[first:], *above[:first]), order, strict=True)
        ys = [subtract(more, whole), *(subtract(up, down) for up, down in shares)]
        sums = subtract(whole, add([down for _, down in shares], SCALAR)), subtract(ys[0], add(ys[1:], SCALAR))
        if all(map(is_count, ys)) and all(_is_zero(one, declared) for one in sums):
            for _, core in found:
                del left[core]
            return


def _is_zero(formula: Formula, declared: Declarations) -> bool:
    c, datum = calculus(declared), make_datum_index(declared)
    return c.is_zero(convert(formula, declared, datum=datum))


def _list_entries(column: Formula, left: Iterable[Formula]) -> Iterator[Formula]:
    """Yield the column, the formulas that are its entries, and the column at a position."""
    yield column
    if isinstance(column, Explicit):
        yield from (entry for row in column.rows for entry in row)
    for term in left:
        match term:
            case MatMul(Symbol(_, _, Role.INDEX), other) if other == column:
                yield term
            case _:
                pass


def _find_multiple(left: Mapping[Formula, Fraction], candidate: Formula) -> Fraction | None:
    """Return k where k times a formula is among the summands; None where it is not."""
    own = ((c, term) for c, term in flatten_sums(((Fraction(1), candidate),)) if depends_on_state(term))
    found = {left.get(term, Fraction(0)) / c for c, term in own}
    return found.pop() if len(found) == 1 else None
