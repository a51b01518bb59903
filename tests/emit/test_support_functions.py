"""Functions that emitted loops call, under the flags of these loops: accuracy against many digits, and the ends."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import mpmath
import numpy as np
import pytest
from numba import njit

from recipe_compiler.emit.support.gammas import _digamma, _trigamma
from recipe_compiler.emit.support.normal_law import _inverse_mills, _log_ndtr, _ndtr
from recipe_compiler.emit.support.special import _exp, _is_finite, _reciprocal, _sigmoid, _softplus, _sqrtcoth
from recipe_compiler.emit.support.transforms import _inverse_exp, _inverse_log, _inverse_power

Exact = Callable[[Any], Any]
INF, NAN = math.inf, math.nan


@njit(error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def _sums(which, x, out):
    for k in range(np.uint64(x.size)):
        if which == 0:
            out[k] = _exp(x[k])
        elif which == 1:
            out[k] = _sigmoid(x[k])
        elif which == 2:
            out[k] = _softplus(x[k])
        elif which == 3:
            out[k] = _sqrtcoth(x[k])
        elif which == 4:
            out[k] = _reciprocal(x[k])
        elif which == 5:
            out[k] = _digamma(x[k])
        elif which == 6:
            out[k] = _trigamma(x[k])
        elif which == 7:
            out[k] = _ndtr(x[k])
        elif which == 8:
            out[k] = _log_ndtr(x[k])
        else:
            out[k] = _inverse_mills(x[k])


@njit(error_model="numpy", fastmath={"contract", "nsz", "arcp"})
def _steps(which, x, p, out):
    for k in range(x.size):
        if which == 0:
            out[k] = _inverse_log(x[k])
        elif which == 1:
            out[k] = _inverse_power(x[k], p)
        else:
            out[k] = _inverse_exp(x[k], p)


SUMS = [
    "exp",
    "sigmoid",
    "softplus",
    "sqrtcoth",
    "reciprocal",
    "digamma",
    "trigamma",
    "ndtr",
    "log_ndtr",
    "inverse_mills",
]
STEPS = ["inverse_log", "inverse_power", "inverse_exp"]


def computed(name: str, x: Iterable[float], p: float = 0.0) -> np.ndarray:
    """Return the values of a function in a loop; `p` is its second argument, where it has one."""
    x = np.asarray(x, float)
    out = np.empty_like(x)
    if name in STEPS:
        _steps(STEPS.index(name), x, p, out)
    else:
        _sums(SUMS.index(name), x, out)
    return out


def worst_ulp(found: np.ndarray, x: np.ndarray, exact: Exact) -> float:
    """Return the largest distance from the exact value, in units of the last place of that value."""
    with mpmath.workdps(40):
        pairs = [(value, exact(mpmath.mpf(at))) for value, at in zip(found.tolist(), x.tolist(), strict=True)]
        return max(float(abs(mpmath.mpf(value) - true) / math.ulp(float(true))) for value, true in pairs)


def points(low: float, high: float) -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.concatenate([rng.uniform(low, high, 1500), rng.normal(size=500), 10.0 ** rng.uniform(-300, 0, 200)])


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def softplus(x: Any) -> Any:
    return mpmath.log1p(mpmath.exp(x))


def trigamma(x: Any) -> Any:
    return mpmath.polygamma(1, x)


GAMMAS = {
    "tiny": np.geomspace(1e-150, 1e-3, 200),
    "below one": np.linspace(1e-3, 1.0, 400),
    "about the root": 1.4616321449683623 + np.concatenate([np.linspace(-0.4, 0.5, 400), 1e-13 * np.arange(-50, 51)]),
    "recurrence": np.linspace(2.0, 10.0, 800),
    "series": np.geomspace(10.0, 1e15, 300),
    "huge": np.geomspace(1e16, 1e300, 50),
}
SLOW = pytest.mark.slow
RIGHT = [
    # the function, at what, the exact one, units in the last place
    pytest.param("exp", points(-707.0, 709.0), mpmath.exp, 1.0, marks=SLOW),
    pytest.param("exp", np.linspace(-745.0, -708.0, 300), mpmath.exp, 1.0, marks=SLOW),  # below the normal numbers
    ("sigmoid", points(-700.0, 700.0), sigmoid, 2.0),
    pytest.param("softplus", np.concatenate([points(-700.0, 700.0), points(-40.0, 40.0)]), softplus, 3.0, marks=SLOW),
    *(("digamma", x, mpmath.digamma, 4.0) for x in GAMMAS.values()),
    *(("trigamma", x, trigamma, 4.0) for name, x in GAMMAS.items() if name != "huge"),  # 1/x**2 is no double there
]


@pytest.mark.parametrize(("name", "x", "exact", "ulp"), RIGHT)
def test_a_function_is_right_to_a_few_units_in_the_last_place(
    name: str, x: np.ndarray, exact: Exact, ulp: float
) -> None:
    assert worst_ulp(computed(name, x), x, exact) <= ulp


EXTREMES = [1e4, -1e4, 0.0, -0.0, INF, -INF, NAN, 1.7e308, -1.7e308, 5e-324]
LOG_2 = math.log(2.0)
NO_VALUES = [0.0, -1e-300, -2.0, -INF, NAN]


@pytest.mark.parametrize(
    ("name", "x", "p", "expected"),
    [
        ("exp", EXTREMES, 0, [INF, 0.0, 1.0, 1.0, INF, 0.0, NAN, INF, 0.0, 1.0]),
        ("sigmoid", EXTREMES, 0, [1.0, 0.0, 0.5, 0.5, 1.0, 0.0, NAN, 1.0, 0.0, 0.5]),
        ("softplus", EXTREMES, 0, [1e4, 0.0, LOG_2, LOG_2, INF, 0.0, NAN, 1.7e308, 0.0, LOG_2]),
        ("exp", [709.782712893385], 0, [INF]),  # where the exact value is no double
        ("sqrtcoth", [-9.869604401089359, -9.9, -40.0, -1e300, NAN, INF], 0, [NAN] * 5 + [INF]),
        ("reciprocal", [2.0, 2.0**-900, 0.0, -0.0, -3.0, NAN, INF], 0, [0.5, 2.0**900, *[NAN] * 4, 0.0]),
        ("digamma", [0.0, -0.5, -3.0, -INF, NAN, INF], 0, [NAN] * 5 + [INF]),
        ("trigamma", [0.0, -0.5, -3.0, -INF, NAN, INF, 1e-200], 0, [NAN] * 5 + [0.0, INF]),
        ("ndtr", [-INF, INF, NAN], 0, [0.0, 1.0, NAN]),
        ("log_ndtr", [-INF, INF, NAN], 0, [-INF, 0.0, NAN]),
        ("inverse_mills", [-INF, INF, NAN, -1e200], 0, [INF, 0.0, NAN, 1e200]),
        ("inverse_log", [-INF, INF, NAN], 0, [0.0, INF, NAN]),
        *(("inverse_power", NO_VALUES, p, [NAN] * 5) for p in (2.0, -1.0, -0.5, 1.0 / 3.0)),
        *(("inverse_exp", NO_VALUES, c, [NAN] * 5) for c in (2.0, -0.5)),
    ],
)
def test_the_ends_of_a_function(name: str, x: list[float], p: float, expected: list[float]) -> None:
    np.testing.assert_array_equal(computed(name, x, p), expected)
    assert name != "exp" or computed("exp", [709.782712893384])[0] < INF


FAR = np.geomspace(1e-300, 1e300, 201)


@pytest.mark.parametrize(
    ("name", "y", "p", "inverse"),
    [
        ("inverse_log", np.linspace(-700, 700, 1001), 0.0, lambda y, _: [math.exp(value) for value in y]),
        *(
            ("inverse_power", np.geomspace(1e-100, 1e100, 201), p, lambda y, p: y**p)
            for p in (2.0, -1.0, -0.5, 1.0 / 3.0)
        ),
        *(("inverse_exp", FAR, c, lambda y, c: np.log(y) / c) for c in (2.0, -0.5)),
    ],
)
def test_the_inverse_of_a_transform(name: str, y: np.ndarray, p: float, inverse: Callable[..., Any]) -> None:
    np.testing.assert_allclose(computed(name, y, p), inverse(y, p), rtol=4e-16)


@pytest.mark.parametrize(("value", "finite"), [(1.7976931348623157e308, True), (INF, False), (NAN, False)])
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
    with mpmath.workdps(50):
        for at, value in zip(q.tolist(), computed("sqrtcoth", q).tolist(), strict=True):
            h = sqrtcoth(at)
            bent = abs((h - h * h + at) / 2)  # |q h'|
            assert abs(value - h) <= 1e-15 * (2 * abs(h) + bent + 1e-3), at
            assert abs(value - h) <= 1e-14 * abs(h) or at < -1, at


@pytest.mark.slow
def test_the_denominator_of_riccati_is_right_to_1e_14() -> None:
    """rho = 1/(h(q) - s), s of both signs, in units of what the digits of h and of s leave: (|h| + |s|) rho**2."""
    rng = np.random.default_rng(4)
    q, s = rng.uniform(-(math.pi**2) + 0.1, 700, 4000), rng.normal(size=4000) * 10.0 ** rng.uniform(-8, 2, 4000)
    found = computed("reciprocal", computed("sqrtcoth", q) - s)
    with mpmath.workdps(50):
        for at, by, value in zip(q.tolist(), s.tolist(), found.tolist(), strict=True):
            h = sqrtcoth(at)
            if h <= by:
                assert math.isnan(value) or h > by - 1e-13, (at, by)
                continue
            rho = 1 / (h - by)
            assert abs(value - rho) <= 1e-14 * rho * (1 + (abs(h) + abs(by) + abs(at)) * rho), (at, by)


# ---- the law of N(0, 1)


def tail(x: Any) -> Any:
    """Return P(z <= x)."""
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def log_tail(x: Any) -> Any:
    return mpmath.log(tail(x)) if x < 5 else mpmath.log1p(-tail(-x))


def slope(x: Any) -> Any:
    return mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi) / tail(x)


@pytest.mark.parametrize(
    "x",
    [
        -np.geomspace(37.0, 1e8, 60),
        np.linspace(-6.0, -4.0, 200),  # where the fraction begins
        np.linspace(-4.0, 4.0, 200),
        np.concatenate([np.linspace(0.9, 1.1, 40), [1.0]]),  # where the logarithm is of 1 less a little
        np.linspace(4.0, 37.0, 60),
    ],
    ids=["left", "fraction", "middle", "logarithm", "right"],
)
@pytest.mark.parametrize(
    ("name", "exact", "derivative"),
    [
        ("ndtr", tail, lambda x: tail(x) * slope(x)),
        ("log_ndtr", log_tail, slope),
        ("inverse_mills", slope, lambda x: -slope(x) * (x + slope(x))),
    ],
)
def test_the_normal_law_is_right_to_what_rounding_the_argument_does(
    name: str, exact: Exact, derivative: Exact, x: np.ndarray
) -> None:
    """25 roundings, times 1 + the condition number of the function at the point."""
    with mpmath.workdps(60):
        for value, at in zip(computed(name, x).tolist(), map(mpmath.mpf, x.tolist()), strict=True):
            true = exact(at)
            if abs(true) < 1e-300:
                assert value == pytest.approx(0.0, abs=1e-300)
                continue
            assert abs(value - true) <= 25.0 * 2.0**-53 * (1 + abs(at * derivative(at) / true)) * abs(true), at
