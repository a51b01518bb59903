"""Quotients of polynomials over the rationals with factored denominators, in a ring that grows with them.

Denominators stay lists of factors with exponents: a common denominator is formed once per sum, never by the product of
all denominators, which is what makes residuals with dense metrics tractable.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError

Powers = dict[int, int]
"""Factors, by their numbers in the ring's table, with exponents."""


class RingFullError(Exception):
    """More transcendentals than the ring has room for: start again with a larger one."""


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """top / prod factor**n, a polynomial over factors given by their numbers in the ring's table."""

    ring: "Ring"
    top: fmpq_mpoly
    bottom: tuple[tuple[int, int], ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """A hashable name: equal names mean equal quotients."""
        return tuple(sorted((monomial, str(c)) for monomial, c in self.top.to_dict().items())), self.bottom

    def __add__(self, other: "Quotient") -> "Quotient":
        """Return the sum over the least common denominator, reduced."""
        return self.ring.total([self, other])

    def __sub__(self, other: "Quotient") -> "Quotient":
        """Return the difference, reduced."""
        return self.ring.total([self, -other])

    def __neg__(self) -> "Quotient":
        """Return the negative."""
        return Quotient(self.ring, -self.top, self.bottom)

    def __mul__(self, other: "Quotient") -> "Quotient":
        """Return the product, reduced."""
        bottom = dict(self.bottom)
        for factor, n in other.bottom:
            bottom[factor] = bottom.get(factor, 0) + n
        return self.ring.reduced(_multiply_polynomials(self.top, other.top), bottom)

    def __pow__(self, n: int) -> "Quotient":
        """Return an integer power.

        Raises:
            NoNormalFormError: too many terms, or a negative power of zero.
        """
        if n < 0:
            return self.inverse() ** -n
        if n > 1 and self.has_large_power(n):
            raise NoNormalFormError(f"power {n} of a sum of {len(self.top)} terms is too large")
        return self.ring.rewritten(self.top**n, {factor: n * k for factor, k in self.bottom if n})

    def scaled(self, by: Fraction | int) -> "Quotient":
        """Return a rational multiple."""
        return Quotient(self.ring, self.top * fmpq(by.numerator, by.denominator), self.bottom if by else ())

    def inverse(self) -> "Quotient":
        """Return the reciprocal.

        Raises:
            NoNormalFormError: of zero.
        """
        if self.top.is_zero():
            raise NoNormalFormError("division by zero")
        top = self.ring.context.constant(1)
        for factor, n in self.bottom:
            top = _multiply_polynomials(top, self.ring.factors[factor] ** n)
        scale, bottom = self.ring.split(self.top)
        return self.ring.reduced(top * (1 / scale), bottom)

    def has_large_power(self, n: int) -> bool:
        """Whether the power n has too many terms to write out."""
        terms = len(self.top)
        return terms > 1 and abs(n) * math.comb(abs(n) + terms - 1, abs(n)) > limits.PAIRS


@dataclass(slots=True, eq=False)
class Ring:
    """Generators, relations generator**n = quotient and denominators of one expression, while it is being read."""

    room: int
    """How many transcendentals it can hold."""
    context: fmpq_mpoly_ctx = field(init=False)
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

    def __post_init__(self) -> None:
        self.context = fmpq_mpoly_ctx.get([f"g{i}" for i in range(self.room)], Ordering.degrevlex)

    def constant(self, value: Fraction | int) -> Quotient:
        """Return a rational constant."""
        return Quotient(self, self.context.constant(fmpq(value.numerator, value.denominator)))

    def generator(self, key: object) -> tuple[Quotient, bool]:
        """Return the generator of a transcendental, and whether it is new.

        Raises:
            RingFullError: the ring has no room for another one.
        """
        new = key not in self.numbers
        if new:
            if len(self.numbers) == self.room:
                raise RingFullError
            self.numbers[key] = len(self.numbers)
        return Quotient(self, self.context.gen(self.numbers[key])), new

    def relate(self, key: object, power: int, value: Quotient) -> None:
        """Note that `generator**power = value`."""
        self.relations.append((self.numbers[key], power, value))

    def total(self, terms: list[Quotient]) -> Quotient:
        """Return the sum over the least common denominator, reduced.

        1/x + 1/(x y) = (y + 1)/(x y).

        Raises:
            NoNormalFormError: the numerator is too large.
        """
        common: Powers = {}
        by_bottom: dict[tuple[tuple[int, int], ...], fmpq_mpoly] = {}
        for term in terms:
            for factor, n in term.bottom:
                common[factor] = max(common.get(factor, 0), n)
            by_bottom[term.bottom] = by_bottom[term.bottom] + term.top if term.bottom in by_bottom else term.top
        top = self.context.constant(0)
        for bottom, part in by_bottom.items():
            have = dict(bottom)
            for factor, n in common.items():
                for _ in range(n - have.get(factor, 0)):
                    part = _multiply_polynomials(part, self.factors[factor])
            top += part
        return self.reduced(top, common)

    def product(self, factors: list[Quotient]) -> Quotient:
        """Return the product of quotients, reduced."""
        return math.prod(factors, start=self.constant(1))

    def split(self, top: fmpq_mpoly) -> tuple[fmpq, Powers]:
        """Return a nonzero polynomial as a constant and its factors."""
        if len(top) <= limits.FACTORED:
            scale, parts = top.factor()
        else:
            scale = top.leading_coefficient()
            parts = [(top * (1 / scale), 1)]
        found: Powers = {}
        for part, n in parts:
            number = self._factor_number(part)
            found[number] = found.get(number, 0) + int(n)
        return fmpq(scale), found

    def reduced(self, top: fmpq_mpoly, bottom: Powers) -> Quotient:
        """Return a quotient without common factors, with every relation applied to its top."""
        left: Powers = {}
        for number, n in sorted(bottom.items()) if not top.is_zero() else ():
            while n:
                quotient, rest = divmod(top, self.factors[number])
                if not rest.is_zero():
                    break
                top, n = quotient, n - 1
            if n:
                left[number] = n
        return self.rewritten(top, left)

    def rewritten(self, top: fmpq_mpoly, bottom: Powers) -> Quotient:
        """Return a quotient with every relation applied to its top, latest generator first.

        With r**2 = u, r**3 becomes u r, and (1 + r)(1 - r) = 1 - r**2 becomes 1 - u. A relation mentions earlier
        generators only, so this ends.
        """
        bottom = dict(bottom)
        for number, n, value in reversed(self.relations):
            if top.degrees()[number] >= n:
                top, extra = self._replace_power(top, number, n, value)
                for factor, k in extra.items():
                    bottom[factor] = bottom.get(factor, 0) + k
        return Quotient(self, top, tuple(sorted(bottom.items())))

    def _replace_power(self, top: fmpq_mpoly, number: int, n: int, value: Quotient) -> tuple[fmpq_mpoly, Powers]:
        """Replace `g**n` by its value N/B in a polynomial; return the new top and the denominator it brought."""
        by_power: dict[int, dict[tuple[int, ...], fmpq]] = {}
        for exponents, coefficient in top.to_dict().items():
            quotient, rest = divmod(int(exponents[number]), n)
            kept = (*exponents[:number], rest, *exponents[number + 1 :])
            by_power.setdefault(quotient, {})[kept] = coefficient
        highest = max(by_power)
        bottom = self.context.constant(1)
        for factor, k in value.bottom:
            bottom = bottom * self.factors[factor] ** k
        found = self.context.constant(0)
        for q, terms in by_power.items():
            part = self.context.from_dict(terms)
            found += _multiply_polynomials(_multiply_polynomials(part, value.top**q), bottom ** (highest - q))
        return found, {factor: k * highest for factor, k in value.bottom}

    def _factor_number(self, factor: fmpq_mpoly) -> int:
        """Return the number of a denominator factor, adding it if it is new."""
        for number, known in enumerate(self.factors):
            if known == factor:
                return number
        self.factors.append(factor)
        return len(self.factors) - 1


def _multiply_polynomials(a: fmpq_mpoly, b: fmpq_mpoly) -> fmpq_mpoly:
    """Return a b; raise NoNormalFormError if it has too many terms."""
    if len(a) * len(b) > limits.PAIRS:
        raise NoNormalFormError(f"product of polynomials with {len(a)} and {len(b)} terms is too large")
    return a * b
