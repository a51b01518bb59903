"""digamma and trigamma for positive numbers: recurrence to where a series holds, and a polynomial about the root."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

from recipe_compiler.emit.support.jit import jitted


@jitted
def _digamma(x):
    """Return the derivative of log gamma for x > 0 to 4 ulp, NaN elsewhere.

    From 10 on by log x - 1/(2 x) - sum_k B_2k/(2 k x**(2 k)); below by digamma(x + 1) = digamma(x) + 1/x from [1, 2],
    where it is x less its root times a polynomial: no digit is lost at the root.
    """
    if not x > 0.0:
        return math.nan
    if x >= 10.0:
        z = 1.0 / (x * x)
        p = 0.021092796092796094 - z * 0.08333333333333333
        p = 0.007575757575757576 - z * p
        p = 0.004166666666666667 - z * p
        p = 0.003968253968253968 - z * p
        p = 0.008333333333333333 - z * p
        p = 0.08333333333333333 - z * p
        return math.log(x) - 0.5 / x - z * p
    total = 0.0
    while x > 2.0:
        x -= 1.0
        total += 1.0 / x
    if x < 1.0:
        total -= 1.0 / x
        x += 1.0
    t = x - 1.5
    p = -0.00017312261802727394
    p = p * t + 0.00025968482126430747
    p = p * t - 0.00015148586836773365
    p = p * t + 0.0002272331660987376
    p = p * t - 0.0004821990530566789
    p = p * t + 0.0007233266279287554
    p = p * t - 0.0010376374098418604
    p = p * t + 0.0015566317474486838
    p = p * t - 0.002345267632540769
    p = p * t + 0.003519006401502276
    p = p * t - 0.005279964873257405
    p = p * t + 0.007926944646403797
    p = p * t - 0.011908218001568644
    p = p * t + 0.0179072524394512
    p = p * t - 0.02697579675613825
    p = p * t + 0.04076083381242074
    p = p * t - 0.061922133273064534
    p = p * t + 0.09498872445494122
    p = p * t - 0.14840492305390884
    p = p * t + 0.2405424842407742
    p = p * t - 0.4236274212814605
    p = p * t + 0.951055876031833
    return total + ((x - 1.4616321449683622) - 9.549995429965697e-17) * p


@jitted
def _trigamma(x):
    """Return the second derivative of log gamma for x > 0 to 4 ulp, NaN elsewhere.

    From 10 on by 1/x + 1/(2 x**2) + sum_k B_2k/x**(2 k + 1); below by trigamma(x) = trigamma(x + 1) + 1/x**2.
    """
    if not x > 0.0:
        return math.nan
    total = 0.0
    while x < 10.0:
        total += 1.0 / (x * x)
        x += 1.0
    z = 1.0 / (x * x)
    p = 1.1666666666666667 - z * 7.092156862745098
    p = 0.2531135531135531 - z * p
    p = 0.07575757575757576 - z * p
    p = 0.03333333333333333 - z * p
    p = 0.023809523809523808 - z * p
    p = 0.03333333333333333 - z * p
    p = 0.16666666666666666 - z * p
    return total + (1.0 / x + z * 0.5 + z * p / x)
