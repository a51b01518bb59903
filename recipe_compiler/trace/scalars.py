"""Coefficients of a series at fixed sizes: polynomials in draws, by monomial, with SymPy scalars as coefficients.

Nothing is simplified, no scalar is multiplied out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError, argument
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.trace.series import ONE, Arithmetic, NoExpansionError, Series

Poly = Mapping[tuple[Symbol, ...], Expr]
"""A polynomial in draws: monomials, each draw as often as it occurs, by name, and their coefficients."""
NO_DRAW: tuple[Symbol, ...] = ()
"""The monomial 1."""


@dataclass(frozen=True, slots=True)
class PolyRing:
    """Polynomials in draws as coefficients."""

    def add(self, *parts: Poly) -> Poly:
        """Return a sum."""
        return _sum_monomials((key, value) for part in parts for key, value in part.items())

    def multiply(self, *factors: Poly) -> Poly:
        """Return a product.

        Raises:
            NoExpansionError: it may have too many terms.
        """
        found, *others = factors or ({NO_DRAW: sympy.Integer(1)},)
        for x in others:
            if len(found) * len(x) > limits.TERMS:
                raise NoExpansionError(f"a product of more than {limits.TERMS} terms")
            pairs = product(found.items(), x.items())
            found = _sum_monomials((tuple(sorted((*v, *w), key=_draw_name)), a * b) for (v, a), (w, b) in pairs)
        return found

    def scale(self, x: Poly, factor: Fraction) -> Poly:
        """Return a multiple."""
        return {key: rational(factor) * value for key, value in x.items()} if factor else {}

    def power(self, x: Poly, exponent: Fraction) -> Poly:
        """Return a power of a polynomial without draws."""
        return {NO_DRAW: value_of(x) ** rational(exponent)}

    def settled(self, x: Poly) -> Poly:
        """Return a polynomial without the terms that normal forms show to vanish."""
        return {key: value for key, value in x.items() if not vanishes(value)}


def poly_arithmetic(top: Fraction) -> Arithmetic[Poly]:
    """Return the arithmetic of series with polynomials in draws as coefficients."""
    return Arithmetic(PolyRing(), top, {}, lambda x: not x, lambda x: any(key != NO_DRAW for key in x))


def vanishes(e: Expr) -> bool:
    """Whether a scalar has a normal form, which is zero."""
    try:
        return is_zero(e)
    except NoNormalFormError:
        return False


def _draw_name(draw: Symbol) -> str:
    """Return the name of a draw, by which monomials are sorted."""
    return draw.name


def _sum_monomials(pairs: Iterable[tuple[tuple[Symbol, ...], Expr]]) -> Poly:
    """Return the polynomial with coefficients of equal monomials added and zeros removed."""
    found: dict[tuple[Symbol, ...], list[Expr]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    summed = {key: sympy.Add(*values) for key, values in found.items()}
    return {key: value for key, value in summed.items() if value != 0}


def value_of(x: Poly) -> Expr:
    """Return a polynomial where all draws are zero."""
    return x.get(NO_DRAW, sympy.Integer(0))


def series_expression(series: Series[Poly], eps: Symbol) -> Expr:
    """Return a series as one expression in eps."""
    return sympy.Add(
        *(v * eps ** rational(p) * sympy.Mul(*draws) for p, x in series.parts.items() for draws, v in x.items())
    )


@dataclass(frozen=True, slots=True)
class Scalars:
    """Reads SymPy expressions as series; `powers` has the power of eps that each draw carries."""

    S: Arithmetic[Poly]
    eps: Symbol
    powers: dict[Symbol, Fraction]
    known: dict[Symbol, Series[Poly]] = field(default_factory=dict[Symbol, Series[Poly]])
    """Symbols that stand for series."""

    def constant(self, e: Expr) -> Series[Poly]:
        """Return a scalar without eps or draws as a series."""
        return self.S.constant({NO_DRAW: e} if e != 0 else {})

    def drawn(self, draw: Symbol) -> Series[Poly]:
        """Return a draw as a series, with the power of eps that it carries."""
        return self.S.constant({(draw,): sympy.Integer(1)}, self.powers[draw])

    def series(self, e: Expr) -> Series[Poly]:
        """Return an expression as a series, up to the last power kept.

        Functions are expanded by Taylor's formula about eps = 0, other powers by the binomial series, exactly: sqrt(1 +
        eps x) is 1 + eps x/2 - eps**2 x**2/8 up to eps**2.

        Raises:
            NoExpansionError: no expansion about eps = 0 is known.
        """
        if e.free_symbols.isdisjoint({self.eps, *self.powers, *self.known}):
            return self.constant(e)
        match e:
            case Symbol() if e in self.known:
                return self.known[e]
            case Symbol():
                return self.S.constant(self.S.one, ONE) if e == self.eps else self.drawn(e)
            case sympy.Add():
                return self.S.add(*map(self.series, e.args))
            case sympy.Mul():
                found, *others = map(self.series, e.args)
                for other in others:
                    found = self.S.multiply(found, other)
                return found
            case sympy.Pow():
                return self.power(self.series(e.base), self.series(e.exp))
            case sympy.Function() if len(e.args) == 1:
                return self.applied(lambda x: cast(Expr, e.func(x)), self.series(argument(e)), type(e).__name__)
            case _:
                raise NoExpansionError(f"{type(e).__name__} of the step size or a draw has no known expansion")

    def power(self, base: Series[Poly], exponent: Series[Poly]) -> Series[Poly]:
        """Return a power, exp(q log(b)) where q is no rational number."""
        q = value_of(self.S.at(exponent, Fraction(0))) if exponent.low >= 0 else None
        if isinstance(q, sympy.Rational) and exponent.parts.keys() <= {Fraction(0)} and not self._is_random(exponent):
            return self.S.power(base, fraction(q))
        log = self.applied(sympy.log, self.S.leading(base), "the logarithm")
        return self.applied(sympy.exp, self.S.multiply(exponent, log), "a power")

    def applied(self, f: Callable[[Expr], Expr], x: Series[Poly], name: str) -> Series[Poly]:
        """Return a smooth function of a series, by Taylor's formula about its value at eps = 0."""

        def slopes(first: Poly) -> Iterator[Poly]:
            symbol = sympy.Dummy(real=True)
            slope = f(symbol)
            while True:
                value = cast(Expr, slope.xreplace({symbol: value_of(first)}))
                if value.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
                    raise NoExpansionError(f"{name} is not smooth where eps = 0")
                yield {NO_DRAW: value} if value != 0 else {}
                slope = sympy.diff(slope, symbol)

        return self.S.compose(slopes, x, name)

    def _is_random(self, x: Series[Poly]) -> bool:
        return any(map(self.S.is_random, x.parts.values()))


@dataclass(frozen=True, slots=True)
class PolyDraw:
    """n centred draws made together, over the power of eps that they are of, and their covariance likewise."""

    symbols: tuple[Symbol, ...]
    covariance: Callable[[Symbol, Symbol], Series[Poly]]
    S: Arithmetic[Poly]
    says: str = ""
    gaussian: bool = True

    def degree(self, x: Poly) -> int:
        """Return the degree of a polynomial in the draws."""
        return max((self._degree(key) for key in x), default=0)

    def _degree(self, key: tuple[Symbol, ...]) -> int:
        return sum(w in self.symbols for w in key)

    def part(self, x: Poly, degree: int) -> Poly:
        """Return the terms of some degree in the draws."""
        return {key: value for key, value in x.items() if self._degree(key) == degree}

    def curvature(self, series: Series[Poly]) -> Series[Poly]:
        """Return sum_ij C_ij d_i d_j S: of a monomial, twice the sum over pairs of its factors."""
        found: dict[tuple[Symbol, Symbol], list[Series[Poly]]] = {}
        for power, x in series.parts.items():
            for key, value in x.items():
                own = [k for k, w in enumerate(key) if w in self.symbols]
                for i, j in combinations(own, 2):
                    rest = tuple(w for k, w in enumerate(key) if k not in (i, j))
                    found.setdefault((key[i], key[j]), []).append(Series({power: {rest: 2 * value}}))
        parts = [self.S.multiply(self.covariance(*pair), self.S.add(*rest)) for pair, rest in found.items()]
        return self.S.add(*parts, Series({}, series.known))


def independent(symbols: tuple[Symbol, ...], S: Arithmetic[Poly], says: str = "") -> PolyDraw:
    """Return the group of independent draws of variance 1."""
    return PolyDraw(symbols, lambda v, w: S.constant(S.one) if v == w else Series({}), S, says)
