"""Philox noise: known answers, a draw is a function of key, chain, step and place; the law of the draws."""

import math

import numpy as np
import pytest
from numba import njit
from reference_draws import assert_normal

from recipe_compiler.emit.support.box_muller import _normal_pair
from recipe_compiler.emit.support.generators import _fill_normals_numpy
from recipe_compiler.emit.support.philox import _fill_normals_philox, _fill_normals_philox_lanes, _next_step, _philox
from recipe_compiler.emit.support.seeds import _seed_counters, _seed_generators

LOW = 2**32 - 1


@njit
def fill_normals(state: np.ndarray, first: int, out: np.ndarray) -> None:
    _fill_normals_philox(state, first, out)


@njit
def fill_lanes(state: np.ndarray, out: np.ndarray) -> None:
    _fill_normals_philox_lanes(state, out)


@njit
def next_step(state: np.ndarray) -> None:
    _next_step(state)


@njit
def fill_normals_numpy(generator: np.random.Generator, out: np.ndarray) -> None:
    _fill_normals_numpy(generator, out)


@njit
def philox(counter: np.ndarray, key: np.uint64) -> tuple[np.uint64, np.uint64]:
    return _philox(counter[0], counter[1], counter[2], counter[3], key)


@njit
def pair(a: np.uint64, b: np.uint64) -> tuple[float, float]:
    return _normal_pair(a, b)


def words(counter: list[int], key: list[int]) -> list[int]:
    a, b = philox(np.array(counter, np.uint64), np.uint64(key[0] | key[1] << 32))
    return [a & LOW, a >> 32, b & LOW, b >> 32]


def normals(state: np.ndarray, size: int, first: int = 0) -> np.ndarray:
    """Return draws of a step, after which the next one begins."""
    out = np.empty(size)
    fill_normals(state, first, out)
    next_step(state)
    return out


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([LOW] * 4, [LOW] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)  # fmt: skip
def test_bits_are_the_known_answers_of_random123(counter: list[int], key: list[int], expected: list[int]) -> None:
    assert words(counter, key) == expected


def test_bits_are_those_of_a_reference_in_pythons_integers() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        counter, key = rng.integers(0, LOW, 4).tolist(), rng.integers(0, LOW, 2).tolist()
        c, k = list(counter), list(key)
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(b >> 32) ^ c[1] ^ k[0], b & LOW, (a >> 32) ^ c[3] ^ k[1], a & LOW]
            k = [(k[0] + 0x9E3779B9) & LOW, (k[1] + 0xBB67AE85) & LOW]
        assert words(counter, key) == c


@pytest.mark.parametrize(("size", "first"), [(0, 0), (1, 0), (2, 0), (7, 4), (500, 512)])
def test_a_draw_is_a_function_of_key_chain_step_and_place(size: int, first: int) -> None:
    key, chain, step = 0x123456789ABCDEF0, 77, 2**32 + 5
    state = np.array([key, chain, step], np.uint64)
    found = normals(state, size, first)
    assert state.tolist() == [key, chain, step + 1]
    expected = []
    for place in range(first // 2, (first + size + 1) // 2):
        w = words([place, chain, 5, 1], [key & LOW, key >> 32])
        expected += pair(np.uint64(w[0] | w[1] << 32), np.uint64(w[2] | w[3] << 32))
    np.testing.assert_allclose(found, expected[:size], rtol=1e-14)


def test_a_step_drawn_in_parts_is_the_step() -> None:
    whole = normals(_seed_counters(3, 1)[0], 101)
    parts = [normals(_seed_counters(3, 1)[0], size, first) for first, size in ((64, 37), (0, 64))]
    np.testing.assert_array_equal(np.concatenate(parts[::-1]), whole)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2, 6])
def test_lanes_draw_what_every_chain_draws_alone(rows: int) -> None:
    chains = _seed_counters(8, 64)
    chains[:, 2] = np.arange(64) + 2**32 - 5
    state, out = np.ascontiguousarray(chains.T).ravel(), np.empty(64 * rows)
    fill_lanes(state, out)
    alone = np.stack([normals(chain.copy(), rows) for chain in chains])
    np.testing.assert_allclose(out.reshape(rows, 64).T, alone, rtol=1e-14)
    next_step(state)
    np.testing.assert_array_equal(state.reshape(3, 64).T, chains + np.array([0, 0, 1], np.uint64))


def test_a_chain_can_be_continued_from_any_step() -> None:
    state = _seed_counters(3, 2)[1]
    whole = [normals(state, 5) for _ in range(4)]
    later = _seed_counters(3, 2)[1]
    later[2] = 3
    np.testing.assert_array_equal(normals(later, 5), whole[3])


@pytest.mark.slow
def test_normals_have_the_moments_tails_and_law_of_a_normal() -> None:
    state = _seed_counters(4, 1)[0]
    z = np.concatenate([normals(state, 1001) for _ in range(4000)])
    assert_normal(z, (3.0, 4.0, 4.5))


def test_chains_steps_and_seeds_are_uncorrelated() -> None:
    draws = []
    for seed in range(8):
        for state in _seed_counters(seed, 4):
            draws += [normals(state, 20_000) for _ in range(2)]
    correlations = np.corrcoef(draws)[np.triu_indices(64, 1)] * math.sqrt(20_000)
    assert np.abs(correlations).max() <= 5.5  # of 2016
    assert abs(correlations.std() - 1.0) <= 0.1


@pytest.mark.slow
def test_draws_of_a_generator_are_those_that_numpy_gives() -> None:
    mine, theirs = _seed_generators(5, 2)[1], _seed_generators(5, 2)[1]
    out = np.empty(3000)
    fill_normals_numpy(mine, out)
    np.testing.assert_array_equal(out, theirs.standard_normal(3000))
    assert mine.bit_generator.state == theirs.bit_generator.state
