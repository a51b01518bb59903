"""Accuracy and extremes of exp, sigmoid, softplus and the finite check, under the flags that emitted loops use."""

import math

import mpmath
import numpy as np
import pytest
from numba import njit

from recipe_compiler.emit.support.special import (
    _exp,
    _is_finite,
    _reciprocal,
    _sigmoid,
    _softplus,
    _sqrtcoth,
)


@njit(error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def _all(which, x, out):
    for k in range(np.uint64(x.size)):
        if which == 0:
            out[k] = _exp(x[k])
        elif which == 1:
            out[k] = _sigmoid(x[k])
        elif which == 3:
            out[k] = _sqrtcoth(x[k])
        elif which == 4:
            out[k] = _reciprocal(x[k])
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


@pytest.mark.slow
def test_exp_is_right_to_one_ulp() -> None:
    x = _points(-707.0, 709.0)
    assert _worst_ulp(exp(x), x, mpmath.exp) <= 1.0


@pytest.mark.slow
def test_exp_below_the_normal_numbers_is_right_to_one_ulp() -> None:
    x = np.linspace(-745.0, -708.0, 300)
    assert _worst_ulp(exp(x), x, mpmath.exp) <= 1.0


def test_sigmoid_is_right_to_two_ulp_in_both_tails() -> None:
    x = _points(-700.0, 700.0)
    assert _worst_ulp(sigmoid(x), x, lambda v: 1 / (1 + mpmath.exp(-v))) <= 2.0


@pytest.mark.slow
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


def sqrtcoth(q: float) -> mpmath.mpf:
    """Return sqrt(q) coth(sqrt(q)) in the digits of mpmath."""
    r = mpmath.sqrt(abs(mpmath.mpf(q)))
    return r * (mpmath.coth(r) if q > 0 else mpmath.cot(r)) if q else mpmath.mpf(1)


@pytest.mark.slow
def test_sqrtcoth_is_right_to_1e_14() -> None:
    """Of itself and of what q bent by its last place makes of it: at a zero and near the pole that is more."""
    rng = np.random.default_rng(3)
    q = np.concatenate([
        rng.uniform(-math.pi**2, 700, 3000), rng.uniform(-math.pi**2, 2, 3000), 10.0 ** rng.uniform(-300, 3, 500),
        -(10.0 ** rng.uniform(-300, 0.9, 500)), -math.pi**2 + 10.0 ** rng.uniform(-14, 0, 500),
        [0.0, -0.0, 1.0, -1.0, np.nextafter(1.0, 2), np.nextafter(-1.0, -2), 1e300],
    ])  # fmt: skip
    found = _apply(3, q)
    with mpmath.workdps(50):
        for at, value in zip(q.tolist(), found.tolist(), strict=True):
            h = sqrtcoth(at)
            bent = abs((h - h * h + at) / 2)  # |q h'|
            assert abs(value - h) <= 1e-15 * (2 * abs(h) + bent + 1e-3), at
            assert abs(value - h) <= 1e-14 * abs(h) or at < -1, at
    assert np.isnan(_apply(3, np.array([-9.869604401089359, -9.9, -40.0, -1e300, np.nan]))).all()
    assert _apply(3, np.array([np.inf]))[0] == np.inf


@pytest.mark.slow
def test_the_denominator_of_riccati_is_right_to_1e_14() -> None:
    """rho = 1/(h(q) - s), s of both signs, in units of what the digits of h and of s leave: (|h| + |s|) rho**2."""
    rng = np.random.default_rng(4)
    q, s = rng.uniform(-(math.pi**2) + 0.1, 700, 4000), rng.normal(size=4000) * 10.0 ** rng.uniform(-8, 2, 4000)
    found = _apply(4, _apply(3, q) - s)
    with mpmath.workdps(50):
        for at, by, value in zip(q.tolist(), s.tolist(), found.tolist(), strict=True):
            h = sqrtcoth(at)
            if h <= by:
                assert math.isnan(value) or h > by - 1e-13, (at, by)
                continue
            rho = 1 / (h - by)
            assert abs(value - rho) <= 1e-14 * rho * (1 + (abs(h) + abs(by) + abs(at)) * rho), (at, by)


def test_what_is_not_positive_has_no_reciprocal() -> None:
    found = _apply(4, np.array([2.0, 2.0**-900, 0.0, -0.0, -3.0, np.nan, np.inf]))
    assert found[:2].tolist() == [0.5, 2.0**900]
    assert np.isnan(found[2:6]).all()
    assert found[6] == 0.0
