"""Products, quotients and powers: the shapes that `*`, `/`, `@` and `**` accept.

Anything else is a fault that names both shapes:

    a * B       a scalar, or both of one vector shape (entry by entry)
    A @ B       (m, k) @ (k, n) is (m, n); a column (d) counts as (d, 1), a row as (1, d); row @ column is a scalar
    a / b       b no matrix
    a ** n      a no square matrix, n a scalar
"""

from functools import reduce

from recipe_compiler.formula import build, tree
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.context import Context, is_matrix, is_open, is_scalar, may_be_square, size_hint
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape

LONG_PRODUCT = 8
"""A run of `*` and `/` of more factors is halved instead of chained, so that it is not as deep as it is long."""

Factor = tuple[Formula, tree.Tree]
"""A typed factor and the part it was read from."""


def join_factors(factors: list[Factor], operators: tuple[str, ...], context: Context) -> Formula | None:
    """Return the product of factors from the left (divisors are already inverted); None after noting a fault."""
    run = [factors[0]]
    for operator, factor in zip(operators, factors[1:], strict=True):
        if operator != "@":
            run.append(factor)
            continue
        left = _join_run(run, context)
        product = None if left is None else _matmul(left[0], factor[0], factor[1], context)
        if product is None:
            return None
        run = [(product, factor[1])]
    joined = _join_run(run, context)
    return None if joined is None else joined[0]


def reciprocal(formula: Formula, part: tree.Tree, context: Context) -> Formula | None:
    """Return 1/formula entry by entry; None after noting a fault, as for a matrix."""
    if is_matrix(context.shape(formula)):
        context.fault(part, f"division by a {context.shown(formula)}", "write inv(A) @ b")
        return None
    return build.power(formula, build.MINUS_ONE, context.shape(formula))


def raise_power(part: tree.Power, base: Formula, exponent: Formula, context: Context) -> Formula | None:
    """Return base ** exponent entry by entry; None after noting a fault.

    The power of a square matrix is refused, as it could mean A @ A or its entries squared.
    """
    if context.fit(exponent, SCALAR, part.exponent) is None:
        return None
    shape = context.shape(base)
    if may_be_square(shape):
        hint = "write A @ A for the matrix square, inv(A) for the inverse"
        context.fault(part, f"the power of a {context.shown(base)} is ambiguous", hint)
        return None
    return build.power(base, exponent, shape)


def _join_run(run: list[Factor], context: Context) -> Factor | None:
    if len(run) <= LONG_PRODUCT:
        first: Factor | None = run[0]
        return reduce(lambda left, right: _times(left, right, context), run[1:], first)
    half = len(run) // 2
    right = _join_run(run[half:], context)
    return None if right is None else _times(_join_run(run[:half], context), right, context)


def _times(left: Factor | None, right: Factor, context: Context) -> Factor | None:
    if left is None:
        return None
    a, b = context.shape(left[0]), context.shape(right[0])
    if is_scalar(a) or is_scalar(b):
        return build.multiply(left[0], right[0], b if is_scalar(a) else a), right[1]
    ambiguous = may_be_square(a) or may_be_square(b) or is_matrix(a) != is_matrix(b)
    if ambiguous or not context.unknowns.same_shape(a, b):
        found = f"'*' or '/' between a {context.shown(left[0])} and a {context.shown(right[0])}"
        context.fault(right[1], f"{found}, expected a scalar side or equal vectors", "the matrix product is written @")
        return None
    return build.multiply(left[0], right[0], context.unknowns.shape(a)), right[1]


def _matmul(left: Formula, right: Formula, part: tree.Tree, context: Context) -> Formula | None:
    a, b = context.shape(left), context.shape(right)
    if is_scalar(a) or is_scalar(b):
        found = f"'@' between a {context.shown(left)} and a {context.shown(right)}"
        context.fault(part, f"{found}, expected vectors or matrices", "the product with a scalar is written *")
        return None
    for shape in (a, b):
        if is_open(shape.rows) and shape.rows == shape.cols:  # an I beside @ is a matrix, never the number 1
            context.unknowns.require(shape.rows)
    if context.unknowns.same(a.cols, b.rows):
        return ex.MatMul(left, right, context.unknowns.shape(Shape(a.rows, b.cols)))
    problem = f"found a {context.shown(left)} @ a {context.shown(right)}, expected equal inner sizes"
    context.fault(part, problem, _matmul_hint(a, b))
    return None


def _matmul_hint(left: Shape, right: Shape) -> str:
    if left.cols is None and right.cols is None:
        return "the inner product of columns is u.T @ v, or dot(u, v)"
    if left.rows is None and right.rows is None:
        return "the inner product of rows is u @ v.T, or dot(u, v)"
    if right.rows is None:
        return "transpose the row with .T"
    return "transpose the column with .T" if left.cols is None else size_hint(left.cols, right.rows)
