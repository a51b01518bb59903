"""Typed formulas with every transpose carried down to the names, so that L P L.T is visible as such.

The Hessian of a sum over coordinates, `hessian(sum(f(x)), x)`, becomes the diagonal matrix `diag(f''(x))`.
"""

from collections.abc import Callable
from fractions import Fraction

from recipe_compiler.algebra.scalars.rational_matrices import kinds_shown
from recipe_compiler.formula.build import add, apply, multiply, nodes, parts, power, rebuild
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
from recipe_compiler.formula.expression import (
    ELEMENTWISE,
    ELEMENTWISE_PAIRS,
    Add,
    Apply,
    Explicit,
    Filled,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import SIGNS, Kind

ONE, MINUS_ONE, HALF = Number(Fraction(1)), Number(Fraction(-1)), Number(Fraction(1, 2))
SYMMETRIC_KINDS = frozenset({Kind.SYMMETRIC, Kind.PSD, Kind.PD, Kind.DIAGONAL})


class NotSeparableError(Exception):
    """The formula to be differentiated is not a sum over coordinates of functions known here."""


def diagonal_hessian(formula: Formula) -> Formula | None:
    """Return `diag(f''(x))`, d x d, of the Hessian of sum_i f(x_i) of a column x of size d; None of anything else."""
    match formula:
        case Apply("hessian", (arg, Symbol(shape=shape) as block), whole) if len(shape.sizes) == 1:
            try:
                second = _elementwise_slope(_elementwise_slope(_find_summand(arg, block), block), block)
            except NotSeparableError:
                return None
            return Filled(0, whole) if second is None else apply("diag", (second,), whole)
        case _:
            return None


def _find_summand(total: Formula, block: Symbol) -> Formula | None:
    """Return f of `sum(f)`; None where nothing depends on the block."""
    match total:
        case Add(terms):
            return _add_nonzero([_find_summand(term, block) for term in terms], block)
        case Multiply(left, right, _) if _is_constant(left):
            return _multiply_and_cancel(left, _find_summand(right, block), block)
        case Multiply(left, right, _) if _is_constant(right):
            return _multiply_and_cancel(right, _find_summand(left, block), block)
        case Apply("sum", (f,), _) if f.shape == block.shape:
            return f
        case MatMul(Transpose(left), right, _) if left.shape == right.shape == block.shape:
            return multiply(left, right, block.shape)
        case _ if _is_constant(total):
            return None
        case _:
            raise NotSeparableError


def _elementwise_slope(f: Formula | None, block: Symbol) -> Formula | None:
    """Return the derivative of each entry of an elementwise formula by its own coordinate; None for zero."""
    if f is None or _is_constant(f):
        return None
    match f:
        case Symbol(name) if name == block.name:
            return Filled(1, block.shape)
        case Add(terms):
            return _add_nonzero([_elementwise_slope(term, block) for term in terms], block)
        case Multiply(left, right):
            parts = [
                _multiply_and_cancel(left, _elementwise_slope(right, block), block),
                _multiply_and_cancel(right, _elementwise_slope(left, block), block),
            ]
            return _add_nonzero(parts, block)
        case Power(base, Number(n), shape):
            outer = multiply(Number(n), power(base, Number(n - 1), shape), shape)
            return _multiply_and_cancel(outer, _elementwise_slope(base, block), block)
        case Apply("log" | "exp" | "sqrt" as fn, (arg,), shape):
            return (
                _multiply_and_cancel(_outer_derivative(fn, f, arg), _elementwise_slope(arg, block), block)
                if shape == block.shape
                else _raise_not_separable()
            )
        case _:
            return _raise_not_separable()


def _outer_derivative(fn: str, f: Formula, arg: Formula) -> Formula:
    """Return the derivative of a function at its argument."""
    match fn:
        case "log":
            return power(arg, MINUS_ONE, arg.shape)
        case "sqrt":
            return multiply(HALF, power(f, MINUS_ONE, f.shape), f.shape)
        case _:
            return f


def _raise_not_separable() -> Formula:
    """Raise NotSeparableError, in places where only an expression may stand."""
    raise NotSeparableError


def _add_nonzero(terms: list[Formula | None], block: Symbol) -> Formula | None:
    """Return the sum of terms, None (zero) if all of them are None."""
    known = [term for term in terms if term is not None]
    return add(known, block.shape) if known else None


def _multiply_and_cancel(left: Formula, right: Formula | None, block: Symbol) -> Formula | None:
    """Return a product, without what cancels: `x * x**-1` is 1."""
    if right is None:
        return None
    match left, right:
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
    return all(
        isinstance(node, Number | Pi | Filled | Add | Multiply | Power)
        or (isinstance(node, Symbol) and node.role in {Role.PARAMETER, Role.SIZE})
        or (isinstance(node, Apply) and node.fn in {"log", "exp", "sqrt"})
        for node in nodes(formula)
    )


def kinds_of(formula: Formula, declarations: Declarations) -> tuple[Kind, ...]:
    """Return the kinds of a parameter, function or data field, those of a matrix of numbers; none of anything else."""
    if isinstance(formula, Explicit):
        return _kinds_of_numbers(formula)
    if not isinstance(formula, (Symbol, FunctionAt)):
        return ()
    item = declarations.find(formula.name)
    if isinstance(item, Datum):
        return item.known
    if isinstance(item, Block) and item.constraint in {Constraint.CORR, Constraint.COV}:
        return (Kind.SYMMETRIC, Kind.PD)
    return item.kinds if isinstance(item, (Parameter, Function)) else ()


def _kinds_of_numbers(formula: Explicit) -> tuple[Kind, ...]:
    """Return the kinds that a square matrix of numbers is of as a whole; none where an entry is no number."""
    numbers = tuple(tuple(x.value for x in row if isinstance(x, Number)) for row in formula.rows)
    if any(len(row) < len(numbers) for row in numbers):
        return ()
    return tuple(kind for kind in kinds_shown(numbers, formula.shape) if kind not in SIGNS)


def plain(formula: Formula, declarations: Declarations) -> Formula:
    """Return the same formula with transposes only on names that need them, and Hessians of sums as diagonals.

    (A @ S @ B).T with S symmetric becomes B.T @ S @ A.T.
    """
    match formula:
        case Transpose(arg):
            return transposed(plain(arg, declarations), declarations)
        case Apply("hessian", _, _):
            return diagonal_hessian(formula) or formula
        case Apply("grad" | "div" | "where"):
            return formula
        case Add() | Multiply() | MatMul() | Power() | Apply():
            return rebuild(formula, [plain(part, declarations) for part in parts(formula)])
        case _:
            return formula


def transposed(formula: Formula, declarations: Declarations) -> Formula:
    """Return the transpose of a plain formula, plain again: (A B).T = B.T A.T, S.T = S of a symmetric S."""
    if not formula.shape.sizes:
        return formula
    match formula:
        case Transpose(arg):
            return arg
        case Identity():
            return formula
        case Filled(value, shape):
            return Filled(value, shape.transposed)
        case Symbol() | FunctionAt() if not SYMMETRIC_KINDS.isdisjoint(kinds_of(formula, declarations)):
            return formula
        case MatMul(left, right, shape):
            return MatMul(transposed(right, declarations), transposed(left, declarations), shape.transposed)
        case Power(base, exponent, shape):
            return Power(transposed(base, declarations), exponent, shape.transposed)
        case Explicit(rows, shape):
            return Explicit(tuple(zip(*rows, strict=True)), shape.transposed)
        case Apply("diag", _, _):
            return formula
        case Apply("outer", (left, right), shape):
            return Apply("outer", (right, left), shape.transposed)
        case Apply(fn) if fn not in ELEMENTWISE | ELEMENTWISE_PAIRS | {"inv", "kron"}:
            return Transpose(formula, formula.shape.transposed)
        case Add() | Multiply() | Apply():
            new = [transposed(part, declarations) for part in parts(formula)]
            return rebuild(formula, new, lambda shape: shape.transposed)
        case _:
            return Transpose(formula, formula.shape.transposed)


def chain(formula: Formula) -> tuple[tuple[Formula, ...], tuple[Formula, ...]]:
    """Split a plain product into its scalar factors and its matrix factors from left to right.

    c A (2 B) gives (c, 2) and (A, B).
    """
    match formula:
        case Apply("outer", (left, right), _):
            return (), (left, Transpose(right, right.shape.transposed))
        case _ if not formula.shape.sizes:
            return (formula,), ()
        case _:
            return _split_product(formula, chain) or ((), (formula,))


def mirrored(
    factors: tuple[Formula, ...], declarations: Declarations
) -> tuple[tuple[Formula, ...], Formula | None] | None:
    """Return L and P of factors that read L P L.T (P is None if there is no middle factor), None of any others.

    (A, B, C, B.T, A.T) has L = (A, B) and P = C.
    """
    half = len(factors) // 2
    left = factors[:half]
    if left != reflected(factors[len(factors) - half :], declarations):
        return None
    return left, (factors[half] if len(factors) > 2 * half else None)


def reflected(factors: tuple[Formula, ...], declarations: Declarations) -> tuple[Formula, ...]:
    """Return the factors of the transpose of a product."""
    return tuple(transposed(factor, declarations) for factor in reversed(factors))


def scaled(formula: Formula) -> tuple[tuple[Formula, ...], tuple[Formula, ...]]:
    """Return a plain product of vectors and matrices, also one that is a scalar, as scalar factors and the others."""
    return _split_product(formula, scaled) or ((), (formula,))


_Factors = tuple[tuple[Formula, ...], tuple[Formula, ...]]
"""Scalar factors, and those that are none, from left to right."""


def _split_product(formula: Formula, split: Callable[[Formula], _Factors]) -> _Factors | None:
    """Return the factors of a product, its sides split; None of what is none."""
    match formula:
        case MatMul(left, right):
            first, second = split(left), split(right)
            return (*first[0], *second[0]), (*first[1], *second[1])
        case Multiply(left, right) if bool(left.shape.sizes) != bool(right.shape.sizes):
            scalar, matrix = (left, right) if right.shape.sizes else (right, left)
            scalars, factors = split(matrix)
            return (scalar, *scalars), factors
        case _:
            return None
