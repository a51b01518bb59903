"""Functions with kinks on the cells between them: where `u` has one sign, `|u|`, `sign u` and `where` are smooth.

`Cell(u)` is the sign of u off {u = 0}. It is constant on each cell, so its derivative is zero; that no point mass sits
on {u = 0} is not its business, but that of whoever uses what was differentiated (`verify.kinks`).
"""

from collections.abc import Callable
from typing import cast

import sympy
from sympy import Expr
from sympy.core.function import ArgumentIndexError

from recipe_compiler.algebra.kernels import argument
from recipe_compiler.algebra.walk import contains, subexpressions


class Cell(sympy.Function):
    """The sign of a real expression, off its zeros: 1 or -1, with derivative zero."""

    is_real = True
    is_nonzero = True

    @classmethod
    # SymPy names the arguments of `eval` anew in every function
    def eval(cls, *args: sympy.Basic) -> Expr | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the value where the sign is known."""
        x = cast(Expr, args[0])
        if x.is_positive:
            return sympy.Integer(1)
        return sympy.Integer(-1) if x.is_negative else None

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return the derivative by the argument: zero."""
        if argindex != 1:
            raise ArgumentIndexError(self, argindex)
        return sympy.Integer(0)


def off_kinks(e: Expr) -> Expr:
    """Return an expression with `Abs`, `sign`, `Min`, `Max` and `Piecewise` by cells: equal to it off all kinks."""
    if not contains(e, sympy.Abs, sympy.sign, sympy.Min, sympy.Max, sympy.Piecewise):
        return e
    known: dict[sympy.Basic, sympy.Basic] = {}
    for node in subexpressions(e):
        args = tuple(known.get(arg, arg) for arg in node.args)
        known[node] = _by_cells(node, args)
    return cast(Expr, known[e])


def chosen(op: str, left: Expr, right: Expr, yes: Expr, no: Expr) -> Expr:
    """Return `where(left op right, yes, no)` by the cell of `left - right`; `==` holds on a kink only."""
    if op == "==":
        return yes if left == right else no
    side = Cell(left - right) if op in {">", ">="} else Cell(right - left)
    return (yes + no) / 2 + side * (yes - no) / 2


_RELATIONS: dict[type[sympy.Basic], str] = {
    sympy.StrictGreaterThan: ">",
    sympy.GreaterThan: ">=",
    sympy.StrictLessThan: "<",
    sympy.LessThan: "<=",
    sympy.Equality: "==",
}


def _by_cells(node: sympy.Basic, args: tuple[sympy.Basic, ...]) -> sympy.Basic:
    """Return a node rebuilt from its arguments, which are free of kinks."""
    match node:
        case sympy.Abs():
            x = cast(Expr, args[0])
            return x * Cell(x)
        case sympy.sign():
            return cast(Expr, Cell(args[0]))
        case sympy.Min():
            return _folded(args, lambda a, b: chosen("<=", a, b, a, b))
        case sympy.Max():
            return _folded(args, lambda a, b: chosen(">=", a, b, a, b))
        case sympy.Piecewise():
            return _piecewise(node)
        case _ if args and args != node.args and isinstance(node, Expr):
            return node.func(*args)
        case _:
            return node


def _folded(args: tuple[sympy.Basic, ...], of: Callable[[Expr, Expr], Expr]) -> Expr:
    found = cast(Expr, args[0])
    for arg in args[1:]:
        found = of(found, cast(Expr, arg))
    return found


def _piecewise(node: sympy.Piecewise) -> Expr:
    """Return branches by cells, the last one first: each condition is one comparison, or True."""
    found: Expr | None = None
    for pair in reversed(node.args):
        value, condition = off_kinks(cast(Expr, pair.args[0])), pair.args[1]
        if condition == sympy.true:
            found = value
        elif found is None or type(condition) not in _RELATIONS:
            return node
        else:
            left, right = (off_kinks(cast(Expr, side)) for side in condition.args)
            found = chosen(_RELATIONS[type(condition)], left, right, value, found)
    return node if found is None else found


def kinks(e: Expr) -> tuple[Expr, ...]:
    """Return the arguments of all cells of an expression: the functions on whose zeros it may have kinks."""
    return tuple(sorted({argument(cell) for cell in off_kinks(e).atoms(Cell)}, key=sympy.default_sort_key))
