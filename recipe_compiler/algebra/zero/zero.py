"""Is a scalar expression identically zero? Exact: the normal form over its kernels, never a simplifier."""

import math
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars import quotients
from recipe_compiler.algebra.scalars.quotients import Quotient, Ring, RingFullError
from recipe_compiler.algebra.scalars.sign_cells import Cell, off_kinks
from recipe_compiler.algebra.scalars.transcendentals import (
    NoNormalFormError,
    argument,
    check_allowed,
    common_denominators,
    elementary,
    exponent_parts,
    is_opaque,
)
from recipe_compiler.algebra.zero import angle_sums as angles
from recipe_compiler.algebra.zero.factored import Exponent, logarithm, real_power, sign

FIRST_ROOM = 32
LARGEST_ROOM = 2048
LARGEST_SHIFT = 12
"""`gamma(x + n)` is written by `gamma(x)` up to this n."""


def is_zero(e: Expr) -> bool:
    """Whether the normal form of a scalar expression is zero.

    True proves that the expression vanishes wherever it is real and defined, for all values of its symbols and all its
    undefined functions, with two exceptions: on the zeros of the arguments of `sign`, of moduli and comparisons (the
    kinks), nothing is said; and where the argument of a root or logarithm is zero. False proves nothing: kernels may
    depend on each other in ways the normal form does not know.

    Raises:
        NoNormalFormError: not real, not defined, not smooth, or too large.
    """
    plain = elementary(off_kinks(e))
    room = FIRST_ROOM
    while True:
        try:
            return _Reading(plain, room).of(plain).top.is_zero()
        except RingFullError:
            room *= 4
            if room > LARGEST_ROOM:
                raise NoNormalFormError(f"more than {LARGEST_ROOM} kernels") from None


class _Reading:
    """One pass over an expression: every subexpression is read once."""

    def __init__(self, e: Expr, room: int) -> None:
        self.ring: Ring = quotients.ring(room)
        self.denominators = common_denominators(e)
        self.known: dict[Expr, Quotient] = {}

    def of(self, e: Expr) -> Quotient:
        found = self.known.get(e)
        if found is None:
            found = self.known[e] = self._read(e)
        return found

    def _name(self, e: Expr) -> object:
        """Return a name that equal expressions share as far as the normal form sees it."""
        return quotients.key(self.of(e))

    def _read(self, e: Expr) -> Quotient:
        check_allowed(e)
        ring = self.ring
        match e:
            case sympy.Rational():
                return quotients.constant(int(e.p), int(e.q), ring)
            case sympy.Add():
                return quotients.add([self.of(x) for x in e.args], ring)
            case sympy.Mul():
                return self._product([self.of(x) for x in e.args])
            case sympy.Pow() if e.exp.is_Integer:
                return self._integer_power(e.base, int(e.exp))
            case sympy.Pow() if e.base is not sympy.E:
                return self._real_power(e.base, e.exp)
            case sympy.Pow():
                return self._exponential(e.exp)
            case sympy.exp():
                return self._exponential(argument(e))
            case sympy.log():
                return logarithm(self.of(argument(e)), ring)
            case sympy.sin() | sympy.cos():
                found = self._angle(argument(e))
                return found.sin if isinstance(e, sympy.sin) else found.cos
            case Cell():
                return sign(self.of(argument(e)), ring)
            case _ if e is sympy.E:
                return self._exponential(sympy.Integer(1))
            case _ if is_opaque(e):
                return self._generator(e, bool(e.is_nonnegative))
            case sympy.Function():
                return self._function(e)
            case _:
                raise NoNormalFormError(f"{type(e).__name__} is not known to the normal form")

    def _generator(self, key: object, positive: bool) -> Quotient:
        """Return a generator; one that has no negative values may be noted as such."""
        found, new = quotients.generator(key, self.ring)
        if new and positive:
            self.ring.positive.add(self.ring.numbers[key])
        return found

    def _integer_power(self, base: Expr, n: int) -> Quotient:
        """Return a power written out, or of its base as one generator where that would be too large."""
        value = self.of(base)
        if quotients.is_large_power(value, n):
            value = self._generator(("base", quotients.key(value)), bool(base.is_nonnegative))
        return quotients.power(value, n, self.ring)

    def _product(self, factors: list[Quotient]) -> Quotient:
        found = quotients.constant(1, 1, self.ring)
        for factor in factors:
            found = quotients.multiply(found, factor, self.ring)
        return found

    def _real_power(self, base: Expr, exponent: Expr) -> Quotient:
        """Return `base**exponent`, part by part of the exponent."""
        value = self.of(base)
        found: list[Quotient] = []
        for rest, n, q in exponent_parts(exponent):
            least = math.lcm(self.denominators.get(("power", rest), 1), q)
            if rest == 1:
                found.append(real_power(value, Exponent(Fraction(n, q), least), self.ring))
            else:
                power = Exponent(Fraction(n, q), least, self._name(rest), self.of(rest))
                found.append(real_power(value, power, self.ring))
        return self._product(found)

    def _exponential(self, exponent: Expr) -> Quotient:
        """Return exp(sum of n/q rest) by the generators exp(rest/least)."""
        found: list[Quotient] = []
        for rest, n, q in exponent_parts(exponent):
            least = math.lcm(self.denominators.get(("exp", rest), 1), q)
            key = ("exp", self._name(rest), least)
            g, new = quotients.generator(key, self.ring)
            if new:
                own = self.ring.numbers[key]
                self.ring.positive.add(own)
                share = quotients.constant(1, least, self.ring)
                self.ring.logs[own] = quotients.multiply(share, self.of(rest), self.ring)
            found.append(quotients.power(g, n * least // q, self.ring))
        return self._product(found)

    def _angle(self, angle: Expr) -> angles.Angle:
        """Return cosine and sine, of sums and multiples by those of the parts."""
        parts: list[tuple[Expr, int, int]] = []
        for rest, n, q in exponent_parts(angle):
            least = math.lcm(self.denominators.get(("angle", rest), 1), q)
            parts.append((rest, n * least // q, least))
        if not angles.is_small([n for _, n, _ in parts]):
            return angles.angle_of(self._name(angle), self.ring)
        multiples = [(angles.angle_of((self._name(rest), least), self.ring), n) for rest, n, least in parts]
        return angles.total(multiples, self.ring)

    def _function(self, e: sympy.Function) -> Quotient:
        """Return a function that is a kernel of its own, by the values of its arguments; gamma at a reduced one."""
        if isinstance(e, sympy.gamma):
            shift, rest = argument(e).as_coeff_Add(rational=True)
            n = int(sympy.floor(shift))
            if n and abs(n) <= LARGEST_SHIFT and rest != 0:
                x = rest + shift - n
                steps = [x + k for k in range(n)] if n > 0 else [1 / (x - k) for k in range(1, -n + 1)]
                return self._product([self.of(sympy.gamma(x)), *(self.of(step) for step in steps)])
        name = (type(e).__name__, *(self._name(x) for x in e.args if isinstance(x, Expr)))
        return self._generator(name, bool(e.is_nonnegative))
