"""Formulas put together while Q is being written: multiples, transposes, quotients of polynomials in parameters."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce

from recipe_compiler.formula import build
from recipe_compiler.formula.declaration import Declarations, Function, Parameter
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Filled,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Number,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.show import unsigned
from recipe_compiler.verify.recover.solve import Coefficient, Entry, Indeterminate

SYMMETRIC = frozenset({Kind.SYMMETRIC, Kind.PSD, Kind.PD, Kind.DIAGONAL})

Names = Mapping[Indeterminate, Formula]
"""How indeterminates are written."""


def scaled(number: Fraction, formula: Formula) -> Formula:
    """Return a rational multiple: `-K`, `r/2`, `3*K/2`."""
    if isinstance(formula, Number):
        return Number(number * formula.value)
    positive = unsigned(formula)
    if number < 0 and positive is not None:
        return scaled(-number, positive)
    match number.numerator, number.denominator:
        case 1, 1:
            return formula
        case -1, 1:
            return build.negate(formula)
        case top, 1:
            return build.multiply(Number(Fraction(top)), formula, formula.shape)
        case top, bottom:
            over = Number(Fraction(1, bottom))
            return build.multiply(scaled(Fraction(top), formula), over, formula.shape)


def times(left: Formula, right: Formula) -> Formula:
    """Return a scalar times a formula; a factor 1 is left out."""
    if left == build.ONE:
        return right
    return left if right == build.ONE else build.multiply(left, right, right.shape)


def total(terms: Sequence[Formula], shape: Shape) -> Formula:
    """Return a sum of terms; without terms, the zero of the shape."""
    return build.add(terms, shape) if terms else zero(shape)


def enlarged(coefficient: Coefficient, factor: int) -> Coefficient:
    """Return a multiple of a coefficient."""
    return Coefficient(tuple((number * factor, powers) for number, powers in coefficient.top), coefficient.bottom)


def multiple(coefficient: Coefficient, formula: Formula, names: Names) -> Formula:
    """Return (top/bottom) * formula, with top and bottom polynomials in sizes and parameters."""
    first, *others = coefficient.bottom
    divided = bool(others or first[1])
    number = Fraction(1) if divided else 1 / first[0]
    if len(coefficient.top) == 1:
        ((factor, powers),) = coefficient.top
        product = scaled(number * factor, times(_monomial(powers, names), formula))
    else:
        product = times(polynomial(coefficient.top, names), scaled(number, formula))
    if not divided:
        return product
    over = build.power(polynomial(coefficient.bottom, names), build.MINUS_ONE, SCALAR)
    return build.multiply(product, over, product.shape)


def polynomial(entry: Entry, names: Names) -> Formula:
    """Return a polynomial in the indeterminates."""
    return total([scaled(number, _monomial(powers, names)) for number, powers in entry], SCALAR)


def raised(base: Formula, n: int) -> Formula:
    """Return a whole power of a scalar."""
    return base if n == 1 else build.power(base, Number(Fraction(n)), SCALAR)


def _monomial(powers: tuple[tuple[Indeterminate, int], ...], names: Names) -> Formula:
    return reduce(times, [raised(names[indeterminate], n) for indeterminate, n in powers], build.ONE)


def transpose(formula: Formula, declarations: Declarations) -> Formula:
    """Return the transpose, carried inwards: (A B).T = B.T A.T, K.T = -K of a skew K, S.T = S of a symmetric S."""
    match formula:
        case Transpose(arg):
            return arg
        case Identity() | Apply("diag" | "hessian"):
            return formula
        case Filled(value, shape):
            return Filled(value, shape.transposed) if shape != SCALAR else formula
        case Symbol(name, shape) | FunctionAt(name, _, shape) if len(shape.sizes) == 2:
            item = declarations.find(name)
            kinds = item.kinds if isinstance(item, (Parameter, Function)) else ()
            if Kind.SKEW in kinds:
                return build.negate(formula)
            return formula if SYMMETRIC & set(kinds) else build.transpose(formula)
        case Add(terms, shape):
            return Add(tuple(transpose(term, declarations) for term in terms), shape.transposed)
        case MatMul(left, right, shape) if shape != SCALAR:
            return MatMul(transpose(right, declarations), transpose(left, declarations), shape.transposed)
        case Multiply(left, right, shape) if shape != SCALAR:
            parts = [part if part.shape == SCALAR else transpose(part, declarations) for part in (left, right)]
            return Multiply(parts[0], parts[1], shape.transposed)
        case Apply("outer", (left, right), shape):
            return Apply("outer", (right, left), shape.transposed)
        case Apply("inv", (arg,), shape):
            return Apply("inv", (transpose(arg, declarations),), shape)
        case _:
            return build.transpose(formula)
