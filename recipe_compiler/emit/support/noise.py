"""Factors of the noise covariance eps (2D - eps B_hat), computed once before a chain starts."""

# Emitted files carry this code without annotations, and call it.

import numpy as np


def _noise_scale(two_D, B_hat, eps, block):
    """Return sqrt(eps (2D - eps B_hat)) of numbers; a negative variance is refused with the largest step allowed."""
    variance = eps * (two_D - eps * B_hat)
    if variance < 0.0:
        raise ValueError(_too_long(eps, two_D / B_hat if two_D > 0.0 else 0.0, block))
    return np.sqrt(variance)


def _noise_factor(two_D, B_hat, eps, blocks):
    """Return L, one row block per block, with L L^T = eps (2D - eps B_hat), D and B_hat given block by block.

    Raises ValueError where 2D - eps B_hat is not positive semidefinite, naming the largest step for which it is.
    """
    doubled = np.block(two_D)
    excess = np.zeros_like(doubled) if B_hat is None else np.block(B_hat)
    values, vectors = np.linalg.eigh(eps * (doubled - eps * excess))
    if values[0] < -1e-12 * max(np.abs(values).max(), eps * np.abs(doubled).max()):
        raise ValueError(_too_long(eps, _largest_step(doubled, excess), ", ".join(blocks)))
    L = vectors * np.sqrt(np.maximum(values, 0.0))
    ends = np.cumsum([row[0].shape[0] for row in two_D])
    return np.split(L, ends[:-1])


def _flow_scale(two_D, B_hat, eps, block):
    """Return sqrt(eps (2D - eps B_hat)) of what depends on eps; a negative variance is refused."""
    try:
        return _noise_scale(two_D, B_hat, eps, block)
    except ValueError:
        raise ValueError(_too_much(eps, block)) from None


def _flow_factor(two_D, B_hat, eps, blocks):
    """Return L, one row block per block, with L L^T = eps (2D - eps B_hat) of what depends on eps.

    Raises ValueError where that is not positive semidefinite.
    """
    try:
        return _noise_factor(two_D, B_hat, eps, blocks)
    except ValueError:
        raise ValueError(_too_much(eps, ", ".join(blocks))) from None


def _largest_step(doubled, excess):
    """Return the largest eps with 2D - eps B_hat positive semidefinite; 0 where B_hat leaves the range of D."""
    values, vectors = np.linalg.eigh(doubled)
    inside = values > 1e-12 * max(values[-1], 0.0)
    outside = vectors[:, ~inside]
    if np.abs(outside.T @ excess @ outside).max(initial=0.0) > 1e-12 * np.abs(excess).max() or not inside.any():
        return 0.0
    root = vectors[:, inside] / np.sqrt(values[inside])
    return 1.0 / np.linalg.eigvalsh(root.T @ excess @ root)[-1]


def _too_much(eps, blocks):
    """Return the message for a flow that is to give up more noise than it has."""
    gives = f"what is given up of the noise of {blocks} for that of the gradient is more than there is"
    return (
        f"2D - eps B_hat of {blocks} is not positive semidefinite at eps = {float(eps)!r}: {gives}: take a smaller eps"
    )


def _too_long(eps, eps_max, blocks):
    """Return the message for a step whose gradient noise exceeds the noise the dynamics inject."""
    cure = f"take eps <= eps_max = {float(eps_max)!r}" if eps_max > 0.0 else "no step size makes it so: D is too small"
    return f"2D - eps B_hat of {blocks} is not positive semidefinite at eps = {float(eps)!r}: {cure}"
