"""Inverses, determinants, solutions, factors and norms of small matrices of exact numbers and symbols.

NumPy stops at a singular matrix, or at one without a factor: that it did not is what a traced step takes for given.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.cofactors import adjugate, by_cofactors
from recipe_compiler.lint import nodes
from recipe_compiler.lint.nodes import UntraceableError
from recipe_compiler.lint.values import apply, find_node, make_number


def invert(a: Any) -> Any:
    """Return inv(a) = adj(a)/det(a) of an n x n matrix; that det(a) != 0 is taken for given where it is not a number.

    Raises:
        UntraceableError: the matrix is not square, too large, or singular.
    """
    a = _require_square(a, "inverse")
    _assume_kind("inverted", "nonsingular")
    over = _compute_guarded_power(_expand_determinant(a), Fraction(-1))
    return np.array([[x * over for x in row] for row in adjugate(a, _expand_determinant)], dtype=object).reshape(
        a.shape
    )


def compute_determinant(a: Any) -> Any:
    """Return det(a) of an n x n matrix.

    Raises:
        UntraceableError: the matrix is not square, or too large.
    """
    return _expand_determinant(_require_square(a, "determinant"))


def solve(a: Any, b: Any) -> Any:
    """Return x = inv(a) @ b with a x = b, a being n x n.

    Raises:
        UntraceableError: the matrix is not square, too large, or singular.
    """
    return np.matmul(np.asarray(invert(a), dtype=object), np.asarray(b, dtype=object))


def factorise(a: Any, upper: bool = False) -> Any:
    """Return L with L L.T = a, lower triangular, n x n; with `upper` L.T.

    Like NumPy's, it looks at the lower triangle only.

    Raises:
        UntraceableError: the matrix is not square, too large, or singular.
    """
    a = _require_square(a, "Cholesky factor")
    _assume_kind("factored", "positive definite")
    n = len(a)
    found = np.full((n, n), make_number(nodes.number(Fraction(0))), dtype=object)
    for j in range(n):
        square = a[j, j] - sum(found[j, k] ** 2 for k in range(j))
        found[j, j] = _compute_guarded_power(square, Fraction(1, 2))
        over = _compute_guarded_power(found[j, j], Fraction(-1))
        for i in range(j + 1, n):
            found[i, j] = (a[i, j] - sum(found[i, k] * found[j, k] for k in range(j))) * over
    return found.T if upper else found


def compute_norm(x: Any, ord: object = None, axis: object = None, keepdims: bool = False) -> Any:
    """Return the Euclidean norm sqrt(sum_i x_i**2) of a vector, the Frobenius norm of a matrix.

    Raises:
        UntraceableError: another norm, or one along an axis.
    """
    flat = np.asarray(x, dtype=object).reshape(-1)
    if axis is not None or keepdims or ord not in (None, "fro", 2) or (ord == 2 and np.ndim(x) > 1):
        raise UntraceableError("np.linalg.norm of another kind than the Euclidean norm of a whole array")
    return apply("sqrt", sum(v * v for v in flat))


def multiply_chain(arrays: Any) -> Any:
    """Return the product A B C ... of several matrices."""
    found = np.asarray(arrays[0], dtype=object)
    for a in arrays[1:]:
        found = np.matmul(found, np.asarray(a, dtype=object))
    return found


def _require_square(a: Any, what: str) -> Any:
    found = np.asarray(a, dtype=object).view(np.ndarray)
    if found.ndim != 2 or len(set(found.shape)) != 1:
        raise UntraceableError(f"the {what} of an array of shape {found.shape}")
    if len(found) > limits.COORDINATES:
        raise UntraceableError(f"the {what} of a matrix of more than {limits.COORDINATES} rows")
    return found


def _expand_determinant(a: Any) -> Any:
    return by_cofactors(a, sum, make_number(nodes.number(Fraction(1))), _is_zero)


def _is_zero(x: Any) -> bool:
    node = find_node(x)
    return node is not None and node.number == 0


def _compute_guarded_power(x: Any, exponent: Fraction) -> Any:
    """Return x**exponent; a base 0 is refused, as NumPy raises there."""
    base = find_node(x)
    if base is None:
        raise UntraceableError(f"a matrix that holds {type(x).__name__}")
    if base.number == 0:
        raise UntraceableError("a singular matrix, at which NumPy stops")
    return make_number(nodes.power(base, nodes.number(exponent), guarded=True))


def _assume_kind(what: str, kind: str) -> None:
    nodes.tape.given[f"the matrix {what} at line {nodes.tape.line()} is {kind}"] = None
