"""Admissible instances of declared names: matrices of a kind, and polynomial fields of a kind.

An instance is of its kind by construction and everywhere: positive definite as B B.T + I, positive semidefinite as B
B.T, symmetric as B + B.T, skew as B - B.T, a positive field as a square plus 1. Numbers are rational.
"""

from collections.abc import Callable
from fractions import Fraction
from random import Random

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars import matrices
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.rationals import fraction
from recipe_compiler.formula.shapes import SIGNS, Kind

Draw = Callable[[], Expr]
"""Makes one real entry: a number, or a polynomial in the coordinates."""

POSITIVE_KINDS = frozenset({Kind.POSITIVE, Kind.PD})
NONNEGATIVE_KINDS = frozenset({Kind.NONNEGATIVE, Kind.PSD})
"""Kinds that make a scalar, or the diagonal of a diagonal matrix, positive or nonnegative."""

SIMPLEST, PLAIN = 0, 1
"""Styles of instances: the simplest of its kind; entries that differ but stay small; from 2 on random ones."""
ALL_APART = 2**20
"""The style of numbers that nobody would guess, doubles between 1/4 and 1 in size, and of polynomials of all terms."""


class NoInstanceError(Exception):
    """No instance of a combination of kinds is known, or the kinds contradict each other."""


def number(style: int, random: Random) -> Expr:
    """Return a small rational number, the larger the style the wider the choice."""
    if style >= ALL_APART:
        return sympy.Rational(random.choice((-1, 1)) * random.randint(style // 4, style), style)
    if style <= PLAIN:
        return sympy.Integer(random.choice((1, 0, -1, 2)))
    if style <= 5:
        return sympy.Integer(random.randint(-3, 3))
    return sympy.Rational(random.randint(-12, 12), random.choice((1, 2, 3)))


def polynomial(z: tuple[Symbol, ...], style: int, random: Random) -> Expr:
    """Return a polynomial in the coordinates, of degree 1 in the simpler styles, with products in the others."""
    if style >= ALL_APART:
        return sympy.Add(number(style, random), *(number(style, random) * x * (1 + y) for x in z for y in z))
    terms = [number(PLAIN, random) * x for x in z]
    terms.append(sympy.Integer(random.choice((0, 1))))
    if style > PLAIN and z:
        terms.append(number(PLAIN, random) * random.choice(z) * random.choice(z))
    return sympy.Add(*terms)


def signed_number(kinds: tuple[Kind, ...], style: int, random: Random) -> Expr:
    """Return a number that has the signs declared."""
    found = number(style, random)
    if POSITIVE_KINDS & set(kinds):
        return abs(found) or sympy.Integer(1)
    if NONNEGATIVE_KINDS & set(kinds):
        return abs(found)
    return found or sympy.Integer(1) if Kind.NONZERO in kinds else found


def whole_number(kinds: tuple[Kind, ...], random: Random) -> Expr:
    """Return a whole number that has the signs declared."""
    least = 1 if {*POSITIVE_KINDS, Kind.NONZERO} & set(kinds) else 0 if NONNEGATIVE_KINDS & set(kinds) else -4
    return sympy.Integer(random.randint(least, 6))


def signed(draw: Draw, kinds: tuple[Kind, ...]) -> Expr:
    """Return one entry that has the signs declared, everywhere."""
    if (POSITIVE_KINDS | {Kind.NONZERO}) & set(kinds):
        return draw() ** 2 + 1
    if NONNEGATIVE_KINDS & set(kinds):
        return draw() ** 2
    return draw()


def simplest(kinds: tuple[Kind, ...], i: int, j: int) -> Expr:
    """Return an entry of the simplest instance: of the identity, of sign(j - i) if skew, else of zeros and ones."""
    if Kind.SKEW in kinds:
        return sympy.Integer((i < j) - (i > j))
    if {Kind.POSITIVE, Kind.NONZERO} & set(kinds) and Kind.DIAGONAL not in kinds:
        return sympy.Integer(2 if i == j else 1)
    return sympy.Integer(int(i == j))


def matrix(n: int, m: int, kinds: tuple[Kind, ...], style: int, draw: Draw) -> Rows:
    """Return an n x m matrix of the kinds declared: definite as B B.T + I, semidefinite as B B.T, skew as B - B.T.

    Raises:
        NoInstanceError: the kinds contradict each other, as far as this construction knows.
    """
    _refuse_contradictions(kinds)
    if style == SIMPLEST:
        return tuple(tuple(simplest(kinds, i, j) for j in range(m)) for i in range(n))
    if Kind.DIAGONAL in kinds:
        zero = sympy.Integer(0)
        return tuple(tuple(signed(draw, kinds) if i == j else zero for j in range(m)) for i in range(n))
    entry_kinds = tuple(kind for kind in kinds if kind in SIGNS)
    B: Rows = tuple(tuple(signed(draw, entry_kinds) for _ in range(m)) for _ in range(n))
    if Kind.SKEW in kinds:
        negative: Rows = tuple(tuple(-x for x in row) for row in matrices.transpose(B))
        return matrices.add((B, negative))
    if Kind.PD in kinds:
        return matrices.add((matrices.product(B, matrices.transpose(B)), matrices.identity(n)))
    if Kind.PSD in kinds:
        return matrices.product(B, matrices.transpose(B))
    if Kind.SYMMETRIC in kinds:
        return matrices.add((B, matrices.transpose(B)))
    return B


def _refuse_contradictions(kinds: tuple[Kind, ...]) -> None:
    """Raise NoInstanceError for skew together with a symmetric, definite, diagonal or signed kind."""
    others = {Kind.PD, Kind.PSD, Kind.SYMMETRIC, Kind.DIAGONAL, *SIGNS}
    if Kind.SKEW in kinds and others & set(kinds):
        raise NoInstanceError("skew together with " + ", ".join(sorted(others & set(kinds))))


def potential(z: tuple[Symbol, ...], style: int, random: Random) -> Expr:
    """Return U = |z|**2/2, or that plus a square: a polynomial such that exp(-U) has a finite integral."""
    quadratic = sympy.Add(*[x**2 for x in z]) / 2
    return quadratic if style <= PLAIN else quadratic + polynomial(z, style, random) ** 2


def as_fraction(value: Expr) -> Fraction:
    """Return a SymPy rational as a Fraction.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(value, sympy.Rational):
        raise TypeError(f"{value} is not rational")
    return fraction(value)
