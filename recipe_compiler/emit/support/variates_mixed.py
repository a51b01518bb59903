"""Gamma draws whose shape is a Poisson draw: noncentral chi-square, and the exact transition of a CIR process."""

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


@inlined
def _next_noncentral_chi_square(nu, noncentrality, s0, s1, s2, s3):
    """Return a draw of chi2_nu(noncentrality) = chi2_(nu + 2 K), K Poisson of half the noncentrality.

    nu >= 0 (at nu = 0 there is an atom at 0: Siegel 1979) and 0 <= noncentrality <= 2**53, else NaN.
    """
    draw, s0, s1, s2, s3 = _next_gamma_of_count(0.5 * nu, 0.5 * noncentrality, s0, s1, s2, s3)
    return 2.0 * draw, s0, s1, s2, s3


@inlined
def _next_cir(theta, a, decay, grown, s0, s1, s2, s3):
    """Return theta_t of d theta = (a - theta) dt + sqrt(2 theta) dW from theta_0 = theta, exactly.

    grown Gamma(a + K, 1), K Poisson of mean theta decay/grown, with decay = exp(-t), grown = 1 - decay = -expm1(-t), t
    > 0 (Cox, Ingersoll and Ross 1985; the step of Baker et al. 2018, with a of the minibatch). Its law at t = inf is
    Gamma(a, 1). theta >= 0 and a >= 0, else NaN; theta decay/grown <= 2**52, else NaN. Where a is small theta_t may be
    0, by underflow, or exactly at a = 0, where 0 absorbs.
    """
    draw, s0, s1, s2, s3 = _next_gamma_of_count(a, theta * decay / grown, s0, s1, s2, s3)
    return grown * draw, s0, s1, s2, s3
