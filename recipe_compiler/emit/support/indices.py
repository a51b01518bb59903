"""Minibatch indices, uniform, with and without replacement."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import numpy as np

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.jit import jitted
from recipe_compiler.emit.support.lanes import _next_bits_of


@jitted
def _fill_indices(state, N, out):
    """Fill `out` (uint64) with independent indices in [0, N), uniform to 2**-52, by 64 lanes; `state` moves on.

    `state` is uint64[256], word w of lane l at 64 w + l. All lanes move on together: what is left over of the last row
    is not used again.
    """
    scale = np.float64(N)
    count = np.uint64(out.size)
    for row in range(0, count, np.uint64(64)):
        left = count - row
        for lane in range(np.uint64(64)):
            bits = _next_bits_of(state, lane)
            u = np.uint64((bits >> 12) | np.uint64(0x3FF0000000000000)).view(np.float64) - 1.0
            if lane < left:
                out[row + lane] = np.uint64(np.int64(u * scale))


@jitted
def _shuffle_indices(state, permutation, out):
    """Fill `out` with a random subset of the rows in `permutation` (uint64), none twice; `state` moves on.

    A partial Fisher-Yates shuffle: all ordered subsets of out.size <= permutation.size rows are equally likely,
    whatever order earlier calls left the permutation in. Each of its choices is uniform to 2**-53.
    """
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    N = np.uint64(permutation.size)
    for k in range(np.uint64(out.size)):
        bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
        chosen = k + np.uint64(np.float64(bits >> 11) * 2.0**-53 * np.float64(N - k))
        row = permutation[chosen]
        permutation[chosen] = permutation[k]
        permutation[k] = row
        out[k] = row
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
