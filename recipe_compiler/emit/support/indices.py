"""Minibatch indices, exactly uniform, with and without replacement."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.
# pyright: reportCallIssue=false, reportMissingParameterType=false, reportUnknownParameterType=false
# pyright: reportPrivateUsage=false

import numpy as np
from numba import njit

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.flags import _FASTMATH


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _below(bound, s0, s1, s2, s3):
    """Return an exactly uniform integer in [0, bound), bound <= 2**32, and the state after it (Lemire 2019)."""
    bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
    product = (bits >> 32) * bound
    if product & np.uint64(0xFFFFFFFF) < bound:
        short = (np.uint64(0x100000000) - bound) % bound
        while product & np.uint64(0xFFFFFFFF) < short:
            bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
            product = (bits >> 32) * bound
    return product >> 32, s0, s1, s2, s3


@njit(error_model="numpy", fastmath=_FASTMATH, no_cfunc_wrapper=True)
def _fill_indices(state, N, out):
    """Fill `out` (uint64) with independent uniform indices in [0, N), N <= 2**32; `state` moves on, uint64[4]."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(np.uint64(out.size)):
        out[k], s0, s1, s2, s3 = _below(np.uint64(N), s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@njit(error_model="numpy", fastmath=_FASTMATH, no_cfunc_wrapper=True)
def _shuffle_indices(state, permutation, out):
    """Fill `out` with a uniform subset of the rows in `permutation` (uint64), in random order, none twice.

    A partial Fisher-Yates shuffle: every ordered subset of out.size <= permutation.size rows is equally likely,
    whatever order earlier calls left the permutation in.
    """
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    N = np.uint64(permutation.size)
    for k in range(np.uint64(out.size)):
        ahead, s0, s1, s2, s3 = _below(N - k, s0, s1, s2, s3)
        row = permutation[k + ahead]
        permutation[k + ahead] = permutation[k]
        permutation[k] = row
        out[k] = row
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
