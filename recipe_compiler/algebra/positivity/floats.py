"""Arithmetic on arrays of floats: enough to search with. Apart from the balls, which prove and need no NumPy."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from recipe_compiler.algebra.positivity.straight_line_program import Arithmetic


def _float_power(base: Any, exponent: Any, rational: sympy.Rational | None) -> Any:
    if rational is not None and rational.q == 1:
        return np.power(base, float(rational.p))
    return np.power(base, exponent)


def _erf(x: Any) -> Any:
    """Return erf to 1e-7 (Abramowitz and Stegun 7.1.26): enough to search with."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - tail * np.exp(-(x**2)))


def _each(f: Callable[[float], float]) -> Callable[[Any], Any]:
    """Return a function of one float for arrays; nan where it has no value."""

    def value(x: float) -> float:
        try:
            return f(x)
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(value, otypes=[float])


FLOATS = Arithmetic(
    lambda p, q: p / q,
    _float_power,
    {
        "exp": np.exp,
        "log": np.log,
        "sin": np.sin,
        "cos": np.cos,
        "tan": np.tan,
        "tanh": np.tanh,
        "sinh": np.sinh,
        "cosh": np.cosh,
        "atan": np.arctan,
        "Abs": np.abs,
        "sign": np.sign,
        "erf": _erf,
        "gamma": _each(math.gamma),
        "loggamma": _each(math.lgamma),
        "Cell": np.sign,
    },
    lambda: np.pi,
)
"""Arrays of floats; what is undefined is nan."""
