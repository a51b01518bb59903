"""Scalars as quotients of polynomials in transcendentals (exp, roots, sine, |u|), with true facts about these.

    r = b**(1/n)        r >= 0, r**n = b
    E = exp(t)          E > 0, E >= 1 + t, E (1 - t) <= 1
    sin, cos            sin**2 + cos**2 = 1
    |u|                 |u|**2 = u**2, |u| >= 0
    s = sign u          s**3 = s, s**2 u = u, s u >= 0

Facts hold wherever the scalar is defined. An undefined function is free. A free transcendental ranges over more than
the values that it takes: what is shown for all of these is true, and a failure decides nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.positivity.signs import Signs, by_terms
from recipe_compiler.algebra.scalars import quotients
from recipe_compiler.algebra.scalars.elementwise import SCALAR_FUNCTIONS
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, evaluate
from recipe_compiler.algebra.scalars.quotient_reader import Head, QuotientReader, head
from recipe_compiler.algebra.scalars.quotients import Quotient
from recipe_compiler.algebra.scalars.transcendentals import argument, exponent, exponent_parts

PLACES = 2**20
"""Constants are enclosed between rationals with this denominator."""


@dataclass(frozen=True, slots=True)
class QuotientInequality:
    """`value op 0` of a quotient, `op` one of `> >= ==`."""

    value: Quotient
    op: str


class ScalarReading:
    """The rules of one pass over several scalars in one ring, and the facts collected on the way."""

    def __init__(self, denominators: Mapping[tuple[object, Expr], int], room: int) -> None:
        self.denominators = denominators
        self.signs = Signs()
        self.names: list[Expr] = []
        self.facts: list[QuotientInequality] = []
        self.reader = QuotientReader(
            room,
            {
                Head.INTEGER_POWER: self._integer_power,
                Head.REAL_POWER: self._powers,
                Head.EXPONENTIAL: self._powers,
                Head.LOGARITHM: self._log,
                Head.CIRCULAR: self._circular,
                Head.MODULUS: self._abs,
                Head.CELL: self._opaque,
                Head.OPAQUE: self._opaque,
                Head.FUNCTION: self._function,
            },
        )
        self.ring = self.reader.ring

    def of(self, e: Expr) -> Quotient:
        """Return a scalar, `elementary`, as a quotient; raises the errors of `QuotientReader.of`."""
        return self.reader.of(e)

    def is_nonnegative(self, a: Quotient) -> bool:
        """Whether a quotient is nonnegative by the signs of its generators, wherever it is defined."""
        odd = [self.ring.factors[factor] for factor, n in a.bottom if n % 2]
        return all(by_terms(p, self.signs) is not None for p in (a.top, *odd))

    def _opaque(self, e: Expr) -> Quotient:
        return self._generator(e, e)[0]

    def _function(self, e: Expr) -> Quotient:
        row = SCALAR_FUNCTIONS.get(type(e))
        if row is not None and row.bound is not None:
            return self._bounded(e, row.bound)
        if isinstance(e, sympy.gamma):
            return self._generator(("gamma", self.reader.name(argument(e))), e, ">")[0]  # of a positive argument
        return self._opaque(e)

    def _integer_power(self, e: Expr) -> Quotient:
        base, n = cast(tuple[Expr, Expr], e.args)
        return quotients.power(self.of(base), int(n), self.ring)

    def _powers(self, e: Expr) -> Quotient:
        """Return a real power or exponential part by part of its exponent."""
        is_exponential = head(e) is Head.EXPONENTIAL
        base, whole = (sympy.E, exponent(e)) if is_exponential else e.as_base_exp()
        return self.reader.product([self._power(base, *part) for part in exponent_parts(whole)])

    def _generator(self, key: object, name: Expr, op: str = "") -> tuple[Quotient, bool]:
        """Return the generator of a transcendental with a sign, and whether it is new."""
        g, new = quotients.generator(key, self.ring)
        if new:
            self.names.append(name)
            if op:
                self.signs.add(self.ring.numbers[key], op)
            self._enclose(g, name)
        return g, new

    def _number(self, value: int) -> Quotient:
        return quotients.constant(value, 1, self.ring)

    def _sum(self, *terms: Quotient) -> Quotient:
        return quotients.add(list(terms), self.ring)

    def _minus(self, a: Quotient) -> Quotient:
        return quotients.multiply(self._number(-1), a, self.ring)

    def _fact(self, *terms: Quotient, op: str = ">=") -> None:
        self.facts.append(QuotientInequality(self._sum(*terms), op))

    def _enclose(self, g: Quotient, e: Expr) -> None:
        """Note the rationals that a constant lies between."""
        if e.free_symbols or e.has(AppliedUndef):
            return
        try:
            whole = (ball(evaluate(e, _of_no_name)) * PLACES).floor().unique_fmpz()
        except NoValueError:
            return
        if whole is None:
            return
        low = int(whole)
        self._fact(g, quotients.constant(-low, PLACES, self.ring), op=">")
        self._fact(quotients.constant(low + 1, PLACES, self.ring), self._minus(g), op=">")

    def _power(self, base: Expr, rest: Expr, numerator: int, denominator: int) -> Quotient:
        """Return `(base ** rest) ** (numerator/denominator)` by the generator `base ** (rest/least denominator)`."""
        if rest == 1 and denominator == 1 and base != sympy.E:
            return quotients.power(self.of(base), numerator, self.ring)
        key = ("exp" if base == sympy.E else base, rest)
        least = math.lcm(self.denominators.get(key, 1), denominator)
        if base == sympy.E:
            g = self._exponential(rest, least)
        else:
            key = ("power", self.reader.name(base), self.reader.name(rest), least)
            # a real power is of a nonnegative base; one with an exponent that is no number is of a positive one
            positive = rest != 1 or base.is_positive
            g, new = self._generator(key, base ** (rest / least), ">" if positive else ">=")
            if new and rest == 1:
                quotients.relate(key, least, self.of(base), self.ring)
        return quotients.power(g, numerator * least // denominator, self.ring)

    def _exponential(self, rest: Expr, least: int) -> Quotient:
        """Return exp(t) with t = rest/least, which lies above its tangent at 0, as exp(-t) does."""
        t = quotients.multiply(quotients.constant(1, least, self.ring), self.of(rest), self.ring)
        g, new = self._generator(("exp", quotients.key(t)), sympy.exp(rest / least), ">")
        if new:
            one = self._number(1)
            self._fact(g, self._minus(one), self._minus(t))
            self._fact(one, self._minus(self.reader.product([g, self._sum(one, self._minus(t))])))
        return g

    def _log(self, e: Expr) -> Quotient:
        """Return log u, with 1 - 1/u <= log u <= u - 1."""
        u, one = self.of(argument(e)), self._number(1)
        g, new = self._generator(("log", quotients.key(u)), e)
        if new:
            self._fact(u, self._minus(one), self._minus(g))
            self._fact(self.reader.product([g, u]), self._minus(u), one)
        return g

    def _circular(self, e: Expr) -> Quotient:
        x = argument(e)
        name = self.reader.name(x)
        cos, _ = self._generator(("cos", name), sympy.cos(x, evaluate=False))
        sin, new = self._generator(("sin", name), sympy.sin(x, evaluate=False))
        if new:
            one = self._number(1)
            square = self._minus(quotients.multiply(cos, cos, self.ring))
            quotients.relate(("sin", name), 2, self._sum(one, square), self.ring)
            for g in (cos, sin):
                self._fact(one, g)
                self._fact(one, self._minus(g))
        return sin if isinstance(e, sympy.sin) else cos

    def _abs(self, e: Expr) -> Quotient:
        u = self.of(argument(e))
        minus = self._minus(u)
        for v in (u, minus):
            if self.is_nonnegative(v):
                return v
        key = ("abs", frozenset({quotients.key(u), quotients.key(minus)}))
        g, new = self._generator(key, e, ">=")
        if new:
            quotients.relate(key, 2, quotients.multiply(u, u, self.ring), self.ring)
            self._fact(g, u)
            self._fact(g, minus)
        return g

    def _bounded(self, e: Expr, bound: Fraction) -> Quotient:
        """Return a function with the sign of its argument that stays between two numbers."""
        u = self.of(argument(e))
        g, new = self._generator((type(e).__name__, quotients.key(u)), e)
        if new:
            over = quotients.constant(bound.numerator, bound.denominator, self.ring)
            self._fact(over, g)
            self._fact(over, self._minus(g))
            self._fact(self.reader.product([g, u]))
            if isinstance(e, sympy.sign):
                quotients.relate((type(e).__name__, quotients.key(u)), 3, g, self.ring)
                self._fact(self.reader.product([g, g, u]), self._minus(u), op="==")
        return g


def _of_no_name(e: Expr) -> Value:
    raise NoValueError(f"{e} is no constant")
