"""exp, sigmoid and softplus without branches, so that loops over them become vector instructions."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

import numpy as np

from recipe_compiler.emit.support.jit import inlined


@inlined
def _exp(x):
    """Return exp(x) to 1 ulp: x = k log 2 + r, a polynomial in r on |r| <= log(2)/2, and 2**k in two halves."""
    x = 710.0 if x > 710.0 else x
    x = -746.0 if x < -746.0 else x
    shifted = x * 1.4426950408889634 + 6755399441055744.0  # 1.5 * 2**52: rounds, and leaves k in the low bits
    k = shifted - 6755399441055744.0
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    p = 2.5100472505694996e-08
    p = p * r + 2.7620201591031547e-07
    p = p * r + 2.7557268276905696e-06
    p = p * r + 2.4801521057868204e-05
    p = p * r + 0.00019841269863171557
    p = p * r + 0.0013888888917367081
    p = p * r + 0.008333333333330039
    p = p * r + 0.041666666666623824
    p = p * r + 0.16666666666666669
    p = p * r + 0.5000000000000001
    p = p * (r * r) + r + 1.0
    bits = np.float64(shifted).view(np.uint64) - np.uint64(0x4337FFFFFFFFF800)  # k + 2048
    half = bits >> 1
    low = np.uint64((half - np.uint64(1)) << 52).view(np.float64)
    high = np.uint64((bits - half - np.uint64(1)) << 52).view(np.float64)
    return p * low * high


@inlined
def _sigmoid(x):
    """Return 1/(1 + exp(-x)), as e/(1 + e) with e = exp(-|x|) for x < 0: no overflow, small values kept."""
    e = _exp(-abs(x))
    return (e if x < 0.0 else 1.0) / (1.0 + e)


@inlined
def _softplus(x):
    """Return log(1 + exp(x)) as max(x, 0) + log1p(e), e = exp(-|x|), log1p(e) = 2 atanh(s), s = e/(2 + e) <= 1/3."""
    e = _exp(-abs(x))
    s = e / (2.0 + e)
    z = s * s
    p = 0.1616850897238873
    p = p * z + 0.08798633619507515
    p = p * z + 0.12001484893288758
    p = p * z + 0.1331410088429106
    p = p * z + 0.15385572707174294
    p = p * z + 0.18181789341994842
    p = p * z + 0.22222222719299936
    p = p * z + 0.28571428567090246
    p = p * z + 0.4000000000001465
    p = p * z + 0.6666666666666666
    return (x if x > 0.0 else 0.0) + (2.0 * s + s * z * p)


@inlined
def _exprel(x):
    """Return (exp(x) - 1)/x, and 1 at 0: expm1 keeps the digits of small x."""
    return 1.0 if x == 0.0 else math.expm1(x) / x


@inlined
def _sqrtcoth(x):
    """Return sqrt(x) coth(sqrt(x)), sqrt(-x) cot(sqrt(-x)) for x < 0; not a number from the pole at -pi**2 on.

    For |x| <= 1 it is Lambert's continued fraction 1 + x/(3 + x/(5 + ...)) to x/19: 2e-19 away.
    """
    if abs(x) <= 1.0:
        p = (((x + 1485.0) * x + 315315.0) * x + 18918900.0) * x + 310134825.0
        q = ((55.0 * x + 25740.0) * x + 2837835.0) * x + 91891800.0
        return (p * x + 654729075.0) / (q * x + 654729075.0)
    r = math.sqrt(abs(x))
    if x > 0.0:
        return r / math.tanh(r)
    return r / math.tan(r) if r < 3.141592653589793 else math.nan


@inlined
def _reciprocal(x):
    """Return 1/x where x > 0, else not a number."""
    return 1.0 / x if x > 0.0 else math.nan


@inlined
def _sign(x):
    """Return -1, 0 or 1 with the sign of x; NaN counts as 1."""
    return 0.0 if x == 0.0 else math.copysign(1.0, x)
