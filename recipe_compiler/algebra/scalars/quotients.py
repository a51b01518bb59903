"""Quotients of polynomials over the rationals with factored denominators, in a ring that grows with them.

Denominators stay lists of factors with exponents: a common denominator is formed once per sum, never by the product of
all denominators, which is what makes residuals with dense metrics tractable.
"""

import math
from dataclasses import dataclass, field

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError

LARGEST_TO_FACTOR = 300
"""Denominators with more terms than this are kept as they are."""
LARGEST_PRODUCT = 4_000_000
"""Products of polynomials with more pairs of terms than this are refused."""


class RingFullError(Exception):
    """More transcendentals than the ring has room for: start again with a larger one."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """top / prod factor**n, a polynomial over factors given by their numbers in the ring's table."""

    top: fmpq_mpoly
    bottom: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class Ring:
    """Generators, relations generator**n = quotient and denominators of one expression, while it is being read."""

    context: fmpq_mpoly_ctx
    room: int
    numbers: dict[object, int] = field(default_factory=dict)
    relations: list[tuple[int, int, Quotient]] = field(default_factory=list)
    """In the order made: a relation speaks of earlier generators only."""
    factors: list[fmpq_mpoly] = field(default_factory=list)
    """Irreducible polynomials as FLINT leaves them: primitive, the leading coefficient positive."""
    positive: set[int] = field(default_factory=set)
    """Generators that have no negative values."""
    units: set[int] = field(default_factory=set)
    """Generators that are 1 or -1."""
    signs: dict[int, Quotient] = field(default_factory=dict)
    """The sign of a factor, by its number."""
    logs: dict[int, Quotient] = field(default_factory=dict)
    """The logarithm of a generator, where it is known by others."""


def ring(room: int) -> Ring:
    """Return an empty ring with room for so many transcendentals."""
    return Ring(fmpq_mpoly_ctx.get([f"g{i}" for i in range(room)], Ordering.degrevlex), room)


def constant(value: int, over: int, of: Ring) -> Quotient:
    """Return a rational constant."""
    return Quotient(of.context.constant(fmpq(value, over)))


def key(a: Quotient) -> tuple[object, ...]:
    """Return a hashable name of a quotient: equal names mean equal quotients."""
    return tuple(sorted((monomial, str(c)) for monomial, c in a.top.to_dict().items())), a.bottom


def generator(key: object, of: Ring) -> tuple[Quotient, bool]:
    """Return the generator of a transcendental, and whether it is new.

    Raises:
        RingFullError: the ring has no room for another one.
    """
    new = key not in of.numbers
    if new:
        if len(of.numbers) == of.room:
            raise RingFullError
        of.numbers[key] = len(of.numbers)
    return Quotient(of.context.gen(of.numbers[key])), new


def relate(key: object, power: int, value: Quotient, of: Ring) -> None:
    """Note that `generator**power = value`."""
    of.relations.append((of.numbers[key], power, value))


def multiply(a: Quotient, b: Quotient, of: Ring) -> Quotient:
    """Return a b, reduced."""
    bottom = dict(a.bottom)
    for factor, n in b.bottom:
        bottom[factor] = bottom.get(factor, 0) + n
    return reduced(_cancelled(_product(a.top, b.top), bottom, of), of)


def add(terms: list[Quotient], of: Ring) -> Quotient:
    """Return the sum over the least common denominator, reduced.

    1/x + 1/(x y) = (y + 1)/(x y).

    Raises:
        NoNormalFormError: the numerator is too large.
    """
    common: dict[int, int] = {}
    by_bottom: dict[tuple[tuple[int, int], ...], fmpq_mpoly] = {}
    for term in terms:
        for factor, n in term.bottom:
            common[factor] = max(common.get(factor, 0), n)
        by_bottom[term.bottom] = by_bottom[term.bottom] + term.top if term.bottom in by_bottom else term.top
    top = of.context.constant(0)
    for bottom, part in by_bottom.items():
        have = dict(bottom)
        for factor, n in common.items():
            for _ in range(n - have.get(factor, 0)):
                part = _product(part, of.factors[factor])
        top += part
    return reduced(_cancelled(top, common, of), of)


def inverse(a: Quotient, of: Ring) -> Quotient:
    """Return 1/a.

    Raises:
        NoNormalFormError: a is zero.
    """
    if a.top.is_zero():
        raise NoNormalFormError("division by zero")
    top = of.context.constant(1)
    for factor, n in a.bottom:
        top = _product(top, of.factors[factor] ** n)
    scale, bottom = split(a.top, of)
    return reduced(_cancelled(top * of.context.constant(1 / scale), bottom, of), of)


def split(top: fmpq_mpoly, of: Ring) -> tuple[fmpq, dict[int, int]]:
    """Return a nonzero polynomial as a constant and its factors, by their numbers, with exponents."""
    if len(top) <= LARGEST_TO_FACTOR:
        scale, parts = top.factor()
    else:
        scale = top.leading_coefficient()
        parts = [(top * of.context.constant(1 / scale), 1)]
    found: dict[int, int] = {}
    for part, n in parts:
        number = _factor_number(part, of)
        found[number] = found.get(number, 0) + int(n)
    return fmpq(scale), found


def power(a: Quotient, n: int, of: Ring) -> Quotient:
    """Return a**n for an integer n.

    Raises:
        NoNormalFormError: too many terms, or a negative power of zero.
    """
    if n < 0:
        return power(inverse(a, of), -n, of)
    if n > 1 and is_large_power(a, n):
        raise NoNormalFormError(f"power {n} of a sum of {len(a.top)} terms is too large")
    return reduced(Quotient(a.top**n, tuple((factor, n * k) for factor, k in a.bottom if n)), of)


def is_large_power(a: Quotient, n: int) -> bool:
    """Whether a**n has too many terms to write out."""
    terms = len(a.top)
    return terms > 1 and abs(n) * math.comb(abs(n) + terms - 1, abs(n)) > LARGEST_PRODUCT


def reduced(a: Quotient, of: Ring) -> Quotient:
    """Return a quotient with every relation applied to its top, latest generator first.

    With r**2 = u, r**3 becomes u r, and (1 + r)(1 - r) = 1 - r**2 becomes 1 - u. A relation mentions earlier generators
    only, so this ends.
    """
    top, bottom = a.top, dict(a.bottom)
    for number, n, value in reversed(of.relations):
        if top.degrees()[number] >= n:
            top, extra = _lowered(top, number, n, value, of)
            for factor, k in extra.items():
                bottom[factor] = bottom.get(factor, 0) + k
    return Quotient(top, tuple(sorted(bottom.items())))


def _lowered(top: fmpq_mpoly, number: int, n: int, value: Quotient, of: Ring) -> tuple[fmpq_mpoly, dict[int, int]]:
    """Replace `g**n` by its value N/B in a polynomial; return the new top and the denominator it brought."""
    by_power: dict[int, dict[tuple[int, ...], fmpq]] = {}
    for exponents, coefficient in top.to_dict().items():
        quotient, rest = divmod(int(exponents[number]), n)
        kept = (*exponents[:number], rest, *exponents[number + 1 :])
        by_power.setdefault(quotient, {})[kept] = coefficient
    highest = max(by_power)
    bottom = of.context.constant(1)
    for factor, k in value.bottom:
        bottom = bottom * of.factors[factor] ** k
    found = of.context.constant(0)
    for q, terms in by_power.items():
        part = of.context.from_dict(terms)
        found += _product(_product(part, value.top**q), bottom ** (highest - q))
    return found, {factor: k * highest for factor, k in value.bottom}


def _cancelled(top: fmpq_mpoly, bottom: dict[int, int], of: Ring) -> Quotient:
    """Divide common factors out of a quotient."""
    if top.is_zero():
        return Quotient(top)
    left: list[tuple[int, int]] = []
    for number, n in sorted(bottom.items()):
        while n:
            quotient, rest = divmod(top, of.factors[number])
            if not rest.is_zero():
                break
            top, n = quotient, n - 1
        if n:
            left.append((number, n))
    return Quotient(top, tuple(left))


def _factor_number(factor: fmpq_mpoly, of: Ring) -> int:
    """Return the number of a denominator factor, adding it if it is new."""
    for number, known in enumerate(of.factors):
        if known == factor:
            return number
    of.factors.append(factor)
    return len(of.factors) - 1


def _product(a: fmpq_mpoly, b: fmpq_mpoly) -> fmpq_mpoly:
    if len(a) * len(b) > LARGEST_PRODUCT:
        raise NoNormalFormError(f"product of polynomials with {len(a)} and {len(b)} terms is too large")
    return a * b
