"""Gamma draws whose shape is a Poisson draw, as the exact transition of a CIR process takes them."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

from recipe_compiler.emit.support.jit import inlined
from recipe_compiler.emit.support.variates_count import _next_poisson
from recipe_compiler.emit.support.variates_gamma import _next_gamma, _next_log_gamma


@inlined
def _next_gamma_of_count(a, mean, s0, s1, s2, s3):
    """Return a Gamma(a + K, 1) draw, K Poisson; 0 where a and K are. a = 0 or as `_next_gamma` has it, else NaN."""
    if not a >= 0.0:
        return math.nan, s0, s1, s2, s3
    K, s0, s1, s2, s3 = _next_poisson(mean, s0, s1, s2, s3)
    if a + K == 0.0:
        return 0.0, s0, s1, s2, s3
    return _next_gamma(a + K, s0, s1, s2, s3)


@inlined
def _next_log_gamma_of_count(a, mean, s0, s1, s2, s3):
    """Return the logarithm of a Gamma(a + K, 1) draw, K Poisson; it is finite where the draw itself would be 0.

    a > 0, as `_next_log_gamma` has it, else NaN.
    """
    if not a > 0.0:
        return math.nan, s0, s1, s2, s3
    K, s0, s1, s2, s3 = _next_poisson(mean, s0, s1, s2, s3)
    return _next_log_gamma(a + K, s0, s1, s2, s3)
