"""Draws beyond normals of emitted modules: known answers, the words they take, the edges of their domains."""

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from emitted_draws import STATE, drawing
from numba import njit
from reference_draws import WORD, ReferenceDraws, reference_bits
from some import some

from recipe_compiler.emit.support.variates import _product
from recipe_compiler.emit.support.variates_count import _deviance, _stirling_rest
from recipe_compiler.emit.support.variates_gamma import _log_beyond_cubic

INF, NAN = math.inf, math.nan
FIRST_WORDS = [0xA4421E0BA825E80B, 0x2D52ADD942854A1D, 0x7ABD0010199070C3, 0x606E3D3BBD123C3D]
LOGITS = (0.1, -2.0, 1.5, -INF, 0.3)
ALPHA = np.array([0.1, 1.0, 3.0])
FLOWN = (math.exp(-0.5), -math.expm1(-0.5))

FIRST_DRAWS = json.loads((Path(__file__).parent / "first_draws.json").read_text(encoding="utf-8"))
"""The first 16 draws from STATE, computed by `ReferenceDraws`."""

CASES: dict[str, tuple[str, tuple[object, ...], str, tuple[float, ...]]] = {
    "uniform": ("_next_uniform", (), "uniform", ()),
    "exponential": ("_next_exponential", (), "exponential", ()),
    "integer -5 20": ("_next_integer", (-5, 20), "integer", (-5, 20)),
    "categorical": ("_next_categorical", (np.array(LOGITS), np.empty(5)), "categorical", LOGITS),
    "log gamma 0.0001": ("_next_log_gamma", (1e-4,), "log_gamma", (1e-4,)),
    "log gamma 1": ("_next_log_gamma", (1.0,), "log_gamma", (1.0,)),
    "gamma 0.3": ("_next_gamma", (0.3,), "gamma", (0.3,)),
    "gamma 2.5": ("_next_gamma", (2.5,), "gamma", (2.5,)),
    "log beta 0.4 2.5": ("_next_log_beta", (0.4, 2.5), "log_beta", (0.4, 2.5)),
    "beta 0.4 2.5": ("_next_beta", (0.4, 2.5), "beta", (0.4, 2.5)),
    "log Dirichlet": ("_fill_log_dirichlet", (ALPHA,), "log_dirichlet", (0.1, 1.0, 3.0)),
    "Dirichlet": ("_fill_dirichlet", (ALPHA,), "dirichlet", (0.1, 1.0, 3.0)),
    "Poisson 3": ("_next_poisson", (3.0,), "poisson", (3.0,)),
    "Poisson 10": ("_next_poisson", (10.0,), "poisson", (10.0,)),
    "Poisson 300": ("_next_poisson", (300.0,), "poisson", (300.0,)),
    "binomial 10 0.05": ("_next_binomial", (10, 0.05), "binomial", (10, 0.05)),
    "binomial 100 0.7": ("_next_binomial", (100, 0.7), "binomial", (100, 0.7)),
    "noncentral chi-square": ("_next_noncentral_chi_square", (0.2, 3.0), "noncentral_chi_square", (0.2, 3.0)),
    "CIR": ("_next_cir", (0.8, 0.1, *FLOWN), "cir", (0.8, 0.1, 0.5)),
}
"""By what is drawn: the function, its parameters, and those of the reference."""

MORE: dict[str, tuple[str, tuple[object, ...], str, tuple[float, ...]]] = {
    "integer of 54 bits": ("_next_integer", (-(2**53), 2**53), "integer", (-(2**53), 2**53)),
    "log gamma 1e-300": ("_next_log_gamma", (1e-300,), "log_gamma", (1e-300,)),
    "log gamma 300": ("_next_log_gamma", (300.0,), "log_gamma", (300.0,)),
    "log beta 0.0001": ("_next_log_beta", (1e-4, 1e-4), "log_beta", (1e-4, 1e-4)),
    "Poisson 9.99": ("_next_poisson", (9.99,), "poisson", (9.99,)),
    "Poisson 30": ("_next_poisson", (30.0,), "poisson", (30.0,)),
    "Poisson 1e6": ("_next_poisson", (1e6,), "poisson", (1e6,)),
    "binomial 100 0.1": ("_next_binomial", (100, 0.1), "binomial", (100, 0.1)),
    "binomial 2000 0.2": ("_next_binomial", (2000, 0.2), "binomial", (2000, 0.2)),
}


def drawn(case: tuple[str, tuple[object, ...], str, tuple[float, ...]], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return as many draws, and those of the reference; of several numbers, their rows."""
    name, parameters, reference, own = case
    stream = ReferenceDraws(STATE)
    expected = np.array([np.atleast_1d(getattr(stream, reference)(*own)) for _ in range(size)]).T
    return drawing(name)(size, parameters, rows=len(expected)), expected


def test_first_words() -> None:
    stream = reference_bits(list(STATE))
    assert [next(stream) for _ in FIRST_WORDS] == FIRST_WORDS
    u = drawing("_next_uniform")(len(FIRST_WORDS), ())[0]
    assert [Fraction(one) for one in u] == [Fraction(2 * (word >> 12) + 1, 2**53) for word in FIRST_WORDS]


@pytest.mark.slow
@pytest.mark.parametrize("name", FIRST_DRAWS)
def test_first_draws(name: str) -> None:
    found, expected = drawn(CASES[name], 16)
    np.testing.assert_allclose(found, np.atleast_2d(FIRST_DRAWS[name]), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_every_case_is_pinned() -> None:
    assert list(FIRST_DRAWS) == list(CASES)


@pytest.mark.parametrize("name", some([*CASES, *MORE], 2))
def test_draws_are_those_of_the_papers(name: str) -> None:
    found, expected = drawn((CASES | MORE)[name], 2000)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("name", "parameters"), [
    ("_next_uniform", ()), ("_next_exponential", ()), ("_next_categorical", (np.array(LOGITS), np.empty(5))),
    ("_next_poisson", (0.0,)), ("_next_binomial", (10, 0.05)), ("_next_integer", (0, 9)),
])  # fmt: skip
def test_what_takes_one_word_takes_one(name: str, parameters: tuple[object, ...]) -> None:
    stream = reference_bits(words := list(STATE))
    for _ in range(50):
        next(stream)
    words = drawing(name)(50, parameters, after=True).tolist()
    assert next(reference_bits(words)) == next(stream)


def test_poisson_below_ten_takes_a_word_more_than_is_drawn() -> None:
    draws = drawing("_next_poisson")(100, (9.0,))[0]
    stream = reference_bits(list(STATE))
    for _ in range(100 + int(draws.sum())):
        next(stream)
    assert next(reference_bits(drawing("_next_poisson")(100, (9.0,), after=True).tolist())) == next(stream)


def state_of_word(word: int) -> tuple[int, int, int, int]:
    """Return a state of xoshiro256++ whose first word is this one: rotl(s0 + s3, 23) + s0 with s0 = 0."""
    return 0, 1, 2, ((word >> 23) | (word << 41)) & WORD


@pytest.mark.parametrize(("word", "middle"), [(0, 2.0**-53), (WORD, 1.0 - 2.0**-53), (2**63, 0.5 + 2.0**-53)])
def test_a_uniform_is_neither_zero_nor_one(word: int, middle: float) -> None:
    assert drawing("_next_uniform")(1, (), state=state_of_word(word))[0, 0] == middle
    assert drawing("_next_exponential")(1, (), state=state_of_word(word))[0, 0] == -math.log(middle) > 0.0


@njit
def product(a, b):
    return _product(a, b)


def test_products_of_words_are_exact() -> None:
    rng = np.random.default_rng(1)
    words = [0, 1, 2**32 - 1, 2**32, 2**63, WORD, *(int(one) for one in rng.integers(0, WORD, 40, np.uint64))]
    for a in words:
        for b in words:
            high, low = product(np.uint64(a), np.uint64(b))
            assert int(high) * 2**64 + int(low) == a * b


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
        drawn = drawing("_next_integer")(1, (a, a + count - 1), state=state)[0, 0]
        assert drawn == a + (chosen if rest >= refused else after // 2**64)


OUTSIDE: dict[str, Sequence[tuple[object, ...]]] = {
    "_next_log_gamma": [(0.0,), (-1.0,), (NAN,), (INF,), (1e-307,), (1e307,), (-INF,)],
    "_next_gamma": [(0.0,), (-0.5,), (NAN,), (INF,), (1e307,)],
    "_next_beta": [(0.0, 1.0), (1.0, -1.0), (NAN, 1.0), (1.0, INF)],
    "_fill_dirichlet": [(np.array([1.0, 0.0, 2.0]),), (np.array([1.0, NAN]),), (np.array([-1.0, 2.0]),)],
    "_next_poisson": [(-1e-300,), (NAN,), (INF,), (2.0**52 + 1,), (-INF,)],
    "_next_binomial": [
        (-1, 0.5), (2.5, 0.5), (10, -0.1), (10, 1.1), (NAN, 0.5), (10, NAN), (2.0**53, 0.5), (INF, 0.5), (0, 2.0),
    ],
    "_next_integer": [(2, 1), (0.5, 3), (0, 2.5), (NAN, 1), (0, INF), (0, 2.0**53 + 2), (-INF, 0)],
    "_next_categorical": [
        (np.array(logits), np.empty(len(logits)))
        for logits in ([], [-INF, -INF], [0.0, NAN], [INF, 0.0], [INF, INF], [NAN])
    ],
    "_next_categorical_above": [
        (np.array(logits), np.array(heights), 0.0, np.empty(len(logits)))
        for logits, heights in (
            ([], []), ([0.0, 1.0], [-1.0, -2.0]), ([-INF, 0.0], [1.0, -1.0]), ([NAN, 0.0], [1.0, 1.0]),
            ([0.0, INF], [1.0, 0.0]), ([0.0], [NAN]),
        )
    ],
    "_next_noncentral_chi_square": [(-1.0, 1.0), (1.0, -1.0), (NAN, 1.0), (1.0, NAN), (INF, 1.0)],
    "_next_log_gamma_of_count": [(0.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (NAN, 1.0), (1.0, NAN), (INF, 1.0)],
    "_next_cir": [
        (theta, a, *FLOWN) for theta, a in ((-0.1, 1.0), (1.0, -0.1), (NAN, 1.0), (1.0, NAN), (INF, 1.0))
    ] + [(1.0, 1.0, 1.0, 0.0)],
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_of_the_domain_is_not_a_number(name: str) -> None:
    for parameters in OUTSIDE[name]:
        rows = parameters[0].size if name == "_fill_dirichlet" and isinstance(parameters[0], np.ndarray) else 1
        assert np.isnan(drawing(name)(3, parameters, rows=rows)).all(), parameters


def test_gammas_of_extreme_shapes() -> None:
    tiny = drawing("_next_log_gamma")(1000, (1e-306,))[0]
    assert np.isfinite(tiny).all()
    assert abs((tiny * 1e-306).mean() + 1.0) < 5.0 / math.sqrt(1000)
    np.testing.assert_allclose(drawing("_next_log_gamma")(100, (1e300,))[0], math.log(1e300), rtol=1e-15)
    assert set(drawing("_next_gamma")(100, (1e-300,))[0].tolist()) == {0.0}
    np.testing.assert_allclose(drawing("_next_gamma")(100, (1e306,))[0], 1e306, rtol=1e-15)


def test_dirichlet_of_tiny_shapes_is_a_corner_and_its_logarithms_are_finite() -> None:
    corners = drawing("_fill_dirichlet")(1000, (np.full(3, 1e-300),), rows=3)
    assert np.array_equal(np.sort(corners, axis=0), np.repeat([[0.0], [0.0], [1.0]], 1000, axis=1))
    logs = drawing("_fill_log_dirichlet")(1000, (np.full(3, 1e-4),), rows=3)
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(np.exp(logs).sum(axis=0), 1.0, rtol=1e-14)


def test_counts_at_the_edges() -> None:
    for mean in (0.0, 1e-300):
        assert set(drawing("_next_poisson")(1000, (mean,))[0].tolist()) == {0.0}
    for n, p, value in ((0, 0.3, 0), (0, 0.0, 0), (7, 0.0, 0), (7, 1.0, 7), (7, 1e-300, 0), (2**52, 1.0, 2**52)):
        assert set(drawing("_next_binomial")(200, (n, p))[0].tolist()) == {value}, (n, p)
    huge = drawing("_next_poisson")(1000, (1e15,))[0]
    assert np.array_equal(huge, np.floor(huge))
    assert np.abs(huge - 1e15).max() < 6.0 * math.sqrt(1e15)


def test_zero_weight_is_never_drawn() -> None:
    for logits in ([-INF, 0.0], [0.0, -INF], [-800.0, 0.0, -746.0], [1e308, -1e308], [-1e308, -INF, -1e308]):
        found = set(drawing("_next_categorical")(2000, (np.array(logits), np.empty(len(logits))))[0].tolist())
        assert found <= {k for k, one in enumerate(logits) if one == max(logits)}, logits
    last = drawing("_next_categorical")
    for word in (WORD, 0):
        found = last(1, (np.array([0.0, 0.0, -INF]), np.empty(3)), state=state_of_word(word))[0, 0]
        assert found == (1.0 if word else 0.0)


def test_above_a_level_places_are_drawn_as_where_others_have_no_weight() -> None:
    """Bit for bit, with the same words; what stands for the logits of other places is not read."""
    for logits, heights, level in (
        ([0.1, -2.0, 1.5, 0.7, 0.3], [3.0, 1.0, 2.0, -1.0, 5.0], 1.0),
        ([-800.0, 0.0, 3.0], [-1e300, -2e300, -INF], -2e300),
        ([1.0, 1.0], [0.0, 0.0], 0.0),
    ):
        above = np.array(heights) >= level
        size = len(logits)
        plain = drawing("_next_categorical")(2000, (np.where(above, logits, -INF), np.empty(size)))
        for there in (NAN, INF):
            given = (np.where(above, logits, there), np.array(heights), level, np.empty(size))
            assert np.array_equal(drawing("_next_categorical_above")(2000, given), plain)


def test_noncentral_chi_square_and_cir_at_zero() -> None:
    assert set(drawing("_next_noncentral_chi_square")(100, (0.0, 0.0))[0].tolist()) == {0.0}
    assert set(drawing("_next_cir")(100, (0.0, 0.0, *FLOWN))[0].tolist()) == {0.0}
    assert np.isfinite(drawing("_next_cir")(1000, (0.0, 1e-300, *FLOWN))[0]).all()
    assert np.isfinite(drawing("_next_cir")(1000, (1e-300, 1e-4, *FLOWN))[0]).all()


@pytest.mark.slow
def test_the_logarithm_of_a_gamma_of_a_count_is_that_of_its_draw_and_finite_where_that_is_0() -> None:
    for a, mean in ((0.3, 0.7), (2.5, 30.0), (0.8, 0.0)):
        plain = drawing("_next_gamma_of_count")(500, (a, mean))[0]
        np.testing.assert_allclose(drawing("_next_log_gamma_of_count")(500, (a, mean))[0], np.log(plain), rtol=1e-12)
    tiny = drawing("_next_log_gamma_of_count")(1000, (1e-4, 1e-4))[0]
    assert np.isfinite(tiny).all()
    assert tiny.min() < -1000.0


@njit(error_model="numpy", fastmath={"contract", "nsz", "arcp"})
def _terms(which, first, second, out):
    for k in range(out.size):
        if which == 0:
            out[k] = _log_beyond_cubic(first[k])
        elif which == 1:
            out[k] = _stirling_rest(first[k])
        else:
            out[k] = _deviance(first[k], second[k])


def terms(which: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    out = np.empty(first.size)
    _terms(which, first, second, out)
    return out


@pytest.mark.slow
def test_what_gammas_are_accepted_by_is_exact() -> None:
    y = np.concatenate([np.linspace(-0.999, 4.0, 400), np.geomspace(1e-12, 0.2, 50), -np.geomspace(1e-12, 0.2, 50)])
    found = terms(0, y, y)
    with mpmath.workdps(60):
        for at, value in zip(y.tolist(), found.tolist(), strict=True):
            z = mpmath.mpf(at)
            exact = mpmath.log(1 + z) - z + z**2 / 2 - z**3 / 3
            assert abs(value - exact) <= 2e-11 * abs(exact) + (0.0 if abs(at) < 0.1 else 1e-15 * at**2 + 4e-16), at
            assert exact >= -(z**4) / 4 / min(1 + z, 1)  # what is surely accepted


@pytest.mark.slow
def test_what_counts_are_accepted_by_is_exact() -> None:
    k = np.array([0, 1, 2, 9, 100, 255, 256, 257, 1000, 10**6, 10**12, 10**15], float)
    with mpmath.workdps(60):
        for at, value in zip(k.tolist(), terms(1, k, k).tolist(), strict=True):
            exact = mpmath.loggamma(at + 1) - (at * mpmath.log(at) if at else 0) + at
            assert abs(value - exact) <= 1e-14 * abs(exact) + 1e-13
        pairs = [
            (x, x * (1 + r)) for x in (1e1, 1e3, 2e4, 1e9, 1e15) for r in (-0.5, -0.1, -1e-3, 1e-7, 0.05, 0.3, 9.0)
        ]
        k, m = np.array([[np.floor(x), y] for x, y in [*pairs, (0.0, 3.0)]]).T
        for at, mean, value in zip(k.tolist(), m.tolist(), terms(2, k, m).tolist(), strict=True):
            exact = (at * mpmath.log(mpmath.mpf(at) / mean) if at else 0) + mpmath.mpf(mean) - at
            assert abs(value - exact) <= 1e-13 * abs(exact) + 1e-11
