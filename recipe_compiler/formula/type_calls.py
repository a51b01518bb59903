"""Functions, products and powers: the shapes they take and the typed formula each one gives.

Claimed updates have forms of their own: `N(0, cov)`, `next(b)`, `grad_tilde(U, b)`. Products of other shapes than these
are faults that name both:

    a * B       a scalar, or both of one vector shape (entry by entry)
    A @ B       (m, k) @ (k, n) is (m, n); a column (d) counts as (d, 1), a row as (1, d); row @ column is a scalar
    a / b       b no matrix
    a ** n      a no square matrix, n a scalar
"""

from collections import defaultdict
from functools import reduce

from recipe_compiler.formula import build, tree
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.context import (
    Context,
    is_matrix,
    is_open,
    is_scalar,
    product_size,
    size_hint,
)
from recipe_compiler.formula.declaration import Function
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.names import NO_UNIT, bare_identities, block_named, names_given
from recipe_compiler.formula.operators import OPERATORS
from recipe_compiler.formula.shapes import SCALAR, Shape, Size
from recipe_compiler.formula.triangular import sides

_OF_SCALARS = {
    "norm2": "the square of a scalar is written x**2",
    "dot": "of scalars write a*b",
    "gp_exp_quad_cov": "a log likelihood is of ONE datum, a field of shape N one number in it; points of a kernel "
    "are a parameter, `x: {shape: n}`",
}


def normal_draw(part: tree.Call, cov: Formula, context: Context) -> Formula | None:
    """Return an independent draw from N(0, cov): a column, or a scalar where cov is one."""
    mean = part.args[0]
    if not (isinstance(mean, tree.Literal) and mean.value == 0):
        context.fault(mean, "found a mean, expected 0", "add the mean outside: m + N(0, cov)")
        return None
    shape = context.shape(cov)
    if not context.unknowns.same(shape.rows, shape.cols):
        context.fault(part.args[1], f"found a {context.shown(cov)}, expected a square covariance")
        return None
    return ex.Normal(cov, Shape(context.shape(cov).rows, None))


def updated_block(part: tree.Call, context: Context) -> Formula | None:
    """Return `next(b)`, a block after its own update."""
    block = block_named(part.args[0], context)
    return None if block is None else ex.Next(block.name, block.shape)


def gradient_estimate(part: tree.Call, context: Context) -> Formula | None:
    """Return `grad_tilde(U, b)`, U a declared scalar function."""
    block = block_named(part.args[1], context)
    named = part.args[0]
    name = named.name if isinstance(named, tree.Name | tree.Call) else ""
    function = context.scope.declarations.find(name)
    if not isinstance(function, Function) or function.shape.sizes:
        context.fault(named, "found no declared scalar function, expected the potential", "write grad_tilde(U, theta)")
        return None
    if isinstance(named, tree.Call) and names_given(named) != function.of:
        problem = f"found the estimate of a gradient at other blocks, expected {name}({', '.join(function.of)})"
        context.fault(named, problem, "one batch makes the noise of both: not supported")
        return None
    return None if block is None else ex.GradTilde(name, block.name, block.shape)


def apply_function(part: tree.Call, args: tuple[Formula, ...], context: Context) -> Formula | None:
    """Return the typed call of a function that takes values (not names of blocks), or note the fault."""
    name = part.name
    if name in ex.ELEMENTWISE:
        return _elementwise(part, args, context)
    if name in ex.ELEMENTWISE_PAIRS:
        fitted = context.fit(args[1], args[0].shape, part.args[1])
        return None if fitted is None else _elementwise(part, args, context)
    match name:
        case "where":
            return _where(part, args, context)
        case "inv":
            shape = context.shape(args[0])
            if not context.unknowns.same(shape.rows, shape.cols):
                return _expected(part, 0, args, "a square matrix", context)
            return ex.Apply("inv", args, shape)
        case "solve_triangular":
            return _solve_triangular(part, *args, context)
        case "sum":
            if is_scalar(context.shape(args[0])):
                return _expected(part, 0, args, "a vector or a matrix", context)
            return ex.Apply("sum", args, SCALAR)
        case "dot" | "norm2" if is_matrix(context.shape(args[0])) and not is_open(context.shape(args[0]).rows):
            return _inner_of_matrices(part, args[0], args[-1], context)
        case _:
            return _by_shapes(part, args, context)


def _by_shapes(part: tree.Call, args: tuple[Formula, ...], context: Context) -> Formula | None:
    """Return the call of a function whose row says the shapes that it takes and gives; rows count as columns."""
    name, unknowns = part.name, context.unknowns
    takes, gives = (side.split(", ") for side in OPERATORS[name].shapes.split(" -> "))
    sizes = defaultdict[str, Size](lambda: unknowns.fresh(present=True))
    found = list[Formula]()
    for k, (arg, axes) in enumerate(zip(args, takes, strict=True)):
        shape, wanted = context.shape(arg), unknowns.shape(Shape(*(sizes[letter] for letter in axes)))
        if len(axes) == 1 and shape.rows is None and shape.cols is not None:
            arg, shape = ex.Transpose(arg, shape.transposed), shape.transposed
        if not unknowns.same_shape(shape, wanted):
            square = "a square matrix" if wanted.rows == wanted.cols else "a matrix"
            what = ("a scalar", "a vector", square)[len(axes)] if is_open(wanted.rows) else f"a {wanted}"
            return _expected(part, k, args, what, context, _OF_SCALARS.get(name, ""))
        found.append(arg)
    first, last = found[0], found[-1]
    shape = context.shape(args[0])
    match name:
        case "dot" | "norm2":
            return ex.MatMul(ex.Transpose(first, context.shape(first).transposed), last, SCALAR)
        case "logsumexp":
            return build.log_sum_exp(first)
        case "softmax":
            of_each = build.multiply(build.log_sum_exp(first), ex.Filled(1, shape), shape)
            return ex.Apply("exp", (build.add([args[0], build.negate(of_each)], shape),), shape)
        case "gp_exp_quad_cov":
            return build.exp_quad(*found)
        case _:
            axes = (reduce(product_size, (sizes[letter] for letter in axis)) for axis in gives if axis)
            return ex.Apply(name, tuple(found), Shape(*axes))


def apply_calculus(part: tree.Call, arg: Formula, block: ex.Symbol, context: Context) -> Formula | None:
    """Return `grad(s, b)`, `hessian(s, b)` (s a scalar) or `div(A, b)_i = sum_j dA_ij/db_j`, or note the fault.

    The gradient by a block has the block's shape; the Hessian by a column of size d is [d, d]. `div` sums over the
    columns of A: the divergence of a row is a scalar, and that of a column v is written `div(v.T, b)`. By a scalar
    block it is the derivative, and A a column or a scalar.
    """
    if part.name == "div":
        return _div(part, arg, block, context)
    if context.fit(arg, SCALAR, part.args[0]) is None:
        return None
    if part.name == "grad":
        return ex.Apply("grad", (arg, block), block.shape)
    if block.shape.cols is not None:
        context.fault(part.args[1], f"found a block of shape {block.shape}, expected a scalar or a column")
        return None
    return ex.Apply("hessian", (arg, block), Shape(block.shape.rows, block.shape.rows))


def _expected(part: tree.Call, k: int, args: tuple[Formula, ...], what: str, context: Context, hint: str = "") -> None:
    context.fault(part.args[k], f"found a {context.shown(args[k])}, expected {what} in {part.name}()", hint)


def _elementwise(part: tree.Call, args: tuple[Formula, ...], context: Context) -> Formula | None:
    shape = context.shape(args[0])
    if context.is_ambiguous(shape):
        what = "a scalar or a vector"
        hint = "functions act entry by entry, never as functions of a matrix"
        own = any(bare_identities(part.args[0], square=False)) and is_open(shape.rows)
        return _expected(part, 0, args, what, context, f"{hint}; {NO_UNIT}" if own else hint)
    return ex.Apply(part.name, args, shape)


def _where(part: tree.Call, args: tuple[Formula, ...], context: Context) -> Formula | None:
    shape = next((own for arg in args if (own := context.shape(arg)) != SCALAR), SCALAR)
    condition, yes, no = (context.spread(arg, shape) for arg in args)
    if context.fit(no, yes.shape, part.args[2]) is None or context.fit(condition, yes.shape, part.args[0]) is None:
        return None
    return ex.Apply("where", (condition, yes, no), context.shape(yes))


def _inner_of_matrices(part: tree.Call, left: Formula, right: Formula, context: Context) -> Formula | None:
    """dot(A, B) = trace(A.T @ B)."""
    shape = context.shape(left)
    if context.fit(right, shape, part.args[-1]) is None:
        return None
    square = Shape(shape.cols, shape.cols)
    return ex.Apply("trace", (ex.MatMul(ex.Transpose(left, shape.transposed), right, square),), SCALAR)


def _solve_triangular(part: tree.Call, L: Formula, b: Formula, context: Context) -> Formula | None:
    shape = context.shape(L)
    if not context.unknowns.same(shape.rows, shape.cols):
        return _expected(part, 0, (L,), "a square matrix", context)
    if not sides(L, context.scope.declarations):
        problem = f"found a {context.shown(L)} in solve_triangular() that is not seen to be triangular"
        hint = (
            "expected cholesky(A), a block that is a Cholesky factor, rows with zeros on one side, or products of such"
        )
        return context.fault(part.args[0], problem, f"{hint}; of any other matrix write inv(A) @ b")
    return _matmul(ex.Apply("inv", (L,), shape), b, part.args[1], context)


def _div(part: tree.Call, arg: Formula, block: ex.Symbol, context: Context) -> Formula | None:
    shape = context.shape(arg)
    if block.shape.cols is not None:
        context.fault(part.args[1], f"found a block of shape {block.shape}, expected a scalar or a column")
        return None
    if not context.unknowns.same(shape.cols, block.shape.rows):
        column = shape.rows == block.shape.rows
        hint = "the divergence of a column v is written div(v.T, b)" if column else ""
        size = block.shape.rows
        what = "a scalar or a column" if size is None else f"a matrix or row with {size} columns"
        return _expected(part, 0, (arg,), what, context, hint)
    return ex.Apply("div", (arg, block), Shape(context.shape(arg).rows, None))


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
    if is_matrix(context.shape(formula)) and not context.scope.entrywise:
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
    if context.is_ambiguous(shape):
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
    ambiguous = context.is_ambiguous(a) or context.is_ambiguous(b) or is_matrix(a) != is_matrix(b)
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
