"""The least positive root of a polynomial with rational coefficients, exactly: a number, a surd, or a root by name."""

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import sympy
from flint import acb, arb, ctx, fmpz_poly

BITS = 128
"""Binary digits to which roots are first enclosed; more until they are told apart from what they are compared to."""
MOST_BITS = 4096
DIGITS = 12
"""Significant digits of a decimal enclosure."""
LONGEST = 120
"""Characters of a polynomial that is written out."""


@dataclass(frozen=True, slots=True)
class Root:
    """The least positive root of an irreducible polynomial."""

    polynomial: tuple[int, ...]
    """Whole coefficients, lowest power first."""

    @property
    def exact(self) -> Fraction | None:
        """The root where it is rational."""
        if len(self.polynomial) != 2:
            return None
        return Fraction(-self.polynomial[0], self.polynomial[1])

    def enclosed(self, bits: int = BITS) -> tuple[Fraction, Fraction]:
        """Return rational bounds, both the root itself where it is rational."""
        if self.exact is not None:
            return self.exact, self.exact
        return min(_positive(fmpz_poly(list(self.polynomial)), bits))

    def decimals(self, apart: Fraction) -> tuple[str, str]:
        """Return decimals below and above the root, with `apart` on the side that it is on."""
        digits = DIGITS
        while True:
            low, high = self.enclosed(4 * digits + BITS)
            below, above = _decimal(low, digits, up=False), _decimal(high, digits, up=True)
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
        shown = written if len(written) <= LONGEST else f"a polynomial of degree {len(self.polynomial) - 1}"
        return f"the least positive root of {shown}"

    def _surd(self) -> str:
        c, b, a = (sympy.Integer(k) for k in self.polynomial)
        low, high = self.enclosed()
        middle = (low + high) / 2
        both: list[sympy.Expr] = [(-b + way * sympy.sqrt(b**2 - 4 * a * c)) / (2 * a) for way in (1, -1)]
        target = sympy.Rational(middle.numerator, middle.denominator)
        return str(min(both, key=lambda root: sympy.Abs((root - target).evalf(40))))


def least_positive_root(coefficients: tuple[int, ...]) -> Root | None:
    """Return the least positive root of a polynomial, lowest power first; None where it has none."""
    factors = [factor for factor, _ in fmpz_poly(list(coefficients)).factor()[1] if factor.degree() > 0]
    found = [Root(tuple(int(c) for c in factor.coeffs())) for factor in factors if _positive(factor, BITS)]
    if not found:
        return None
    bits = BITS
    while True:
        least = min(found, key=lambda root: root.enclosed(bits)[1])
        others = [root for root in found if root is not least]
        if all(least.enclosed(bits)[1] < root.enclosed(bits)[0] for root in others):
            return least
        bits *= 2
        if bits > MOST_BITS:
            raise ArithmeticError("roots of different factors are not told apart")


def _positive(factor: fmpz_poly, bits: int) -> list[tuple[Fraction, Fraction]]:
    """Return bounds of the positive real roots of an irreducible polynomial."""
    if factor.degree() == 1:
        root = Fraction(-int(factor[0]), int(factor[1]))
        return [(root, root)] if root > 0 else []
    with ctx.workprec(bits):
        found = cast(list[tuple[acb, int]], factor.complex_roots())  # the stub leaves out that they are pairs
        real = [root.real for root, _ in found if root.imag == 0]
    bounds = [(_exactly(x.mid()) - _exactly(x.rad()), _exactly(x.mid()) + _exactly(x.rad())) for x in real]
    return [(low, high) for low, high in bounds if low > 0]


def _exactly(x: arb) -> Fraction:
    """Return the value of an arb without a radius."""
    mantissa, exponent = x.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _decimal(x: Fraction, digits: int, *, up: bool) -> str:
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
