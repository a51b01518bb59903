"""Is a scalar expression identically zero? Exact: the normal form over its transcendentals, never a simplifier.

Worked example, exp(2 x) - (exp(x) - 1) (exp(x) + 1) - 1: the exponents of x have the common denominator 1, so the one
transcendental is E = exp(x), and E**2 - (E - 1)(E + 1) - 1 is the zero polynomial. sqrt(x**2) - |x|: both are x sign(x)
by the factors of x**2, and cancel.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import cast

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars import quotients
from recipe_compiler.algebra.scalars.quotient_reader import Head, QuotientReader, with_room
from recipe_compiler.algebra.scalars.quotients import Quotient
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.transcendentals import (
    argument,
    common_denominators,
    elementary,
    exponent,
    exponent_parts,
)
from recipe_compiler.algebra.zero import angle_sums as angles
from recipe_compiler.algebra.zero.factored import Exponent, logarithm, real_power, sign

FIRST_ROOM = 32
LARGEST_ROOM = 2048
REMEMBERED = 2**12
"""Expressions of which the answer is kept: claims of one document ask about the same."""

LARGEST_SHIFT = 12
"""`gamma(x + n)` is written by `gamma(x)` up to this n."""


@lru_cache(maxsize=REMEMBERED)
def is_zero(e: Expr) -> bool:
    """Whether the normal form of a scalar expression is zero.

    True proves that the expression vanishes wherever it is real and defined, for all values of its symbols and all its
    undefined functions, with two exceptions: on the zeros of the arguments of `sign`, of moduli and comparisons (the
    kinks), nothing is shown; and where the argument of a root or logarithm is zero. False proves nothing:
    transcendentals may depend on each other in ways the normal form does not know.

    exp(x + y) - exp(x) exp(y), sqrt(x**2) - |x| and sin(2 x) - 2 sin(x) cos(x) are zero. sign(x)**2 - 1 is, too, as x =
    0 is a kink: `is_zero_everywhere` is False for it.

        >>> x, y = sympy.symbols("x y", real=True)
        >>> is_zero(sympy.exp(x + y) - sympy.exp(x) * sympy.exp(y)), is_zero(sympy.sqrt(x**2) - x)
        (True, False)

    Raises:
        NoNormalFormError: not real, not defined, not smooth, or too large.
    """
    if isinstance(e, sympy.Rational):
        return e == 0
    plain = elementary(off_kinks(e))
    return with_room(lambda room: _Reading(plain, room).reader.of(plain).top.is_zero(), FIRST_ROOM, LARGEST_ROOM)


class _Reading:
    """The rules of one pass over an expression, and what they have noted."""

    def __init__(self, e: Expr, room: int) -> None:
        self.denominators = common_denominators([e])
        self.reader = QuotientReader(
            room,
            {
                Head.INTEGER_POWER: self._integer_power,
                Head.REAL_POWER: self._real_power,
                Head.EXPONENTIAL: self._exponential,
                Head.LOGARITHM: lambda e: logarithm(self.reader.of(argument(e)), self.ring),
                Head.CIRCULAR: self._circular,
                Head.MODULUS: self._function,
                Head.CELL: lambda e: sign(self.reader.of(argument(e)), self.ring),
                Head.OPAQUE: lambda e: self._generator(e, bool(e.is_nonnegative)),
                Head.FUNCTION: self._function,
            },
        )
        self.ring = self.reader.ring

    def _generator(self, key: object, positive: bool) -> Quotient:
        """Return a generator; one that has no negative values may be noted as such."""
        found, new = quotients.generator(key, self.ring)
        if new and positive:
            self.ring.positive.add(self.ring.numbers[key])
        return found

    def _integer_power(self, e: Expr) -> Quotient:
        """Return a power written out, or of its base as one generator where that would be too large."""
        base, n = cast(tuple[Expr, Expr], e.args)
        value = self.reader.of(base)
        if quotients.is_large_power(value, int(n)):
            value = self._generator(("base", quotients.key(value)), bool(base.is_nonnegative))
        return quotients.power(value, int(n), self.ring)

    def _real_power(self, e: Expr) -> Quotient:
        """Return `base**exponent`, part by part of the exponent."""
        base, whole = cast(tuple[Expr, Expr], e.args)
        value = self.reader.of(base)
        found: list[Quotient] = []
        for rest, n, q in exponent_parts(whole):
            least = math.lcm(self.denominators.get(("power", rest), 1), q)
            if rest == 1:
                found.append(real_power(value, Exponent(Fraction(n, q), least), self.ring))
            else:
                power = Exponent(Fraction(n, q), least, self.reader.name(rest), self.reader.of(rest))
                found.append(real_power(value, power, self.ring))
        return self.reader.product(found)

    def _exponential(self, e: Expr) -> Quotient:
        """Return exp(sum of n/q rest) by the generators exp(rest/least)."""
        found: list[Quotient] = []
        for rest, n, q in exponent_parts(exponent(e)):
            least = math.lcm(self.denominators.get(("exp", rest), 1), q)
            key = ("exp", self.reader.name(rest), least)
            g, new = quotients.generator(key, self.ring)
            if new:
                own = self.ring.numbers[key]
                self.ring.positive.add(own)
                share = quotients.constant(1, least, self.ring)
                self.ring.logs[own] = quotients.multiply(share, self.reader.of(rest), self.ring)
            found.append(quotients.power(g, n * least // q, self.ring))
        return self.reader.product(found)

    def _circular(self, e: Expr) -> Quotient:
        found = self._angle(argument(e))
        return found.sin if isinstance(e, sympy.sin) else found.cos

    def _angle(self, angle: Expr) -> angles.Angle:
        """Return cosine and sine, of sums and multiples by those of the parts."""
        parts: list[tuple[Expr, int, int]] = []
        for rest, n, q in exponent_parts(angle):
            least = math.lcm(self.denominators.get(("angle", rest), 1), q)
            parts.append((rest, n * least // q, least))
        if not angles.is_small([n for _, n, _ in parts]):
            return angles.angle_of(self.reader.name(angle), self.ring)
        multiples = [(angles.angle_of((self.reader.name(rest), least), self.ring), n) for rest, n, least in parts]
        return angles.total(multiples, self.ring)

    def _function(self, e: Expr) -> Quotient:
        """Return a function that is its own transcendental, by the values of its arguments; gamma at a reduced one."""
        if isinstance(e, sympy.gamma):
            shift, rest = argument(e).as_coeff_Add(rational=True)
            n = int(sympy.floor(shift))
            if n and abs(n) <= LARGEST_SHIFT and rest != 0:
                x = rest + shift - n
                steps = [x + k for k in range(n)] if n > 0 else [1 / (x - k) for k in range(1, -n + 1)]
                return self.reader.product([self.reader.of(sympy.gamma(x)), *(self.reader.of(step) for step in steps)])
        name = (type(e).__name__, *(self.reader.name(x) for x in e.args if isinstance(x, Expr)))
        return self._generator(name, bool(e.is_nonnegative))
