"""The exact meaning of the scalar functions that an emitted kernel calls."""

import ast
from collections.abc import Callable

import sympy as sp

from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS
from recipe_compiler.errors import CompilerError
from recipe_compiler.tensor.scalars import Scalar


def _same(x: Scalar) -> Scalar:
    return x


def below(left: object, right: object, node: ast.expr) -> int:
    """Return 1 where a number of rows is below another, else 0."""
    if isinstance(left, int) and isinstance(right, int):
        return int(left < right)
    raise CompilerError(f"the emitted kernel compares what is no number of rows: {ast.unparse(node)}")


SCALAR_CALLS: dict[str, Callable[..., Scalar]] = {
    **{row.emitted: row.scalar for row in FUNCTIONS.values()},
    "min": sp.Min,
    "max": sp.Max,
    "np.float64": _same,
}
"""The exact meaning of every scalar function that a kernel may call."""
