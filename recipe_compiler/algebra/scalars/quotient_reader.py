"""Reading scalars into quotients of polynomials: one pass over an expression, a method for every kind of node.

What all readers share is here: numbers, sums and products. The other methods are the reader's own, since readers differ
in what they may assume: the test for zero uses relations that hold where an expression is defined, the proofs of signs
inequalities too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

import sympy
from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.quotients import Quotient, Ring, RingFullError
from recipe_compiler.algebra.scalars.rationals import fraction
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError, check_allowed, exponent, is_opaque

T = TypeVar("T")


class QuotientReader(ABC):
    """One pass over scalars in one ring: every subexpression is read once."""

    def __init__(self, room: int) -> None:
        self.ring = Ring(room)
        self.known: dict[Expr, Quotient] = {}

    def of(self, e: Expr) -> Quotient:
        """Return a scalar as a quotient of polynomials in its transcendentals.

        Raises:
            NoNormalFormError: not real, not defined, too large, or of a kind that is not known.
            RingFullError: more transcendentals than there is room for.
        """
        found = self.known.get(e)
        if found is None:
            check_allowed(e)
            found = self.known[e] = self._read(e)
        return found

    def name(self, e: Expr) -> object:
        """Return a hashable name, the same for all expressions that the normal form shows to be equal."""
        return self.of(e).key

    @abstractmethod
    def integer_power(self, base: Expr, n: int) -> Quotient:
        """Return base**n."""

    @abstractmethod
    def real_power(self, base: Expr, whole: Expr) -> Quotient:
        """Return a power that is none of integer exponent, nor exponential."""

    @abstractmethod
    def exponential(self, whole: Expr) -> Quotient:
        """Return exp(whole)."""

    @abstractmethod
    def opaque(self, e: Expr) -> Quotient:
        """Return a symbol, pi, an unknown function or a derivative of one."""

    @abstractmethod
    def function(self, e: Expr) -> Quotient:
        """Return any other function of scalars."""

    def _read(self, e: Expr) -> Quotient:
        """Return the quotient of an expression from those of its arguments, by the method for its node."""
        match e:
            case sympy.Rational():
                return self.ring.constant(fraction(e))
            case sympy.Add():
                return self.ring.total([self.of(x) for x in e.args])
            case sympy.Mul():
                return self.ring.product([self.of(x) for x in e.args])
            case sympy.Pow() if e.exp.is_Integer:
                return self.integer_power(e.base, int(e.exp))
            case sympy.Pow() if e.base is not sympy.E:
                return self.real_power(*e.as_base_exp())
            case _ if isinstance(e, (sympy.Pow, sympy.exp)) or e is sympy.E:
                return self.exponential(exponent(e))
            case _ if is_opaque(e):
                return self.opaque(e)
            case sympy.Function():
                return self.function(e)
            case _:
                raise NoNormalFormError(f"{type(e).__name__} is not known to the normal form")


def with_room(read: Callable[[int], T]) -> T:
    """Return the result of `read` in the first ring with room for its transcendentals.

    Each ring has four times the room of the last.

    Raises:
        NoNormalFormError: the largest ring has not enough room.
    """
    room = 32
    while room <= limits.TERMS:
        try:
            return read(room)
        except RingFullError:
            room *= 4
    raise NoNormalFormError(f"more than {limits.TERMS} transcendentals")
