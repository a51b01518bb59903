"""The state of a chain's noise as words: it is made of words itself, or it is a numpy.random.Generator (PCG64)."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Stream = Words | np.random.Generator

_LOW = 2**64 - 1


def words_of(stream: Stream) -> Words:
    """Return a copy of everything that the next draw of a stream depends on, as 64-bit words.

    For a NumPy generator: the two 128-bit numbers of PCG64, high half first, and the half word left over from the last
    32-bit draw, if any.
    """
    if not isinstance(stream, np.random.Generator):
        return stream.copy()
    found = stream.bit_generator.state
    numbers = found["state"]["state"], found["state"]["inc"]
    halves = [half for number in numbers for half in (number >> 64, number & _LOW)]
    return np.array([*halves, found["has_uint32"], found["uinteger"]], np.uint64)


def set_words(stream: Stream, words: Words) -> None:
    """Put a stream into the state that `words_of` returned for one of its kind, in place."""
    if not isinstance(stream, np.random.Generator):
        stream[:] = words
        return
    state, inc = (int(words[k]) << 64 | int(words[k + 1]) for k in (0, 2))
    stream.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": inc},
        "has_uint32": int(words[4]),
        "uinteger": int(words[5]),
    }
