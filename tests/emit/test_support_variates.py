"""Draws beyond normals of emitted modules, as plain Python: at the edges of their domains, and by exact functions."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from emitted_draws import STATE, drawing
from reference_draws import WORD, reference_bits

from recipe_compiler.emit.support.variates_count import _deviance, _stirling_rest
from recipe_compiler.emit.support.variates_gamma import _log_beyond_cubic

INF, NAN = math.inf, math.nan


def draws(name: str, size: int, *parameters: object, state: Sequence[int] = STATE, rows: int = 1) -> np.ndarray:
    return drawing(name, plain=True)(size, parameters, state=state, rows=rows)


def choices(logits: Sequence[float], size: int, **given: Any) -> np.ndarray:
    return draws("_next_categorical", size, np.array(logits), np.empty(len(logits)), **given)


def state_of_word(word: int) -> tuple[int, int, int, int]:
    """Return a state of xoshiro256++ whose first word is this one: rotl(s0 + s3, 23) + s0 with s0 = 0."""
    return 0, 1, 2, ((word >> 23) | (word << 41)) & WORD


@pytest.mark.parametrize(("word", "middle"), [(0, 2.0**-53), (WORD, 1.0 - 2.0**-53), (2**63, 0.5 + 2.0**-53)])
def test_a_uniform_is_neither_zero_nor_one(word: int, middle: float) -> None:
    state = state_of_word(word)
    assert draws("_next_uniform", 1, state=state) == middle
    assert draws("_next_exponential", 1, state=state) == -math.log(middle) > 0.0
    assert choices([0.0, 0.0, -INF], 1, state=state) == (0.0 if word == 0 else 1.0)


@pytest.mark.parametrize("count", [3, 11, 2**40 + 1, 2**53 - 1, 2**54 + 1])
def test_integers_refuse_the_words_that_are_too_many_and_no_others(count: int) -> None:
    """Words of which 2**64 mod count are left over: for odd counts, the word whose lower product is any number."""
    a = 0 if count < 2**53 else -(2**53)
    refused, inverse = 2**64 % count, pow(count, -1, 2**64)
    for rest in (0, refused - 1, refused, count - 1, count, WORD):
        state = state_of_word(rest * inverse % 2**64)
        bits = reference_bits(list(state))
        chosen, found_rest = divmod(next(bits) * count, 2**64)
        assert found_rest == rest
        after = next(bits) * count
        assert after % 2**64 >= refused
        assert draws("_next_integer", 1, a, a + count - 1, state=state) == a + (
            chosen if rest >= refused else after // 2**64
        )


OUTSIDE: dict[str, Sequence[tuple[object, ...]]] = {
    "_next_log_gamma": [(0.0,), (-1.0,), (NAN,), (INF,), (1e-307,), (1e307,), (-INF,)],
    "_next_gamma": [(0.0,), (-0.5,), (NAN,), (INF,), (1e307,)],
    "_next_beta": [(0.0, 1.0), (1.0, -1.0), (NAN, 1.0), (1.0, INF)],
    "_next_poisson": [(-1e-300,), (NAN,), (INF,), (2.0**52 + 1,), (-INF,)],
    "_next_binomial": [
        (-1, 0.5), (2.5, 0.5), (10, -0.1), (10, 1.1), (NAN, 0.5), (10, NAN), (2.0**53, 0.5), (INF, 0.5), (0, 2.0),
    ],
    "_next_integer": [(2, 1), (0.5, 3), (0, 2.5), (NAN, 1), (0, INF), (0, 2.0**53 + 2), (-INF, 0)],
    "_next_categorical": [
        (np.array(logits), np.zeros(len(logits)))
        for logits in ([], [-INF, -INF], [0.0, NAN], [INF, 0.0], [INF, INF], [NAN])
    ],
    "_next_categorical_above": [
        (np.array(logits), np.array(heights), 0.0, np.empty(len(logits)))
        for logits, heights in (
            ([], []), ([0.0, 1.0], [-1.0, -2.0]), ([-INF, 0.0], [1.0, -1.0]), ([NAN, 0.0], [1.0, 1.0]),
            ([0.0, INF], [1.0, 0.0]), ([0.0], [NAN]),
        )
    ],
    "_next_gamma_of_count": [(-0.5, 1.0), (1.0, -0.5), (NAN, 1.0), (1.0, NAN), (INF, 1.0), (1.0, INF)],
    "_next_log_gamma_of_count": [(0.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (NAN, 1.0), (1.0, NAN), (INF, 1.0)],
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_of_the_domain_is_not_a_number(name: str) -> None:
    for parameters in OUTSIDE[name]:
        assert np.isnan(draws(name, 3, *parameters)).all(), parameters


@pytest.mark.parametrize(
    ("name", "parameters", "value"),
    [
        ("_next_log_gamma", (1e300,), math.log(1e300)), ("_next_gamma", (1e-300,), 0.0),
        ("_next_gamma", (1e306,), 1e306),
        ("_next_poisson", (0.0,), 0.0), ("_next_poisson", (1e-300,), 0.0),
        *(
            ("_next_binomial", (n, p), value)
            for n, p, value in ((0, 0.3, 0), (0, 0, 0), (7, 0, 0), (7, 1, 7), (7, 1e-300, 0), (2**52, 1, 2**52))
        ),
        ("_next_gamma_of_count", (0.0, 0.0), 0.0),
    ],
)  # fmt: skip
def test_at_these_edges_all_draws_are_one_number(name: str, parameters: tuple[float, ...], value: float) -> None:
    np.testing.assert_allclose(draws(name, 100, *parameters), value, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("_next_log_gamma", (1e-306,)), ("_next_log_gamma_of_count", (1e-4, 1e-4)),
        ("_next_gamma_of_count", (1e-300, 0.0)), ("_next_gamma_of_count", (1e-4, 1e-300)),
    ],
)  # fmt: skip
def test_at_these_edges_draws_are_finite(name: str, parameters: tuple[object, ...]) -> None:
    assert np.isfinite(draws(name, 300, *parameters)).all()


@pytest.mark.parametrize(
    "logits", [[-INF, 0.0], [0.0, -INF], [-800.0, 0.0, -746.0], [1e308, -1e308], [-1e308, -INF, -1e308]]
)
def test_zero_weight_is_never_drawn(logits: list[float]) -> None:
    found = set(choices(logits, 500)[0].tolist())
    assert found <= {k for k, one in enumerate(logits) if one == max(logits)}


@pytest.mark.parametrize(
    ("logits", "heights", "level"),
    [
        ([0.1, -2.0, 1.5, 0.7, 0.3], [3.0, 1.0, 2.0, -1.0, 5.0], 1.0),
        ([-800.0, 0.0, 3.0], [-1e300, -2e300, -INF], -2e300),
        ([1.0, 1.0], [0.0, 0.0], 0.0),
    ],
)
def test_above_a_level_places_are_drawn_as_where_others_have_no_weight(
    logits: list[float], heights: list[float], level: float
) -> None:
    """Bit for bit, with the same words; what stands for the logits of other places is not read."""
    above = np.array(heights) >= level
    plain = choices(np.where(above, logits, -INF).tolist(), 500)
    for there in (NAN, INF):
        given = (np.where(above, logits, there), np.array(heights), level, np.empty(len(logits)))
        assert np.array_equal(draws("_next_categorical_above", 500, *given), plain)


def test_the_logarithm_of_a_gamma_of_a_count_is_that_of_its_draw() -> None:
    for a, mean in ((0.3, 0.7), (2.5, 30.0), (0.8, 0.0)):
        plain = draws("_next_gamma_of_count", 200, a, mean)
        np.testing.assert_allclose(draws("_next_log_gamma_of_count", 200, a, mean), np.log(plain), rtol=1e-12)


def cubic(y: Any) -> Any:
    return mpmath.log(1 + y) - y + y**2 / 2 - y**3 / 3


def stirling(k: Any) -> Any:
    return mpmath.loggamma(k + 1) - (k * mpmath.log(k) if k else 0) + k


def deviance(k: Any, mean: Any) -> Any:
    return (k * mpmath.log(k / mean) if k else 0) + mean - k


Y = np.concatenate([np.linspace(-0.999, 4.0, 100), np.geomspace(1e-12, 0.2, 30), -np.geomspace(1e-12, 0.2, 30)])
PAIRS = [(math.floor(x), x * (1 + r)) for x in (1e1, 1e3, 2e4, 1e9, 1e15) for r in (-0.5, -0.1, -1e-3, 1e-7, 0.3, 9.0)]


@pytest.mark.parametrize(
    ("function", "exact", "points", "relative", "absolute"),
    [
        (_log_beyond_cubic, cubic, zip(Y.tolist()), 2e-11, lambda y: 1e-15 * y * y + 4e-16 if abs(y) > 0.1 else 0),
        (_stirling_rest, stirling, zip((0, 1, 2, 9, 100, 255, 256, 257, 10**6, 10**15)), 1e-14, lambda _: 1e-13),
        (_deviance, deviance, [*PAIRS, (0, 3.0)], 1e-13, lambda *_: 1e-11),
    ],
)  # fmt: skip
def test_what_draws_are_accepted_by_is_exact(
    function: Any, exact: Callable[..., Any], points: Iterable[tuple[float, ...]], relative: float, absolute: Any
) -> None:
    with mpmath.workdps(60):
        for at in points:
            true = exact(*map(mpmath.mpf, at))
            assert abs(function.py_func(*map(float, at)) - true) <= relative * abs(true) + absolute(*at), at
