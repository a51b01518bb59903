"""Inverses of transforms, under the flags that emitted loops use: accuracy, and what is no value of the transform."""

import math

import numpy as np
import pytest
from numba import njit

from recipe_compiler.emit.support.transforms import _inverse_exp, _inverse_log, _inverse_power

_FLAGS = {"contract", "nsz", "arcp"}


@njit(error_model="numpy", fastmath=_FLAGS)
def _from_log(y, out):
    for k in range(y.size):
        out[k] = _inverse_log(y[k])


@njit(error_model="numpy", fastmath=_FLAGS)
def _from_power(y, p, out):
    for k in range(y.size):
        out[k] = _inverse_power(y[k], p)


@njit(error_model="numpy", fastmath=_FLAGS)
def _from_exp(y, c, out):
    for k in range(y.size):
        out[k] = _inverse_exp(y[k], c)


def test_the_inverse_of_a_logarithm() -> None:
    y = np.concatenate([np.linspace(-700, 700, 1001), [-np.inf, np.inf, np.nan]])
    found = np.empty_like(y)
    _from_log(y, found)
    np.testing.assert_allclose(found[:-3], [math.exp(value) for value in y[:-3]], rtol=4e-16)
    assert found[-3] == 0.0
    assert found[-2] == np.inf
    assert np.isnan(found[-1])


NO_VALUES = np.array([0.0, -1e-300, -2.0, -np.inf, np.nan])


@pytest.mark.parametrize("p", [2.0, -1.0, -0.5, 1.0 / 3.0])
def test_the_inverse_of_a_power(p: float) -> None:
    y = np.concatenate([np.geomspace(1e-100, 1e100, 201), NO_VALUES])
    found = np.empty_like(y)
    _from_power(y, p, found)
    np.testing.assert_allclose(found[:-5], y[:-5] ** p, rtol=4e-16)
    assert np.isnan(found[-5:]).all()


@pytest.mark.parametrize("c", [2.0, -0.5])
def test_the_inverse_of_an_exponential(c: float) -> None:
    y = np.concatenate([np.geomspace(1e-300, 1e300, 201), NO_VALUES])
    found = np.empty_like(y)
    _from_exp(y, c, found)
    np.testing.assert_allclose(found[:-5], np.log(y[:-5]) / c, rtol=4e-16)
    assert np.isnan(found[-5:]).all()
