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

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.quotient_reader import QuotientReader, with_room
from recipe_compiler.algebra.scalars.quotients import Quotient
from recipe_compiler.algebra.scalars.sign_cells import Cell, off_kinks
from recipe_compiler.algebra.scalars.transcendentals import argument, common_denominators, elementary, exponent_parts
from recipe_compiler.algebra.zero.factored import Exponent, logarithm, real_power, sign


@lru_cache(maxsize=limits.REMEMBERED)
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
    return with_room(lambda room: _Reading(plain, room).of(plain).top.is_zero())


class _Reading(QuotientReader):
    """The rules of one pass over an expression, and what they have noted."""

    def __init__(self, e: Expr, room: int) -> None:
        super().__init__(room)
        self.denominators = common_denominators([e])

    def integer_power(self, base: Expr, n: int) -> Quotient:
        """Return a power written out, or of its base as one generator where that would be too large."""
        value = self.of(base)
        if value.has_large_power(n):
            value = self._generator(("base", value.key), bool(base.is_nonnegative))
        return value**n

    def real_power(self, base: Expr, whole: Expr) -> Quotient:
        """Return `base**whole`, part by part of the exponent."""
        value = self.of(base)
        found: list[Quotient] = []
        for rest, n, q in exponent_parts(whole):
            least = math.lcm(self.denominators.get(("power", rest), 1), q)
            known = () if rest == 1 else (self.name(rest), self.of(rest))
            found.append(real_power(value, Exponent(Fraction(n, q), least, *known)))
        return self.ring.product(found)

    def exponential(self, whole: Expr) -> Quotient:
        """Return exp(sum of n/q rest) by the generators exp(rest/least)."""
        found: list[Quotient] = []
        for rest, n, q in exponent_parts(whole):
            least = math.lcm(self.denominators.get(("exp", rest), 1), q)
            key = ("exp", self.name(rest), least)
            g = self._generator(key, positive=True)
            self.ring.logs[self.ring.numbers[key]] = self.of(rest).scaled(Fraction(1, least))
            found.append(g ** (n * least // q))
        return self.ring.product(found)

    def opaque(self, e: Expr) -> Quotient:
        """Return a generator for a symbol, pi, an unknown function or a derivative of one."""
        return self._generator(e, bool(e.is_nonnegative))

    def function(self, e: Expr) -> Quotient:
        """Return a function that is its own transcendental, by the values of its arguments; gamma at a reduced one."""
        match e:
            case sympy.log():
                return logarithm(self.of(argument(e)))
            case Cell():
                return sign(self.of(argument(e)))
            case sympy.sin() | sympy.cos():
                return self._read_sine_or_cosine(e)
            case sympy.gamma():
                shift, rest = argument(e).as_coeff_Add(rational=True)
                n = int(sympy.floor(shift))
                if n and abs(n) <= limits.DEGREE and rest != 0:
                    x = rest + shift - n
                    steps = [x + k for k in range(n)] if n > 0 else [1 / (x - k) for k in range(1, -n + 1)]
                    return self.ring.product([self.of(step) for step in (sympy.gamma(x), *steps)])
            case _:
                pass
        name = (type(e).__name__, *(self.name(x) for x in e.args if isinstance(x, Expr)))
        return self._generator(name, bool(e.is_nonnegative))

    def _generator(self, key: object, positive: bool) -> Quotient:
        """Return a generator; one that has no negative values may be noted as such."""
        found, new = self.ring.generator(key)
        if new and positive:
            self.ring.positive.add(self.ring.numbers[key])
        return found

    def _read_sine_or_cosine(self, e: Expr) -> Quotient:
        """Return sine or cosine, of sums and multiples by those of the parts: sin(2 x) = 2 sin(x) cos(x)."""
        angle, parts = argument(e), dict[Expr, Expr]()
        multiples: list[int] = []
        for rest, n, q in exponent_parts(angle):
            least = math.lcm(self.denominators.get(("angle", rest), 1), q)
            multiples.append(n * least // q)
            parts[sympy.Dummy()] = rest / least
        if multiples != [1] and len(multiples) <= limits.CASES and sum(map(abs, multiples)) <= limits.DEGREE:
            whole = sympy.Add(*(n * part for n, part in zip(multiples, parts, strict=True)))
            return self.of(cast(Expr, type(e)(whole).expand(trig=True).xreplace(parts)))
        name = self.name(angle)
        cos, sin = self._generator(("cos", name), positive=False), ("sin", name)
        found, new = self.ring.generator(sin)
        if new:
            self.ring.relate(sin, 2, self.ring.constant(1) - cos * cos)
        return found if isinstance(e, sympy.sin) else cos
