"""Functions that emitted loops call: accuracy against many digits, and the ends.

By default as plain Python, at few points; in the slow tests compiled, under the flags of these loops, at many.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import mpmath
import numpy as np
import pytest
from emitted_draws import support

INF, NAN = math.inf, math.nan
LOOP = """
@njit(error_model="numpy", fastmath={{"contract", "nsz", "arcp", "reassoc"}})
def each(x, p, out):
    for k in range(np.uint64(x.size)):
        out[k] = {call}
"""
CALLS = {
    "_inverse_power": "_inverse_power(x[k], p)", "_inverse_exp": "_inverse_exp(x[k], p)",
    "_circle_point": "_circle_point(np.float64(x[k]).view(np.uint64))[np.int64(p)]",
}  # fmt: skip
"""How functions are called that take more than a number."""
PLAIN = pytest.mark.parametrize("plain", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["", "compiled"])


def computed(name: str, x: Iterable[float], p: float = 0.0, *, plain: bool = True) -> np.ndarray:
    """Return the values of a function in a loop; `p` is its second argument, where it has one."""
    x = np.asarray(x, float)
    out = np.empty_like(x)
    loop = LOOP.format(call=CALLS.get(name, f"{name}(x[k])"))
    if not plain:
        loop = loop.replace("np.float64(x[k]).view", "x[k:k + 1].view").replace("(np.uint64))", "(np.uint64)[0])")
    with np.errstate(all="ignore"):
        support((name,), loop, plain=plain).each(x, p, out)
    return out


def points(low: float, high: float) -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.concatenate([rng.uniform(low, high, 1500), rng.normal(size=500), 10.0 ** rng.uniform(-300, 0, 200)])


def trigamma(x: Any) -> Any:
    return mpmath.polygamma(1, x)


def sqrtcoth(q: Any) -> Any:
    r = mpmath.sqrt(abs(q))
    return r * (mpmath.coth(r) if q > 0 else mpmath.cot(r)) if q else mpmath.mpf(1)


def sqrtcoth_slope(q: Any) -> Any:
    h = sqrtcoth(q)
    return (h - h * h + q) / (2 * q) if q else mpmath.mpf(1) / 3


def tail(x: Any) -> Any:
    """Return P(z <= x) of N(0, 1)."""
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def log_tail(x: Any) -> Any:
    return mpmath.log(tail(x)) if x < 5 else mpmath.log1p(-tail(-x))


def mills(x: Any) -> Any:
    return mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi) / tail(x)


RNG = np.random.default_rng(3)
GAMMAS = (
    np.geomspace(1e-150, 1e-3, 200), np.linspace(1e-3, 1.0, 400), np.linspace(2.0, 10.0, 800),
    1.4616321449683623 + np.concatenate([np.linspace(-0.4, 0.5, 400), 1e-13 * np.arange(-50, 51)]),  # the root
    np.geomspace(10.0, 1e15, 300),
)  # fmt: skip
NORMAL = (
    -np.geomspace(37.0, 1e8, 60), np.linspace(-6.0, -4.0, 200),  # where the fraction begins
    np.linspace(-4.0, 4.0, 200), np.append(np.linspace(0.9, 1.1, 40), 1.0),  # the logarithm of 1 less a little
    np.linspace(4.0, 37.0, 60),
)  # fmt: skip
UNIFORMS = (
    RNG.uniform(size=3000), 2.0 ** -RNG.uniform(0, 53, 2000), 1.0 - 2.0**-53 * RNG.integers(1, 2**20, 500),
    2.0**-53 * np.arange(1, 99),
    [math.sqrt(0.5), math.nextafter(math.sqrt(0.5), 0.0), 2.0**-53, 1.0 - 2.0**-53],
)  # fmt: skip
Q = (
    RNG.uniform(-(math.pi**2), 700, 3000), RNG.uniform(-(math.pi**2), 2, 3000), 10.0 ** RNG.uniform(-300, 3, 500),
    -(10.0 ** RNG.uniform(-300, 0.9, 500)), -(math.pi**2) + 10.0 ** RNG.uniform(-14, 0, 500),
    [0.0, -0.0, 1.0, -1.0, np.nextafter(1.0, 2), np.nextafter(-1.0, -2), 1e300],
)  # fmt: skip
Exact = Callable[[Any], Any]
RIGHT: list[tuple[str, Any, Exact, Exact | None, float]] = [
    # the function, at what, the exact one, its slope where rounding the argument counts, units in the last place
    ("_exp", points(-707.0, 709.0), mpmath.exp, None, 1.0),
    ("_exp", np.linspace(-745.0, -708.0, 300), mpmath.exp, None, 1.0),  # below the normal numbers
    ("_sigmoid", points(-700.0, 700.0), lambda x: 1 / (1 + mpmath.exp(-x)), None, 2.0),
    *(("_softplus", points(-x, x), lambda x: mpmath.log1p(mpmath.exp(x)), None, 3.0) for x in (700.0, 40.0)),
    *(("_digamma", x, mpmath.digamma, None, 4.0) for x in (*GAMMAS, np.geomspace(1e16, 1e300, 50))),
    *(("_trigamma", x, trigamma, None, 4.0) for x in GAMMAS),  # beyond, 1/x**2 is no double
    *(("_minus_two_log", x, lambda x: -2 * mpmath.log(x), None, 2.0) for x in UNIFORMS),
    *(("_sqrtcoth", q, sqrtcoth, sqrtcoth_slope, 10.0) for q in Q),
    *(("_ndtr", x, tail, lambda x: tail(x) * mills(x), 13.0) for x in NORMAL),
    *(("_log_ndtr", x, log_tail, mills, 13.0) for x in NORMAL),
    *(("_inverse_mills", x, mills, lambda x: -mills(x) * (x + mills(x)), 13.0) for x in NORMAL),
]  # fmt: skip


@PLAIN
@pytest.mark.parametrize(("name", "x", "exact", "slope", "ulp"), RIGHT)
def test_a_function_is_right_to_a_few_units_in_the_last_place(
    name: str, x: Any, exact: Exact, slope: Exact | None, ulp: float, plain: bool
) -> None:
    """Where there is a slope, times 1 + the condition number at the point."""
    x = np.asarray(x)[:: len(x) // 40 + 1 if plain else 1]
    with mpmath.workdps(60):
        for at, value in zip(map(mpmath.mpf, x.tolist()), computed(name, x, plain=plain).tolist(), strict=True):
            true = exact(at)
            if abs(true) < 1e-300 and slope:
                assert value == pytest.approx(0.0, abs=1e-300)
                continue
            condition = 1 + (abs(at * slope(at) / true) if slope and true else 0)
            assert abs(value - true) <= ulp * condition * math.ulp(float(true)), at


@PLAIN
def test_a_point_on_the_circle_is_right_to_two_units_in_the_last_place(plain: bool) -> None:
    words = np.random.default_rng(2).integers(0, 2**64, 40 if plain else 4000, np.uint64)
    edge = [q | (k << 12) for q in range(4) for k in (0, 1, 2**51 - 1, 2**51 + 1, 2**52 - 1)]
    words = np.append(words, np.array(edge, np.uint64))
    with mpmath.workdps(40):
        for part in (0, 1):
            for b, value in zip(
                words.tolist(), computed("_circle_point", words.view(float), part, plain=plain), strict=True
            ):
                angle = (mpmath.mpf(b >> 12) / 2**52 - mpmath.mpf(1) / 2) * mpmath.pi / 2
                x, y = (-1) ** (b & 1) * mpmath.cos(angle), mpmath.sin(angle)
                true = y if bool(b & 2) is (part == 0) else x
                assert abs(mpmath.mpf(float(value)) - true) <= 2 * math.ulp(float(true))


EXTREMES = [1e4, -1e4, 0.0, -0.0, INF, -INF, NAN, 1.7e308, -1.7e308, 5e-324]
LOG_2 = math.log(2.0)
NO_VALUES = [0.0, -1e-300, -2.0, -INF, NAN]
ENDS: list[tuple[str, list[float], float, list[float]]] = [
    ("_exp", EXTREMES, 0, [INF, 0.0, 1.0, 1.0, INF, 0.0, NAN, INF, 0.0, 1.0]),
    ("_sigmoid", EXTREMES, 0, [1.0, 0.0, 0.5, 0.5, 1.0, 0.0, NAN, 1.0, 0.0, 0.5]),
    ("_softplus", EXTREMES, 0, [1e4, 0.0, LOG_2, LOG_2, INF, 0.0, NAN, 1.7e308, 0.0, LOG_2]),
    ("_exp", [709.782712893385], 0, [INF]),  # where the exact value is no double
    ("_exp", [709.782712893384], 0, [math.exp(709.782712893384)]),
    ("_sqrtcoth", [-9.869604401089359, -9.9, -40.0, -1e300, NAN, INF], 0, [NAN] * 5 + [INF]),
    ("_reciprocal", [2.0, 2.0**-900, 0.0, -0.0, -3.0, NAN, INF], 0, [0.5, 2.0**900, *[NAN] * 4, 0.0]),
    ("_digamma", [0.0, -0.5, -3.0, -INF, NAN, INF], 0, [NAN] * 5 + [INF]),
    ("_trigamma", [0.0, -0.5, -3.0, -INF, NAN, INF, 1e-200], 0, [NAN] * 5 + [0.0, INF]),
    ("_ndtr", [-INF, INF, NAN], 0, [0.0, 1.0, NAN]),
    ("_log_ndtr", [-INF, INF, NAN], 0, [-INF, 0.0, NAN]),
    ("_inverse_mills", [-INF, INF, NAN, -1e200], 0, [INF, 0.0, NAN, 1e200]),
    ("_inverse_log", [-INF, INF, NAN], 0, [0.0, INF, NAN]),
    *(("_inverse_power", NO_VALUES, p, [NAN] * 5) for p in (2.0, -1.0, -0.5, 1.0 / 3.0)),
    *(("_inverse_exp", NO_VALUES, c, [NAN] * 5) for c in (2.0, -0.5)),
]


@PLAIN
@pytest.mark.parametrize(("name", "x", "p", "expected"), ENDS)
def test_the_ends_of_a_function(name: str, x: list[float], p: float, expected: list[float], plain: bool) -> None:
    np.testing.assert_allclose(computed(name, x, p, plain=plain), expected, rtol=2.3e-16, atol=0)


FAR, Y = np.geomspace(1e-300, 1e300, 201), np.linspace(-700, 700, 1001)
INVERSES: list[tuple[str, np.ndarray, float, Callable[..., Any]]] = [
    ("_inverse_log", Y, 0.0, lambda y, _: [math.exp(value) for value in y]),
    *(("_inverse_power", np.geomspace(1e-100, 1e100, 201), p, lambda y, p: y**p) for p in (2.0, -1.0, -0.5, 1.0 / 3.0)),
    *(("_inverse_exp", FAR, c, lambda y, c: np.log(y) / c) for c in (2.0, -0.5)),
]


@PLAIN
@pytest.mark.parametrize(("name", "y", "p", "inverse"), INVERSES)
def test_the_inverse_of_a_transform(
    name: str, y: np.ndarray, p: float, inverse: Callable[..., Any], plain: bool
) -> None:
    np.testing.assert_allclose(computed(name, y, p, plain=plain), inverse(y, p), rtol=4e-16)
