"""Contiguous blocks: consecutive rows around the end, every first row as likely as any other."""

import numpy as np
import pytest
from numba import njit
from scipy import stats

from recipe_compiler.emit.support.blocks_of_rows import _block_indices


@njit
def block_indices(state, N, out):
    """Call it from jitted code, as `run` does: it has no door to Python."""
    _block_indices(state, N, out)


def start() -> np.ndarray:
    return np.random.SeedSequence(4).generate_state(4, np.uint64)


@pytest.mark.parametrize(("N", "n"), [(1, 1), (2, 1), (7, 3), (7, 7), (1000, 64)])
def test_rows_of_a_block_follow_each_other_around_the_end(N: int, n: int) -> None:
    state, out = start(), np.empty(n, np.uint64)
    firsts = set()
    for _ in range(200):
        block_indices(state, N, out)
        np.testing.assert_array_equal(out, (int(out[0]) + np.arange(n)) % N)
        firsts.add(int(out[0]))
    assert max(firsts) < N
    assert len(firsts) >= min(N, 100)


def test_every_first_row_is_as_likely_as_any_other() -> None:
    state, out = start(), np.empty(5, np.uint64)
    counts = np.zeros(11)
    for _ in range(55_000):
        block_indices(state, 11, out)
        counts[out[0]] += 1
    assert stats.chisquare(counts).pvalue > 1e-4


def test_the_last_row_of_a_huge_file_is_reached_and_none_beyond() -> None:
    state, out = start(), np.empty(2, np.uint64)
    N = 2**40 + 1
    found = []
    for _ in range(1000):
        block_indices(state, N, out)
        found.append(int(out[0]))
    assert 0.9 * N < max(found) < N
    assert min(found) < 0.1 * N
