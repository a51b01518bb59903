"""Random numbers in 64 lanes: as many xoshiro256++ generators side by side, which vector instructions advance at once.

The state of all lanes is one flat uint64[256]: word w of lane l is at 64 w + l. With literal offsets into one array
nothing can overlap, and the loops over lanes become vector code. Arrays that such loops read and write should start at
multiples of 512 bytes: a processor that compares addresses by their last 12 bits then never takes a load of the next
lanes for a store of these (measured: up to 1.9 times slower otherwise).
"""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import numpy as np

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.box_muller import _normal_pair
from recipe_compiler.emit.support.jit import inlined, jitted
from recipe_compiler.emit.support.vectors import _wide_vectors


@jitted
def _empty_rows(rows):
    """Return an array for `rows` rows of 64 numbers, with any content, that starts at a multiple of 512 bytes."""
    room = np.empty(64 * rows + 64)
    start = (512 - room.ctypes.data % 512) // 8
    return room[start : start + 64 * rows]


@inlined
def _next_bits_of(state, lane):
    """Return 64 random bits of a lane (uint64, as all offsets here: no sign, no wraparound); its state moves on."""
    s0, s1 = state[lane], state[np.uint64(64) + lane]
    s2, s3 = state[np.uint64(128) + lane], state[np.uint64(192) + lane]
    bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
    state[lane], state[np.uint64(64) + lane] = s0, s1
    state[np.uint64(128) + lane], state[np.uint64(192) + lane] = s2, s3
    return bits


@jitted
def _fill_pairs(state, words):
    """Fill `words` (uint64, whole pairs of rows of 64) with the bits of N(0, 1) draws, one pair of each lane at a time.

    Words, because arrays of one type are known not to overlap by fewer comparisons than arrays of two.
    """
    _wide_vectors()
    for row in range(0, np.uint64(words.size), np.uint64(128)):
        for lane in range(np.uint64(64)):
            one, other = _normal_pair(_next_bits_of(state, lane), _next_bits_of(state, lane))
            words[row + lane] = np.float64(one).view(np.uint64)
            words[row + np.uint64(64) + lane] = np.float64(other).view(np.uint64)


@jitted
def _fill_normals_lanes(state, out):
    """Fill `out` with N(0, 1) draws of 64 lanes; `state` (uint64[256]) moves on.

    Draw 128 k + l and draw 128 k + 64 + l are a pair of lane l. All lanes move on together: what is left over of the
    last pairs is not used again.
    """
    whole = out.size // 128 * 128
    _fill_pairs(state, out[:whole].view(np.uint64))
    if whole < out.size:
        rows = _empty_rows(2)
        _fill_pairs(state, rows.view(np.uint64))
        out[whole:] = rows[: out.size - whole]
