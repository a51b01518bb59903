"""Accuracy and extremes of exp, sigmoid, softplus and the finite check, under the flags that emitted loops use."""

import math

import mpmath
import numpy as np
import pytest
from numba import njit

from recipe_compiler.emit.support.special import _exp, _is_finite, _sigmoid, _softplus


@njit(error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def _all(which, x, out):
    for k in range(np.uint64(x.size)):
        if which == 0:
            out[k] = _exp(x[k])
        elif which == 1:
            out[k] = _sigmoid(x[k])
        else:
            out[k] = _softplus(x[k])


def exp(x: np.ndarray) -> np.ndarray:
    return _apply(0, x)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return _apply(1, x)


def softplus(x: np.ndarray) -> np.ndarray:
    return _apply(2, x)


def _apply(which: int, x: np.ndarray) -> np.ndarray:
    x = np.asarray(x, float)
    out = np.empty_like(x)
    _all(which, x, out)
    return out


def _worst_ulp(found: np.ndarray, x: np.ndarray, exact: object) -> float:
    """Return the largest distance from the exact value, in units of the last place of that value."""
    worst = 0.0
    with mpmath.workdps(40):
        for value, at in zip(found.tolist(), x.tolist(), strict=True):
            true = exact(mpmath.mpf(at))
            worst = max(worst, float(abs(mpmath.mpf(value) - true) / math.ulp(float(true))))
    return worst


def _points(low: float, high: float) -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.concatenate([rng.uniform(low, high, 1500), rng.normal(size=500), 10.0 ** rng.uniform(-300, 0, 200)])


def test_exp_is_right_to_one_ulp() -> None:
    x = _points(-707.0, 709.0)
    assert _worst_ulp(exp(x), x, mpmath.exp) <= 1.0


def test_exp_below_the_normal_numbers_is_right_to_one_ulp() -> None:
    x = np.linspace(-745.0, -708.0, 300)
    assert _worst_ulp(exp(x), x, mpmath.exp) <= 1.0


def test_sigmoid_is_right_to_two_ulp_in_both_tails() -> None:
    x = _points(-700.0, 700.0)
    assert _worst_ulp(sigmoid(x), x, lambda v: 1 / (1 + mpmath.exp(-v))) <= 2.0


def test_softplus_is_right_to_three_ulp_in_both_tails() -> None:
    x = np.concatenate([_points(-700.0, 700.0), _points(-40.0, 40.0)])
    assert _worst_ulp(softplus(x), x, lambda v: mpmath.log1p(mpmath.exp(v))) <= 3.0


EXTREMES = np.array([1e4, -1e4, 0.0, -0.0, math.inf, -math.inf, math.nan, 1.7e308, -1.7e308, 5e-324])


def test_exp_at_extremes() -> None:
    expected = [math.inf, 0.0, 1.0, 1.0, math.inf, 0.0, math.nan, math.inf, 0.0, 1.0]
    np.testing.assert_array_equal(exp(EXTREMES), expected)


def test_exp_overflows_where_the_exact_value_does() -> None:
    assert exp(np.array([709.782712893384]))[0] < math.inf
    assert exp(np.array([709.782712893385]))[0] == math.inf


def test_sigmoid_at_extremes() -> None:
    expected = [1.0, 0.0, 0.5, 0.5, 1.0, 0.0, math.nan, 1.0, 0.0, 0.5]
    np.testing.assert_array_equal(sigmoid(EXTREMES), expected)


def test_softplus_at_extremes() -> None:
    log2 = math.log(2.0)
    expected = [1e4, 0.0, log2, log2, math.inf, 0.0, math.nan, 1.7e308, 0.0, log2]
    np.testing.assert_array_equal(softplus(EXTREMES), expected)


@pytest.mark.parametrize(("value", "finite"), [(1.7976931348623157e308, True), (math.inf, False), (math.nan, False)])
def test_finite_check_survives_reassociation(value: float, finite: bool) -> None:
    @njit(error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
    def sum_is_finite(x: np.ndarray) -> bool:
        total = 0.0
        for k in range(x.size):
            total += x[k]
        return _is_finite(total)

    for sign in (1.0, -1.0):
        assert sum_is_finite(np.array([0.0, 0.0, sign * value, 0.0])) is finite
