"""Scalars as polynomials in transcendentals, so that the coefficients of a linear equation can be compared.

Only to propose a solution: what is proposed is proved by the engines. A relation among transcendentals that is not
known here can hide a solution, never make one. So less is required than of `algebra.scalars.quotient_reader`: nothing
needs to be defined, and polynomials stay sparse, in as many generators as there are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars.quotient_reader import Head, head
from recipe_compiler.algebra.scalars.rationals import fraction
from recipe_compiler.algebra.scalars.transcendentals import common_denominators, exponent, exponent_parts

Powers = tuple[tuple[int, int], ...]
"""Generators by number, with their exponents (never zero), in order."""

Polynomial = Mapping[Powers, Fraction]

LARGEST = 4000
"""Polynomials of more terms are given up."""

ROUNDS = 4


class PolynomialTooLargeError(Exception):
    """A polynomial with too many terms to compare coefficients."""


def add(polynomials: Iterable[Polynomial]) -> Polynomial:
    """Return the sum."""
    found: dict[Powers, Fraction] = {}
    for polynomial in polynomials:
        for powers, number in polynomial.items():
            found[powers] = found.get(powers, Fraction(0)) + number
    return {powers: number for powers, number in found.items() if number}


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product of two polynomials.

    Raises:
        PolynomialTooLargeError: it may have too many terms.
    """
    if len(left) * len(right) > LARGEST * 4:
        raise PolynomialTooLargeError(f"a product of {len(left)} and {len(right)} terms")
    found: dict[Powers, Fraction] = {}
    for p, x in left.items():
        for q, y in right.items():
            powers = joined(p, q)
            found[powers] = found.get(powers, Fraction(0)) + x * y
    return {powers: number for powers, number in found.items() if number}


def scaled(polynomial: Polynomial, number: int) -> Polynomial:
    """Return a multiple."""
    return {powers: value * number for powers, value in polynomial.items()} if number else {}


def power(base: Polynomial, n: int) -> Polynomial:
    """Return base**n for an integer n >= 0.

    Raises:
        PolynomialTooLargeError: a product on the way may have too many terms.
    """
    found: Polynomial = {(): Fraction(1)}
    for _ in range(n):
        found = multiply(found, base)
    return found


def joined(left: Powers, right: Powers) -> Powers:
    """Return the product of two monomials."""
    if not left or not right:
        return left or right
    found = dict(left)
    for generator, n in right:
        found[generator] = found.get(generator, 0) + n
    return tuple(sorted((generator, n) for generator, n in found.items() if n))


class PolynomialReader:
    """Reads scalars as polynomials over Q in the transcendentals that occur in them, all in one ring.

    exp(2 x) and exp(x) become powers of one generator; sqrt(x) has the relation g**2 = x, sin(x) that of 1 - cos(x)**2;
    1/(1 + x) is a generator of its own, cleared before coefficients are compared.
    """

    def __init__(self, scalars: Iterable[Expr]) -> None:
        self.numbers: dict[object, int] = {}
        self.relations: dict[int, tuple[int, Polynomial]] = {}
        """Generator to the power it has, and the value of that power."""
        self.inverses: dict[int, Polynomial] = {}
        """Generator that is the inverse of a polynomial."""
        self.known: dict[Expr, Polynomial] = {}
        self.least = common_denominators(scalars)
        self.rules: Mapping[Head, Callable[[Expr], Polynomial]] = {
            Head.NUMBER: self._number,
            Head.SUM: lambda e: add(self.of(cast(Expr, x)) for x in e.args),
            Head.PRODUCT: self._product,
            Head.INTEGER_POWER: self._whole_power,
            Head.REAL_POWER: self._root,
            Head.EXPONENTIAL: self._exponential,
            Head.CIRCULAR: self._circular,
        }

    def generator(self, key: object) -> int:
        """Return the number of a generator, new or known."""
        return self.numbers.setdefault(key, len(self.numbers))

    def of(self, e: Expr) -> Polynomial:
        """Return a scalar as a polynomial.

        Raises:
            PolynomialTooLargeError: it has too many terms.
        """
        if e not in self.known:
            found = self.rules.get(head(e), self._generator)(e)
            if len(found) > LARGEST:
                raise PolynomialTooLargeError(f"{len(found)} terms")
            self.known[e] = found
        return self.known[e]

    def scalars(self) -> dict[int, Expr]:
        """Return the scalars that generators are; inverses of sums are left out."""
        found: dict[int, Expr] = {}
        for key, number in self.numbers.items():
            match key:
                case Expr():
                    found[number] = key
                case ("root", Expr() as base, int(least)):
                    found[number] = base ** sympy.Rational(1, least)
                case ("exp", Expr() as rest, int(least)):
                    found[number] = sympy.exp(rest / least)
                case ("sin", Expr() as angle):
                    found[number] = sympy.sin(angle)
                case ("cos", Expr() as angle):
                    found[number] = sympy.cos(angle)
                case _:
                    continue
        return found

    def cleared(self, row: Sequence[Polynomial]) -> list[Polynomial]:
        """Return all polynomials of an equation times one common factor, without denominators, relations applied."""
        polynomials = list(row)
        for _ in range(ROUNDS):
            polynomials = self._lifted(polynomials)
            lowered = [self._lowered(polynomial) for polynomial in polynomials]
            if lowered == polynomials:
                return polynomials
            polynomials = lowered
        return polynomials

    def _generator(self, e: Expr) -> Polynomial:
        return {((self.generator(e), 1),): Fraction(1)}

    def _number(self, e: Expr) -> Polynomial:
        return {(): fraction(cast(sympy.Rational, e))} if e else {}

    def _product(self, e: Expr) -> Polynomial:
        found: Polynomial = {(): Fraction(1)}
        for factor in e.args:
            found = multiply(found, self.of(cast(Expr, factor)))
        return found

    def _whole_power(self, e: Expr) -> Polynomial:
        base, whole = cast(tuple[Expr, Expr], e.args)
        value, n = self.of(base), int(whole)
        if n >= 0:
            return power(value, n)
        if len(value) == 1:
            ((powers, number),) = value.items()
            return {tuple((generator, k * n) for generator, k in powers): number**n}
        over = self.generator(("over", tuple(sorted(value.items()))))
        self.inverses[over] = value
        return {((over, -n),): Fraction(1)}

    def _root(self, e: Expr) -> Polynomial:
        base, q = cast(tuple[Expr, Expr], e.args)
        if not isinstance(q, sympy.Rational):
            return self._generator(e)
        least = self.least[base, sympy.Integer(1)]
        root = self.generator(("root", base, least))
        self.relations.setdefault(root, (least, self.of(base)))
        return {((root, int(q.p) * least // int(q.q)),): Fraction(1)}

    def _exponential(self, e: Expr) -> Polynomial:
        found: Powers = ()
        for rest, n, q in exponent_parts(exponent(e)):
            least = self.least.get(("exp", rest), 1)
            found = joined(found, ((self.generator(("exp", rest, least)), n * least // q),))
        return {found: Fraction(1)}

    def _circular(self, e: Expr) -> Polynomial:
        """Return sine and cosine of sums and multiples by those of the parts, with sin**2 = 1 - cos**2."""
        expanded = cast(Expr, sympy.expand_trig(e))
        if expanded != e:
            return self.of(expanded)
        angle = e.args[0]
        sin, cos = self.generator(("sin", angle)), self.generator(("cos", angle))
        self.relations[sin] = (2, {(): Fraction(1), ((cos, 2),): Fraction(-1)})
        return {((sin if isinstance(e, sympy.sin) else cos, 1),): Fraction(1)}

    def _lifted(self, polynomials: list[Polynomial]) -> list[Polynomial]:
        """Multiply by denominators, and by powers of generators that occur with negative exponents."""
        highest: dict[int, int] = {}
        lowest: dict[int, int] = {}
        for polynomial in polynomials:
            for powers in polynomial:
                for generator, n in powers:
                    if generator in self.inverses:
                        highest[generator] = max(highest.get(generator, 0), n)
                    lowest[generator] = min(lowest.get(generator, 0), n)
        shift: Powers = tuple(sorted((generator, -n) for generator, n in lowest.items() if n < 0))
        found: list[Polynomial] = []
        for polynomial in polynomials:
            moved = multiply(polynomial, {shift: Fraction(1)}) if shift else polynomial
            for generator, top in highest.items():
                moved = add(self._without(powers, number, generator, top) for powers, number in moved.items())
            found.append(moved)
        return found

    def _without(self, powers: Powers, number: Fraction, generator: int, top: int) -> Polynomial:
        own = dict(powers).get(generator, 0)
        rest = tuple(item for item in powers if item[0] != generator)
        return multiply({rest: number}, power(self.inverses[generator], top - own))

    def _lowered(self, polynomial: Polynomial) -> Polynomial:
        for generator in reversed(self.relations):
            n, value = self.relations[generator]
            if any(k >= n for powers in polynomial for g, k in powers if g == generator):
                parts: list[Polynomial] = []
                for powers, number in polynomial.items():
                    whole, left = divmod(dict(powers).get(generator, 0), n)
                    rest = tuple(item for item in powers if item[0] != generator)
                    kept = joined(rest, ((generator, left),) if left else ())
                    parts.append(multiply({kept: number}, power(value, whole)))
                polynomial = add(parts)
        return polynomial
