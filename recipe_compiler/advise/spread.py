"""How wide theta is, or how narrow: a covariance or a precision, d x d, or its diagonal alone, d numbers.

Of many coordinates a plan knows the diagonal alone. What it computes of either is here.
"""

import numpy as np

from recipe_compiler.formula.arrays import Array

MANY = 100
"""Coordinates beyond which plans of moves know the variances alone."""


def unit(width: int, *, diagonal: bool) -> Array:
    """Return the identity, or its diagonal."""
    return np.ones(width, np.float64) if diagonal else np.eye(width, dtype=np.float64)


def eigenvalues(S: Array) -> Array:
    """Return the eigenvalues in ascending order."""
    return np.asarray(np.sort(S) if S.ndim == 1 else np.linalg.eigvalsh(S), np.float64)


def inverse(S: Array) -> Array:
    """Return the inverse."""
    return 1.0 / S if S.ndim == 1 else symmetric(np.asarray(np.linalg.inv(S), np.float64))


def symmetric(S: Array) -> Array:
    """Return (S + S^T)/2: what rounding leaves of a symmetric matrix."""
    return S if S.ndim == 1 else np.asarray((S + S.T) / 2.0, dtype=np.float64)


def root(S: Array) -> Array:
    """Return A of S = A A^T, lower triangular."""
    return np.sqrt(S) if S.ndim == 1 else np.asarray(np.linalg.cholesky(S), dtype=np.float64)


def times(A: Array, w: Array) -> Array:
    """Return A w; of rows of w, those of w A^T."""
    return w * A if A.ndim == 1 else w @ A.T


def decimals(S: Array) -> Array:
    """Return a positive definite matrix rounded to as few digits as keep its eigenvalues within a thousandth."""
    if S.ndim == 1:
        return np.array([float(f"{value:.4g}") for value in S])
    least = float(eigenvalues(S)[0])
    for digits in (4, 7, 10, 13):
        short = np.array([[float(f"{value:.{digits}g}") for value in row] for row in S])
        if np.abs(np.linalg.eigvalsh(short - S)).max() < 1e-3 * least:
            return short
    return S
