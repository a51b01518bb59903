"""Blocks that lie in a set of their variables u, and back: the last axis of u becomes a column or a matrix.

The sets are those of `formula/constraints.py`.
"""

# Emitted files carry this code without annotations, and call it.

import numpy as np


def _ordered(u):
    """Return b_0 = u_0, b_k = b_(k-1) + exp(u_k)."""
    return np.cumsum(np.concatenate([u[..., :1], np.exp(u[..., 1:])], axis=-1), axis=-1)


def _positive_ordered(u):
    """Return b_0 = exp(u_0), b_k = b_(k-1) + exp(u_k)."""
    return np.cumsum(np.exp(u), axis=-1)


def _simplex(u):
    """Return exp(u)/sum(exp(u))."""
    shares = np.exp(u - u.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def _unit_vector(u):
    """Return u/|u|."""
    return u / np.sqrt((u * u).sum(axis=-1, keepdims=True))


def _cholesky_factor_corr(u, rows):
    """Return L with rows of length 1: L_ij = tanh(u_ij) prod_(l < j) 1/cosh(u_il), a positive diagonal."""
    L = np.zeros((*u.shape[:-1], rows, rows))
    L[..., 0, 0] = 1.0
    for i in range(1, rows):
        own = u[..., i * (i - 1) // 2 : i * (i + 1) // 2]
        left = np.cumprod(1.0 / np.cosh(own), axis=-1)
        L[..., i, :i] = np.tanh(own)
        L[..., i, 1:i] *= left[..., :-1]
        L[..., i, i] = left[..., -1]
    return L


def _cholesky_factor_cov(u, rows):
    """Return L, lower triangular with the diagonal exp(u_ii)."""
    L = np.zeros((*u.shape[:-1], rows, rows))
    for i in range(rows):
        own = u[..., i * (i + 1) // 2 : (i + 1) * (i + 2) // 2]
        L[..., i, :i] = own[..., :-1]
        L[..., i, i] = np.exp(own[..., -1])
    return L


def _corr_matrix(u, rows):
    """Return L L^T of a factor whose rows have length 1."""
    L = _cholesky_factor_corr(u, rows)
    matrix = L @ np.swapaxes(L, -1, -2)
    matrix[..., np.arange(rows), np.arange(rows)] = 1.0
    return matrix


def _cov_matrix(u, rows):
    """Return L L^T."""
    L = _cholesky_factor_cov(u, rows)
    return L @ np.swapaxes(L, -1, -2)


def _from_ordered(x):
    """Return u of an increasing column."""
    return np.append(x[:1], np.log(np.diff(x)))


def _from_positive_ordered(x):
    """Return u of an increasing column above 0."""
    return np.log(np.diff(x, prepend=0.0))


def _from_simplex(x):
    """Return u of shares, in the middle of what they do not depend on."""
    logs = np.log(x)
    return logs - logs.mean()


def _from_unit_vector(x):
    """Return u of a direction, as long as most are."""
    return x * np.sqrt(x.size)


def _from_cholesky_factor_corr(L):
    """Return u of a lower triangular matrix with rows of length 1."""
    found = []
    for i in range(1, len(L)):
        left = 1.0
        for j in range(i):
            found.append(np.arctanh(L[i, j] / left))
            left /= np.cosh(found[-1])
    return np.array(found)


def _from_cholesky_factor_cov(L):
    """Return u of a lower triangular matrix."""
    return np.concatenate([np.append(L[i, :i], np.log(L[i, i])) for i in range(len(L))])


def _from_corr_matrix(matrix):
    """Return u of a correlation matrix."""
    return _from_cholesky_factor_corr(np.linalg.cholesky(matrix))


def _from_cov_matrix(matrix):
    """Return u of a covariance matrix."""
    return _from_cholesky_factor_cov(np.linalg.cholesky(matrix))


_SLACK = 1e-8  # how far from its set a start may be, relative to its entries: what decimals and a factor round


def _variables_of(name, kind, x, back, forward):
    """Return the variables of a value that a block starts at. Raises ValueError where it lies outside of its set."""
    with np.errstate(all="ignore"):
        try:
            u = back(x)
            apart = np.abs(forward(u) - x).max()
        except np.linalg.LinAlgError:
            u, apart = np.full(1, np.nan), np.nan
    if not (np.isfinite(u).all() and apart <= _SLACK * np.abs(x).max()):
        raise ValueError(f"init of {name}: found {x.tolist()}, expected a value that is {kind}")
    return u
