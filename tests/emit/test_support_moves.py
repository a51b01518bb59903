"""Decisions of moves: made of two normals, with the probabilities they are to have."""

import math
from typing import Any

import numpy as np
import pytest
from emitted_draws import support

PAIRS = 2000
NORMALS = np.random.default_rng(4).standard_normal((PAIRS, 2))
S = support(("_accepted", "_uniform_integer", "_uniform_up_to", "_guards", "_reaches", "_told_below"))
INF, NAN = math.inf, math.nan


def decided(log_ratio: float) -> tuple[list[Any], list[Any]]:
    """Return whether a move is taken with each pair of normals, and the probabilities that are told."""
    with np.errstate(all="ignore"):
        taken, told = zip(*(S._accepted(np.float64(log_ratio), *pair) for pair in NORMALS), strict=True)
    return [*taken], [*told]


@pytest.mark.parametrize("log_ratio", [-0.01, -0.5, -1.0, -3.0])
def test_what_is_less_likely_is_taken_as_often_as_it_is(log_ratio: float) -> None:
    taken, told = decided(log_ratio)
    p = math.exp(log_ratio)
    assert told == pytest.approx([p] * PAIRS, rel=1e-15)
    assert abs(sum(taken) - PAIRS * p) < 5.0 * math.sqrt(PAIRS * p * (1.0 - p))


@pytest.mark.parametrize(
    ("log_ratio", "takes", "stated"),
    [(1e-300, True, 1.0), (3.0, True, 1.0), *((one, False, 0.0) for one in (INF, -800.0, -INF, NAN))],
)
def test_what_is_sure_is_sure(log_ratio: float, takes: bool, stated: float) -> None:
    taken, told = decided(log_ratio)
    assert set(taken) == {takes}
    assert set(told) == {stated}


@pytest.mark.parametrize(("least", "most"), [(1, 20), (3, 4), (7, 7), (1, 200)])
def test_lengths_are_uniform_with_both_ends(least: int, most: int) -> None:
    """Two normals of zero are the longest: there u = 1, beyond the end of the last cell."""
    drawn = np.array([S._uniform_integer(least, most, *pair) for pair in NORMALS]).astype(int)
    assert S._uniform_integer(least, most, 0.0, 0.0) == most
    assert (drawn.min(), drawn.max()) == (least, most)
    counts = np.bincount(drawn - least)
    expected, freedom = PAIRS / len(counts), max(len(counts) - 1, 1)
    assert (((counts - expected) ** 2).sum() / expected - freedom) / math.sqrt(2.0 * freedom) < 6.0


@pytest.mark.parametrize(("longest", "most"), [(20.0, 20), (2.25, 3), (0.125, 1)])
def test_lengths_up_to_a_number_that_is_rounded_up(longest: float, most: int) -> None:
    for pair in NORMALS:
        assert S._uniform_up_to(np.float64(longest), *pair) == S._uniform_integer(1, most, *pair)


@pytest.mark.parametrize(
    ("led", "log_ratio", "expected"),
    [
        (-0.5, -0.5, (0, 0)), (2.0, 2.0, (0, 0)), (-0.5, -INF, (0, 1)), (3.0, -INF, (0, 1)), (NAN, -INF, (1, 0)),
        (-INF, -INF, (0, 0)), (INF, -INF, (0, 1)), (INF, INF, (0, 0)),
    ],
)  # fmt: skip
def test_guards_tell_no_number_from_no_way_back(led: float, log_ratio: float, expected: tuple[int, int]) -> None:
    assert S._guards(led, log_ratio) == expected


@pytest.mark.parametrize("value", [-INF, -1.0, 0.0, 2.0, INF, NAN])
def test_a_level_is_reached_by_what_is_at_it_or_above(value: float) -> None:
    """NaN neither reaches a level nor is told to be below one."""
    for level in (-INF, -1.0, 0.0, 2.0, INF, NAN):
        assert S._reaches(value, level) is (value >= level)
        assert [S._told_below(told, level, value) for told in (0.0, 1.0)] == [float(level < value), 1.0]
