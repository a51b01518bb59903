"""Random bits, normals, indices and seeds of emitted modules: known answers, exactness, independence."""

import math
import re
from collections import Counter

import numpy as np
import pytest
from numba import njit
from reference_draws import assert_normal, reference_bits, reference_normals

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.indices import _fill_indices, _shuffle_indices
from recipe_compiler.emit.support.normals import _fill_normals
from recipe_compiler.emit.support.seeds import _seed_counters, _seed_generators, _seed_words


@njit
def fill_normals(state: np.ndarray, out: np.ndarray) -> None:
    _fill_normals(state, out)


@njit
def fill_indices(state: np.ndarray, N: int, out: np.ndarray) -> None:
    _fill_indices(state, N, out)


@njit
def shuffle_indices(state: np.ndarray, permutation: np.ndarray, out: np.ndarray) -> None:
    _shuffle_indices(state, permutation, out)


@njit
def fill_bits(state: np.ndarray, out: np.ndarray) -> None:
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(out.size):
        out[k], s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)


def state_of(seed: int) -> np.ndarray:
    return _seed_words(seed, 1, 0, 4)[0]


def normals(state: np.ndarray, size: int) -> np.ndarray:
    out = np.empty(size)
    fill_normals(state, out)
    return out


def test_bits_are_those_of_xoshiro256_plus_plus() -> None:
    out = np.empty(1000, np.uint64)
    fill_bits(np.array([1, 2, 3, 4], np.uint64), out)
    stream = reference_bits([1, 2, 3, 4])
    assert out.tolist() == [next(stream) for _ in range(1000)]
    assert out[:3].tolist() == [41943041, 58720359, 3588806011781223]  # the published example's first outputs


@pytest.mark.slow
def test_normals_equal_a_40_digit_ziggurat() -> None:
    state = state_of(3)
    stream = reference_normals(reference_bits(state.tolist()))
    found = normals(state, 20_000)  # some 240 of them beyond the sure part of a layer, some in the tail
    np.testing.assert_allclose(found, [next(stream) for _ in range(20_000)], rtol=1e-12, atol=1e-15)


@pytest.mark.slow
def test_normals_do_not_depend_on_how_many_are_asked_for_at_once() -> None:
    whole = normals(state_of(4), 1000)
    state = state_of(4)
    parts = [normals(state, size) for size in (1, 2, 0, 300, 697)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_normals_have_the_moments_law_and_tails_of_a_normal() -> None:
    assert_normal(normals(state_of(6), 4_000_000), (3.0, 3.6541528853610088, 4.0, 4.5))


@pytest.mark.slow
def test_shuffled_indices_are_distinct_and_the_permutation_stays_one() -> None:
    state, permutation, out = state_of(9), np.arange(50, dtype=np.uint64), np.empty(20, np.uint64)
    for _ in range(200):
        shuffle_indices(state, permutation, out)
        assert len(set(out.tolist())) == 20
        np.testing.assert_array_equal(np.sort(permutation), np.arange(50))


def test_a_batch_of_all_rows_is_a_permutation() -> None:
    out = np.empty(9, np.uint64)
    shuffle_indices(state_of(9), np.arange(9, dtype=np.uint64), out)
    np.testing.assert_array_equal(np.sort(out), np.arange(9))


@njit
def _count_pairs(state: np.ndarray, permutation: np.ndarray, counts: np.ndarray, joint: np.ndarray) -> None:
    out = np.empty(2, np.uint64)
    before = -1
    for _ in range(400_000):
        shuffle_indices(state, permutation, out)
        pair = np.int64(out[0]) * 5 + np.int64(out[1])
        counts[pair] += 1
        if before >= 0:
            joint[before, pair] += 1
        before = pair


@pytest.mark.slow
def test_every_ordered_pair_of_five_is_equally_likely_and_independent_of_the_last() -> None:
    counts, joint = np.zeros(25, np.int64), np.zeros((25, 25), np.int64)
    _count_pairs(state_of(10), np.arange(5, dtype=np.uint64), counts, joint)
    pairs = [5 * a + b for a in range(5) for b in range(5) if a != b]
    assert counts.sum() == counts[pairs].sum() == 400_000
    deviation = math.sqrt(400_000 * (1 / 20) * (19 / 20))
    assert np.abs(counts[pairs] - 20_000).max() <= 5.0 * deviation
    after = joint[np.ix_(pairs, pairs)]
    assert np.abs(after - 399_999 / 400).max() <= 5.0 * math.sqrt(399_999 / 400)


def test_streams_are_disjoint_and_uncorrelated() -> None:
    noise, batch = _seed_words(11, 40, 0, 4), _seed_words(11, 40, 1, 4)
    first = np.empty(500, np.uint64)
    seen: Counter[int] = Counter()
    draws = []
    for state in (*noise, *batch):
        fill_bits(state.copy(), first)
        seen.update(first.tolist())
        draws.append(normals(state.copy(), 20_000))
    assert max(seen.values()) == 1
    correlations = np.corrcoef(draws)[np.triu_indices(80, 1)] * math.sqrt(20_000)
    assert np.abs(correlations).max() <= 5.5  # of 3160
    assert abs(correlations.std() - 1.0) <= 0.1


@pytest.mark.parametrize("words", [4, 256])
def test_streams_of_a_chain_do_not_depend_on_how_many_chains_there_are(words: int) -> None:
    for stream in (0, 1):
        np.testing.assert_array_equal(_seed_words(12, 2, stream, words), _seed_words(12, 9, stream, words)[:2])
    np.testing.assert_array_equal(_seed_counters(12, 2), _seed_counters(12, 9)[:2])
    few, many = _seed_generators(12, 2), _seed_generators(12, 9)
    assert [g.bit_generator.state for g in few] == [g.bit_generator.state for g in many[:2]]


@pytest.mark.parametrize("words", [4, 256])
def test_seeds_are_those_of_seed_sequence(words: int) -> None:
    found = [_seed_words(13, 3, stream, words) for stream in (0, 1)]
    for k, child in enumerate(np.random.SeedSequence(13).spawn(3)):
        for states, own in zip(found, child.spawn(2), strict=True):
            assert states.dtype == np.uint64
            np.testing.assert_array_equal(states[k], own.generate_state(words, np.uint64))


@pytest.mark.parametrize("chains", [1, 2, 3])
def test_the_states_of_lanes_start_at_whole_rows(chains: int) -> None:
    assert {state.ctypes.data % 512 for state in _seed_words(13, chains, 0, 256)} == {0}


def test_batch_size_does_not_shift_the_noise() -> None:
    found = []
    for size in (3, 30):
        noise, batch = _seed_words(14, 1, 0, 4)[0], _seed_words(14, 1, 1, 256)[0]
        rows, z = np.empty(size, np.uint64), []
        for _ in range(10):
            fill_indices(batch, 100, rows)
            z.append(normals(noise, 5))
        found.append(np.concatenate(z))
    np.testing.assert_array_equal(found[0], found[1])


def test_the_rare_path_of_the_ziggurat_is_not_inlined() -> None:
    fill_normals(np.arange(1, 5, dtype=np.uint64), np.empty(1))
    (text,) = fill_normals.inspect_asm().values()
    assert re.search(r"movabsq\s+\$\S*_next_normal_at_edge\S*|call\w*\s+\S*_next_normal_at_edge", text)
