"""Pairs of standard normals from pairs of random words without branches, so that loops over them become vector code."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

import numpy as np

from recipe_compiler.emit.support.jit import inlined


@inlined
def _minus_two_log(x):
    """Return -2 log(x) to 2 ulp for normal x > 0: x = 2**k m, sqrt(1/2) <= m < sqrt(2), t = 4 (1 - m)/(1 + m).

    Then -2 log(m) = 4 atanh(t/4) = t + t**3 p(t**2), with p of degree 6 in pairs: shorter chains of operations.
    """
    bits = np.float64(x).view(np.uint64)
    k = np.int64(bits - np.uint64(0x3FE6A09E667F3BCD)) >> 52
    m = np.uint64(bits - np.uint64(k << 52)).view(np.float64)
    t = (1.0 - m) / (0.25 + 0.25 * m)
    z = t * t
    low = 0.020833333333333547 + z * 0.0007812499999884652
    middle = 3.4877232353103505e-05 + z * 1.6954191919059589e-06
    high = 8.670602875527406e-08 + z * 4.5638792810468e-09 + z * z * 2.7563792849176723e-10
    p = low + z * z * (middle + z * z * high)
    k = np.float64(k)
    return k * -1.3862943607382476 + (t + (t * z * p + k * -3.8164298585411754e-10))


@inlined
def _circle_point(bits):
    """Return cos and sin to 2 ulp, at an angle uniform on the circle: 52 bits within a quarter, 2 bits for which.

    The quarter lies about 0: x is the angle over pi/2, in [-1/2, 1/2).
    """
    x = np.uint64((bits >> 12) | np.uint64(0x3FF0000000000000)).view(np.float64) - 1.5
    z = x * x
    s = 5.6344631588402386e-08
    s = s * z - 3.5986477759195397e-06
    s = s * z + 0.00016044115216851901
    s = s * z - 0.0046817541325625996
    s = s * z + 0.0796926262460598
    s = s * z - 0.6459640975062448
    s = s * z + 1.5707963267948966
    s = x * s
    c = -6.324128083636905e-09
    c = c * z + 4.7106364577487296e-07
    c = c * z - 2.5202037759532392e-05
    c = c * z + 0.0009192602743673871
    c = c * z - 0.020863480763329178
    c = c * z + 0.2536695079010476
    c = c * z - 1.2337005501361697
    c = c * z + 1.0
    c = np.uint64(np.float64(c).view(np.uint64) ^ (bits << 63)).view(np.float64)
    turned = (bits & np.uint64(2)) != np.uint64(0)
    return (s if turned else c), (c if turned else s)


@inlined
def _normal_pair(a, b):
    """Return two independent N(0, 1) draws made of two random words (Box and Muller 1958).

    The radius is sqrt(-2 log u) with u the middle of one of 2**52 equal parts of (0, 1). It ends at 8.57, beyond
    which a pair of normals falls with probability 2**-53.
    """
    u = np.uint64((a >> 12) | np.uint64(0x3FF0000000000000)).view(np.float64) - 0.9999999999999999
    radius = math.sqrt(_minus_two_log(u))
    c, s = _circle_point(b)
    return radius * c, radius * s
