"""Triangles that depend on the state: in every step, without allocation."""

# Emitted files carry this code without annotations, and call it; numba's own are incomplete.

import math

from recipe_compiler.emit.support.jit import cached_alone


@cached_alone
def _triangle_inverse(X, L):
    """Write into X the inverse of a lower triangular L, row by row, by forward substitution: L X = 1."""
    size, _ = L.shape
    for i in range(size):
        for j in range(size):
            X[i, j] = 0.0
        X[i, i] = 1.0 / L[i, i]
        for j in range(i):
            total = 0.0
            for k in range(j, i):
                total += L[i, k] * X[k, j]
            X[i, j] = -total / L[i, i]


@cached_alone
def _cholesky_factor(L, S):
    """Write into L the lower triangular factor of a positive definite S, of which the lower triangle is read."""
    size, _ = S.shape
    for i in range(size):
        for j in range(size):
            L[i, j] = 0.0
        for j in range(i):
            total = 0.0
            for k in range(j):
                total += L[i, k] * L[j, k]
            L[i, j] = (S[i, j] - total) / L[j, j]
        total = 0.0
        for k in range(i):
            total += L[i, k] * L[i, k]
        L[i, i] = math.sqrt(S[i, i] - total)


@cached_alone
def _halved_triangle(H):
    """Write 1 below the diagonal of a square H, 1/2 on it, and 0 above."""
    size, _ = H.shape
    for i in range(size):
        for j in range(size):
            H[i, j] = 1.0 if j < i else 0.0
        H[i, i] = 0.5
