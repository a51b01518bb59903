"""Derivatives of scalars, each subexpression differentiated once.

The entries of an inverse share their determinant, those of a drift the gradient: as a tree such an expression is far
larger than it is. Rules: sums, products, powers, and the chain rule for smooth functions of one argument; anything else
is SymPy's to differentiate.
"""

from functools import lru_cache

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.elementwise import SCALAR_FUNCTIONS, Corner
from recipe_compiler.algebra.scalars.sign_cells import Cell, off_kinks
from recipe_compiler.algebra.scalars.transcendentals import argument

ZERO = sympy.Integer(0)

_OF_ONE_ARGUMENT = tuple(row.of for row in SCALAR_FUNCTIONS.values() if row.corner is Corner.NONE)
"""Smooth functions whose derivative SymPy states by `fdiff`."""


def slope_off_kinks(e: Expr, x: Symbol) -> Expr:
    """Return de/dx of a scalar off its kinks, a scalar: of |x| the cell of x.

    A second derivative of |x| is then 0: use `slope` where a kink counts.
    """
    return slope(off_kinks(e), x)


@lru_cache(maxsize=limits.REMEMBERED)
def slope(e: Expr, x: Symbol) -> Expr:
    """Return de/dx of a scalar, every subexpression differentiated once; at kinks as SymPy does."""
    match e:
        case Symbol():
            return sympy.Integer(int(e == x))
        case _ if not e.args:
            return ZERO
        case sympy.Add():
            return sympy.Add(*[slope(term, x) for term in e.args])
        case sympy.Mul():
            return _differentiate_product(e.args, x)
        case sympy.Pow():
            return _differentiate_power(e, x)
        case Cell():
            return ZERO
        case AppliedUndef() | sympy.Derivative():
            return _differentiate_unknown(e, x)
        case sympy.polygamma():
            order, inner = argument(e), argument(e, 1)
            return _apply_chain_rule(sympy.polygamma(order + 1, inner), inner, x)
        case sympy.Function() if isinstance(e, _OF_ONE_ARGUMENT):
            return _apply_chain_rule(e.fdiff(1), argument(e), x)
        case _:
            return sympy.diff(e, x)


def _differentiate_unknown(e: AppliedUndef | sympy.Derivative, x: Symbol) -> Expr:
    """Return the derivative of an undefined function, its variables in SymPy's order: they commute."""
    function, variables = (e.expr, e.variables) if isinstance(e, sympy.Derivative) else (e, ())
    arguments = function.args
    if not isinstance(function, AppliedUndef) or not all(isinstance(z, Symbol) for z in arguments):
        return sympy.diff(e, x)
    if x not in arguments:
        return ZERO
    if len(set(arguments)) < len(arguments):
        return sympy.diff(e, x)
    ordered = sorted((*variables, x), key=sympy.default_sort_key)
    return sympy.Derivative(function, *ordered, evaluate=False)


def _apply_chain_rule(outer: Expr, inner: Expr, x: Symbol) -> Expr:
    """Return `outer * d inner/dx`."""
    along = slope(inner, x)
    return ZERO if along == 0 else outer * along


def _differentiate_product(factors: tuple[Expr, ...], x: Symbol) -> Expr:
    """Return the sum of the product with one factor differentiated at a time."""
    terms: list[Expr] = []
    for k, factor in enumerate(factors):
        along = slope(factor, x)
        if along != 0:
            terms.append(sympy.Mul(*factors[:k], along, *factors[k + 1 :]))
    return sympy.Add(*terms)


def _differentiate_power(e: sympy.Pow, x: Symbol) -> Expr:
    """Return d(b**n) = n b**(n-1) db + b**n log(b) dn; a base with varying exponent is positive wherever it is real."""
    base, exponent = slope(e.base, x), slope(e.exp, x)
    terms: list[Expr] = []
    if base != 0:
        terms.append(e.exp * e.base ** (e.exp - 1) * base)
    if exponent != 0:
        terms.append(e * sympy.log(e.base) * exponent)
    return sympy.Add(*terms)
