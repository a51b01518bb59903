"""The Hessian of a sum over coordinates, `hessian(sum(f(x)), x)`, as the diagonal matrix `diag(f''(x))` that it is."""

from fractions import Fraction

from recipe_compiler.formula.build import add, apply, multiply, power
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Filled,
    Formula,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
)

ONE, MINUS_ONE, HALF = Number(Fraction(1)), Number(Fraction(-1)), Number(Fraction(1, 2))


class NotSeparableError(Exception):
    """What is differentiated is no sum over coordinates of functions known here."""


def diagonal_hessian(formula: Formula) -> Formula | None:
    """Return `diag(f''(x))` of a Hessian of sums of elementwise functions of a column, None of anything else."""
    match formula:
        case Apply("hessian", (arg, Symbol(shape=shape) as block), whole) if len(shape.sizes) == 1:
            try:
                second = _slope(_slope(_summand(arg, block), block), block)
            except NotSeparableError:
                return None
            return Filled(0, whole) if second is None else apply("diag", (second,), whole)
        case _:
            return None


def _summand(total: Formula, block: Symbol) -> Formula | None:
    """Return f of `sum(f)`; None where nothing depends on the block."""
    match total:
        case Add(terms):
            return _sum([_summand(term, block) for term in terms], block)
        case Multiply(left, right, _) if _is_constant(left):
            return _product(left, _summand(right, block), block)
        case Multiply(left, right, _) if _is_constant(right):
            return _product(right, _summand(left, block), block)
        case Apply("sum", (f,), _) if f.shape == block.shape:
            return f
        case _ if _is_constant(total):
            return None
        case _:
            raise NotSeparableError


def _slope(f: Formula | None, block: Symbol) -> Formula | None:
    """Return what every entry of an elementwise formula changes by with its own coordinate; None is zero."""
    if f is None or _is_constant(f):
        return None
    match f:
        case Symbol(name) if name == block.name:
            return Filled(1, block.shape)
        case Add(terms):
            return _sum([_slope(term, block) for term in terms], block)
        case Multiply(left, right):
            parts = [_product(left, _slope(right, block), block), _product(right, _slope(left, block), block)]
            return _sum(parts, block)
        case Power(base, Number(n), shape):
            outer = multiply(Number(n), power(base, Number(n - 1), shape), shape)
            return _product(outer, _slope(base, block), block)
        case Apply("log" | "exp" | "sqrt" as fn, (arg,), shape):
            return _product(_outer(fn, f, arg), _slope(arg, block), block) if shape == block.shape else _refused()
        case _:
            return _refused()


def _outer(fn: str, f: Formula, arg: Formula) -> Formula:
    """Return the derivative of a function at its argument."""
    match fn:
        case "log":
            return power(arg, MINUS_ONE, arg.shape)
        case "sqrt":
            return multiply(HALF, power(f, MINUS_ONE, f.shape), f.shape)
        case _:
            return f


def _refused() -> Formula:
    raise NotSeparableError


def _sum(terms: list[Formula | None], block: Symbol) -> Formula | None:
    known = [term for term in terms if term is not None]
    return add(known, block.shape) if known else None


def _product(left: Formula, right: Formula | None, block: Symbol) -> Formula | None:
    """Return a product, without what cancels: `x * x**-1` is 1."""
    match left, right:
        case _, None:
            return None
        case _, Filled(1, _) if left.shape == block.shape:
            return left
        case Filled(1, _), _ if right.shape == block.shape:
            return right
        case _, Power(base, Number(n), shape) if base == left:
            return Filled(1, shape) if n == -1 else power(base, Number(n + 1), shape)
        case _:
            return multiply(left, right, block.shape)


def _is_constant(formula: Formula) -> bool:
    """Whether a formula is made of numbers, parameters and sizes only."""
    match formula:
        case Number() | Pi() | Filled():
            return True
        case Symbol(_, _, role):
            return role in {Role.PARAMETER, Role.SIZE}
        case Add(terms):
            return all(map(_is_constant, terms))
        case Multiply(left, right):
            return _is_constant(left) and _is_constant(right)
        case Power(base, exponent):
            return _is_constant(base) and _is_constant(exponent)
        case Apply("log" | "exp" | "sqrt", (arg,)):
            return _is_constant(arg)
        case _:
            return False
