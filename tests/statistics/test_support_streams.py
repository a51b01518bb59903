"""Large samples of the emitted random streams. Thresholds of 5 sigma: one false alarm in 1.7 million per figure."""

import math

import numpy as np
import pytest
from numba import njit
from scipy.special import ndtr, ndtri

from recipe_compiler.emit.support.indices import _fill_indices, _shuffle_indices
from recipe_compiler.emit.support.normals import _fill_normals
from recipe_compiler.emit.support.seeds import _seed_words

pytestmark = pytest.mark.slow


@njit
def fill_normals(state: np.ndarray, out: np.ndarray) -> None:
    _fill_normals(state, out)


@njit
def fill_indices(state: np.ndarray, N: int, out: np.ndarray) -> None:
    _fill_indices(state, N, out)


@njit
def shuffle_indices(state: np.ndarray, permutation: np.ndarray, out: np.ndarray) -> None:
    _shuffle_indices(state, permutation, out)


def normals(seed: int, size: int) -> np.ndarray:
    out = np.empty(size)
    fill_normals(_seed_words(seed, 1, 0, 4)[0], out)
    return out


def test_normals_follow_the_normal_law_at_ten_million() -> None:
    z = np.sort(normals(101, 10_000_000))
    distance = np.abs(ndtr(z) - (np.arange(z.size) + 0.5) / z.size).max()
    assert distance * math.sqrt(z.size) <= 2.75  # Kolmogorov: p = 5.4e-7


def test_normals_fill_equal_bins_equally() -> None:
    """65536 bins of equal probability see errors within single layers of the ziggurat."""
    edges = ndtri(np.arange(1, 65536) / 65536)
    counts = np.zeros(65536)
    for seed in range(10):
        counts += np.bincount(np.searchsorted(edges, normals(200 + seed, 10_000_000)), minlength=65536)
    expected = 1e8 / 65536
    chi2 = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi2 - 65535) <= 5.0 * math.sqrt(2 * 65535)


def test_moments_at_a_hundred_million() -> None:
    powers = {1: (0, 1), 2: (1, 2), 3: (0, 15), 4: (3, 96), 5: (0, 945), 6: (15, 10170)}
    totals = dict.fromkeys(powers, 0.0)
    beyond = dict.fromkeys((3.0, 4.0, 5.0), 0)
    for seed in range(10):
        z = normals(300 + seed, 10_000_000)
        product = np.ones_like(z)
        for power in powers:
            product *= z
            totals[power] += float(product.sum())
        for edge in beyond:
            beyond[edge] += int((np.abs(z) > edge).sum())
    for power, (mean, variance) in powers.items():
        assert abs(totals[power] / 1e8 - mean) <= 5.0 * math.sqrt(variance / 1e8), power
    for edge, count in beyond.items():
        expected = 2e8 * ndtr(-edge)
        assert abs(count - expected) <= 5.0 * math.sqrt(expected), edge


def test_successive_normals_are_uncorrelated() -> None:
    z = normals(400, 10_000_000)
    for lag in range(1, 33):
        for f in (z, z * z - 1.0):
            scale = float((f * f).mean())
            assert abs(float((f[:-lag] * f[lag:]).mean()) / scale) <= 5.0 / math.sqrt(z.size - lag), lag


def test_streams_of_chains_are_independent_of_each_other_and_of_the_batches() -> None:
    noise, batch = _seed_words(500, 32, 0, 4), _seed_words(500, 32, 1, 4)
    z = np.empty((64, 1_000_000))
    for k in range(32):
        fill_normals(noise[k], z[k])
        fill_normals(batch[k], z[32 + k])
    correlations = np.corrcoef(z)[np.triu_indices(64, 1)] * 1000.0
    assert np.abs(correlations).max() <= 5.7  # of 2016
    assert abs(correlations.std() - 1.0) <= 5.0 / math.sqrt(2 * 2016)


@pytest.mark.parametrize(("N", "size"), [(569, 64), (100_003, 6400)])
def test_indices_are_uniform_with_and_without_replacement(N: int, size: int) -> None:
    with_, without = _seed_words(600, 1, 1, 256)[0], _seed_words(601, 1, 1, 4)[0]
    permutation, rows = np.arange(N, dtype=np.uint64), np.empty(size, np.uint64)
    ones, others = np.zeros(N), np.zeros(N)
    batches = 400 * N // size
    for _ in range(batches):
        fill_indices(with_, N, rows)
        ones += np.bincount(rows.astype(np.int64), minlength=N)
        shuffle_indices(without, permutation, rows)
        others += np.bincount(rows.astype(np.int64), minlength=N)
    expected = size * batches / N
    for counts, spread in ((ones, 1.0), (others, 1.0 - size / N)):
        assert counts.sum() == size * batches
        chi2 = ((counts - expected) ** 2 / expected).sum() / spread
        assert abs(chi2 - (N - 1)) <= 5.0 * math.sqrt(2.0 * N)
