"""How exact the distribution function of N(0, 1), its logarithm and the slope of that are, by 60 digits."""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from numba import njit

from recipe_compiler.emit.support.normal_law import _inverse_mills, _log_ndtr, _ndtr

ROUNDOFF = 2.0**-53
FEW = 25.0
"""Roundings, times 1 + the condition number of the function at the point."""


@njit(error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def _all(x, out):
    for k in range(np.uint64(x.size)):
        out[0, k] = _ndtr(x[k])
        out[1, k] = _log_ndtr(x[k])
        out[2, k] = _inverse_mills(x[k])


def values(x: np.ndarray) -> np.ndarray:
    out = np.empty((3, x.size))
    _all(x, out)
    return out


def tail(x: Any) -> Any:
    """Return P(z <= x)."""
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def log_tail(x: Any) -> Any:
    return mpmath.log(tail(x)) if x < 5 else mpmath.log1p(-tail(-x))


def slope(x: Any) -> Any:
    return mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi) / tail(x)


EXACT: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (tail, lambda x: tail(x) * slope(x)),
    (log_tail, slope),
    (slope, lambda x: -slope(x) * (x + slope(x))),
)
"""The three and their derivatives."""
RANGES = {
    "left": -np.geomspace(37.0, 1e8, 60),
    "where the fraction begins": np.linspace(-6.0, -4.0, 200),
    "middle": np.linspace(-4.0, 4.0, 200),
    "where the logarithm is of 1 less a little": np.concatenate([np.linspace(0.9, 1.1, 40), [1.0]]),
    "right": np.linspace(4.0, 37.0, 60),
}


@pytest.mark.parametrize("name", RANGES)
def test_they_are_right_to_what_rounding_the_argument_does(name: str) -> None:
    x = RANGES[name]
    for found, (exact, derivative) in zip(values(x), EXACT, strict=True):
        with mpmath.workdps(60):
            for value, at in zip(found.tolist(), map(mpmath.mpf, x.tolist()), strict=True):
                true = exact(at)
                if abs(true) < 1e-300:
                    assert value == pytest.approx(0.0, abs=1e-300)
                    continue
                condition = abs(at * derivative(at) / true)
                assert abs(value - true) <= FEW * ROUNDOFF * (1 + condition) * abs(true), (name, at)


def test_at_the_ends() -> None:
    law, log, slope = values(np.array([-np.inf, np.inf, np.nan, -1e200]))
    assert law[:2].tolist() == [0.0, 1.0]
    assert log[:2].tolist() == [-math.inf, 0.0]
    assert slope[:2].tolist() == [math.inf, 0.0]
    assert np.isnan([law[2], log[2], slope[2]]).all()
    assert slope[3] == 1e200
