"""Gamma draws and their logarithms; beta draws from logarithms, which do not underflow."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

from recipe_compiler.emit.support.jit import inlined, not_inlined
from recipe_compiler.emit.support.normals import _next_normal
from recipe_compiler.emit.support.special import _softplus
from recipe_compiler.emit.support.variates import _MOST_TURNS, _next_uniform

_LEAST_SHAPE = 1e-306  # below, logarithms of gamma draws are beyond the doubles
_MOST_SHAPE = 1e306  # above, nine times the shape is


@inlined
def _log_beyond_cubic(y):
    """Return log(1 + y) - y + y**2/2 - y**3/3 <= 0 for y > -1, the first terms cancelled where y is small."""
    if abs(y) >= 0.1:
        return math.log(1.0 + y) - y * (1.0 - y * (0.5 - y * 0.3333333333333333))
    p = 0.07142857142857142 - y * 0.06666666666666667
    p = 0.07692307692307693 - y * p
    p = 0.08333333333333333 - y * p
    p = 0.09090909090909091 - y * p
    p = 0.1 - y * p
    p = 0.1111111111111111 - y * p
    p = 0.125 - y * p
    p = 0.14285714285714285 - y * p
    p = 0.16666666666666666 - y * p
    p = 0.2 - y * p
    p = 0.25 - y * p
    return -(y * y) * (y * y) * p


@not_inlined
def _accepts_gamma(y, d, u):
    """Whether u < exp(x**2/2 + d - d (1 + y)**3 + 3 d log(1 + y)), y > -1, where x**2 = 9 d y**2 cancels; else no.

    Rare, and therefore not inlined, which has to be said: what a function inlined by force calls would be so too.
    """
    return y > -1.0 and math.log(u) < 3.0 * d * _log_beyond_cubic(y)


@inlined
def _next_gamma_from_one(a, s0, s1, s2, s3):
    """Return a Gamma(a, 1) draw, a >= 1: d (1 + y)**3 with y = x/sqrt(9 d), d = a - 1/3 (Marsaglia and Tsang 2000).

    x is normal, accepted with probability exp(3 d (log(1 + y) - y + y**2/2 - y**3/3)). By the series of the logarithm
    that is above 1 - (3 d/4) y**4/min(1 + y, 1) = 1 - x**2 y**2/12/min(1 + y, 1), so that few turns take a logarithm.
    Of 100 turns 95 accept at a = 1, more above.
    """
    d = a - 0.3333333333333333
    c = 1.0 / math.sqrt(9.0 * d)
    for _ in range(_MOST_TURNS):
        x, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)
        u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        y = c * x
        v = 1.0 + y
        if (1.0 - u) * min(v, 1.0) > x * x * (y * y) * 0.08333333333333333 or _accepts_gamma(y, d, u):
            return d * (v * v * v), s0, s1, s2, s3
    return math.nan, s0, s1, s2, s3


@inlined
def _next_log_gamma(a, s0, s1, s2, s3):
    """Return the logarithm of a Gamma(a, 1) draw; below a = 1 log G(a + 1) + log(u)/a (Marsaglia and Tsang 2000).

    1e-306 <= a <= 1e306, else NaN. The draw itself would be 0 for nearly all words where a < 1e-4.
    """
    if not _LEAST_SHAPE <= a <= _MOST_SHAPE:
        return math.nan, s0, s1, s2, s3
    draw, s0, s1, s2, s3 = _next_gamma_from_one(a + 1.0 if a < 1.0 else a, s0, s1, s2, s3)
    draw = math.log(draw)
    if a < 1.0:
        u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        draw += math.log(u) / a
    return draw, s0, s1, s2, s3


@inlined
def _next_gamma(a, s0, s1, s2, s3):
    """Return exp of what `_next_log_gamma` gives: a Gamma(a, 1) draw, 0 where that underflows."""
    if not _LEAST_SHAPE <= a <= _MOST_SHAPE:
        return math.nan, s0, s1, s2, s3
    draw, s0, s1, s2, s3 = _next_gamma_from_one(a + 1.0 if a < 1.0 else a, s0, s1, s2, s3)
    if a < 1.0:
        u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
        draw *= math.exp(math.log(u) / a)
    return draw, s0, s1, s2, s3


@inlined
def _next_log_beta(a, b, s0, s1, s2, s3):
    """Return log X and log(1 - X) of a Beta(a, b) draw X = G/(G + F), G and F gamma draws of shapes a and b.

    Shapes as `_next_log_gamma` has them, else NaN. Both logarithms keep their digits at either end of [0, 1].
    """
    log_G, s0, s1, s2, s3 = _next_log_gamma(a, s0, s1, s2, s3)
    log_F, s0, s1, s2, s3 = _next_log_gamma(b, s0, s1, s2, s3)
    return -_softplus(log_F - log_G), -_softplus(log_G - log_F), s0, s1, s2, s3


@inlined
def _next_beta(a, b, s0, s1, s2, s3):
    """Return a Beta(a, b) draw, exp of the first of `_next_log_beta`: 0 or 1 where no double is nearer."""
    log_X, _, s0, s1, s2, s3 = _next_log_beta(a, b, s0, s1, s2, s3)
    return math.exp(log_X), s0, s1, s2, s3
