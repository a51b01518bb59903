"""Transforms of coordinates in scalars, with what Ito's formula makes of drift and noise (Arnold 1974, Ch. 5).

For dx = f dt + sqrt(2D) dW, y = T(x), entry by entry, moves by

    dy_i = (T_i' f_i + T_i'' D_ii) dt + T_i' (sqrt(2D) dW)_i.
"""

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.formula.transforms import Family, Transform


def transformed(transform: Transform | None, x: Expr) -> Expr:
    """Return T(x) = log x, x**c or exp(c x); x if there is no transform."""
    if transform is None:
        return x
    c = rational(transform.number)
    match transform.family:
        case Family.LOG:
            return sympy.log(x)
        case Family.POWER:
            return x**c
        case Family.EXP:
            return sympy.exp(c * x)


def slopes(transform: Transform | None, x: Symbol) -> tuple[Expr, Expr]:
    """Return T'(x) and T''(x), scalars: of log x, 1/x and -1/x**2."""
    first = slope(transformed(transform, x), x)
    return first, slope(first, x)


def inverse_slopes(transform: Transform | None, x: Symbol) -> tuple[Expr, Expr]:
    """Return S'(y) and S''(y) of the inverse S at y = T(x), in terms of x: 1/T' and -T''/T'**3."""
    if transform is None:
        return sympy.Integer(1), sympy.Integer(0)
    first, second = slopes(transform, x)
    return 1 / first, -second / first**3
