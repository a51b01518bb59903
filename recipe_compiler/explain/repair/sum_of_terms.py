"""Formulas as sums of terms, a term as a constant factor times the rest, and terms put together again."""

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq

from recipe_compiler.errors import DocumentError, Place
from recipe_compiler.explain.repair.ratios import Constants, Poly, Ratio, plus, power, ratio, times
from recipe_compiler.formula import build, rebuild
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.formula.syntax import parse
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.matrixform import as_matrices
from recipe_compiler.tensor.order import spell_tensor
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.tensor.terms import Index, Tensor
from recipe_compiler.verify.core.premises import depends_on_state

MAX_TERMS = 12
"""Sums of more terms are kept as one."""
SYMMETRIC = frozenset({Kind.SYMMETRIC, Kind.PSD, Kind.PD, Kind.DIAGONAL})
_LINEAR = frozenset({"trace", "sum", "diag", "grad", "div", "hessian"})
_HERE = Place("", 1, 1)


def additive(formula: Formula, *, constants: bool = True) -> tuple[Formula, ...]:
    """Return the terms of a sum, products of sums multiplied out; the formula itself where that gives too many.

    Without `constants`, sums that do not depend on the state stay factors: `(a - 1)*log(x)` is one term.
    """
    terms = _additive(formula, constants)
    return tuple(terms) if len(terms) <= MAX_TERMS else (formula,)


def top_level(formula: Formula) -> tuple[Formula, ...]:
    """Return the terms of a sum as written, without multiplying anything out."""
    if isinstance(formula, ex.Add):
        return tuple(part for term in formula.terms for part in top_level(term))
    return () if rebuild.is_zero(formula) else (formula,)


def _additive(formula: Formula, constants: bool) -> list[Formula]:
    match formula:
        case ex.Add(terms):
            return [part for term in terms for part in _additive(term, constants)]
        case ex.Multiply(left, right, shape):
            pairs = _pairs(formula, constants)
            return [formula] if pairs == [(left, right)] else [_times(one, other, shape) for one, other in pairs]
        case ex.MatMul(left, right, shape):
            pairs = _pairs(formula, constants)
            return [formula] if pairs == [(left, right)] else [build.matmul(x, y, shape) for x, y in pairs]
        case _:
            return [] if rebuild.is_zero(formula) else [formula]


def _pairs(whole: ex.Multiply | ex.MatMul, constants: bool) -> list[tuple[Formula, Formula]]:
    left, right = (
        _additive(side, constants) if constants or depends_on_state(side) else [side]
        for side in (whole.left, whole.right)
    )
    if len(left) * len(right) > MAX_TERMS:
        return [(whole.left, whole.right)]
    return [(one, other) for one in left for other in right]


def _times(left: Formula, right: Formula, shape: Shape) -> Formula:
    """Return a product, a number before a number times something gathered, 1 left out."""
    if isinstance(right, ex.Number) and right.value == 1:
        return left
    if isinstance(left, ex.Number):
        if left.value == 1:
            return right
        if isinstance(right, ex.Multiply) and isinstance(right.left, ex.Number):
            return _times(ex.Number(left.value * right.left.value), right.right, shape)
    return build.multiply(left, right, shape)


def split(formula: Formula, ring: Constants) -> tuple[Ratio, Formula | None]:
    """Return c and F with formula = c F, c a ratio of constants; F is None where the formula is constant.

    3*d*r/2 has c = 3 d/2 and F = r.
    """
    one = Ratio(ring.number(1), ring.number(1))
    match formula:
        case ex.Number(value):
            return Ratio(ring.number(value), ring.number(1)), None
        case ex.Symbol(name, shape) if shape == SCALAR and name in ring.names:
            return Ratio(ring.constant(name), ring.number(1)), None
        case ex.Multiply(left, right, shape):
            (a, x), (b, y) = split(left, ring), split(right, ring)
            core = y if x is None else x if y is None else build.multiply(x, y, shape)
            return times(a, b), core
        case ex.MatMul(left, right, shape):
            (a, x), (b, y) = split(left, ring), split(right, ring)
            return (one, formula) if x is None or y is None else (times(a, b), build.matmul(x, y, shape))
        case ex.Transpose(arg):
            a, x = split(arg, ring)
            return a, None if x is None else build.transpose(x)
        case ex.Apply(fn, (arg, *others), shape) if fn in _LINEAR:
            a, x = split(arg, ring)
            return (one, formula) if x is None else (a, ex.Apply(fn, (x, *others), shape))
        case ex.Power(base, ex.Number(value) as exponent, shape) if value.denominator == 1:
            a, x = split(base, ring)
            if a.top.is_zero():
                return one, formula
            return power(a, int(value)), None if x is None else build.power(x, exponent, shape)
        case ex.Add(terms):
            return _split_sum(terms, formula, ring)
        case _:
            return one, formula


def _split_sum(terms: tuple[Formula, ...], whole: Formula, ring: Constants) -> tuple[Ratio, Formula | None]:
    """Return a sum of constants as a constant; any other sum as it is."""
    total = Ratio(ring.number(0), ring.number(1))
    for term in terms:
        found, core = split(term, ring)
        if core is not None:
            return Ratio(ring.number(1), ring.number(1)), whole
        total = plus(total, found)
    return total, None


def scaled(formula: Formula, factor: Ratio, ring: Constants) -> Formula:
    """Return `factor * formula`, its constants gathered: `d**2` times `(xi - A)**2/(2*d)` is `d*(xi - A)**2/2`."""
    own, core = split(formula, ring)
    return joined(times(own, factor), core, formula.shape, ring)


def joined(factor: Ratio, core: Formula | None, shape: Shape, ring: Constants) -> Formula:
    """Return `factor * core` as it would be written: the numerator before, the denominator behind, d*x/2."""
    if factor.top.is_zero():
        return rebuild.zero(shape)
    scale, top = _content(factor.top)
    below, bottom = _content(factor.bottom)
    number = scale / below
    above = [] if top.is_constant() else [_polynomial(top, ring)]
    under = [] if bottom.is_constant() else [_polynomial(bottom, ring)]
    head = [ex.Number(Fraction(abs(number.numerator)))] if abs(number.numerator) != 1 else []
    tail = [ex.Number(Fraction(number.denominator))] if number.denominator != 1 else []
    leading: list[Formula] = [*head, *above]
    found = _led(leading, core) if core is not None else _product(leading or [build.ONE])
    divisors: list[Formula] = [*tail, *under]
    if divisors:
        divisor = _product(divisors)
        inverse = (
            ex.Number(1 / divisor.value)
            if isinstance(divisor, ex.Number)
            else ex.Power(divisor, build.MINUS_ONE, SCALAR)
        )
        found = build.multiply(found, inverse, found.shape)
    return build.negate(found) if number < 0 else found


def _led(leading: list[Formula], core: Formula) -> Formula:
    """Return a product with the constants before its first factor: `A*inv(M) @ p`."""
    if not leading:
        return core
    if isinstance(core, ex.MatMul) and core.shape != SCALAR and core.left.shape != SCALAR:
        return ex.MatMul(_led(leading, core.left), core.right, core.shape)
    if isinstance(core, ex.Multiply) and not isinstance(core.left, ex.Number):
        return build.multiply(_led(leading, core.left), core.right, core.shape)
    return _product([*leading, core])


def total(terms: Sequence[Formula], shape: Shape) -> Formula:
    """Return a sum, 0 for none."""
    flat = [part for term in terms for part in (term.terms if isinstance(term, ex.Add) else (term,))]
    kept = [term for term in flat if not rebuild.is_zero(term)]
    return build.add(kept, shape) if kept else rebuild.zero(shape)


def gathered(formula: Formula, declarations: Declarations) -> Formula:
    """Return a sum as the index calculus writes it if that has fewer terms; otherwise unchanged."""
    try:
        fewer = len(tensor_of(formula, declarations).terms) < len(additive(formula))
    except DocumentError:
        return formula
    return simplest(formula, declarations) if fewer else formula


def simplest(formula: Formula, declarations: Declarations) -> Formula:
    """Return a formula as the index calculus writes it, or with its transposes and signs resolved.

    The shortest that is read back as the same; the formula itself where none is shorter.
    """
    indices = _indices(formula.shape)
    try:
        tensor = convert(formula, declarations, *indices)
        c = calculus(declarations)
        resolved = text(_resolved(formula, declarations))
        for written in sorted(filter(None, (as_matrices(c, PLAIN, tensor), resolved)), key=len):
            if len(written) > len(text(formula)):
                return formula
            again = read(written, declarations, formula.shape)
            if c.is_zero(c.subtract(convert(again, declarations, *indices), tensor)):
                return again
    except DocumentError:
        pass
    return formula


def _resolved(formula: Formula, declarations: Declarations) -> Formula:
    """Return a formula with one number in front, transposes taken to its parts: diag(v) of -(-diag(v)).T."""
    factor, rest = _factored(formula, declarations, transposed=False)
    return rest if factor == 1 else build.multiply(ex.Number(factor), rest, rest.shape)


def _factored(formula: Formula, declarations: Declarations, *, transposed: bool) -> tuple[Fraction, Formula]:
    """Return the number in front of a formula, or of its transpose, and the rest."""
    shape = formula.shape.transposed if transposed else formula.shape
    match formula:
        case ex.Transpose(arg):
            return _factored(arg, declarations, transposed=not transposed)
        case ex.Multiply(ex.Number(value), arg) | ex.Multiply(arg, ex.Number(value)):
            factor, rest = _factored(arg, declarations, transposed=transposed)
            return factor * value, rest
        case ex.MatMul(left, right):
            (a, x), (b, y) = (_factored(part, declarations, transposed=transposed) for part in (left, right))
            return a * b, build.matmul(*((y, x) if transposed else (x, y)), shape)
        case ex.Add(terms):
            parts = [_factored(term, declarations, transposed=transposed) for term in terms]
            signed = [x if a == 1 else build.multiply(ex.Number(a), x, shape) for a, x in parts]
            return Fraction(1), build.add(signed, shape)
        case ex.Apply("div", (matrix, block)):
            factor, rest = _factored(matrix, declarations, transposed=False)
            found = build.apply("div", [rest, block], formula.shape)
            return factor, build.transpose(found) if transposed else found
        case ex.Apply("diag") | ex.Identity():
            return Fraction(1), formula
        case ex.Symbol(name) if SYMMETRIC & {*getattr(declarations.find(name), "kinds", ())}:
            return Fraction(1), formula
        case _:
            return Fraction(1), build.transpose(formula) if transposed else formula


def read(written: str, declarations: Declarations, shape: Shape, entry: str = "formula") -> Formula:
    """Return the formula that a text states.

    Raises:
        SpecError: it is no formula.
        ModelError: its names or shapes do not fit.
    """
    return elaborate(parse(written, entry, _HERE), Scope(declarations, square=True), shape, entry, _HERE)


def tensor_of(formula: Formula, declarations: Declarations) -> Tensor:
    """Return a formula in index notation, with the free index i of a vector, i and j of a matrix.

    Raises:
        ModelError: it has no entrywise meaning.
    """
    return convert(formula, declarations, *_indices(formula.shape))


def spelled(formula: Formula, declarations: Declarations) -> str:
    """Return a text that is the same for all formulas with the same tensor.

    Raises:
        ModelError: the formula has no entrywise meaning.
    """
    return spell_tensor(tensor_of(formula, declarations))


def _indices(shape: Shape) -> tuple[Index, ...]:
    labels = ("i", "j") if shape.rows is not None else ("j",)
    return tuple(Index(size, label) for size, label in zip(shape.sizes, labels, strict=False))


def _product(factors: Sequence[Formula]) -> Formula:
    found = factors[0]
    for factor in factors[1:]:
        shape = factor.shape if found.shape == SCALAR else found.shape
        found = build.multiply(found, factor, shape)
    return found


def _content(poly: Poly) -> tuple[Fraction, Poly]:
    """Return a rational number and a polynomial with whole coefficients without a common divisor."""
    numbers = [Fraction(int(x.p), int(x.q)) for x in poly.to_dict().values()]
    common = Fraction(0)
    for number in numbers:
        common = _common(common, number)
    lead = poly.leading_coefficient()
    common = -common if lead < 0 else common
    return common, poly / fmpq(common.numerator, common.denominator)


def _common(a: Fraction, b: Fraction) -> Fraction:
    """Return the greatest common divisor of two rational numbers."""
    x, y = abs(a), abs(b)
    while y:
        x, y = y, x - y * (x // y)
    return x


def _polynomial(poly: Poly, ring: Constants) -> Formula:
    """Return a polynomial in constants as a formula."""
    terms: list[Formula] = []
    for exponents, coefficient in poly.to_dict().items():
        number = Fraction(int(coefficient.p), int(coefficient.q))
        powers = [(ring.names[n], int(e)) for n, e in enumerate(exponents) if e]
        factors: list[Formula] = [_power(name, e, ring) for name, e in powers]
        head = [ex.Number(abs(number))] if abs(number) != 1 or not factors else []
        term = _product([*head, *factors])
        terms.append(build.negate(term) if number < 0 else term)
    return build.add(terms, SCALAR)


def _power(name: str, exponent: int, ring: Constants) -> Formula:
    role = ex.Role.SIZE if name in ring.sizes else ex.Role.PARAMETER
    symbol = ex.Symbol(name, SCALAR, role)
    return symbol if exponent == 1 else ex.Power(symbol, ex.Number(Fraction(exponent)), SCALAR)


def number(value: Fraction | int, ring: Constants) -> Ratio:
    """Return a rational number as a ratio."""
    return ratio(ring.number(value), ring.number(1))
