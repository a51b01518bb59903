"""What is tidied when a node is rebuilt with new parts: units and zeros, where nothing is lost by it."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.elementwise import named
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape

_TOTAL = named(lambda row: row.total) | {"minimum", "maximum", "det", "trace", "diag", "sum", "outer", "kron"}
"""Functions with a finite value at every argument."""


def tidy(formula: Formula, new: Sequence[Formula], shape_of: Callable[[Shape], Shape] = build.same_shape) -> Formula:
    """Return the node with parts `new`, tidied where a part changed; the node itself where nothing did."""
    rebuilt = build.rebuild(formula, new, shape_of)
    if rebuilt == formula:
        return formula
    match rebuilt:
        case ex.Add(terms, shape):
            return _sum(terms, shape)
        case ex.Multiply(left, right, shape):
            return _product(left, right, shape)
        case ex.MatMul(left, right, shape):
            return matrix_product(left, right, shape)
        case ex.Transpose(ex.Identity() as arg):
            return arg
        case ex.Transpose(ex.Transpose(arg)):
            return arg
        case ex.Transpose(ex.Filled(0), shape):
            return ex.Filled(0, shape)
        case ex.Apply("inv", (arg,), shape):
            return _inverse(rebuilt, arg, shape)
        case ex.Apply("cholesky", (ex.Identity() as arg,)):
            return arg
        case ex.Apply("det", (ex.Identity(),)):
            return build.ONE
        case ex.Apply("logdet", (ex.Identity(),)):
            return zero(SCALAR)
        case ex.Apply("where", (ex.Compare(op, left, right), yes, no), shape) if left == right and is_total(left):
            kept, dropped = (yes, no) if "=" in op else (no, yes)
            return kept if kept.shape == shape and is_total(dropped) else rebuilt
        case _:
            return rebuilt


def zero(shape: Shape) -> Formula:
    """Return the zero of a shape."""
    return ex.Number(Fraction(0)) if shape == SCALAR else ex.Filled(0, shape)


def is_zero(formula: Formula) -> bool:
    """Whether a formula is written as zero."""
    match formula:
        case ex.Number(value) | ex.Filled(value):
            return value == 0
        case _:
            return False


def is_total(formula: Formula) -> bool:
    """Whether a formula has a finite value wherever its symbols have one, so that 0 times it is 0."""
    match formula:
        case ex.Power(base, ex.Number(value)):
            return value >= 0 and value.denominator == 1 and is_total(base)
        case ex.Power():
            return False
        case ex.Apply(fn, args):
            return fn in _TOTAL and all(is_total(arg) for arg in args)
        case _:
            return all(is_total(part) for part in build.parts(formula))


def _is_one(formula: Formula) -> bool:
    return isinstance(formula, ex.Number) and formula.value == 1


def _sum(terms: tuple[Formula, ...], shape: Shape) -> Formula:
    kept = [term for term in terms if not is_zero(term)]
    return build.add(kept, shape) if kept else zero(shape)


def _product(left: Formula, right: Formula, shape: Shape) -> Formula:
    for one, other in ((left, right), (right, left)):
        if _is_one(one):
            return other
        if is_zero(one) and is_total(other):
            return zero(shape)
    return ex.Multiply(left, right, shape)


def matrix_product(left: Formula, right: Formula, shape: Shape) -> Formula:
    """Return `left @ right`, tidied."""
    if isinstance(left, ex.Identity):
        return right
    if isinstance(right, ex.Identity):
        return left
    if (is_zero(left) and is_total(right)) or (is_zero(right) and is_total(left)):
        return zero(shape)
    match left, right:
        case ex.Multiply(factor, ex.Identity()), _:
            return _product(factor, right, shape)
        case _, ex.Multiply(factor, ex.Identity()):
            return _product(factor, left, shape)
        case _:
            return ex.MatMul(left, right, shape)


def _inverse(node: Formula, arg: Formula, shape: Shape) -> Formula:
    match arg:
        case ex.Identity():
            return arg
        case ex.Multiply(factor, ex.Identity() as identity):
            return ex.Multiply(build.power(factor, build.MINUS_ONE, SCALAR), identity, shape)
        case _:
            return node
