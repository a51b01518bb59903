"""How one factor of an energy grows as a coordinate goes to an end of its domain.

With L = |x| at infinity and L = 1/|x - e| at a finite end e, a factor is a constant times `L**p log(L)**q`, or an
exponential, or bounded. What is not of these forms, or not defined on the domain, has no known growth.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from math import comb

from recipe_compiler.formula import elementwise
from recipe_compiler.tensor.atoms import Factor, everywhere
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.functions import inside_logarithm
from recipe_compiler.tensor.signs import is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Applied, Atom, Base, Coordinate, Tensor, Term

Order = tuple[int, Fraction, int]
"""Exponential (1, 0 or -1), power of L, power of log L."""

BOUNDED: Order = (0, Fraction(0), 0)
LOGARITHM: Order = (0, Fraction(0), 1)
ABSOLUTE = (-1, 1)
"""|x| is -x and x at its ends; so is log(cosh(x)), up to a bounded term."""
NUMBER_ONE = Tensor((), (Term(Fraction(1)),))


@dataclass(frozen=True, slots=True)
class End:
    """Where a coordinate may go: to infinity (`at` is None), or to a finite place from above or from below."""

    at: Fraction | None
    sign: int
    """At infinity which one; at a finite place whether it is left upwards (1) or downwards (-1)."""

    @property
    def name(self) -> str:
        """The end as text: `oo`, `-oo`, `0+`, `1-`."""
        if self.at is None:
            return "oo" if self.sign > 0 else "-oo"
        return f"{self.at}{'+' if self.sign > 0 else '-'}"


class Rest(IntEnum):
    """What a growth leaves out: nothing, bounded terms, or smaller terms that may grow as well."""

    NOTHING = 0
    BOUNDED = 1
    GROWING = 2


@dataclass(frozen=True, slots=True)
class FactorGrowth:
    """A factor near an end: sign * scale * L**p log(L)**q up to smaller terms; sign 0 if it is not known."""

    order: Order
    sign: int = 0
    scale: Tensor = NUMBER_ONE
    """Nonnegative, and free of the coordinate."""
    rest: Rest = Rest.NOTHING


def product_of(c: Calculus, growths: Iterable[FactorGrowth | None]) -> FactorGrowth | None:
    """Return the growth of a product; None where that of a factor is unknown.

    (s L**p log(L)**q) (t L**r log(L)**u) = s t L**(p+r) log(L)**(q+u). None, too, where one factor grows exponentially
    and another decays exponentially.
    """
    order, sign, scale, rest = BOUNDED, 1, NUMBER_ONE, Rest.NOTHING
    factors = list(growths)
    for growth in factors:
        if growth is None:
            return None
        (a, p, q), (b, r, s) = order, growth.order
        if a * b < 0:
            return None
        order = (a + b if a * b == 0 else a, p + r, q + s)
        sign, scale, rest = sign * growth.sign, c.multiply(scale, growth.scale), max(rest, growth.rest)
    return FactorGrowth(order, sign, scale, Rest.GROWING if rest and len(factors) > 1 else rest)


def growth_of(c: Calculus, factor: Factor, x: Coordinate, end: End) -> FactorGrowth | None:
    """Return how a factor that contains x grows towards an end; None if that is unknown, or it is not defined there.

    x**3 grows like L**3 at oo and like -L**3 at -oo, with L = |x|. log(x) is -log(L) at 0+, with L = 1/x.
    """
    atom, exponent = factor
    if isinstance(atom, Coordinate):
        return _power(exponent, end)
    if isinstance(atom, Base):
        return _power_of_sum(c, atom.arg, exponent, x, end)
    if not isinstance(atom, Applied) or exponent.denominator != 1 or exponent <= 0:
        return _power(exponent, End(end.at, 1)) if _is_absolute_atom(atom, x) else None
    if atom.fn in elementwise.BOUNDED:
        return FactorGrowth(BOUNDED)
    if _is_absolute_atom(atom, x):
        return _power(exponent, End(end.at, 1))
    inside = inside_logarithm(c, atom)
    if inside is not None:
        return _logarithm(c, inside, int(exponent), x, end)
    row = elementwise.FUNCTIONS.get(atom.fn)
    match atom.fn, atom.args:
        case "exp", (arg,) if exponent == 1:
            return _exponential(c, arg, x, end)
        case _, (arg,) if exponent == 1 and row is not None and row.ends is not None:
            return _piece(c, row.ends, arg, x, end)
        case _:
            return None


def _power(exponent: Fraction, end: End) -> FactorGrowth | None:
    """Return x**exponent near an end of known sign of x."""
    if end.at is not None and end.at != 0:
        negative = end.at < 0
        return None if negative and exponent.denominator != 1 else FactorGrowth(BOUNDED)
    if end.sign < 0 and exponent.denominator != 1:
        return None
    sign = -1 if end.sign < 0 and exponent.numerator % 2 else 1
    return FactorGrowth((0, exponent if end.at is None else -exponent, 0), sign)


def _power_of_sum(c: Calculus, arg: Tensor, exponent: Fraction, x: Coordinate, end: End) -> FactorGrowth | None:
    """Return arg**exponent of a polynomial that is positive near the end."""
    if end.at is not None:
        found = order_at(arg, x, end)
        if found is None:
            return FactorGrowth(BOUNDED) if exponent > 0 and _has_values(c, arg, x) else None
        value, times = found
        if value <= 0 and exponent.denominator != 1:
            return None
        if times == 0:
            return FactorGrowth(BOUNDED)
        scale = c.power(c.constant(abs(value)), exponent)
        sign = -1 if value < 0 and exponent.numerator % 2 else 1
        return FactorGrowth((0, -times * exponent, 0), sign, scale, Rest.GROWING)
    top = _leading(c, arg, x, end)
    if top is None or not is_positive(c.rules, top.scale):
        return None
    degree = top.degree * exponent
    rest = Rest.BOUNDED if degree - top.degree + top.second <= 0 else Rest.GROWING
    return FactorGrowth((0, degree, 0), 1, c.power(top.scale, exponent), rest)


def _piece(c: Calculus, ends: tuple[int, int], arg: Tensor, x: Coordinate, end: End) -> FactorGrowth | None:
    """Return a function of a polynomial u that is a u for u -> -oo and b u for u -> oo, up to a bounded term."""
    if end.at is not None:
        return FactorGrowth(BOUNDED) if _has_values(c, arg, x) else None
    top = _leading(c, arg, x, end)
    if top is None:
        return None
    order: Order = (0, top.degree, 0)
    rest = Rest.BOUNDED if top.second <= 0 else Rest.GROWING
    for way, slope in ((1, ends[1]), (-1, -ends[0])):
        size = c.scale(top.scale, way)
        if is_positive(c.rules, size):
            return (
                FactorGrowth(order, 1 if slope > 0 else -1, c.scale(size, abs(slope)), rest)
                if slope
                else FactorGrowth(BOUNDED)
            )
    return FactorGrowth(order, 1, c.applied("abs", top.scale), Rest.GROWING) if ends == ABSOLUTE else None


def _logarithm(c: Calculus, arg: Tensor, n: int, x: Coordinate, end: End) -> FactorGrowth | None:
    """Return log(arg)**n: of x or |x| itself, of a hyperbolic cosine, or of a polynomial that is positive."""
    if _is(arg, x) or _is_absolute(arg, x):
        positive = x.block in c.rules.positive | c.rules.nonnegative or _is_absolute(arg, x)
        if not positive:
            return None
        if end.at is None:
            return FactorGrowth((0, Fraction(0), n), 1)
        return FactorGrowth((0, Fraction(0), n), (-1) ** n) if end.at == 0 else FactorGrowth(BOUNDED)
    if n != 1:
        return None
    match arg.terms:
        case (Term(_, ((Applied("cosh", (inner,)), exponent),)),) if exponent == 1:
            return _piece(c, ABSOLUTE, inner, x, end)
        case _:
            return _log_of_sum(c, arg, x, end)


def _log_of_sum(c: Calculus, arg: Tensor, x: Coordinate, end: End) -> FactorGrowth | None:
    """Return log(arg) of a polynomial: its highest power leads at infinity, its lowest where it vanishes.

    That it is positive inside the domain is what the logarithm needs to be defined, and is shown elsewhere.
    """
    if end.at is None:
        top = _leading(c, arg, x, end)
        if top is None or not is_positive(c.rules, top.scale):
            return None
        return FactorGrowth(LOGARITHM, 1, c.scale(NUMBER_ONE, top.degree), Rest.BOUNDED)
    found = order_at(arg, x, end)
    if found is None:
        least = (_polynomial(c, arg, x) or {}).get(Fraction(0)) if _has_values(c, arg, x) else None
        away = least is not None and is_positive(c.rules, least)
        return FactorGrowth(BOUNDED) if away and (end.at == 0 or is_nonnegative(c.rules, arg)) else None
    value, times = found
    if value <= 0:
        return None
    return FactorGrowth(LOGARITHM, -1, c.constant(times), Rest.BOUNDED) if times else FactorGrowth(BOUNDED)


@dataclass(frozen=True, slots=True)
class _Leading:
    """The highest power of L in a polynomial, what multiplies it, and the power that comes next."""

    degree: Fraction
    scale: Tensor
    second: Fraction


def _leading(c: Calculus, arg: Tensor, x: Coordinate, end: End) -> _Leading | None:
    """Return how a polynomial goes to infinity, None where it does not or is none."""
    terms = _polynomial(c, arg, x)
    if terms is None:
        return None
    top, *others = sorted(terms, reverse=True)
    growth = _power(top, end)
    if top <= 0 or growth is None:
        return None
    return _Leading(top, c.scale(terms[top], growth.sign), others[0] if others else Fraction(0))


def _polynomial(c: Calculus, arg: Tensor, x: Coordinate) -> dict[Fraction, Tensor] | None:
    """Return what multiplies the powers of x in a sum, None where x occurs in other ways."""
    found: dict[Fraction, list[Term]] = {}
    for term in arg.terms:
        others = tuple(f for f in term.factors if f[0] != x)
        if any(holds(factor, x) for factor in others):
            return None
        degree = sum((exponent for atom, exponent in term.factors if atom == x), Fraction(0))
        found.setdefault(degree, []).append(Term(term.coefficient, others))
    return {degree: c.collect(terms, arg.free) for degree, terms in found.items()} or None


def _has_values(c: Calculus, arg: Tensor, x: Coordinate) -> bool:
    """Whether a sum is a polynomial without negative powers: it is bounded where x is."""
    terms = _polynomial(c, arg, x)
    return terms is not None and min(terms) >= 0


def order_at(arg: Tensor, x: Coordinate, end: End) -> tuple[Fraction, int] | None:
    """Return C and m with arg ~ C |x - e|**m near a finite end e, for a polynomial in x with rational coefficients.

    x**2 - 1 ~ 2 |x - 1| at 1 from above: C = 2, m = 1. None at infinity, and for anything that is no such polynomial.
    """
    if end.at is None:
        return None
    found: dict[int, Fraction] = {}
    for term in arg.terms:
        degree = dict(term.factors).get(x, Fraction(0))
        if any(atom != x for atom, _ in term.factors) or degree < 0 or degree.denominator != 1:
            return None
        found[int(degree)] = found.get(int(degree), Fraction(0)) + term.coefficient
    for m in range(max(found, default=-1) + 1):
        value = sum((a * comb(n, m) * end.at ** (n - m) for n, a in found.items() if n >= m), Fraction(0))
        if value:
            return value * end.sign**m, m
    return None


def _exponential(c: Calculus, arg: Tensor, x: Coordinate, end: End) -> FactorGrowth | None:
    """Return exp(arg) of one power of x with a factor of known sign."""
    if len(arg.terms) != 1:
        return None
    term = arg.terms[0]
    powers = [exponent for atom, exponent in term.factors if atom == x]
    others = tuple(f for f in term.factors if f[0] != x)
    if len(powers) != 1 or powers[0] <= 0 or any(holds(factor, x) for factor in others):
        return None
    if end.at is not None:
        return FactorGrowth(BOUNDED)
    growth = _power(powers[0], end)
    factor = c.collect([Term(term.coefficient, others)], arg.free)
    if growth is None:
        return None
    if is_positive(c.rules, c.scale(factor, growth.sign)):
        return FactorGrowth((1, Fraction(0), 0), 1)
    return FactorGrowth((-1, Fraction(0), 0), 1) if is_positive(c.rules, c.scale(factor, -growth.sign)) else None


def _is(arg: Tensor, x: Coordinate) -> bool:
    return len(arg.terms) == 1 and arg.terms[0] == Term(Fraction(1), ((x, Fraction(1)),))


def _is_absolute(arg: Tensor, x: Coordinate) -> bool:
    match arg.terms:
        case (Term(coefficient, ((atom, exponent),)),):
            return coefficient == exponent == 1 and _is_absolute_atom(atom, x)
        case _:
            return False


def _is_absolute_atom(atom: Atom, x: Coordinate) -> bool:
    return isinstance(atom, Applied) and atom.fn == "abs" and _is(atom.args[0], x)


def holds(factor: Factor, x: Coordinate) -> bool:
    """Whether a coordinate occurs in a factor, at any depth."""
    return any(atom == x for atom in everywhere(Tensor((), (Term(Fraction(1), (factor,)),))))
