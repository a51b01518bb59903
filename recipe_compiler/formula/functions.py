"""The functions of the language for formulas made in Python; Python's own names get a trailing underscore.

`grad(U, theta)`, `div(A, theta)_i = sum_j dA_ij/dtheta_j`, `norm2(v) = v.T @ v`: each gives the tree that the same
text would. Shapes and numbers of arguments are checked where the formula is put in its place.
"""

import builtins
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import TYPE_CHECKING

from recipe_compiler.formula import tree
from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.operators import OPERATORS
from recipe_compiler.formula.python_declaration import merged
from recipe_compiler.formula.symbolic import Expression, expression


def _call(name: str, *args: object) -> Expression:
    parts = [expression(arg) for arg in args]
    called = tree.Call(name, tuple(part.tree for part in parts), language=True)
    return Expression(called, merged(*(part.names for part in parts)))


def _function(
    name: str, arguments: Sequence[str], doc: str, required: int | None = None
) -> tuple[str, Callable[..., Expression]]:
    """Return the name and the function of Python that writes a call of the language's function."""
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL)
    listed = [
        Parameter(one.strip("*"), kinds["*" in one], default=None if required and k >= required else Parameter.empty)
        for k, one in enumerate(arguments)
    ]
    signature = Signature(listed, return_annotation=Expression)

    def function(*args: object, **named: object) -> Expression:
        return _call(name, *signature.bind(*args, **named).args)

    own = f"{name}_" if hasattr(builtins, name) else name
    function.__name__ = function.__qualname__ = own
    function.__doc__ = doc
    function.__signature__ = signature  # ty: ignore[missing-attribute] - what help() shows
    return own, function


def _density(row: Density) -> tuple[str, Callable[..., Expression]]:
    other = FUNCTIONS.get(row.name)
    called = f"`{row.call}`, in formulas of targets: the log density of {row.words}; of columns, the sum over entries."
    doc = f"Return {called}" if other is None else f"Return {other.words}, or {called}"
    return _function(row.name, row.arguments, doc, 1 if other else None)


globals().update(_function(row.name, "x", f"Return {row.words}, entry by entry.") for row in FUNCTIONS.values())
globals().update(_function(row.name, row.arguments, f"Return {row.words}.") for row in OPERATORS.values())
globals().update(map(_density, DENSITIES.values()))

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Expression]: ...
