"""Reading scalars into quotients of polynomials: the kind of every expression, and one pass over it.

Rules that all readers share are here: numbers, sums and products. The others are the reader's own, one for each kind of
expression, since readers differ in what they may assume: the test for zero uses relations that hold where an expression
is defined, the proofs of signs inequalities too, the search for a skew Q only proposes.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto
from typing import TypeVar, cast

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars import quotients
from recipe_compiler.algebra.scalars.quotients import Quotient, RingFullError
from recipe_compiler.algebra.scalars.sign_cells import Cell
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError, check_allowed, is_opaque

T = TypeVar("T")


class Head(Enum):
    """The kind of an expression, by its root node."""

    NUMBER = auto()
    """A rational one."""
    SUM = auto()
    PRODUCT = auto()
    INTEGER_POWER = auto()
    REAL_POWER = auto()
    EXPONENTIAL = auto()
    """`exp(x)`, `E**x` and E itself."""
    LOGARITHM = auto()
    CIRCULAR = auto()
    """Sine or cosine."""
    MODULUS = auto()
    CELL = auto()
    OPAQUE = auto()
    """A symbol, pi, an unknown function or a derivative of one."""
    FUNCTION = auto()
    """Any other function."""
    OTHER = auto()


_HEADS: Mapping[type[sympy.Basic], Head] = {
    sympy.Add: Head.SUM,
    sympy.Mul: Head.PRODUCT,
    sympy.exp: Head.EXPONENTIAL,
    sympy.log: Head.LOGARITHM,
    sympy.sin: Head.CIRCULAR,
    sympy.cos: Head.CIRCULAR,
    sympy.Abs: Head.MODULUS,
    Cell: Head.CELL,
}


def head(e: Expr) -> Head:
    """Return the kind of an expression, by its root node."""
    if isinstance(e, sympy.Rational):
        return Head.NUMBER
    if isinstance(e, sympy.Pow):
        if e.exp.is_Integer:
            return Head.INTEGER_POWER
        return Head.EXPONENTIAL if e.base is sympy.E else Head.REAL_POWER
    if e is sympy.E:
        return Head.EXPONENTIAL
    if is_opaque(e):
        return Head.OPAQUE
    return _HEADS.get(type(e), Head.FUNCTION if isinstance(e, sympy.Function) else Head.OTHER)


Rule = Callable[[Expr], Quotient]


class QuotientReader:
    """One pass over scalars in one ring: every subexpression is read once."""

    def __init__(self, room: int, rules: Mapping[Head, Rule]) -> None:
        self.ring = quotients.ring(room)
        self.known: dict[Expr, Quotient] = {}
        self.rules: Mapping[Head, Rule] = {
            Head.NUMBER: self._number,
            Head.SUM: self._sum,
            Head.PRODUCT: self._product,
            **rules,
        }

    def of(self, e: Expr) -> Quotient:
        """Return a scalar as a quotient of polynomials in its transcendentals.

        Raises:
            NoNormalFormError: not real, not defined, too large, or of a kind without a rule.
            RingFullError: more transcendentals than there is room for.
        """
        found = self.known.get(e)
        if found is None:
            check_allowed(e)
            rule = self.rules.get(head(e))
            if rule is None:
                raise NoNormalFormError(f"{type(e).__name__} is not known to the normal form")
            found = self.known[e] = rule(e)
        return found

    def name(self, e: Expr) -> object:
        """Return a hashable name, the same for all expressions that the normal form shows to be equal."""
        return quotients.key(self.of(e))

    def product(self, factors: Iterable[Quotient]) -> Quotient:
        """Return the product of quotients."""
        found = quotients.constant(1, 1, self.ring)
        for factor in factors:
            found = quotients.multiply(found, factor, self.ring)
        return found

    def _number(self, e: Expr) -> Quotient:
        value = cast(sympy.Rational, e)
        return quotients.constant(int(value.p), int(value.q), self.ring)

    def _sum(self, e: Expr) -> Quotient:
        return quotients.add([self.of(cast(Expr, x)) for x in e.args], self.ring)

    def _product(self, e: Expr) -> Quotient:
        return self.product([self.of(cast(Expr, x)) for x in e.args])


def with_room(read: Callable[[int], T], first: int, largest: int) -> T:
    """Return the result of `read` in the first ring with room for its transcendentals.

    Each ring has four times the room of the last.

    Raises:
        NoNormalFormError: the largest ring has not enough room.
    """
    room = first
    while room <= largest:
        try:
            return read(room)
        except RingFullError:
            room *= 4
    raise NoNormalFormError(f"more than {largest} transcendentals")
