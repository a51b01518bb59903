"""The functions of the language for formulas made in Python; Python's own names get a trailing underscore.

`grad(U, theta)`, `div(A, theta)_i = sum_j dA_ij/dtheta_j`, `norm2(v) = v.T @ v`: each gives the tree that the same
text would. Shapes and numbers of arguments are checked where the formula is put in its place.
"""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING

from recipe_compiler.formula import tree
from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.elementwise import FUNCTIONS, Elementwise
from recipe_compiler.formula.python_declaration import merged
from recipe_compiler.formula.symbolic import Expression, expression


def _call(name: str, *args: object) -> Expression:
    parts = [expression(arg) for arg in args]
    called = tree.Call(name, tuple(part.tree for part in parts), language=True)
    return Expression(called, merged(*(part.names for part in parts)))


def _elementwise(row: Elementwise) -> Callable[[object], Expression]:
    def function(x: object) -> Expression:
        return _call(row.name, x)

    function.__name__ = function.__qualname__ = row.python_name
    function.__doc__ = f"Return {row.words}, entry by entry."
    return function


def _density(row: Density) -> Callable[..., Expression]:
    other = FUNCTIONS.get(row.name)

    def function(*arguments: object) -> Expression:
        return _call(row.name, *arguments)

    function.__name__ = function.__qualname__ = row.name
    called = f"`{row.call}`, in formulas of targets: the log density of {row.words}; of columns, the sum over entries."
    function.__doc__ = f"Return {called}" if other is None else f"Return {other.words}, or {called}"
    function.__signature__ = _signature(row)  # ty: ignore[missing-attribute] - what help() shows
    return function


def _signature(row: Density) -> Signature:
    required = 1 if row.name in FUNCTIONS else len(row.arguments)
    kind = Parameter.POSITIONAL_ONLY
    return Signature(
        [
            Parameter(name, kind, default=Parameter.empty if k < required else None, annotation=object)
            for k, name in enumerate(row.arguments)
        ],
        return_annotation=Expression,
    )


globals().update({row.python_name: _elementwise(row) for row in FUNCTIONS.values()})
globals().update({row.name: _density(row) for row in DENSITIES.values()})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Expression]: ...


def minimum(x: object, y: object) -> Expression:
    """Return the smaller of two scalars or two vectors of one shape, entry by entry."""
    return _call("minimum", x, y)


def maximum(x: object, y: object) -> Expression:
    """Return the larger of two scalars or two vectors of one shape, entry by entry."""
    return _call("maximum", x, y)


def where(condition: object, yes: object, no: object) -> Expression:
    """Return `yes` where the condition holds, `no` elsewhere, entry by entry; all are scalars or of one shape."""
    return _call("where", condition, yes, no)


def inv(A: object) -> Expression:
    """Return the d x d inverse of a square matrix, which has to be nonsingular wherever it is used."""
    return _call("inv", A)


def det(A: object) -> Expression:
    """Return the determinant of a square matrix, a scalar."""
    return _call("det", A)


def logdet(A: object) -> Expression:
    """Return log det A of a positive definite d x d matrix, a scalar."""
    return _call("logdet", A)


def trace(A: object) -> Expression:
    """Return the trace sum_i A_ii of a square matrix, a scalar."""
    return _call("trace", A)


def diag(v: object) -> Expression:
    """Return the d x d diagonal matrix of a column of d entries."""
    return _call("diag", v)


def sum_(v: object) -> Expression:
    """Return the sum of all entries of a vector or matrix, a scalar."""
    return _call("sum", v)


def dot(u: object, v: object) -> Expression:
    """Return sum_i u_i v_i of two vectors of one size, or trace(A.T @ B) of two matrices of one shape: a scalar."""
    return _call("dot", u, v)


def norm2(v: object) -> Expression:
    """Return the SQUARED Euclidean norm sum_i v_i**2 of a vector, or of the entries of a matrix, a scalar."""
    return _call("norm2", v)


def logsumexp(v: object) -> Expression:
    """Return log(sum_i exp(v_i)), a scalar, of a column or a row."""
    return _call("logsumexp", v)


def softmax(v: object) -> Expression:
    """Return exp(v - logsumexp(v)*ones), of the shape of v, a column or a row: positive numbers whose sum is 1."""
    return _call("softmax", v)


def mixture(weights: object, *densities: object) -> Expression:
    """Return log(sum_k w_k exp(f_k)), in targets: of a density for each weight, or one of columns."""
    return _call("mixture", weights, *densities)


def outer(u: object, v: object) -> Expression:
    """Return u @ v.T, the m x n matrix u_i v_j of vectors of m and n entries."""
    return _call("outer", u, v)


def kron(A: object, B: object) -> Expression:
    """Return the Kronecker product of matrices k x l and m x n, (k m) x (l n): blocks a_ij B."""
    return _call("kron", A, B)


def gaussian_process(y: object, x: object, alpha: object, rho: object, sigma: object) -> Expression:
    """Return `multi_normal(y, 0, gp_exp_quad_cov(x, alpha, rho) + sigma**2*I)`: one path at points x, with noise."""
    return _call("gaussian_process", y, x, alpha, rho, sigma)


def gp_exp_quad_cov(x: object, alpha: object, rho: object) -> Expression:
    """Return the n x n covariance alpha**2 exp(-(x_i - x_j)**2/(2 rho**2)) of a Gaussian process at n points x."""
    return _call("gp_exp_quad_cov", x, alpha, rho)


def grad(s: object, block: object) -> Expression:
    """Return the gradient ds/db_i of a scalar s by a block b, of the shape of the block."""
    return _call("grad", s, block)


def div(A: object, block: object) -> Expression:
    """Return the divergence sum_j dA_ij/db_j of an m x n matrix by a block of n entries, a column.

    Of a row, a scalar.
    """
    return _call("div", A, block)


def hessian(s: object, block: object) -> Expression:
    """Return the n x n matrix d2s/(db_i db_j) of second derivatives of a scalar by a column block of n entries."""
    return _call("hessian", s, block)


def N(mean: object, cov: object) -> Expression:
    """Return a Gaussian draw of mean 0, a column for a d x d covariance; new wherever it stands.

    In updates and `init`.
    """
    return _call("N", mean, cov)


def next_(block: object) -> Expression:
    """Return the next value of a block, where an update of another block uses it."""
    return _call("next", block)


def grad_tilde(s: object, block: object) -> Expression:
    """Return an unbiased estimate of grad(s, block) from a minibatch, of the shape of the block; in updates."""
    return _call("grad_tilde", s, block)
