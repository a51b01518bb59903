"""The random streams of emitted modules as streams of bits, for batteries of tests; and bad ones, planted."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.lanes import _fill_normals_lanes, _next_bits_of
from recipe_compiler.emit.support.normals import _fill_normals
from recipe_compiler.emit.support.philox import _fill_normals_philox, _next_step, _philox
from recipe_compiler.emit.support.seeds import _seed_counters, _seed_words

Words = NDArray[np.uint64]
Fill = Callable[[Words, Words], None]

SEED = 2024
WORDS = 1 << 15
"""Words made at a time."""


@njit
def fill_xoshiro(state: Words, out: Words) -> None:
    """Fill `out` with the words of one generator."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(out.size):
        out[k], s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@njit
def fill_lanes(state: Words, out: Words) -> None:
    """Fill `out`, whole rows of 64, with the words of the lanes."""
    for row in range(0, np.uint64(out.size), np.uint64(64)):
        for lane in range(np.uint64(64)):
            out[row + lane] = _next_bits_of(state, lane)


@njit
def fill_philox(state: Words, out: Words) -> None:
    """Fill `out` with the words of steps of 64 words each."""
    for row in range(0, np.uint64(out.size), np.uint64(64)):
        for place in range(np.uint64(32)):
            a, b = _philox(place, state[1], state[2] & np.uint64(0xFFFFFFFF), state[2] >> 32, state[0])
            out[row + (place << 1)], out[row + (place << 1) + np.uint64(1)] = a, b
        _next_step(state)


@njit
def fill_ziggurat(state: Words, out: Words) -> None:
    """Fill `out` with 32 bits of each normal of one generator."""
    normals = np.empty(2 * out.size)
    _fill_normals(state, normals)
    _uniform(normals, out)


@njit
def fill_box_muller(state: Words, out: Words) -> None:
    """Fill `out` with 32 bits of each normal of the lanes."""
    normals = np.empty(2 * out.size)
    _fill_normals_lanes(state, normals)
    _uniform(normals, out)


@njit
def fill_philox_normals(state: Words, out: Words) -> None:
    """Fill `out` with 32 bits of each normal of the counter, in steps of 64."""
    normals = np.empty(2 * out.size)
    for row in range(0, normals.size, 64):
        _fill_normals_philox(state, 0, normals[row : row + 64])
        _next_step(state)
    _uniform(normals, out)


@njit
def _uniform(normals: NDArray[np.float64], out: Words) -> None:
    for k in range(out.size):
        out[k] = _bits_of(normals[2 * k]) | (_bits_of(normals[2 * k + 1]) << 32)


@njit
def _bits_of(normal: float) -> np.uint64:
    return np.uint64(min(2.0**31 * math.erfc(-math.sqrt(0.5) * normal), 2.0**32 - 1.0))


@njit
def fill_lcg(state: Words, out: Words) -> None:
    """Fill `out` with the low halves of x -> a x + c mod 2**64, with Knuth's constants."""
    for k in range(out.size):
        word = np.uint64(0)
        for _ in range(2):
            state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            word = (word << 32) | (state[0] & np.uint64(0xFFFFFFFF))
        out[k] = word


@dataclass(frozen=True, slots=True)
class Stream:
    """How words are made, and from which state."""

    fill: Fill
    start: Callable[[], Words]

    def words(self) -> Iterator[Words]:
        """Yield the words of the stream without end, in one array."""
        state, out = self.start(), np.empty(WORDS, np.uint64)
        while True:
            self.fill(state, out)
            yield out


def _one() -> Words:
    return _seed_words(SEED, 1, 0, 4)[0]


def _lanes() -> Words:
    return _seed_words(SEED, 1, 0, 256)[0]


def _counter() -> Words:
    return _seed_counters(SEED, 1)[0]


STREAMS = {
    "xoshiro": Stream(fill_xoshiro, _one),
    "lanes": Stream(fill_lanes, _lanes),
    "philox": Stream(fill_philox, _counter),
    "ziggurat": Stream(fill_ziggurat, _one),
    "box_muller": Stream(fill_box_muller, _lanes),
    "philox_normals": Stream(fill_philox_normals, _counter),
}
PLANTED = {
    "alike": Stream(fill_lanes, lambda: np.repeat(_one(), 64)),
    "lcg": Stream(fill_lcg, lambda: _one()[:1].copy()),
}
