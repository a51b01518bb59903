"""Zeros of a function of one coordinate, and how it behaves at them: exact, by isolated roots of polynomials."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import sympy
from flint import arb, fmpq
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate, is_certainly
from recipe_compiler.algebra.scalars.sign_cells import Cell
from recipe_compiler.algebra.scalars.transcendentals import argument

LARGEST_DEGREE = 40
WIDTH = Fraction(1, 2**40)
"""Isolating intervals are at most this wide."""


@dataclass(frozen=True, slots=True)
class Root:
    """The only zero of an irreducible polynomial over the rationals between two rationals (or at one)."""

    of: sympy.Poly
    low: Fraction
    high: Fraction

    @property
    def text(self) -> str:
        """The root in words: its value where it is rational, else its polynomial and interval."""
        if self.low == self.high:
            return str(self.low)
        low, high = (str(sympy.Float(sympy.Rational(x.numerator, x.denominator), 8)) for x in (self.low, self.high))
        between = low if low == high else f"{low} to {high}"
        return f"the zero of {self.of.as_expr()} near {between}"

    @property
    def ball(self) -> Value:
        """The root, exact or enclosed."""
        if self.low == self.high:
            return self.low
        middle, radius = (self.low + self.high) / 2, (self.high - self.low) / 2
        near = arb(fmpq(middle.numerator, middle.denominator))
        return near + arb(0, 1) * arb(fmpq(radius.numerator, radius.denominator))


@dataclass(frozen=True, slots=True)
class Order:
    """`f(c + y) ~ C |y|**power` with C not zero, on both sides of c; `even` where C is the same on both."""

    power: Fraction
    even: bool


def roots(e: Expr, x: Symbol) -> tuple[Root, ...] | None:
    """Return the real zeros of a rational function of x with rational coefficients; None for any other function."""
    numerator, _ = sympy.fraction(sympy.together(e))
    polynomial = _polynomial(numerator, x)
    if polynomial is None or polynomial.is_zero:
        return None
    found = [root for factor, _ in polynomial.factor_list()[1] for root in _isolated(factor)]
    return tuple(sorted(found, key=lambda root: root.low))


def order(e: Expr, x: Symbol, at: Root, constants: Mapping[Expr, Fraction]) -> Order | None:
    """Return how an expression in x behaves at a root, its other symbols having the values given; None if unknown."""
    if e.is_number or x not in e.free_symbols:
        return Order(Fraction(0), even=True) if _is_nonzero(e, x, at, constants) else None
    numbers = {s: sympy.Rational(*v.as_integer_ratio()) for s, v in constants.items()}
    rational = _of_rational(cast(Expr, e.xreplace(numbers)), x, at)
    if rational is not None:
        return rational
    match e:
        case sympy.Abs():
            inner = order(argument(e), x, at, constants)
            return None if inner is None else Order(inner.power, even=True)
        case sympy.sign() | Cell():
            inner = order(argument(e), x, at, constants)
            return None if inner is None else Order(Fraction(0), inner.even)
        case sympy.Pow() if isinstance(e.exp, sympy.Rational):
            inner = order(e.base, x, at, constants)
            power = Fraction(int(e.exp.p), int(e.exp.q))
            if inner is None:
                return None
            return Order(inner.power * power, inner.even or power.denominator != 1 or power.numerator % 2 == 0)
        case sympy.Mul():
            parts = [order(arg, x, at, constants) for arg in e.args]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            odd = sum(not part.even for part in known) % 2
            return Order(sum((part.power for part in known), Fraction(0)), even=not odd)
        case _:
            return _of_sum(e, x, at, constants)


def _of_sum(e: Expr, x: Symbol, at: Root, constants: Mapping[Expr, Fraction]) -> Order | None:
    """Return the order of a sum with one smallest term, or of what is certainly not zero at the root."""
    if isinstance(e, sympy.Add):
        rational = sympy.Add(*(arg for arg in e.args if arg.is_rational_function(x)))
        others = [arg for arg in e.args if not arg.is_rational_function(x)]
        if not others:
            return Order(Fraction(0), even=True) if _is_nonzero(e, x, at, constants) else None
        parts = [order(arg, x, at, constants) for arg in ([rational] if rational != 0 else []) + others]
        known = sorted((part for part in parts if part is not None), key=lambda part: part.power)
        if len(parts) > 1 and len(known) == len(parts) and known[0].power < known[1].power:
            return known[0]
    return Order(Fraction(0), even=True) if _is_nonzero(e, x, at, constants) else None


def _is_nonzero(e: Expr, x: Symbol, at: Root, constants: Mapping[Expr, Fraction]) -> bool:
    try:
        return is_certainly(evaluate(e, lambda leaf: at.ball if leaf == x else constants[leaf]), 0)
    except (NoValueError, KeyError):
        return False


def _of_rational(e: Expr, x: Symbol, at: Root) -> Order | None:
    numerator, denominator = (_polynomial(part, x) for part in sympy.fraction(sympy.together(e)))
    if numerator is None or denominator is None or numerator.is_zero:
        return None
    power = _multiplicity(numerator, at.of) - _multiplicity(denominator, at.of)
    return Order(Fraction(power), even=power % 2 == 0)


def _multiplicity(polynomial: sympy.Poly, factor: sympy.Poly) -> int:
    """Return how often an irreducible polynomial divides another."""
    found = 0
    while polynomial.degree() >= factor.degree():
        quotient, rest = polynomial.div(factor)
        if not rest.is_zero:
            break
        polynomial, found = quotient, found + 1
    return found


def _polynomial(e: Expr, x: Symbol) -> sympy.Poly | None:
    if not e.is_polynomial(x) or e.free_symbols - {x}:
        return None
    try:
        found = sympy.Poly(e, x, domain="QQ")
    except (sympy.PolynomialError, sympy.CoercionFailed):
        return None
    return found if found.degree() <= LARGEST_DEGREE else None


def _isolated(factor: sympy.Poly) -> Iterator[Root]:
    width = sympy.Rational(WIDTH.numerator, WIDTH.denominator)
    found = cast(list[tuple[tuple[sympy.Rational, sympy.Rational], int]], factor.intervals(eps=width))
    for (low, high), _ in found:
        yield Root(factor, Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q)))
