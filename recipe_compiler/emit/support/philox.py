"""Normals as a function of key, chain, call and place: Philox4x32-10, counters instead of a state that is mixed."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.
# pyright: reportCallIssue=false, reportMissingParameterType=false, reportUnknownParameterType=false
# pyright: reportPrivateUsage=false

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


@njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _fill_normals_philox(state, out):
    """Fill `out` with N(0, 1) draws; `state` is uint64[3]: key, chain, number of calls before this one, which moves on.

    Draw k of call t of chain c is a function of (key, c, t, k // 2) alone, k < 2**33: any draw can be had without
    those before it.
    """
    low = np.uint64(0xFFFFFFFF)
    key, chain, call = state[0], state[1] & low, state[2]
    for place in range(np.uint64(out.size) >> 1):
        a, b = _philox(place, chain, call & low, call >> 32, key)
        out[place << 1], out[(place << 1) + np.uint64(1)] = _normal_pair(a, b)
    if out.size & 1:
        place = np.uint64(out.size) >> 1
        a, b = _philox(place, chain, call & low, call >> 32, key)
        out[place << 1], _ = _normal_pair(a, b)
    state[2] = call + np.uint64(1)
