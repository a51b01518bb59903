"""The mode of a target, by SciPy: a zero of the emitted gradient at which the curvature is positive."""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.run.errors import RunError
from recipe_compiler.run.gradients import Gradients

Array = NDArray[np.float64]

DENSE = 200
"""Most coordinates for which the Jacobian of the gradient is worked out column by column."""

SLACK = 1e-6
"""Largest decrement grad U^T Hess(U)^-1 grad U at a mode, the square of its distance in posterior deviations."""

FALL = 1e-8
"""Of a longer block, the largest norm of grad U at a mode over that where the search began."""

DIRECTIONS = 16
"""Of a longer block, the directions in which the curvature is looked at."""


def find_mode(gradients: Gradients, start: Array) -> Array:
    """Return theta with grad U(theta) = 0 and a positive curvature.

    By MINPACK's hybrid method (Powell 1970), of more than 200 coordinates by Newton-Krylov. The equation is solved in
    units of `scale`, the norm of grad U where the search starts.

    Raises:
        RunError: none was found; says how far the search came.
    """
    from scipy import optimize

    first = gradients.full(start)
    if not np.isfinite(first).all():
        raise RunError("the mode: found a gradient that is not finite at the start, expected numbers; state `init`")
    scale = max(float(np.linalg.norm(first)), 1.0)

    def equation(theta: Array) -> Array:
        found = gradients.full(np.ascontiguousarray(theta)) / scale
        return np.where(np.isfinite(found), found, 1e6)

    method = "hybr" if start.size <= DENSE else "krylov"
    options = {"xtol": 1e-13} if method == "hybr" else {"fatol": FALL / 10.0}
    found = cast("Any", optimize).root(equation, start, method=method, options=options)
    theta = np.ascontiguousarray(found.x, dtype=np.float64)
    left = gradients.full(theta)
    reached = f"grad U has norm {np.linalg.norm(left):.3g} where the search ended, {scale:.3g} where it began"
    if theta.size > DENSE:
        close = bool(np.linalg.norm(left) <= FALL * scale)
        curved = all(v @ _slope(gradients, theta, v) > 0.0 for v in _directions(theta.size))
    else:
        values, vectors = np.linalg.eigh(_hessian(gradients, theta))
        curved = bool(values[0] > 0.0)
        close = not curved or bool(np.sum((vectors.T @ left) ** 2 / values) <= SLACK)
    if not (curved and close):
        what = "no zero of grad U" if curved else "no minimum of U"
        raise RunError(f"the mode: found {what} ({reached}), expected one; state `init` closer to the mode")
    return theta


def _hessian(gradients: Gradients, theta: Array) -> Array:
    columns = np.stack([_slope(gradients, theta, direction) for direction in np.eye(theta.size)], axis=1)
    return (columns + columns.T) / 2.0


def _directions(size: int) -> Array:
    directions = np.random.default_rng(0).standard_normal((DIRECTIONS, size))
    return directions / np.linalg.norm(directions, axis=1)[:, None]


def _slope(gradients: Gradients, theta: Array, direction: Array) -> Array:
    """Return the Hessian of U times a direction of length 1, by a central difference of the gradient."""
    h = np.finfo(float).eps ** (1.0 / 3.0) * max(1.0, float(np.linalg.norm(theta)))
    ahead, behind = gradients.full(theta + h * direction), gradients.full(theta - h * direction)
    return (ahead - behind) / (2.0 * h)
