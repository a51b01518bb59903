"""The distribution function of N(0, 1), its logarithm and the slope of that: no digit is lost in either tail."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

from recipe_compiler.emit.support.jit import jitted


@jitted
def _ndtr(x):
    """Return P(z <= x) of z from N(0, 1)."""
    return 0.5 * math.erfc(-0.7071067811865476 * x)


@jitted
def _inverse_mills(x):
    """Return phi(x)/Phi(x) of N(0, 1), the derivative of log Phi, to 1e-15 (1 + x**2).

    With z = -x from 5 on it is Laplace's continued fraction z + 1/(z + 2/(z + 3/(z + ...))), to 32/z: 1e-17 away.
    """
    if x > -5.0:
        return 0.7978845608028654 * math.exp(-0.5 * x * x) / math.erfc(-0.7071067811865476 * x)
    rest = 32.0 / -x
    for k in range(31, 0, -1):
        rest = k / (rest - x)
    return rest - x


@jitted
def _log_ndtr(x):
    """Return log P(z <= x) of z from N(0, 1); from -5 down by its derivative, log phi(x) - log(phi(x)/Phi(x))."""
    if x > 1.0:
        return math.log1p(-0.5 * math.erfc(0.7071067811865476 * x))
    if x > -5.0:
        return math.log(0.5 * math.erfc(-0.7071067811865476 * x))
    return -0.5 * x * x - math.log(_inverse_mills(x)) - 0.9189385332046728
