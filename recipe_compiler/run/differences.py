"""Derivatives by central differences, and the state where a step stands still."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from recipe_compiler.formula.arrays import Array

Slope = Callable[[Array], Array]

AGREE = 0.1
"""How far Hessians by differences of several widths may be apart, in units in which one is the identity."""


STILL = 1e-3
"""How many widths of a difference a state may be from one that does not change to have the same derivatives."""


def jacobian(function: Callable[[Array], Array], at: Array, widths: Array) -> Array:
    """Return d function/d at by central differences over widths."""
    columns = [(function(at + w) - function(at - w)) / (2.0 * w.max()) for w in np.diag(widths)]
    return np.array(columns).T


def curvature(slope: Slope, theta: Array) -> Array:
    """Return Hess U, d x d and symmetric, by central differences of grad U; not finite where these are not."""
    return _hessian(slope, theta)[0]


def known_curvature(slope: Slope, theta: Array) -> Array | None:
    """Return Hess U as `curvature` does; None where it is not positive definite, or differences do not tell it.

    They do where half the widths and twice them give the same, `AGREE`, along every axis: beside a curvature of 1e12
    rounding hides one of 1.
    """
    K, widths = _hessian(slope, theta)
    if not is_definite(K):
        return None
    root = np.linalg.cholesky(K)
    for part in (0.5, 2.0):
        other = np.linalg.solve(root, _symmetric(jacobian(slope, theta, part * widths)))
        if not (np.isfinite(other).all() and np.abs(np.linalg.solve(root, other.T) - np.eye(len(K))).max() <= AGREE):
            return None
    return K


def _hessian(slope: Slope, theta: Array) -> tuple[Array, Array]:
    """Return Hess U and the widths that it was found by: 1e-4/sqrt(d^2 U/d theta_i^2), as far as U curves upwards."""
    widths = 1e-5 * (1.0 + np.abs(theta))
    with np.errstate(all="ignore"):
        found = jacobian(slope, theta, widths)
        for _ in range(5):  # a difference over a poor width gives a better one
            bent = np.diag(found)
            better = np.clip(np.where(bent > 0.0, 1e-4 / np.sqrt(bent), widths), 1e-3 * widths, 1e3 * widths)
            before, widths = widths, np.where(np.isnan(bent), 1e-3 * widths, better)
            found = jacobian(slope, theta, widths)
            if (np.abs(widths - before) <= 0.1 * before).all():
                break
    return _symmetric(found), widths


def _symmetric(found: Array) -> Array:
    return (found + found.T) / 2.0


def is_definite(S: Array) -> bool:
    """Whether all numbers of a symmetric matrix, or of its diagonal alone, are finite, and all eigenvalues positive."""
    return bool(np.isfinite(S).all() and (S if S.ndim == 1 else np.linalg.eigvalsh(S)).min() > 0.0)


def standstill(change: Callable[[Array], Array], z: Array, widths: Array) -> tuple[Array, Array]:
    """Return the state that does not change, and the matrix of the change there.

    By one Newton step where that is all but none, else by Powell's hybrid method (SciPy).

    Raises:
        ValueError: it finds none; says what it met.
    """
    with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):  # of what is singular the search says more
        slopes = jacobian(change, z, widths)
        move = np.linalg.solve(slopes, change(z))
        if (np.abs(move) <= STILL * widths).all():
            return z - move, slopes
    from scipy import optimize

    def scaled(y: Array) -> Array:
        return change(widths * y) / widths

    with np.errstate(all="ignore"):
        found: Any = optimize.root(scaled, z / widths, jac=lambda y: jacobian(scaled, y, np.ones_like(y)))
        z = widths * found.x
        slopes, left = jacobian(change, z, widths), change(z)
    if not (found.success and np.isfinite(slopes).all()):
        why = " ".join(found.message.split())
        raise ValueError(
            f"no state was found where the mean step is zero: {why} (a step moves by {np.linalg.norm(left):.2g} there)"
        )
    return z - np.linalg.solve(slopes, left), slopes
