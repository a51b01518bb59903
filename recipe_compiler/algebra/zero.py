"""Is a scalar expression identically zero? Exact: the normal form over its kernels, never a simplifier."""

import sympy
from sympy import Expr

from recipe_compiler.algebra import quotients
from recipe_compiler.algebra.kernels import (
    NoNormalFormError,
    argument,
    check_allowed,
    common_denominators,
    is_opaque,
    log_parts,
    powers,
    rewritten,
)
from recipe_compiler.algebra.quotients import Quotient, Ring, RingFullError

FIRST_ROOM = 32
LARGEST_ROOM = 2048


def is_zero(e: Expr) -> bool:
    """Whether the normal form of a scalar expression is zero.

    True proves that the expression vanishes wherever it is defined, for all values of its symbols and all its undefined
    functions. False proves nothing: kernels may depend on each other in ways the normal form does not know.

    Raises:
        NoNormalFormError: not real, not defined, not smooth, or too large.
    """
    room = FIRST_ROOM
    while True:
        try:
            return _Reading(e, room).of(e).top.is_zero()
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
        other = rewritten(e)
        if other is not None:
            return self.of(other)
        match e:
            case sympy.Rational():
                return quotients.constant(int(e.p), int(e.q), ring)
            case sympy.Add():
                return quotients.add([self.of(x) for x in e.args], ring)
            case sympy.Mul():
                return self._product([self.of(x) for x in e.args])
            case sympy.Pow() if e.exp.is_Integer:
                return self._integer_power(e.base, int(e.exp))
            case sympy.Pow() | sympy.exp():
                return self._product([self._power(*part) for part in powers(e)])
            case sympy.log():
                return self._log(e)
            case sympy.sin() | sympy.cos():
                return self._circular(e)
            case sympy.Abs():
                return self._product([self._sign(argument(e)), self.of(argument(e))])
            case sympy.sign():
                return self._sign(argument(e))
            case _ if e is sympy.E:
                return self._power(sympy.E, sympy.Integer(1), 1, 1)
            case _ if is_opaque(e):
                return quotients.generator(e, ring)[0]
            case _:
                raise NoNormalFormError(f"{type(e).__name__} is not known to the normal form")

    def _integer_power(self, base: Expr, n: int) -> Quotient:
        """Return a power written out, or of its base as one generator where that would be too large."""
        value = self.of(base)
        if quotients.is_large_power(value, n):
            value, _ = quotients.generator(("base", quotients.key(value)), self.ring)
        return quotients.power(value, n, self.ring)

    def _product(self, factors: list[Quotient]) -> Quotient:
        found = quotients.constant(1, 1, self.ring)
        for factor in factors:
            found = quotients.multiply(found, factor, self.ring)
        return found

    def _power(self, base: Expr, rest: Expr, numerator: int, denominator: int) -> Quotient:
        """Return `(base ** rest) ** (numerator/denominator)` by the generator `base ** (rest/least denominator)`."""
        if rest == 1 and denominator == 1 and base != sympy.E:
            return quotients.power(self.of(base), numerator, self.ring)
        least = self.denominators.get((base, rest), denominator)
        if base == sympy.E:
            key: object = ("exp", self._name(rest), least)
        else:
            key = ("power", self._name(base), self._name(rest), least)
        g, new = quotients.generator(key, self.ring)
        if new and rest == 1 and base != sympy.E:
            quotients.relate(key, least, self.of(base), self.ring)
        return quotients.power(g, numerator * least // denominator, self.ring)

    def _log(self, e: Expr) -> Quotient:
        parts = log_parts(argument(e))
        if parts is None:
            return quotients.generator(("log", self._name(argument(e))), self.ring)[0]
        logs = [self.of(sympy.log(b, evaluate=False)) for b, _ in parts]
        counts = [quotients.constant(n, 1, self.ring) for _, n in parts]
        return quotients.add([self._product([c, b]) for c, b in zip(counts, logs, strict=True)], self.ring)

    def _circular(self, e: Expr) -> Quotient:
        """Return sine and cosine of one argument, with sin**2 = 1 - cos**2."""
        x = self._name(argument(e))
        cos, _ = quotients.generator(("cos", x), self.ring)
        sin, new = quotients.generator(("sin", x), self.ring)
        if new:
            square = quotients.multiply(cos, cos, self.ring)
            minus = quotients.multiply(quotients.constant(-1, 1, self.ring), square, self.ring)
            one = quotients.constant(1, 1, self.ring)
            quotients.relate(("sin", x), 2, quotients.add([one, minus], self.ring), self.ring)
        return sin if isinstance(e, sympy.sin) else cos

    def _sign(self, x: Expr) -> Quotient:
        """Return the sign of a real expression; its square is 1 almost everywhere."""
        key = ("sign", self._name(x))
        g, new = quotients.generator(key, self.ring)
        if new:
            quotients.relate(key, 2, quotients.constant(1, 1, self.ring), self.ring)
        return g
