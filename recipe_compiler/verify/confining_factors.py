"""How one factor of an energy grows as a coordinate goes to an end of its domain.

With L = |x| at infinity and L = 1/|x - e| at a finite end e, a factor is a constant times `L**p log(L)**q`, or an
exponential, or bounded. What is not of these forms, or not defined on the domain, has no known growth.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.tensor.atoms import Factor, everywhere
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.signs import is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Applied, Coordinate, Tensor, Term

Order = tuple[int, Fraction, int]
"""Exponential (1, 0 or -1), power of L, power of log L."""

BOUNDED: Order = (0, Fraction(0), 0)
LOGARITHM: Order = (0, Fraction(0), 1)
BOUNDED_FUNCTIONS = frozenset({"sin", "cos", "tanh", "sigmoid", "erf", "atan", "sign"})


@dataclass(frozen=True, slots=True)
class End:
    """Where a coordinate may go: to infinity (`at` None) or to a finite place, from above or below."""

    at: Fraction | None
    sign: int
    """At infinity which one; at a finite place whether it is left upwards (1) or downwards (-1)."""

    @property
    def name(self) -> str:
        """Return the end as text."""
        if self.at is None:
            return "oo" if self.sign > 0 else "-oo"
        return f"{self.at}{'+' if self.sign > 0 else '-'}"


@dataclass(frozen=True, slots=True)
class Growth:
    """A factor near an end: `scale * sign * L**p log(L)**q` up to smaller terms; sign 0: not known."""

    order: Order
    sign: int = 0
    scale: Fraction = Fraction(1)
    alone: bool = False
    """Whether it is known up to bounded terms only: then nothing is known of its products."""


def product_of(growths: Iterable[Growth | None]) -> Growth | None:
    """Return the growth of a product, None where that of a factor is not known."""
    order, sign, scale = BOUNDED, 1, Fraction(1)
    factors = list(growths)
    for growth in factors:
        if growth is None or (growth.alone and len(factors) > 1):
            return None
        (a, p, q), (b, r, s) = order, growth.order
        if a * b < 0:
            return None
        order = (a + b if a * b == 0 else a, p + r, q + s)
        sign, scale = sign * growth.sign, scale * growth.scale
    return Growth(order, sign, scale)


def growth_of(c: Calculus, factor: Factor, x: Coordinate, end: End) -> Growth | None:
    """Return how a factor that holds x grows towards an end; None if it is not known, or not defined there."""
    atom, exponent = factor
    match atom:
        case Coordinate():
            return _power(exponent, end)
        case Applied("abs", (arg,)) if _is(arg, x):
            found = _power(exponent, End(end.at, 1))
            return found if found is None or found.sign else Growth(found.order, 0)
        case Applied("log" | "log1p" as fn, (arg,)) if exponent.denominator == 1 and exponent > 0:
            return _logarithm(c, fn, arg, int(exponent), x, end)
        case Applied("exp", (arg,)) if exponent == 1:
            return _exponential(c, arg, x, end)
        case Applied(fn, _) if fn in BOUNDED_FUNCTIONS and exponent > 0 and exponent.denominator == 1:
            return Growth(BOUNDED)
        case _:
            return None


def _power(exponent: Fraction, end: End) -> Growth | None:
    """Return x**exponent near an end of known sign of x."""
    if end.at is not None and end.at != 0:
        negative = end.at < 0
        return None if negative and exponent.denominator != 1 else Growth(BOUNDED)
    if end.sign < 0 and exponent.denominator != 1:
        return None
    sign = -1 if end.sign < 0 and exponent.numerator % 2 else 1
    return Growth((0, exponent if end.at is None else -exponent, 0), sign)


def _logarithm(c: Calculus, fn: str, arg: Tensor, n: int, x: Coordinate, end: End) -> Growth | None:
    """Return log(arg)**n: of x or |x| itself, of what vanishes at a finite end, or of a sum that is positive."""
    at_zero = Growth((0, Fraction(0), n), (-1) ** n)
    if fn == "log" and (_is(arg, x) or _is_absolute(arg, x)):
        positive = x.block in c.rules.positive | c.rules.nonnegative or _is_absolute(arg, x)
        if not positive:
            return None
        if end.at is None:
            return Growth((0, Fraction(0), n), 1)
        return at_zero if end.at == 0 else Growth(BOUNDED)
    value = _at(arg, x, end.at)
    if fn == "log" and end.at is not None and value is not None:
        if value == 0:
            return Growth(LOGARITHM, -1, alone=True) if n == 1 else None
        return Growth(BOUNDED) if value > 0 else None
    whole = c.add(arg, c.constant(1)) if fn == "log1p" else arg
    if n != 1 or not is_positive(c.rules, whole):
        return None
    return _log_of_sum(c, whole, x, end)


def _log_of_sum(c: Calculus, arg: Tensor, x: Coordinate, end: End) -> Growth | None:
    """Return log(arg) of a polynomial whose terms are all nonnegative: its highest power leads."""
    degrees: list[Fraction] = []
    for term in arg.terms:
        powers = [exponent for atom, exponent in term.factors if atom == x]
        others = [f for f in term.factors if f[0] != x]
        if any(holds(factor, x) for factor in others):
            return None
        if not is_nonnegative(c.rules, Tensor(arg.free, (term,))) or any(p < 0 for p in powers):
            return None
        constant = c.collect([Term(term.coefficient, tuple(others))], arg.free)
        if not is_positive(c.rules, constant):
            return None
        degrees.append(sum(powers, Fraction(0)))
    if end.at is not None:
        return Growth(BOUNDED) if 0 in degrees else None
    top = max(degrees)
    return Growth(LOGARITHM, 1, top, alone=True) if top else Growth(BOUNDED)


def _exponential(c: Calculus, arg: Tensor, x: Coordinate, end: End) -> Growth | None:
    """Return exp(arg) of one power of x with a factor of known sign."""
    if len(arg.terms) != 1:
        return None
    term = arg.terms[0]
    powers = [exponent for atom, exponent in term.factors if atom == x]
    others = tuple(f for f in term.factors if f[0] != x)
    if len(powers) != 1 or powers[0] <= 0 or any(holds(factor, x) for factor in others):
        return None
    if end.at is not None:
        return Growth(BOUNDED)
    growth = _power(powers[0], end)
    factor = c.collect([Term(term.coefficient, others)], arg.free)
    if growth is None:
        return None
    if is_positive(c.rules, c.scale(factor, growth.sign)):
        return Growth((1, Fraction(0), 0), 1)
    return Growth((-1, Fraction(0), 0), 1) if is_positive(c.rules, c.scale(factor, -growth.sign)) else None


def _is(arg: Tensor, x: Coordinate) -> bool:
    return len(arg.terms) == 1 and arg.terms[0] == Term(Fraction(1), ((x, Fraction(1)),))


def _is_absolute(arg: Tensor, x: Coordinate) -> bool:
    match arg.terms:
        case (Term(coefficient, ((Applied("abs", (inner,)), exponent),)),):
            return coefficient == exponent == 1 and _is(inner, x)
        case _:
            return False


def _at(arg: Tensor, x: Coordinate, value: Fraction | None) -> Fraction | None:
    """Return the value of `a + b x` with numbers a and b; None of anything else."""
    if value is None:
        return None
    total = Fraction(0)
    for term in arg.terms:
        match term.factors:
            case ():
                total += term.coefficient
            case ((atom, exponent),) if atom == x and exponent == 1:
                total += term.coefficient * value
            case _:
                return None
    return total


def holds(factor: Factor, x: Coordinate) -> bool:
    """Whether a coordinate occurs in a factor, at any depth."""
    return any(atom == x for atom in everywhere(Tensor((), (Term(Fraction(1), (factor,)),))))
