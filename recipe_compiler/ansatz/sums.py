"""Formulas as sums of terms, each a ratio of polynomials in sizes and scalar parameters times the rest."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sympy import QQ
from sympy.polys.fields import FracElement, FracField
from sympy.polys.rings import PolyElement

from recipe_compiler import limits
from recipe_compiler.ansatz.equations import constant_names
from recipe_compiler.formula import build, rebuild, show
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import depends_on_state
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import SCALAR, Shape

_LINEAR = frozenset({"trace", "sum", "diag", "grad", "div", "hessian"})
_SAMPLES = ((2, 3, 5, 7, 11, 13, 17, 19), (19, 17, 13, 11, 7, 5, 3, 2))
"""Values of the constants at which the sign of a ratio is taken."""

Value = FracElement
"""A ratio of polynomials in the constants of a document."""


def expand_sum(formula: Formula, *, constants: bool = True) -> tuple[Formula, ...]:
    """Return the terms of a sum, with products of sums expanded; the formula itself if that gives too many.

    Without `constants`, sums that do not depend on the state stay factors: `(a - 1)*log(x)` is one term.
    """
    terms = tuple(_expand_terms(formula, constants))
    return terms if len(terms) <= limits.SUMMANDS else (formula,)


def list_terms(formula: Formula) -> tuple[Formula, ...]:
    """Return the terms of a sum as written, without expanding products."""
    if isinstance(formula, ex.Add):
        return tuple(part for term in formula.terms for part in list_terms(term))
    return () if rebuild.is_zero(formula) else (formula,)


def _expand_terms(formula: Formula, constants: bool) -> list[Formula]:
    """Return the terms of a sum, zeros left out; products are expanded unless that gives too many."""
    match formula:
        case ex.Add(terms):
            return [part for term in terms for part in _expand_terms(term, constants)]
        case ex.Multiply(left, right, shape) | ex.MatMul(left, right, shape):
            sides = [_expand_terms(x, constants) if constants or depends_on_state(x) else [x] for x in (left, right)]
            if sides == [[left], [right]] or len(sides[0]) * len(sides[1]) > limits.SUMMANDS:
                return [formula]
            product = _multiply if isinstance(formula, ex.Multiply) else build.matmul
            return [product(one, other, shape) for one in sides[0] for other in sides[1]]
        case _:
            return [] if rebuild.is_zero(formula) else [formula]


def _multiply(left: Formula, right: Formula, shape: Shape) -> Formula:
    """Return a product with its number in front, factors 1 left out."""
    if right == build.ONE or left == build.ONE:
        return left if right == build.ONE else right
    if isinstance(left, ex.Number) and isinstance(right, ex.Multiply) and isinstance(right.left, ex.Number):
        return _multiply(ex.Number(left.value * right.left.value), right.right, shape)
    return build.multiply(left, right, shape)


def sum_terms(terms: Sequence[Formula], shape: Shape) -> Formula:
    """Return the sum of some formulas; 0 for none."""
    kept = [part for term in terms for part in list_terms(term)]
    return build.add(kept, shape) if kept else rebuild.zero(shape)


@dataclass(frozen=True)
class Constants:
    """The field of ratios of polynomials in what the coefficients of a document may depend on."""

    field: FracField
    symbols: tuple[Formula, ...]
    """Its generators as formulas: sizes, scalar parameters, pi."""

    def number(self, value: Fraction | int) -> Value:
        """Return a rational number."""
        return self.field.ground_new(QQ(Fraction(value).numerator, Fraction(value).denominator))

    def split(self, formula: Formula) -> tuple[Value, Formula | None]:
        """Return c and F with formula = c F; F is None where the formula is constant. 3*d*r/2 has c = 3 d/2, F = r."""
        one = self.number(1)
        match formula:
            case ex.Number(value):
                return self.number(value), None
            case ex.Symbol() | ex.Pi() if formula in self.symbols:
                return self.field.gens[self.symbols.index(formula)], None
            case ex.Multiply(left, right, shape):
                (a, x), (b, y) = self.split(left), self.split(right)
                return a * b, y if x is None else x if y is None else build.multiply(x, y, shape)
            case ex.MatMul(left, right, shape):
                (a, x), (b, y) = self.split(left), self.split(right)
                return (one, formula) if x is None or y is None else (a * b, build.matmul(x, y, shape))
            case ex.Transpose(arg):
                a, x = self.split(arg)
                return a, None if x is None else build.transpose(x)
            case ex.Apply(fn, (arg, *others), shape) if fn in _LINEAR:
                a, x = self.split(arg)
                return (one, formula) if x is None else (a, ex.Apply(fn, (x, *others), shape))
            case ex.Power(base, ex.Number(value) as exponent, shape) if value.denominator == 1:
                a, x = self.split(base)
                power = a ** int(value) if a else one
                return (power, None if x is None else build.power(x, exponent, shape)) if a else (one, formula)
            case ex.Add(terms):
                parts = [self.split(term) for term in terms]
                constant = all(core is None for _, core in parts)
                return (sum((a for a, _ in parts), self.number(0)), None) if constant else (one, formula)
            case _:
                return one, formula

    def scaled(self, formula: Formula, factor: Value) -> Formula:
        """Return `factor * formula`, its constants gathered: `d**2` times `(xi - A)**2/(2*d)` is `d*(xi - A)**2/2`."""
        own, core = self.split(formula)
        return self.joined(own * factor, core, formula.shape)

    def joined(self, factor: Value, core: Formula | None = None, shape: Shape = SCALAR) -> Formula:
        """Return `factor * core` as it would be written: the numerator before, the denominator behind, d*x/2."""
        if not factor:
            return rebuild.zero(shape)
        (above, leading), (below, divisors) = self._split_divisor(factor.numer), self._split_divisor(factor.denom)
        number = Fraction(above, below)
        if abs(number.numerator) != 1:
            leading = [ex.Number(Fraction(abs(number.numerator))), *leading]
        if number.denominator != 1:
            divisors = [ex.Number(Fraction(number.denominator)), *divisors]
        found = _multiply_factors(leading or [build.ONE]) if core is None else _insert_constants(leading, core)
        if divisors:
            found = build.multiply(
                found, build.power(_multiply_factors(divisors), build.MINUS_ONE, SCALAR), found.shape
            )
        return build.negate(found) if number < 0 else found

    def text(self, factor: Value) -> str:
        """Return a ratio in the spec language."""
        return show.text(self.joined(factor))

    def is_positive(self, factor: Value) -> bool:
        """Whether a ratio is positive at some sample of positive values of its constants: a filter, not a proof."""
        for sample in _SAMPLES:
            at = [QQ(sample[n % len(sample)]) for n in range(len(self.symbols))]
            top, bottom = factor.numer(*at), factor.denom(*at)
            if bottom and top / bottom > 0:
                return True
        return False

    def _split_divisor(self, poly: PolyElement) -> tuple[int, list[Formula]]:
        """Return the integer divisor of a polynomial's coefficients, and the rest; empty if the rest is 1."""
        common = math.gcd(*(int(x) for x in poly.coeffs())) * (-1 if poly.LC < 0 else 1)
        primitive = poly.quo_ground(QQ(common))
        return common, [] if primitive == 1 else [build.add(list(self._list_terms(primitive)), SCALAR)]

    def _list_terms(self, poly: PolyElement) -> Iterator[Formula]:
        """Yield the terms of a polynomial as formulas."""
        for exponents, coefficient in poly.terms():
            pairs = zip(self.symbols, exponents, strict=True)
            powers = [x if n == 1 else ex.Power(x, ex.Number(Fraction(int(n))), SCALAR) for x, n in pairs if n]
            number = abs(int(coefficient))
            term = _multiply_factors([ex.Number(Fraction(number)), *powers] if number != 1 or not powers else powers)
            yield build.negate(term) if coefficient < 0 else term


@lru_cache(maxsize=limits.SUBJECTS)
def constants(declarations: Declarations) -> Constants:
    """Return the field of the ratios that coefficients of a document may be."""
    names = constant_names(declarations)
    sizes = frozenset(declarations.sizes)
    symbols = [ex.Symbol(name, SCALAR, Role.SIZE if name in sizes else Role.PARAMETER) for name in names[:-1]]
    return Constants(FracField(names, QQ), (*symbols, ex.Pi()))


def _insert_constants(leading: list[Formula], core: Formula) -> Formula:
    """Return a product with the constants before its first factor: `A*inv(M) @ p`."""
    match core:
        case _ if not leading:
            return core
        case ex.MatMul(left, right, shape) if SCALAR not in (shape, left.shape):
            return ex.MatMul(_insert_constants(leading, left), right, shape)
        case ex.Multiply(left, right, shape) if not isinstance(left, ex.Number):
            return build.multiply(_insert_constants(leading, left), right, shape)
        case _:
            return _multiply_factors([*leading, core])


def _multiply_factors(factors: Sequence[Formula]) -> Formula:
    """Return the product of formulas, from the left."""
    found, *others = factors
    for factor in others:
        found = build.multiply(found, factor, factor.shape if found.shape == SCALAR else found.shape)
    return found
