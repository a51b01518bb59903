"""The exact meaning of the scalar functions that an emitted kernel calls."""

import ast
from collections.abc import Callable

import sympy as sp

from recipe_compiler.errors import CompilerError
from recipe_compiler.tensor.scalars import Scalar


def _sigmoid(x: Scalar) -> Scalar:
    return 1 / (1 + sp.exp(-x))


def _softplus(x: Scalar) -> Scalar:
    return sp.log(1 + sp.exp(x))


def _log1p(x: Scalar) -> Scalar:
    return sp.log(1 + x)


def _expm1(x: Scalar) -> Scalar:
    return sp.exp(x) - 1


def _digamma(x: Scalar) -> Scalar:
    return sp.polygamma(0, x)


def _trigamma(x: Scalar) -> Scalar:
    return sp.polygamma(1, x)


def _same(x: Scalar) -> Scalar:
    return x


def below(left: object, right: object, node: ast.expr) -> int:
    """Return 1 where a number of rows is below another, else 0."""
    if isinstance(left, int) and isinstance(right, int):
        return int(left < right)
    raise CompilerError(f"the emitted kernel compares what is no number of rows: {ast.unparse(node)}")


SCALAR_CALLS: dict[str, Callable[..., Scalar]] = {
    "math.sqrt": sp.sqrt,
    "_exp": sp.exp,
    "math.log": sp.log,
    "math.log1p": _log1p,
    "math.expm1": _expm1,
    "math.sin": sp.sin,
    "math.cos": sp.cos,
    "math.tan": sp.tan,
    "math.tanh": sp.tanh,
    "math.atan": sp.atan,
    "math.cosh": sp.cosh,
    "math.sinh": sp.sinh,
    "math.erf": sp.erf,
    "math.gamma": sp.gamma,
    "math.lgamma": sp.loggamma,
    "_digamma": _digamma,
    "_trigamma": _trigamma,
    "_sigmoid": _sigmoid,
    "_softplus": _softplus,
    "_sign": sp.sign,
    "abs": sp.Abs,
    "min": sp.Min,
    "max": sp.Max,
    "np.float64": _same,
}
"""The exact meaning of every scalar function that a kernel may call."""
