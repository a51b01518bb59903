"""The battery reads the streams that modules draw from, bit for bit, and what is planted does not get through it."""

import ctypes

import battery
import numpy as np
import pytest
from bit_streams import PLANTED, STREAMS, WORDS, Stream

KNOWN = STREAMS | PLANTED


def halves(stream: Stream, count: int, *, backwards: bool = False) -> list[int]:
    """Return what TestU01 is given."""
    state = stream.start()
    block = np.concatenate([np.zeros(1, np.uint64), state, np.zeros(WORDS, np.uint64)])
    get_bits, _ = battery.callbacks(stream.fill, state.size, backwards=backwards)
    function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p)(get_bits.address)
    return [function(None, block.ctypes.data) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lanes", "philox_normals"])
def test_the_battery_is_given_the_words_of_the_stream(name: str) -> None:
    words = KNOWN[name].words()
    pieces = [next(words).copy() for _ in range(2)]
    expected = np.concatenate(pieces).view(np.uint32).tolist()
    assert halves(KNOWN[name], len(expected)) == expected
    backwards = [int(f"{half:032b}"[::-1], 2) for half in expected[:100]]
    assert halves(KNOWN[name], 100, backwards=True) == backwards


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ziggurat", "box_muller", "philox_normals"])
def test_bits_of_normals_are_uniform(name: str) -> None:
    bits = next(KNOWN[name].words()).view(np.uint32)
    counts = np.bincount(bits >> 26, minlength=64)
    expected = bits.size / 64
    assert np.abs(counts - expected).max() <= 5.0 * np.sqrt(expected)


def test_verdicts_are_those_of_both_ends() -> None:
    assert [battery.verdict(p) for p in (0.5, 1e-3, 9e-4, 1 - 9e-4, 9e-7, 1.0)] == [
        "passed", "passed", "suspect", "suspect", "failed", "failed",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_what_is_planted_fails_and_nothing_else(name: str) -> None:
    """BirthdaySpacings, Gap and SimpPoker of SmallCrush; a false alarm in 3 million runs of a stream."""
    try:
        battery.testu01()
    except battery.TestU01MissingError as error:
        pytest.skip(str(error))
    failed = [test for test, p in battery.crush(KNOWN[name], "small", (1, 3, 4)) if battery.verdict(p) == "failed"]
    assert (len(failed) == 3) == (name in PLANTED)
    assert not failed or name in PLANTED
