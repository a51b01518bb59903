"""Functions with kinks: exactly by signs, which are -1, 0 or 1; off the kinks by cells, where all is smooth.

`where`, `minimum` and `maximum` are polynomials in signs and moduli, true at every point: with s = sign(l - r), the
condition l == r holds where 1 - s**2 is 1, and nowhere else. `Cell(u)` is 1 or -1, with u Cell(u) = |u| everywhere; off
{u = 0} it is the sign of u. It is constant on each cell, so its derivative is zero. That {u = 0} has no volume, or no
point mass, is not decided here, but by whoever uses what was read off the kinks (`verify.core.kinks`).

Worked example, max(x, 0) = (x + |x|)/2: off x = 0 it is x (1 + Cell(x))/2, with the derivative (1 + Cell(x))/2, which
is 1 for x > 0 and 0 for x < 0.
"""

from collections.abc import Callable
from typing import cast

import sympy
from sympy import Expr
from sympy.core.function import ArgumentIndexError

from recipe_compiler.algebra.scalars.transcendentals import argument, contains, subexpressions


class Cell(sympy.Function):
    """The sign of a real expression, off its zeros: 1 or -1, with derivative zero."""

    is_real = True
    is_nonzero = True

    @classmethod
    def eval(cls, *args: sympy.Basic) -> Expr | None:
        """Return the value if the sign of the argument is known."""
        x = cast(Expr, args[0])
        if x.is_positive:
            return sympy.Integer(1)
        return sympy.Integer(-1) if x.is_negative else None

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return the derivative by the argument: zero."""
        if argindex != 1:
            raise ArgumentIndexError(self, argindex)
        return sympy.Integer(0)


def chosen(op: str, left: Expr, right: Expr, yes: Expr, no: Expr) -> Expr:
    """Return where(left op right, yes, no) at every point, by the sign of left - right.

    where(l > r, yes, no) = no + (s**2 + s)/2 (yes - no) with s = sign(l - r): the factor is 1 for s = 1, else 0.
    """
    s = _sign_by_factors(left - right)
    match op:
        case ">":
            holds = (s**2 + s) / 2
        case "<":
            holds = (s**2 - s) / 2
        case ">=":
            holds = 1 - (s**2 - s) / 2
        case "<=":
            holds = 1 - (s**2 + s) / 2
        case _:
            holds = 1 - s**2
    return no + holds * (yes - no)


def by_signs(e: Expr) -> Expr:
    """Return a scalar with `Min` and `Max` written by moduli, signs by those of factors: equal to it at every point.

    Max(x, y) = (x + y + |x - y|)/2; sign(x y**2) = sign(x) sign(y)**2.
    """
    return _map_nodes(e, _rewrite_by_signs, sympy.sign, sympy.Min, sympy.Max)


def off_kinks(e: Expr) -> Expr:
    """Return a scalar with all its kinks written by cells: equal to it wherever no argument of a sign is zero.

    |x| = x Cell(x), sign(x) = Cell(x).
    """
    return _map_nodes(by_signs(e), _rewrite_by_cells, sympy.Abs, sympy.sign)


def _map_nodes(e: Expr, of: Callable[[sympy.Basic], sympy.Basic], *types: type[sympy.Basic]) -> Expr:
    """Return an expression with a function applied to every node, arguments first."""
    if not contains(e, *types):
        return e
    known: dict[sympy.Basic, sympy.Basic] = {}
    for node in subexpressions(e):
        args = tuple(known.get(arg, arg) for arg in node.args)
        known[node] = of(node.func(*args) if args != node.args and isinstance(node, Expr) else node)
    return cast(Expr, known[e])


def _rewrite_by_signs(node: sympy.Basic) -> sympy.Basic:
    """Return a sign as the product of signs of factors, a minimum or maximum by moduli; other nodes unchanged."""
    match node:
        case sympy.sign():
            return _sign_by_factors(argument(node))
        case sympy.Min():
            return _fold_pairwise(node.args, lambda a, b: (a + b - sympy.Abs(a - b)) / 2)
        case sympy.Max():
            return _fold_pairwise(node.args, lambda a, b: (a + b + sympy.Abs(a - b)) / 2)
        case _:
            return node


def _rewrite_by_cells(node: sympy.Basic) -> sympy.Basic:
    """Return a modulus or sign by the cell of its argument, any other node unchanged."""
    match node:
        case sympy.Abs():
            return argument(node) * cast(Expr, Cell(argument(node)))
        case sympy.sign():
            return cast(Expr, Cell(argument(node)))
        case _:
            return node


def _sign_by_factors(u: Expr) -> Expr:
    """Return the sign of u, a product by its factors; u and -u share one symbol."""
    if isinstance(u, sympy.Mul):
        return sympy.Mul(*(_sign_by_factors(x) for x in sympy.Mul.make_args(u)))
    if isinstance(u, sympy.Pow) and u.exp.is_Integer:
        return _sign_by_factors(u.base) ** (1 if u.exp % 2 else 2)
    return -sympy.sign(-u) if u.could_extract_minus_sign() else sympy.sign(u)


def _fold_pairwise(args: tuple[sympy.Basic, ...], of: Callable[[Expr, Expr], Expr]) -> Expr:
    """Return a function of two arguments folded over all arguments."""
    found = cast(Expr, args[0])
    for arg in args[1:]:
        found = of(found, cast(Expr, arg))
    return found
