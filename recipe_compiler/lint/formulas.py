"""Scalars of a trace as text: derivatives and entries in the names of the document."""

from typing import Any

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.sign_cells import Cell


class _Printer(StrPrinter):
    """`d_theta[0] U` for a derivative, `U` for a function at the state, `sign(x)` for a cell."""

    def _print_Derivative(self, expr: Any) -> str:
        names = "".join(f"d_{x} " for x, n in expr.variable_count for _ in range(int(n)))
        return f"{names}{self._print(expr.expr)}"

    def parenthesize(self, item: Any, level: int, strict: bool = False) -> str:
        is_powered = isinstance(item, sympy.Derivative) and level > PRECEDENCE["Mul"]
        return f"({self._print(item)})" if is_powered else super().parenthesize(item, level, strict)

    def _print_Function(self, expr: Any) -> str:
        if isinstance(expr, AppliedUndef):
            return type(expr).__name__
        return f"sign({self._print(expr.args[0])})" if isinstance(expr, Cell) else super()._print_Function(expr)


def format_expression(e: Expr) -> str:
    """Return an expression as text, multiplied out where that makes it shorter."""
    forms = [e, sympy.expand(e)] if e.count_ops() <= limits.FACTORED else [e]
    written = min((str(_Printer().doprint(form)) for form in forms), key=len)
    return written if len(written) <= limits.CHARACTERS else written[: limits.CHARACTERS] + " ..."
