"""Minibatches of consecutive rows: one random number a step, and data read in order."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import numpy as np

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.jit import jitted


@jitted
def _block_indices(state, N, out):
    """Fill `out` (uint64) with out.size <= N consecutive rows, row 0 after row N - 1; `state` (uint64[4]) moves on.

    The first is uniform to 2**-53, so that every row is in as many of the N blocks as any other.
    """
    bits, state[0], state[1], state[2], state[3] = _next_bits(state[0], state[1], state[2], state[3])
    row = np.uint64(np.float64(bits >> 11) * 2.0**-53 * np.float64(N))
    for k in range(np.uint64(out.size)):
        out[k] = row
        row += np.uint64(1)
        if row == np.uint64(N):
            row = np.uint64(0)
