"""Scalar expressions by powers of the step size, and by the draws that stand in them.

Sums, products and whole powers are taken apart as they are written; any other function is expanded by Taylor's formula
about its value at eps = 0, exactly, as far as claimed. Nothing is simplified, no coefficient is multiplied out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import factorial
from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.scalars.transcendentals import argument

ZERO = Fraction(0)
MOST_TERMS = 20_000
LONGEST_TAYLOR = 8

Monomial = tuple[Fraction, tuple[Symbol, ...]]
"""A power of eps and the draws, each as often as it occurs, by name."""

Terms = dict[Monomial, Expr]
"""A sum of monomials with coefficients free of eps and of draws."""


class NoExpansionError(Exception):
    """An expression without a known expansion in powers of eps; what needs it is undecided."""


@dataclass(frozen=True, slots=True)
class Grading:
    """The step size, the draws with the power of eps that each carries, and the last power that is kept."""

    eps: Symbol
    top: Fraction
    draws: Mapping[Symbol, Fraction]

    def apart(self, e: Expr) -> bool:
        """Whether an expression is free of the step size and of draws."""
        found = e.free_symbols
        return self.eps not in found and found.isdisjoint(self.draws)

    def upto(self, top: Fraction) -> "Grading":
        """Return the grading with another last power."""
        return replace(self, top=top)


def by_power(e: Expr, eps: Symbol, top: Fraction) -> dict[Fraction, Expr]:
    """Return the coefficients a_p of sum_p a_p eps**p for all p <= `top`; those that are zero as written are left out.

    Raises:
        NoExpansionError: no expansion about eps = 0 is known.
    """
    return {power: value for (power, _), value in expanded(e, Grading(eps, top, {})).items()}


def expanded(e: Expr, g: Grading) -> Terms:
    """Return an expression as sum_(p,m) c_pm eps**p m, m monomials in the draws, up to the last power kept.

    Functions are expanded by Taylor's formula about eps = 0, other powers by the binomial series, exactly: sqrt(1 + eps
    x) is 1 + eps x/2 - eps**2 x**2/8 up to eps**2.

    Raises:
        NoExpansionError: no expansion about eps = 0 is known.
    """
    if g.apart(e):
        return {(ZERO, ()): e} if e != 0 and g.top >= 0 else {}
    match e:
        case Symbol():
            power, draws = (Fraction(1), ()) if e == g.eps else (g.draws[e], (e,))
            return {(power, draws): sympy.Integer(1)} if power <= g.top else {}
        case sympy.Add():
            return added([expanded(x, g) for x in e.args])
        case sympy.Mul():
            return _product(e.args, g)
        case sympy.Pow():
            return _power(e.base, e.exp, g)
        case sympy.Function():
            return _taylor(e, g)
        case _:
            raise NoExpansionError(f"{type(e).__name__} of the step size or a draw has no known expansion")


def added(parts: list[Terms]) -> Terms:
    """Return the sum."""
    found: dict[Monomial, list[Expr]] = {}
    for part in parts:
        for key, value in part.items():
            found.setdefault(key, []).append(value)
    summed = {key: sympy.Add(*values) for key, values in found.items()}
    return {key: value for key, value in summed.items() if value != 0}


def multiplied(left: Terms, right: Terms, top: Fraction) -> Terms:
    """Return the product of two sums, up to a power of eps.

    Raises:
        NoExpansionError: it may have too many terms.
    """
    if len(left) * len(right) > MOST_TERMS:
        raise NoExpansionError(f"a product of more than {MOST_TERMS} terms")
    found: dict[Monomial, list[Expr]] = {}
    for ((p, v), x), ((q, w), y) in product(left.items(), right.items()):
        if p + q <= top:
            key = (p + q, tuple(sorted((*v, *w), key=lambda draw: draw.name)))
            found.setdefault(key, []).append(x * y)
    summed = {key: sympy.Add(*values) for key, values in found.items()}
    return {key: value for key, value in summed.items() if value != 0}


def lowest(terms: Terms) -> Fraction:
    """Return the lowest power of eps; of zero, 0."""
    return min((power for power, _ in terms), default=ZERO)


def shifted(terms: Terms, by: Fraction) -> Terms:
    """Return the terms times a power of eps."""
    return {(power + by, draws): value for (power, draws), value in terms.items()}


def negative(terms: Terms) -> Terms:
    """Return the terms with the other sign."""
    return {key: -value for key, value in terms.items()}


def written(terms: Terms, eps: Symbol) -> Expr:
    """Return a sum of monomials as one expression."""
    return sympy.Add(*(value * eps ** rational(power) * sympy.Mul(*draws) for (power, draws), value in terms.items()))


def _product(factors: tuple[Expr, ...], g: Grading) -> Terms:
    """Return a product; powers of eps itself are split off, so that the rest need not be known any further."""
    plain = [x for x in factors if g.apart(x)]
    steps = [_step_power(x, g.eps) for x in factors]
    shift = sum((power for power in steps if power is not None), ZERO)
    others = [x for x, power in zip(factors, steps, strict=True) if power is None and not g.apart(x)]
    inner = g.upto(g.top - shift)
    parts = [expanded(x, inner) for x in others]
    debt = sum((min(lowest(part), ZERO) for part in parts), ZERO)
    if debt:
        parts = [expanded(x, inner.upto(inner.top - debt)) for x in others]
    found: Terms = {(ZERO, ()): sympy.Mul(*plain)}
    for part in parts:
        found = multiplied(found, part, inner.top - debt)
    return {key: value for key, value in shifted(found, shift).items() if key[0] <= g.top}


def _step_power(e: Expr, eps: Symbol) -> Fraction | None:
    """Return q of eps**q."""
    if e == eps:
        return Fraction(1)
    if isinstance(e, sympy.Pow) and e.base == eps and isinstance(e.exp, sympy.Rational):
        return fraction(e.exp)
    return None


def has_powers_only(e: Expr, eps: Symbol) -> bool:
    """Whether a sum is one of powers of eps times what is free of eps, as it is written."""
    terms = sympy.Add.make_args(e)
    return all(
        eps not in x.free_symbols or _step_power(x, eps) is not None for t in terms for x in sympy.Mul.make_args(t)
    )


def _power(base: Expr, exponent: Expr, g: Grading) -> Terms:
    """Return `base ** exponent`: multiplied out, or by the binomial series about its lowest part."""
    step = _step_power(sympy.Pow(base, exponent), g.eps)
    if step is not None:
        return {(step, ()): sympy.Integer(1)} if step <= g.top else {}
    if isinstance(exponent, sympy.Integer) and 0 < int(exponent) <= LONGEST_TAYLOR:
        found = expanded(base, g)
        result = found
        for _ in range(int(exponent) - 1):
            result = multiplied(result, found, g.top)
        return result
    if not isinstance(exponent, sympy.Rational):
        return _taylor(sympy.exp(exponent * sympy.log(base), evaluate=False), g)
    return _binomial(base, fraction(exponent), g)


def _binomial(base: Expr, exponent: Fraction, g: Grading) -> Terms:
    low = lowest(expanded(base, g.upto(max(g.top, Fraction(2)))))
    room = g.top - low * exponent
    if room < 0:
        return {}
    terms = shifted(expanded(base, g.upto(room + low)), -low)
    first, rest = _split(terms, base)
    q = rational(exponent)
    parts: list[Terms] = []
    share: Terms = {(ZERO, ()): sympy.Integer(1)}
    for k in range(LONGEST_TAYLOR + 1):
        factor = sympy.binomial(q, k) * first ** (q - k)
        parts.append({key: factor * value for key, value in share.items()})
        share = multiplied(share, rest, room)
        if not share:
            return shifted(added(parts), low * exponent)
    raise NoExpansionError(f"a power of {base} beyond the order kept here")


def _taylor(e: Expr, g: Grading) -> Terms:
    """Return a function of one argument by Taylor's formula."""
    if len(e.args) != 1:
        raise NoExpansionError(f"{type(e).__name__} of several arguments has no known expansion")
    terms = expanded(argument(e), g)
    if lowest(terms) < 0:
        raise NoExpansionError(f"{type(e).__name__} of a term that grows as eps becomes small")
    first, rest = _split({(ZERO, ()): sympy.Integer(0)} | terms, e)
    x = sympy.Dummy(real=True)
    slope: Expr = e.func(x)
    parts: list[Terms] = []
    share: Terms = {(ZERO, ()): sympy.Integer(1)}
    for k in range(LONGEST_TAYLOR + 1):
        value: Expr = sympy.Mul(cast(Expr, slope.xreplace({x: first})), sympy.Rational(1, factorial(k)))
        if value.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
            raise NoExpansionError(f"{type(e).__name__} is not smooth where eps = 0")
        parts.append({key: value * y for key, y in share.items()})
        share = multiplied(share, rest, g.top)
        if not share:
            return added(parts)
        slope = sympy.diff(slope, x)
    raise NoExpansionError(f"{type(e).__name__} beyond the order kept here")


def _split(terms: Terms, e: Expr) -> tuple[Expr, Terms]:
    """Return the value at eps = 0 and the terms that vanish with eps; that value may hold no draw."""
    rest = {key: value for key, value in terms.items() if key[0] > 0}
    first = {key: value for key, value in terms.items() if key[0] == 0}
    if set(first) - {(ZERO, ())}:
        raise NoExpansionError(f"{type(e).__name__} of a draw that does not become small with eps")
    return first.get((ZERO, ()), sympy.Integer(0)), rest
