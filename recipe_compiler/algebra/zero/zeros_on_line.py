"""Zeros of a function of one coordinate, and how it behaves at them: exact, by isolated roots of polynomials.

The least positive root of a polynomial with rational coefficients is given as a fraction, a surd, or a named root.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import sympy
from flint import acb, arb, ctx, fmpq, fmpz_poly
from sympy import Expr, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate, is_certainly
from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.scalars.sign_cells import Cell
from recipe_compiler.algebra.scalars.transcendentals import argument

DIGITS = 12
"""Significant digits of a decimal enclosure."""

WIDTH = Fraction(1, 2**40)
"""Isolating intervals are at most this wide."""


@dataclass(frozen=True, slots=True)
class LeastRoot:
    """The least positive root of an irreducible polynomial."""

    polynomial: tuple[int, ...]
    """Whole coefficients, lowest power first."""

    @property
    def exact(self) -> Fraction | None:
        """The root if it is rational."""
        if len(self.polynomial) != 2:
            return None
        return Fraction(-self.polynomial[0], self.polynomial[1])

    def enclosed(self, bits: int = limits.BITS) -> tuple[Fraction, Fraction]:
        """Return rational bounds, both the root itself if it is rational."""
        if self.exact is not None:
            return self.exact, self.exact
        return min(_isolate_positive_roots(fmpz_poly(list(self.polynomial)), bits))

    def decimals(self, apart: Fraction) -> tuple[str, str]:
        """Return decimals below and above the root, with `apart` outside of them on its side of the root."""
        digits = DIGITS
        while True:
            low, high = self.enclosed(4 * digits + limits.BITS)
            below, above = _round_to_decimal(low, digits, up=False), _round_to_decimal(high, digits, up=True)
            if not Fraction(below) < apart < Fraction(above):
                return below, above
            digits *= 2

    def __str__(self) -> str:
        """Write the root: a fraction, a surd, or which root of which polynomial it is."""
        if self.exact is not None:
            return str(self.exact)
        if len(self.polynomial) == 3:
            return self._surd()
        x = sympy.Symbol("eps")
        terms = [c * x**k for k, c in enumerate(self.polynomial)]
        written = str(sympy.Poly(sympy.Add(*terms), x).as_expr())
        shown = written if len(written) <= limits.CHARACTERS else f"a polynomial of degree {len(self.polynomial) - 1}"
        return f"the least positive root of {shown}"

    def _surd(self) -> str:
        """Return the root of a quadratic in closed form, as text."""
        c, b, a = (sympy.Integer(k) for k in self.polynomial)
        low, high = self.enclosed()
        middle = (low + high) / 2
        both: list[sympy.Expr] = [(-b + way * sympy.sqrt(b**2 - 4 * a * c)) / (2 * a) for way in (1, -1)]
        target = rational(middle)
        return str(min(both, key=lambda root: sympy.Abs((root - target).evalf(40))))


def least_positive_root(coefficients: tuple[int, ...]) -> LeastRoot | None:
    """Return the least positive root of a polynomial, lowest power first; None if it has none.

    (-2, 0, 1), x**2 - 2, has sqrt(2).

    Raises:
        ArithmeticError: roots of different factors are too close to be ordered.
    """
    factors = [factor for factor, _ in fmpz_poly(list(coefficients)).factor()[1] if factor.degree() > 0]
    found = [
        LeastRoot(tuple(int(c) for c in factor.coeffs()))
        for factor in factors
        if _isolate_positive_roots(factor, limits.BITS)
    ]
    if not found:
        return None
    bits = limits.BITS
    while True:
        least = min(found, key=lambda root: root.enclosed(bits)[1])
        others = [root for root in found if root is not least]
        if all(least.enclosed(bits)[1] < root.enclosed(bits)[0] for root in others):
            return least
        bits *= 2
        if bits > limits.MOST_BITS:
            raise ArithmeticError("roots of different factors could not be separated")


def _isolate_positive_roots(factor: fmpz_poly, bits: int) -> list[tuple[Fraction, Fraction]]:
    """Return bounds of the positive real roots of an irreducible polynomial."""
    if factor.degree() == 1:
        root = Fraction(-int(factor[0]), int(factor[1]))
        return [(root, root)] if root > 0 else []
    with ctx.workprec(bits):
        found = cast(list[tuple[acb, int]], factor.complex_roots())  # the stub leaves out that they are pairs
        real = [root.real for root, _ in found if root.imag == 0]
    bounds = [
        (
            _fraction_of_exact(x.mid()) - _fraction_of_exact(x.rad()),
            _fraction_of_exact(x.mid()) + _fraction_of_exact(x.rad()),
        )
        for x in real
    ]
    return [(low, high) for low, high in bounds if low > 0]


def _fraction_of_exact(x: arb) -> Fraction:
    """Return the value of an arb without a radius."""
    mantissa, exponent = x.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _round_to_decimal(x: Fraction, digits: int, *, up: bool) -> str:
    """Return a positive number as a decimal of so many significant digits, rounded one way."""
    exponent = 0
    while x * Fraction(10) ** -exponent >= 10:
        exponent += 1
    while x * Fraction(10) ** -exponent < 1:
        exponent -= 1
    unit = Fraction(10) ** (exponent - digits + 1)
    whole = -(-x // unit) if up else x // unit
    shift = exponent - digits + 1
    if -20 <= exponent <= 20 and shift < 0:
        text = str(whole).rjust(1 - shift, "0")
        return f"{text[:shift]}.{text[shift:]}"
    return f"{whole}e{shift}"


@dataclass(frozen=True, slots=True)
class Root:
    """The only zero of an irreducible polynomial over the rationals between two rationals (or at one)."""

    of: sympy.Poly
    low: Fraction
    high: Fraction

    @property
    def text(self) -> str:
        """The root as text: its value if it is rational, else its polynomial and a number near it."""
        if self.low == self.high:
            return str(self.low)
        low, high = (str(sympy.Float(rational(x), 8)) for x in (self.low, self.high))
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
class ZeroOrder:
    """f(c + y) ~ C |y|**power with C not zero, on both sides of c; `even` if C is the same on both."""

    power: Fraction
    even: bool


def roots(e: Expr, x: Symbol) -> tuple[Root, ...] | None:
    """Return the real zeros of a rational function of x with rational coefficients; None for any other function.

    Each occurs once, isolated between two fractions, in ascending order: x**3 - 2 x has -sqrt(2), 0 and sqrt(2), (x**2
    - 2)**2/(x + 1) the outer two.

        >>> x = sympy.Symbol("x", real=True)
        >>> [root.text for root in roots((x**2 - 2) ** 2 / (x + 1), x) or ()]
        ['the zero of x**2 - 2 near -1.4142136', 'the zero of x**2 - 2 near 1.4142136']
    """
    numerator, _ = sympy.fraction(sympy.together(e))
    polynomial = _as_rational_polynomial(numerator, x)
    if polynomial is None or polynomial.is_zero:
        return None
    found = [root for factor, _ in polynomial.factor_list()[1] for root in _isolate_roots(factor)]
    return tuple(sorted(found, key=lambda root: root.low))


def order(e: Expr, x: Symbol, at: Root, constants: Mapping[Expr, Fraction]) -> ZeroOrder | None:
    """Return how an expression in x behaves at a root, its other symbols having the values given; None if unknown.

    At 0, x**2 |x| has the power 3, even; x has 1, not even; sqrt(|x|) has 1/2, even.
    """
    if e.is_number or x not in e.free_symbols:
        return ZeroOrder(Fraction(0), even=True) if _is_nonzero(e, x, at, constants) else None
    numbers = {s: sympy.Rational(*v.as_integer_ratio()) for s, v in constants.items()}
    rational = _order_of_rational(cast(Expr, e.xreplace(numbers)), x, at)
    if rational is not None:
        return rational
    match e:
        case sympy.Abs():
            inner = order(argument(e), x, at, constants)
            return None if inner is None else ZeroOrder(inner.power, even=True)
        case sympy.sign() | Cell():
            inner = order(argument(e), x, at, constants)
            return None if inner is None else ZeroOrder(Fraction(0), inner.even)
        case sympy.Pow() if isinstance(e.exp, sympy.Rational):
            inner = order(e.base, x, at, constants)
            power = fraction(e.exp)
            if inner is None:
                return None
            return ZeroOrder(inner.power * power, inner.even or power.denominator != 1 or power.numerator % 2 == 0)
        case sympy.Mul():
            parts = [order(arg, x, at, constants) for arg in e.args]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            odd = sum(not part.even for part in known) % 2
            return ZeroOrder(sum((part.power for part in known), Fraction(0)), even=not odd)
        case _:
            return _order_of_sum(e, x, at, constants)


def _order_of_sum(e: Expr, x: Symbol, at: Root, constants: Mapping[Expr, Fraction]) -> ZeroOrder | None:
    """Return the order of a sum with one smallest term; order 0 of an expression that is nonzero at the root."""
    if isinstance(e, sympy.Add):
        rational = sympy.Add(*(arg for arg in e.args if arg.is_rational_function(x)))
        others = [arg for arg in e.args if not arg.is_rational_function(x)]
        if not others:
            return ZeroOrder(Fraction(0), even=True) if _is_nonzero(e, x, at, constants) else None
        parts = [order(arg, x, at, constants) for arg in ([rational] if rational != 0 else []) + others]
        known = sorted((part for part in parts if part is not None), key=lambda part: part.power)
        if len(parts) > 1 and len(known) == len(parts) and known[0].power < known[1].power:
            return known[0]
    return ZeroOrder(Fraction(0), even=True) if _is_nonzero(e, x, at, constants) else None


def _is_nonzero(e: Expr, x: Symbol, at: Root, constants: Mapping[Expr, Fraction]) -> bool:
    """Whether an expression is certainly not zero at a root, by evaluation in balls."""
    try:
        return is_certainly(evaluate(e, lambda leaf: at.ball if leaf == x else constants[leaf]), 0)
    except (NoValueError, KeyError):
        return False


def _order_of_rational(e: Expr, x: Symbol, at: Root) -> ZeroOrder | None:
    """Return the multiplicity of the root in the numerator minus that in the denominator, as an order."""
    numerator, denominator = (_as_rational_polynomial(part, x) for part in sympy.fraction(sympy.together(e)))
    if numerator is None or denominator is None or numerator.is_zero:
        return None
    power = _multiplicity(numerator, at.of) - _multiplicity(denominator, at.of)
    return ZeroOrder(Fraction(power), even=power % 2 == 0)


def _multiplicity(polynomial: sympy.Poly, factor: sympy.Poly) -> int:
    """Return how often an irreducible polynomial divides another."""
    found = 0
    while polynomial.degree() >= factor.degree():
        quotient, rest = polynomial.div(factor)
        if not rest.is_zero:
            break
        polynomial, found = quotient, found + 1
    return found


def _as_rational_polynomial(e: Expr, x: Symbol) -> sympy.Poly | None:
    """Return an expression as a polynomial in x over the rationals, None if it is none of small degree."""
    if not e.is_polynomial(x) or e.free_symbols - {x}:
        return None
    try:
        found = sympy.Poly(e, x, domain="QQ")
    except (sympy.PolynomialError, sympy.CoercionFailed):
        return None
    return found if found.degree() <= limits.DEGREE else None


def _isolate_roots(factor: sympy.Poly) -> Iterator[Root]:
    """Yield the real roots of a polynomial, each between two rationals."""
    width = rational(WIDTH)
    found = cast(list[tuple[tuple[sympy.Rational, sympy.Rational], int]], factor.intervals(eps=width))
    for (low, high), _ in found:
        yield Root(factor, fraction(low), fraction(high))
