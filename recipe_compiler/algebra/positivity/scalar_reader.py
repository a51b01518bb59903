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

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.positivity.signs import Signs, sign_by_terms
from recipe_compiler.algebra.scalars.elementwise import SCALAR_FUNCTIONS
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, evaluate
from recipe_compiler.algebra.scalars.quotient_reader import QuotientReader
from recipe_compiler.algebra.scalars.quotients import Quotient
from recipe_compiler.algebra.scalars.transcendentals import argument, exponent_parts

PLACES = 2**20
"""Constants are enclosed between rationals with this denominator."""


@dataclass(frozen=True, slots=True)
class QuotientInequality:
    """`value op 0` of a quotient, `op` one of `> >= ==`."""

    value: Quotient
    op: str


class ScalarReading(QuotientReader):
    """The rules of one pass over several scalars in one ring, and the facts collected on the way."""

    def __init__(self, denominators: Mapping[tuple[object, Expr], int], room: int) -> None:
        super().__init__(room)
        self.denominators = denominators
        self.signs = Signs()
        self.names: list[Expr] = []
        self.facts: list[QuotientInequality] = []
        self.one = self.ring.constant(1)

    def is_nonnegative(self, a: Quotient) -> bool:
        """Whether a quotient is nonnegative by the signs of its generators, wherever it is defined."""
        odd = [self.ring.factors[factor] for factor, n in a.bottom if n % 2]
        return all(sign_by_terms(p, self.signs) is not None for p in (a.top, *odd))

    def opaque(self, e: Expr) -> Quotient:
        """Return a generator of which nothing is known, but of pi its sign and rationals that it lies between."""
        return self._generator(e, e, ">" if e is sympy.pi else "")[0]

    def function(self, e: Expr) -> Quotient:
        """Return a function with what is known of its values."""
        row = SCALAR_FUNCTIONS.get(type(e))
        match e:
            case sympy.log():
                return self._read_log(e)
            case sympy.sin() | sympy.cos():
                return self._read_sine_or_cosine(e)
            case sympy.Abs():
                return self._read_modulus(e)
            case sympy.gamma():
                return self._generator(("gamma", self.name(argument(e))), e, ">")[0]  # of a positive argument
            case _ if row is not None and row.bound is not None:
                return self._read_bounded(e, row.bound)
            case _:
                return self.opaque(e)

    def integer_power(self, base: Expr, n: int) -> Quotient:
        """Return a power written out."""
        return self.of(base) ** n

    def real_power(self, base: Expr, whole: Expr) -> Quotient:
        """Return a power of a base that is not negative, part by part of its exponent."""
        return self.ring.product([self._read_power(base, *part) for part in exponent_parts(whole)])

    def exponential(self, whole: Expr) -> Quotient:
        """Return an exponential part by part of its exponent, each of which lies above its tangent at 0."""
        return self.ring.product([self._read_exponential(*part) for part in exponent_parts(whole)])

    def _generator(self, key: object, name: Expr, op: str = "") -> tuple[Quotient, bool]:
        """Return the generator of a transcendental with a sign, and whether it is new."""
        g, new = self.ring.generator(key)
        if new:
            self.names.append(name)
            if op:
                self.signs.add(self.ring.numbers[key], op)
            self._add_enclosure(g, name)
        return g, new

    def _add_fact(self, value: Quotient, op: str = ">=") -> None:
        """Add an inequality that holds for the quotient to the collected facts."""
        self.facts.append(QuotientInequality(value, op))

    def _add_enclosure(self, g: Quotient, e: Expr) -> None:
        """Add rational bounds as facts about a generator that is a constant."""
        if e.free_symbols or e.has(AppliedUndef):
            return
        try:
            whole = (ball(evaluate(e, _refuse_symbol)) * PLACES).floor().unique_fmpz()
        except NoValueError:
            return
        if whole is None:
            return
        low = int(whole)
        self._add_fact(g - self.one.scaled(Fraction(low, PLACES)), op=">")
        self._add_fact(self.one.scaled(Fraction(low + 1, PLACES)) - g, op=">")

    def _read_power(self, base: Expr, rest: Expr, numerator: int, denominator: int) -> Quotient:
        """Return `(base ** rest) ** (numerator/denominator)` by the generator `base ** (rest/least denominator)`."""
        if rest == 1 and denominator == 1:
            return self.of(base) ** numerator
        least = math.lcm(self.denominators.get((base, rest), 1), denominator)
        key = ("power", self.name(base), self.name(rest), least)
        # a real power is of a nonnegative base; one with an exponent that is no number is of a positive one
        positive = rest != 1 or base.is_positive
        g, new = self._generator(key, base ** (rest / least), ">" if positive else ">=")
        if new and rest == 1:
            self.ring.relate(key, least, self.of(base))
        return g ** (numerator * least // denominator)

    def _read_exponential(self, rest: Expr, numerator: int, denominator: int) -> Quotient:
        """Return exp(numerator/denominator rest) as a power of a generator exp(t); its tangent bounds become facts."""
        least = math.lcm(self.denominators.get(("exp", rest), 1), denominator)
        t = self.of(rest).scaled(Fraction(1, least))
        g, new = self._generator(("exp", t.key), sympy.exp(rest / least), ">")
        if new:
            self._add_fact(g - self.one - t)
            self._add_fact(self.one - g * (self.one - t))
        return g ** (numerator * least // denominator)

    def _read_log(self, e: Expr) -> Quotient:
        """Return log u, with 1 - 1/u <= log u <= u - 1."""
        u = self.of(argument(e))
        g, new = self._generator(("log", u.key), e)
        if new:
            self._add_fact(u - self.one - g)
            self._add_fact(g * u - u + self.one)
        return g

    def _read_sine_or_cosine(self, e: Expr) -> Quotient:
        """Return the generator of a sine or cosine, with sin**2 + cos**2 = 1 and |sin|, |cos| <= 1 as facts."""
        x = argument(e)
        name = self.name(x)
        cos, _ = self._generator(("cos", name), sympy.cos(x, evaluate=False))
        sin, new = self._generator(("sin", name), sympy.sin(x, evaluate=False))
        if new:
            self.ring.relate(("sin", name), 2, self.one - cos * cos)
            for g in (cos, sin):
                self._add_fact(self.one + g)
                self._add_fact(self.one - g)
        return sin if isinstance(e, sympy.sin) else cos

    def _read_modulus(self, e: Expr) -> Quotient:
        """Return |u|: u or -u if the sign of u is known, else a generator g >= 0 with g**2 = u**2."""
        u = self.of(argument(e))
        for v in (u, -u):
            if self.is_nonnegative(v):
                return v
        key = ("abs", frozenset({u.key, (-u).key}))
        g, new = self._generator(key, e, ">=")
        if new:
            self.ring.relate(key, 2, u * u)
            self._add_fact(g + u)
            self._add_fact(g - u)
        return g

    def _read_bounded(self, e: Expr, bound: Fraction) -> Quotient:
        """Return the generator of a function with the sign of its argument and values in [-bound, bound]."""
        u = self.of(argument(e))
        key = (type(e).__name__, u.key)
        g, new = self._generator(key, e)
        if new:
            over = self.one.scaled(bound)
            self._add_fact(over + g)
            self._add_fact(over - g)
            self._add_fact(g * u)
            if isinstance(e, sympy.sign):
                self.ring.relate(key, 3, g)
                self._add_fact(g * g * u - u, op="==")
        return g


def _refuse_symbol(e: Expr) -> Value:
    """Raise NoValueError: a constant contains no symbols."""
    raise NoValueError(f"{e} is no constant")
