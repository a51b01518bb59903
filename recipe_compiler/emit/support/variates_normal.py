"""Normal vectors from standard normals, by a Cholesky factor of their precision or of their covariance."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

from recipe_compiler.emit.support.jit import sums_reordered


@sums_reordered
def _cholesky(S):
    """Write L with L L^T = S over the lower triangle of S, of which no other is read; NaN where S is not definite."""
    for j in range(S.shape[0]):
        for k in range(j):
            for i in range(j, S.shape[0]):
                S[i, j] += -S[i, k] * S[j, k]
        pivot = math.sqrt(S[j, j])
        for i in range(j, S.shape[0]):
            S[i, j] = S[i, j] / pivot


@sums_reordered
def _normal_by_precision(u, P, noise, out):
    """Write L^-T (L^-1 u + noise) with L L^T = P: N(inv(P) u, inv(P)), P being used up, and never inverted."""
    _cholesky(P)
    size = P.shape[0]
    for i in range(size):
        out[i] = u[i]
    for i in range(size):
        for j in range(i):
            out[i] += -P[i, j] * out[j]
        out[i] = out[i] / P[i, i]
    for i in range(size):
        out[i] += noise[i]
    for k in range(size):
        i = size - 1 - k
        for j in range(i + 1, size):
            out[i] += -P[j, i] * out[j]
        out[i] = out[i] / P[i, i]


@sums_reordered
def _normal_by_covariance(mean, S, noise, out):
    """Write mean + L noise with L L^T = S: N(mean, S), S being used up."""
    _cholesky(S)
    for i in range(S.shape[0]):
        out[i] = mean[i]
        for j in range(i + 1):
            out[i] += S[i, j] * noise[j]
