"""Decisions of moves: made of two normals, with the probabilities they are to have."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from recipe_compiler.emit.support.text import support_text

PAIRS = 200_000
NORMALS = np.random.default_rng(4).standard_normal((PAIRS, 2))
LOOPS = """
@njit
def decided(log_ratio, normals):
    taken, probability = np.empty(len(normals), np.bool_), 0.0
    for k in range(len(normals)):
        taken[k], probability = _accepted(log_ratio, normals[k, 0], normals[k, 1])
    return taken, probability


@njit
def lengths(least, most, normals):
    out = np.empty(len(normals), np.int64)
    for k in range(len(normals)):
        out[k] = _uniform_integer(least, most, normals[k, 0], normals[k, 1])
    return out
"""


BELOW = """
@njit
def levels(value, level):
    return _reaches(value, level), (_told_below(0.0, level, value), _told_below(1.0, level, value))
"""
TOLD = """
@njit
def told(led, log_ratio):
    return _guards(led, log_ratio)
"""


def compiled(
    *change: str, of: tuple[str, ...] = ("_accepted", "_uniform_integer"), loops: str = LOOPS
) -> SimpleNamespace:
    """Return functions that call those of the support, with a change of their text."""
    text = support_text(of)
    if change:
        old, new = change
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    module: dict[str, object] = {}
    exec(compile(f"import math\nimport numpy as np\nfrom numba import njit\n{text}{loops}", "<moves>", "exec"), module)
    return SimpleNamespace(**module)


@pytest.fixture(scope="module")
def moves() -> SimpleNamespace:
    return compiled()


def off(count: int, probability: float) -> float:
    """Return how many standard errors a count of the pairs is off."""
    return abs(count - PAIRS * probability) / math.sqrt(PAIRS * probability * (1.0 - probability))


def chi_square(counts: np.ndarray) -> float:
    """Return the chi-square of equal counts, in its standard deviations beyond its mean."""
    expected, freedom = PAIRS / len(counts), len(counts) - 1
    return (((counts - expected) ** 2).sum() / expected - freedom) / math.sqrt(2.0 * freedom)


@pytest.mark.parametrize("log_ratio", [-0.01, -0.5, -1.0, -3.0, -7.0])
def test_what_is_less_likely_is_taken_as_often_as_it_is(moves: SimpleNamespace, log_ratio: float) -> None:
    taken, probability = moves.decided(log_ratio, NORMALS)
    assert probability == pytest.approx(math.exp(log_ratio), rel=1e-15)
    assert off(int(taken.sum()), math.exp(log_ratio)) < 5.0


@pytest.mark.parametrize(
    ("log_ratio", "takes", "stated"),
    [
        (1e-300, True, 1.0), (3.0, True, 1.0), (math.inf, False, 0.0), (-800.0, False, 0.0), (-math.inf, False, 0.0),
        (math.nan, False, 0.0),
    ],
)  # fmt: skip
def test_what_is_sure_is_sure(moves: SimpleNamespace, log_ratio: float, takes: bool, stated: float) -> None:
    taken, probability = moves.decided(log_ratio, NORMALS)
    assert set(taken) == {takes}
    assert probability == stated


@pytest.mark.parametrize(("least", "most"), [(1, 20), (3, 4), (7, 7), (1, 1000)])
def test_lengths_are_uniform_with_both_ends(moves: SimpleNamespace, least: int, most: int) -> None:
    drawn = moves.lengths(least, most, NORMALS)
    assert (drawn.min(), drawn.max()) == (least, most)
    if least < most:
        assert chi_square(np.bincount(drawn - least)) < 6.0


def test_two_normals_of_zero_are_the_longest(moves: SimpleNamespace) -> None:
    """There u = 1, beyond the end of the last cell."""
    assert moves.lengths(1, 20, np.zeros((1, 2))) == [20]


@pytest.mark.slow
def test_wrong_decisions_are_seen_with_as_many_pairs() -> None:
    halved = compiled("-0.5 * (a * a + b * b) < log_ratio", "-(a * a + b * b) < log_ratio")
    assert off(int(halved.decided(-1.0, NORMALS)[0].sum()), math.exp(-1.0)) > 50.0
    one = compiled("u = _exp(-0.5 * (a * a + b * b))", "u = _exp(-0.5 * (a * a + a * a))")
    assert chi_square(np.bincount(one.lengths(1, 20, NORMALS) - 1, minlength=20)) > 50.0
    refused = compiled("if known else 0.0", "if known else 1.0")
    assert refused.decided(math.nan, NORMALS)[1] == 1.0
    overflowed = compiled("known = log_ratio < math.inf", "known = log_ratio == log_ratio")
    assert overflowed.decided(math.inf, NORMALS)[0].all()


def test_guards_tell_no_number_from_no_way_back() -> None:
    told = compiled(of=("_guards",), loops=TOLD).told
    inf, nan = math.inf, math.nan
    for led, log_ratio, expected in (
        (-0.5, -0.5, (0, 0)), (2.0, 2.0, (0, 0)), (-0.5, -inf, (0, 1)), (3.0, -inf, (0, 1)), (nan, -inf, (1, 0)),
        (-inf, -inf, (0, 0)), (inf, -inf, (0, 1)), (inf, inf, (0, 0)),
    ):  # fmt: skip
        assert told(led, log_ratio) == expected, (led, log_ratio)


def test_a_level_is_reached_by_what_is_at_it_or_above() -> None:
    """NaN neither reaches a level nor is told to be below one."""
    levels = compiled(of=("_reaches", "_told_below"), loops=BELOW).levels
    numbers = np.array([-math.inf, -1.0, 0.0, 2.0, math.inf, math.nan])
    for value in numbers:
        for level in numbers:
            reached, told = levels(value, level)
            assert reached is bool(value >= level)
            assert told == (1.0 if level < value else 0.0, 1.0)
