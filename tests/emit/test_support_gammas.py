"""Accuracy of digamma and trigamma, by 40 digits, under the flags that emitted loops use."""

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from numba import njit

from recipe_compiler.emit.support.gammas import _digamma, _trigamma

ROOT = 1.4616321449683623
FEW = 4.0
"""Units in the last place."""


@njit(error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def _both(x, out):
    for k in range(np.uint64(x.size)):
        out[0, k] = _digamma(x[k])
        out[1, k] = _trigamma(x[k])


def both(x: np.ndarray) -> np.ndarray:
    out = np.empty((2, x.size))
    _both(x, out)
    return out


def worst(found: np.ndarray, x: np.ndarray, exact: Callable[[mpmath.mpf], mpmath.mpf]) -> float:
    """Return the largest distance from the exact value, in units of the last place of that value."""
    with mpmath.workdps(40):
        pairs = [(value, exact(mpmath.mpf(at))) for value, at in zip(found.tolist(), x.tolist(), strict=True)]
        return max(float(abs(mpmath.mpf(value) - true)) / math.ulp(float(true)) for value, true in pairs)


RANGES = {
    "tiny": np.geomspace(1e-150, 1e-3, 200),
    "below one": np.linspace(1e-3, 1.0, 400),
    "about the root": ROOT + np.concatenate([np.linspace(-0.4, 0.5, 400), 1e-13 * np.arange(-50, 51)]),
    "recurrence": np.linspace(2.0, 10.0, 800),
    "series": np.geomspace(10.0, 1e15, 300),
    "huge": np.geomspace(1e16, 1e300, 50),
}


@pytest.mark.parametrize("name", RANGES)
def test_digamma_and_trigamma_are_right_to_a_few_ulp(name: str) -> None:
    x = RANGES[name]
    digamma, trigamma = both(x)
    assert worst(digamma, x, mpmath.digamma) <= FEW
    if name != "huge":  # 1/x**2 of it is no double any more
        assert worst(trigamma, x, lambda t: mpmath.polygamma(1, t)) <= FEW


def test_outside_they_are_not_numbers() -> None:
    found = both(np.array([0.0, -0.5, -3.0, -np.inf, np.nan]))
    assert np.isnan(found).all()


def test_the_ends() -> None:
    assert both(np.array([np.inf])).tolist() == [[np.inf], [0.0]]
    assert both(np.array([1e-200]))[1, 0] == np.inf
