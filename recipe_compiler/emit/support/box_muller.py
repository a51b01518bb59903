"""Pairs of standard normals from pairs of random words without branches, so that loops over them become vector code."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.
# pyright: reportCallIssue=false, reportMissingParameterType=false, reportUnknownParameterType=false
# pyright: reportPrivateUsage=false

import math

import numpy as np
from numba import njit

from recipe_compiler.emit.support.flags import _FASTMATH


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _log(x):
    """Return log(x) to 2 ulp for normal x > 0: x = 2**k m, sqrt(1/2) <= m < sqrt(2), log(m) = 2 atanh((m-1)/(m+1))."""
    bits = np.float64(x).view(np.uint64)
    k = np.int64(bits - np.uint64(0x3FE6A09E667F3BCD)) >> 52
    m = np.uint64(bits - np.uint64(k << 52)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 0.14798198605116586
    p = p * z + 0.15313837699209373
    p = p * z + 0.1818357216161805
    p = p * z + 0.22222198432149784
    p = p * z + 0.2857142874366239
    p = p * z + 0.3999999999940942
    p = p * z + 0.6666666666666735
    k = np.float64(k)
    return k * 0.6931471803691238 + (2.0 * s + (s * z * p + k * 1.9082149292705877e-10))


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _circle_point(bits):
    """Return cos and sin to 2 ulp, at an angle uniform on the circle: 52 bits within a quarter, 2 bits for which."""
    x = (np.uint64((bits >> 12) | np.uint64(0x3FF0000000000000)).view(np.float64) - 1.5) * 1.5707963267948966
    z = x * x
    s = 1.58962301576546568e-10
    s = s * z - 2.50507477628578073e-08
    s = s * z + 2.75573136213857245e-06
    s = s * z - 1.98412698295895386e-04
    s = s * z + 8.33333333332211859e-03
    s = s * z - 1.66666666666666307e-01
    s = x + x * z * s
    c = -1.13585365213876817e-11
    c = c * z + 2.08757008419747317e-09
    c = c * z - 2.75573141792967388e-07
    c = c * z + 2.48015872888517045e-05
    c = c * z - 1.38888888888730564e-03
    c = c * z + 4.16666666666665929e-02
    c = 1.0 - (0.5 * z - z * z * c)
    c = np.uint64(np.float64(c).view(np.uint64) ^ (bits << 63)).view(np.float64)
    turned = (bits & np.uint64(2)) != np.uint64(0)
    return (s if turned else c), (c if turned else s)


@njit(error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _normal_pair(a, b):
    """Return two independent N(0, 1) draws made of two random words (Box and Muller 1958).

    The radius is sqrt(-2 log u) with u the middle of one of 2**52 equal parts of (0, 1). It ends at 8.57, beyond
    which a pair of normals falls with probability 2**-53.
    """
    u = np.uint64((a >> 12) | np.uint64(0x3FF0000000000000)).view(np.float64) - 0.9999999999999999
    radius = math.sqrt(-2.0 * _log(u))
    c, s = _circle_point(b)
    return radius * c, radius * s
