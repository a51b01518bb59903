"""What an expression is at eps = 0, and its first derivative there, where exact flows divide by eps."""

from functools import lru_cache

import sympy as sp

from recipe_compiler.formula.sympy_functions import SqrtCoth
from recipe_compiler.readback.names import EPS
from recipe_compiler.tensor.scalars import Scalar

AT_ZERO: dict[Scalar, Scalar] = {EPS: sp.Integer(0)}
TERMS = 4
"""Of the series of an exponential: divided by eps they give the value and the slope at 0 exactly."""


def at_start(value: Scalar) -> Scalar:
    """Return an expression at eps = 0; exponentials over eps have a removable pole there, which is expanded."""
    return _regular(value).xreplace(AT_ZERO)


def first_order(value: Scalar) -> Scalar:
    """Return the derivative of an expression by eps at eps = 0: f of E[dz], 2D of Cov[dz]."""
    return sp.diff(_regular(value), EPS).xreplace(AT_ZERO)


@lru_cache(maxsize=256)  # equal letters of a word move by equal expressions
def _regular(value: Scalar) -> Scalar:
    """Return an expression with the same value and slope at 0, where an exponential over eps has no removable pole."""
    value = value.xreplace({h: _start(h) for h in value.atoms(SqrtCoth) if h.has(EPS)})
    exponentials = {e: _series(e) for e in value.atoms(sp.exp) if e.has(EPS)}
    return sp.cancel(value.xreplace(exponentials)) if exponentials else value


def _start(h: Scalar) -> Scalar:
    """Return 1 + q/3 of h(q), where q is zero at eps = 0: its value and slope."""
    q = h.args[0]
    return h if q.xreplace(AT_ZERO) != 0 else 1 + q / 3


def _series(exponential: Scalar) -> Scalar:
    """Return the first terms of exp(y), where y is zero at eps = 0."""
    y = exponential.args[0]
    if y.xreplace(AT_ZERO) != 0:
        return exponential
    return sp.Add(*(y**n / sp.factorial(n) for n in range(TERMS)))
