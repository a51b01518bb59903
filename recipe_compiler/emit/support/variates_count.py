"""Poisson and binomial draws: by products or sums where the mean is below 10, by transformed rejection above."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

import numpy as np

from recipe_compiler.emit.support.jit import inlined, jitted, not_inlined
from recipe_compiler.emit.support.variates import _MOST_TURNS, _next_uniform

_MOST_COUNT = 2.0**52  # of a mean, or of trials: half of those up to which whole numbers are doubles
_MOST_SEARCHED = 128  # above, counts of mean 10 have probabilities below 2**-256


def _stirling_rests():
    """Return log(k!) - k log(k) + k for k < 256; 0 log(0) = 0."""
    rests = [math.log(math.factorial(k)) - k * math.log(k) + k for k in range(1, 256)]
    return np.array([0.0, *rests])


_STIRLING_RESTS = _stirling_rests()


@jitted
def _stirling_rest(k):
    """Return log(k!) - k log(k) + k for whole k >= 0: from a table below 256, above log(2 pi k)/2 + 1/(12 k) - ..."""
    if k < 256.0:
        return _STIRLING_RESTS[np.uint64(np.int64(k))]
    z = 1.0 / (k * k)
    return 0.5 * math.log(6.283185307179586 * k) + (0.08333333333333333 - z * (0.002777777777777778 - z / 1260.0)) / k


@jitted
def _deviance(k, m):
    """Return k log(k/m) + m - k >= 0, k >= 0, m > 0, where it cancels by a series in (k - m)/(k + m) (Loader 2000)."""
    if k == 0.0:
        return m
    s = (k - m) / (k + m)
    if abs(s) >= 0.1 or m < 1e4:
        return k * math.log(k / m) + m - k
    z = s * s
    p = 0.06666666666666667 + z * 0.058823529411764705
    p = 0.07692307692307693 + z * p
    p = 0.09090909090909091 + z * p
    p = 0.1111111111111111 + z * p
    p = 0.14285714285714285 + z * p
    p = 0.2 + z * p
    p = 0.3333333333333333 + z * p
    return (k - m) * s + 2.0 * k * s * z * p


@inlined
def _next_poisson_by_products(mean, s0, s1, s2, s3):
    """Return how many uniforms it takes beyond the first for their product to be exp(-mean) or less (Knuth)."""
    least = math.exp(-mean)
    product, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
    for k in range(_MOST_SEARCHED):
        if product <= least:
            return np.float64(k), s0, s1, s2, s3
        u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        product *= u
    return math.nan, s0, s1, s2, s3


@not_inlined
def _accepts_poisson(k, mean, v, a, b, edge):
    """Whether v hat(k) <= exp(-`_deviance` - `_stirling_rest`), the probability of k, which cancels at no mean.

    Rare, and therefore not inlined, which has to be said: what a function inlined by force calls would be so too.
    """
    if k < 0.0 or (edge < 0.013 and edge < v):
        return False
    hat = v * (1.1239 + 1.2 / (b - 3.4)) * (edge * edge) / (a + b * (edge * edge))
    return math.log(hat) <= -_deviance(k, mean) - _stirling_rest(k)


@inlined
def _next_poisson_by_rejection(mean, s0, s1, s2, s3):
    """Return a Poisson draw of a mean from 10 on by transformed rejection with squeeze (Hoermann 1993, PTRS).

    k = floor((2 a/(1/2 - |u|) + b) u + mean + 0.43), u uniform on (-1/2, 1/2), accepted by a uniform v. Two constants
    are not those of the paper: with 1.1328 for 1.2 in `_accepts_poisson` the hat is below the probabilities by up to
    0.6 in 100 (at mean 14), with 3.6224 for 3.75 the squeeze is above them (at 34): its draws are not quite Poisson.
    """
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = 0.02483 * b - 0.059
    sure = 0.9277 - 3.75 / (b - 2.0)
    for _ in range(_MOST_TURNS):
        u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        v, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        u -= 0.5
        edge = 0.5 - abs(u)
        k = np.floor((2.0 * a / edge + b) * u + mean + 0.43)
        if (edge >= 0.07 and v <= sure) or _accepts_poisson(k, mean, v, a, b, edge):
            return k, s0, s1, s2, s3
    return math.nan, s0, s1, s2, s3


@inlined
def _next_poisson(mean, s0, s1, s2, s3):
    """Return a Poisson draw as a double, 0 <= mean <= 2**52, else NaN.

    Below 10 it takes one word more than what is drawn, from 10 on two words a turn, of which 75 to 89 of 100 accept.
    """
    if not 0.0 <= mean <= _MOST_COUNT:
        return math.nan, s0, s1, s2, s3
    if mean < 10.0:
        return _next_poisson_by_products(mean, s0, s1, s2, s3)
    return _next_poisson_by_rejection(mean, s0, s1, s2, s3)


@jitted
def _next_binomial_by_sums(n, p, s0, s1, s2, s3):
    """Return the first k at which the sum of probabilities up to k exceeds a uniform; n p < 10, p <= 1/2.

    Those sums are right to 2**-48. What exceeds all of them, at 2**-48 at most, is drawn anew.
    """
    none = math.exp(n * math.log1p(-p))
    odds = p / (1.0 - p)
    last = min(n, _MOST_SEARCHED)
    for _ in range(_MOST_TURNS):
        left, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        weight = none
        k = 0.0
        while k < last and left >= weight:
            left -= weight
            weight *= odds * (n - k) / (k + 1.0)
            k += 1.0
        if left < weight:
            return k, s0, s1, s2, s3
    return math.nan, s0, s1, s2, s3


@jitted
def _next_binomial_by_rejection(n, p, s0, s1, s2, s3):
    """Return a binomial draw, n p >= 10 and p <= 1/2, by transformed rejection with squeeze (Hoermann 1993, BTRS)."""
    q = 1.0 - p
    spread = math.sqrt(n * p * q)
    b = 1.15 + 2.53 * spread
    a = 0.0248 * b + 0.01 * p - 0.0873
    sure = 0.92 - 4.2 / b
    for _ in range(_MOST_TURNS):
        u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        v, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        u -= 0.5
        edge = 0.5 - abs(u)
        k = np.floor((2.0 * a / edge + b) * u + n * p + 0.5)
        if edge >= 0.07 and v <= sure:
            return k, s0, s1, s2, s3
        if 0.0 <= k <= n:
            mode = np.floor((n + 1.0) * p)
            hat = v * (2.83 + 5.1 / b) * spread * (edge * edge) / (a + b * (edge * edge))
            at_k = _deviance(k, n * p) + _deviance(n - k, n * q) + _stirling_rest(k) + _stirling_rest(n - k)
            at_mode = _deviance(mode, n * p) + _deviance(n - mode, n * q) + _stirling_rest(mode)
            if math.log(hat) <= at_mode + _stirling_rest(n - mode) - at_k:
                return k, s0, s1, s2, s3
    return math.nan, s0, s1, s2, s3


@jitted
def _next_binomial(n, p, s0, s1, s2, s3):
    """Return a Binomial(n, p) draw as a double, whole 0 <= n <= 2**52 and 0 <= p <= 1, else NaN.

    Above p = 1/2 it is n less a draw of 1 - p. Takes one word where min(p, 1 - p) n < 10 (none where that is 0), else
    two words a turn, of which 73 to 89 of 100 accept.
    """
    n = np.float64(n)
    if not (0.0 <= n <= _MOST_COUNT and n == np.floor(n) and 0.0 <= p <= 1.0):
        return math.nan, s0, s1, s2, s3
    less = 1.0 - p if p > 0.5 else p
    if n * less == 0.0:
        k = 0.0
    elif n * less < 10.0:
        k, s0, s1, s2, s3 = _next_binomial_by_sums(n, less, s0, s1, s2, s3)
    else:
        k, s0, s1, s2, s3 = _next_binomial_by_rejection(n, less, s0, s1, s2, s3)
    return n - k if p > 0.5 else k, s0, s1, s2, s3
