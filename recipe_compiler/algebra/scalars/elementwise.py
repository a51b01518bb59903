"""The elementwise functions of the language as SymPy scalars, by constructor calls."""

from collections.abc import Callable

import sympy
from sympy import Expr


def _sigmoid(x: Expr) -> Expr:
    return 1 / (1 + sympy.exp(-x))


def _softplus(x: Expr) -> Expr:
    return sympy.log(1 + sympy.exp(x))


def _log1p(x: Expr) -> Expr:
    return sympy.log(1 + x)


def _expm1(x: Expr) -> Expr:
    return sympy.exp(x) - 1


def _digamma(x: Expr) -> Expr:
    return sympy.polygamma(0, x)


def _trigamma(x: Expr) -> Expr:
    return sympy.polygamma(1, x)


ELEMENTWISE: dict[str, Callable[[Expr], Expr]] = {
    "exp": sympy.exp,
    "log": sympy.log,
    "log1p": _log1p,
    "expm1": _expm1,
    "sqrt": sympy.sqrt,
    "abs": sympy.Abs,
    "sign": sympy.sign,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "tanh": sympy.tanh,
    "atan": sympy.atan,
    "cosh": sympy.cosh,
    "sinh": sympy.sinh,
    "softplus": _softplus,
    "sigmoid": _sigmoid,
    "erf": sympy.erf,
    "gamma": sympy.gamma,
    "loggamma": sympy.loggamma,
    "digamma": _digamma,
    "trigamma": _trigamma,
}


def minimum(a: Expr, b: Expr) -> Expr:
    """Return min(a, b) as (a + b - |a - b|)/2."""
    return (a + b - sympy.Abs(a - b)) / 2


def maximum(a: Expr, b: Expr) -> Expr:
    """Return max(a, b) as (a + b + |a - b|)/2."""
    return (a + b + sympy.Abs(a - b)) / 2
