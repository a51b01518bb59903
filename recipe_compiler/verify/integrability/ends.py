"""Is the integral of exp(-h(x)) over one coordinate finite? Decided at the ends of its domain, exactly.

The largest order among the terms of h decides: h must grow faster than log L with a positive factor K, or as K log L
with K > 1 at infinity, K > -1 at a finite end; bounded terms change nothing. `EndCondition` states what K must fulfil;
where no term was left out it is necessary, too.
"""

from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.elementwise import named
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.calculus_protocol import as_number
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Applied, Coordinate, Tensor, Term
from recipe_compiler.verify.integrability.factor_growth import (
    BOUNDED,
    LOGARITHM,
    End,
    FactorGrowth,
    Order,
    Rest,
    growth_of,
    holds,
    product_of,
)

ONE = Fraction(1)


_PARTIAL = named(lambda row: not row.total)


@dataclass(frozen=True, slots=True)
class EndCondition:
    """A scalar that must be positive for an integral to converge at an end: K - 1 for K log|x| at infinity."""

    end: str
    factor: Tensor
    holds: bool
    """Whether structure shows that it is positive."""
    boundary: bool
    """Whether the integral diverges where the factor is zero, too."""

    @property
    def unmet(self) -> str:
        """The condition in words, as long as it is not shown."""
        if self.factor.is_zero:
            return f"{self.end}: no term is shown to grow"
        return f"{self.end} needs {text(self.factor)} > 0"


@dataclass(frozen=True, slots=True)
class Finite:
    """The outcome for an integral: shown to be finite if there are no `reasons` against it."""

    reasons: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()
    assumed: str = ""
    """What is assumed of abstract functions: `exp(-U) has a finite integral`."""
    needed: tuple[EndCondition, ...] = ()
    """Conditions not shown without which the integral is infinite."""
    names: frozenset[str] = frozenset()
    """Of a part: the blocks it is about."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The conditions at all ends, what could not be analysed, and whether the conditions are necessary (`exact`)."""

    conditions: tuple[EndCondition, ...]
    reasons: tuple[str, ...]
    exact: bool


def ends_of(block: Block, h: Tensor) -> tuple[End, ...] | None:
    """Return the ends of a coordinate's domain, and both sides of 0 where h may be singular inside it.

    x > 0 has 0+ and oo; the real line -oo and oo, with 0- and 0+ as well for h = log|x|. None where an edge is no
    number.
    """
    up, down = End(None, 1), End(None, -1)
    match block.domain.name:
        case DomainName.POSITIVE | DomainName.NONNEGATIVE:
            return End(Fraction(0), 1), up
        case DomainName.REAL:
            inside = (End(Fraction(0), -1), End(Fraction(0), 1)) if _may_be_singular(h, block.name) else ()
            return down, *inside, up
        case DomainName.INTERVAL:
            low, high = (as_number(convert(edge, Declarations())) for edge in block.domain.bounds)
            if low is None or high is None or low >= high:
                return None
            inside = (End(Fraction(0), -1), End(Fraction(0), 1)) if low < 0 < high else ()
            return End(low, 1), *inside, End(high, -1)
        case _:
            return None


def at_ends(c: Calculus, block: Block, x: Coordinate, h: Tensor) -> Ends:
    """Return what int exp(-h(x)) dx over one coordinate x of a block needs at each end of its domain.

    x is one entry of b: [n], h a scalar function. Let L = |x| at infinity and 1/|x - e| at a finite end e. The term of
    largest order decides: K log L needs K > 1 at infinity and K > -1 at e; what grows faster needs a positive factor.
    The conditions are necessary unless a term was left out because it is nonnegative.

    Example, the gamma density: h = x - (a - 1) log(x) over x > 0. At oo the term x has the factor 1 > 0. At 0, with L =
    1/x, h ~ (a - 1) log L, and K = a - 1 > -1 means a > 0.
    """
    ends = ends_of(block, h)
    if ends is None:
        return Ends((), (f"the ends of {block.name} are not numbers",), exact=False)
    conditions: list[EndCondition] = []
    reasons: list[str] = []
    exact = True
    for end in ends:
        found, unknown, complete = _at_end(c, x, h, end, f"{block.name} -> {end.name}")
        exact = exact and complete
        if unknown:
            reasons.append(f"{block.name} -> {end.name}: {unknown}")
        elif found is not None:
            conditions.append(found)
    return Ends(tuple(conditions), tuple(reasons), exact)


def _at_end(c: Calculus, x: Coordinate, h: Tensor, end: End, name: str) -> tuple[EndCondition | None, str, bool]:
    """Return the condition at an end (None: nothing is needed), or why there is none, and if no term was left out."""
    groups: dict[Order, list[tuple[FactorGrowth, Tensor]]] = {}
    complete = True
    for term in h.terms:
        own = [factor for factor in term.factors if holds(factor, x)]
        rest = c.collect([Term(term.coefficient, tuple(f for f in term.factors if f not in own))], h.free)
        growth = product_of(c, (growth_of(c, factor, x, end) for factor in own))
        if growth is None or (growth.sign == 0 and growth.order > BOUNDED):
            if is_nonnegative(c.rules, Tensor(h.free, (term,))):
                complete = False  # left out: it only makes exp(-h) smaller
                continue
            if growth is None:
                return None, "a term of unknown growth", complete
        if growth.order > BOUNDED:
            groups.setdefault(growth.order, []).append((growth, rest))
    # exponentials of one order may differ in their rates: none of them may be negative
    rising = all(
        is_nonnegative(c.rules, _scaled(c, growth, rest))
        for order, group in groups.items()
        for growth, rest in group
        if order[0] == 1
    )
    for order in sorted(groups, reverse=True):
        if any(growth.sign == 0 for growth, _ in groups[order]):
            return None, "a leading term of unknown sign", complete
        parts = [_scaled(c, growth, rest) for growth, rest in groups[order]]
        total = c.add(Tensor(h.free, ()), *parts)
        if order[0] == 1:
            if not rising:
                return None, "an exponential that is not shown to be positive", complete
            if any(is_positive(c.rules, part) for part in parts):
                return _met(name, total), "", complete
            complete = False
            continue
        if order == LOGARITHM and not any(growth.rest is Rest.GROWING for growth, _ in groups[order]):
            least = c.subtract(total, c.constant(1)) if end.at is None else c.add(total, c.constant(1))
            return EndCondition(name, least, is_positive(c.rules, least), boundary=True), "", complete
        if is_positive(c.rules, total):
            return _met(name, total), "", complete
        if not total.is_zero and not is_nonnegative(c.rules, total):
            return EndCondition(name, total, holds=False, boundary=False), "", complete
        if any(growth.rest is Rest.GROWING for growth, _ in groups[order]):
            return None, "leading terms that may cancel and leave others that grow", complete
        complete = complete and total.is_zero
    if end.at is None:
        return EndCondition(name, c.constant(0), holds=False, boundary=True), "", complete
    return None, "", complete


def _scaled(c: Calculus, growth: FactorGrowth, rest: Tensor) -> Tensor:
    """Return what multiplies the power of L in a term."""
    return c.scale(c.multiply(rest, growth.scale), growth.sign)


def _met(name: str, factor: Tensor) -> EndCondition:
    return EndCondition(name, factor, holds=True, boundary=False)


def _may_be_singular(h: Tensor, block: str) -> bool:
    """Whether a logarithm, another function with poles or a negative power of a coordinate of the block occurs."""
    for term in h.terms:
        for atom, exponent in term.factors:
            inside = list(everywhere(Tensor((), (Term(Fraction(1), ((atom, Fraction(1)),)),))))
            if not any(isinstance(a, Coordinate) and a.block == block for a in inside):
                continue
            if exponent < 0 or any(isinstance(a, Applied) and a.fn in _PARTIAL for a in inside):
                return True
    return False
