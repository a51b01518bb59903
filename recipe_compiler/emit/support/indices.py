"""Minibatch indices, uniform, with and without replacement."""


# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.
# pyright: reportCallIssue=false, reportMissingParameterType=false, reportUnknownParameterType=false
# pyright: reportPrivateUsage=false

import numpy as np
from numba import njit

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.flags import _FASTMATH


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _fill_indices(state, N, out):
    """Fill `out` (uint64) with independent indices in [0, N), uniform to 2**-53; `state` (uint64[4]) moves on."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    scale = 2.0**-53 * N
    for k in range(np.uint64(out.size)):
        bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
        out[k] = np.uint64(np.float64(bits >> 11) * scale)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
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
