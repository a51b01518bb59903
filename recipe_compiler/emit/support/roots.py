"""Factors of a noise covariance that depends on the state: in every step, without allocation."""

# Emitted files carry this code without annotations, and call it; numba's own are incomplete.

import math

from recipe_compiler.emit.support.jit import cached, cached_inlined, sums_reordered


@cached
def _clipped_root_2(s00, s10, s11, clipped):
    """Return a factor of S with its negative eigenvalue set to 0: its largest eigenvalue and that one's eigenvector."""
    half = 0.5 * (s00 - s11)
    radius = math.hypot(half, s10)
    high = 0.5 * (s00 + s11) + radius
    low = high - 2.0 * radius
    if low < -1e-12 * max(abs(high), abs(low)):
        clipped[0] += 1
    if high <= 0.0:
        return 0.0, 0.0, 0.0
    # the projector on the eigenvector is (S - low) / (2 radius); divided by the larger of its diagonal
    larger = math.sqrt(high * 0.5 * (1.0 + abs(half) / radius))
    other = high * (0.5 * s10 / radius) / larger
    if half >= 0.0:
        return larger, other, 0.0
    return other, larger, 0.0


@cached_inlined
def _noise_root_2(s00, s10, s11, clipped):
    """Return l00, l10, l11 of a lower triangular L with L L^T = S, a symmetric matrix of 2 rows.

    Where S has a negative eigenvalue it is set to 0, and counted if it is more than rounding.
    """
    if s00 > 0.0:
        l00 = math.sqrt(s00)
        l10 = s10 / l00
        left = s11 - l10 * l10
        if left >= 0.0:
            return l00, l10, math.sqrt(left)
    return _clipped_root_2(s00, s10, s11, clipped)


@cached
def _rotated(S, V, p, q):
    """Turn rows and columns p and q of S, and columns p and q of V, so that S[p, q] becomes 0 (Jacobi)."""
    size = S.shape[0]
    slope = (S[q, q] - S[p, p]) / (2.0 * S[p, q])
    t = math.copysign(1.0, slope) / (abs(slope) + math.hypot(1.0, slope))
    c = 1.0 / math.sqrt(1.0 + t * t)
    s = t * c
    for k in range(size):
        first, second = S[k, p], S[k, q]
        S[k, p], S[k, q] = c * first - s * second, s * first + c * second
    for k in range(size):
        first, second = S[p, k], S[q, k]
        S[p, k], S[q, k] = c * first - s * second, s * first + c * second
    for k in range(size):
        first, second = V[k, p], V[k, q]
        V[k, p], V[k, q] = c * first - s * second, s * first + c * second
    S[p, q], S[q, p] = 0.0, 0.0


@cached
def _clipped_root(S, L, clipped):
    """Write into L a factor of S with its negative eigenvalues set to 0; S is used up. NaN where S is not finite."""
    size = S.shape[0]
    scale = 0.0
    finite = True
    for i in range(size):
        for j in range(i + 1):
            finite = finite and abs(S[i, j]) <= 1.7976931348623157e308
            scale = max(scale, abs(S[i, j]))
    for i in range(size):
        for j in range(size):
            L[i, j] = (1.0 if i == j else 0.0) if finite else math.nan
    if not finite:
        return
    if scale == 0.0:
        for i in range(size):
            L[i, i] = 0.0
        return
    for i in range(size):
        for j in range(i + 1):
            S[i, j] /= scale
            S[j, i] = S[i, j]
    for _ in range(60):
        off = 0.0
        for p in range(size):
            for q in range(p + 1, size):
                off = max(off, abs(S[p, q]))
                if abs(S[p, q]) > 1e-17:
                    _rotated(S, L, p, q)
        if off <= 1e-17:
            break
    least, most = S[0, 0], abs(S[0, 0])
    for k in range(size):
        least, most = min(least, S[k, k]), max(most, abs(S[k, k]))
    if least < -1e-12 * most:
        clipped[0] += 1
    for k in range(size):
        root = math.sqrt(max(S[k, k], 0.0) * scale)
        for i in range(size):
            L[i, k] *= root


@sums_reordered
def _noise_root(S, L, clipped):
    """Write into L a factor of the symmetric matrix S, of which the lower triangle is read: L L^T = S.

    Cholesky's, whose pivots may be 0 where the rest of their column is. Otherwise the eigenvalues are taken, negative
    ones set to 0, and counted if they are more than rounding; L is not triangular then, and S is used up.
    """
    size = S.shape[0]
    for i in range(size):
        for j in range(i):
            left = S[i, j]
            for k in range(j):
                left -= L[i, k] * L[j, k]
            if L[j, j] > 0.0:
                L[i, j] = left / L[j, j]
            elif abs(left) <= 1e-13 * math.sqrt(abs(S[i, i])) * math.sqrt(abs(S[j, j])):
                L[i, j] = 0.0
            else:
                _clipped_root(S, L, clipped)
                return
        left = S[i, i]
        for k in range(i):
            left -= L[i, k] * L[i, k]
        if left > 1e-13 * S[i, i]:
            L[i, i] = math.sqrt(left)
        elif abs(left) <= min(1e-13 * abs(S[i, i]), 1.7976931348623157e308):
            L[i, i] = 0.0
        else:
            _clipped_root(S, L, clipped)
            return
        for j in range(i + 1, size):
            L[i, j] = 0.0
