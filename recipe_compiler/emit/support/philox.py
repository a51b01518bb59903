"""Normals as a function of key, chain, step and place in it: Philox4x32-10, counters instead of a state that is mixed.

The counter of a draw is its pair in the step, the chain, and the step (low and high half). Chains of a run share one
key. Any draw can be had without those before it, and in any order.
"""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import numpy as np
from numba import njit

from recipe_compiler.emit.support.box_muller import _normal_pair
from recipe_compiler.emit.support.flags import _FASTMATH


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _philox_round(c0, c1, c2, c3, k0, k1):
    """Return counter and key after one round; they are 32-bit words held in uint64."""
    a = c0 * np.uint64(0xD2511F53)
    b = c2 * np.uint64(0xCD9E8D57)
    low = np.uint64(0xFFFFFFFF)
    c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & low, (a >> 32) ^ c3 ^ k1, a & low
    return c0, c1, c2, c3, (k0 + np.uint64(0x9E3779B9)) & low, (k1 + np.uint64(0xBB67AE85)) & low


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _philox(c0, c1, c2, c3, key):
    """Return the 128 random bits of a counter of four 32-bit words, as two words (Salmon et al. 2011, 10 rounds).

    Written out: in a loop over rounds the loops over counters would not become vector code.
    """
    k0, k1 = key & np.uint64(0xFFFFFFFF), key >> 32
    c0, c1, c2, c3, k0, k1 = _philox_round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _philox_round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _philox_round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _philox_round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _philox_round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _philox_round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _philox_round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _philox_round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _philox_round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _philox_round(c0, c1, c2, c3, k0, k1)
    return c0 | (c1 << 32), c2 | (c3 << 32)


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _pair_philox(key, chain, step, pair):
    """Return the N(0, 1) draws 2 pair and 2 pair + 1 of a step of a chain: pair < 2**32, chain < 2**32."""
    low = np.uint64(0xFFFFFFFF)
    a, b = _philox(np.uint64(pair), chain & low, step & low, step >> 32, key)
    return _normal_pair(a, b)


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _fill_normals_philox(state, first, out):
    """Fill `out` with the N(0, 1) draws of a step from its draw number `first` on, which is even.

    `state` is uint64[3]: key, chain, number of steps before this one. It stays: `_next_step` moves it on.
    """
    key, chain, step = state[0], state[1], state[2]
    start = np.uint64(first) >> 1
    for pair in range(np.uint64(out.size) >> 1):
        out[pair << 1], out[(pair << 1) + np.uint64(1)] = _pair_philox(key, chain, step, start + pair)
    if out.size & 1:
        pair = np.uint64(out.size) >> 1
        out[pair << 1], _ = _pair_philox(key, chain, step, start + pair)


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _fill_normals_philox_lanes(state, out):
    """Fill `out` with the N(0, 1) draws of a step of 64 chains: draw k of chain l at 64 k + l, as each has it alone.

    `state` is uint64[192], word w of chain l at 64 w + l. Rows come in pairs. The step stays (`_next_step`).
    """
    low = np.uint64(0xFFFFFFFF)
    words = out.view(np.uint64)
    for row in range(0, np.uint64(words.size), np.uint64(128)):
        for lane in range(np.uint64(64)):
            step = state[np.uint64(128) + lane]
            chain = state[np.uint64(64) + lane] & low
            a, b = _philox(row >> 7, chain, step & low, step >> 32, state[lane])
            words[row + lane], words[row + np.uint64(64) + lane] = a, b
        for lane in range(np.uint64(64)):
            one, other = _normal_pair(words[row + lane], words[row + np.uint64(64) + lane])
            words[row + lane] = np.float64(one).view(np.uint64)
            words[row + np.uint64(64) + lane] = np.float64(other).view(np.uint64)


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_step(state):
    """Move the state of Philox streams on by a step: its last third, be it of one chain or of 64."""
    for k in range(2 * state.size // 3, state.size):
        state[k] += np.uint64(1)
