"""How much steeper U is away from its mode than at it: what a step that stays the same has to bear there."""

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.run.map_estimate import Slope

Array = NDArray[np.float64]

AWAY = 3.0
"""Posterior sds from the mode at which is looked: a chain of a thousand draws comes there."""

APART = 0.05
"""Half of the difference that tells the curvature, in the same unit."""

STEEPEST = 30.0
"""The most that the curvature there may be of that at the mode for one step size to serve both."""

TURNS = 4
"""Of the power iteration for the largest curvature."""

FLATTEST = 0.1
"""The least that grad U may rise on the way, of what it would rise on the Gaussian's."""

OTHERS = (
    "use a scheme with an implicit flow (`flows:`), a metric that depends on the state, or another parameterisation"
)


def steepness(slope: Slope, theta: Array, K: Array) -> float:
    """Return the largest curvature of U that is met around its mode, in units of that at the mode.

    In coordinates w with theta = mode + A w, A^T K A = 1, the Gaussian at the mode has the curvature 1 everywhere. Met
    is the spectral norm of the Hessian at `AWAY` posterior sds from the mode, both ways along each axis of K, by the
    power iteration on differences of grad U.

    Raises:
        RunError: no step size that stays the same serves there and at the mode.
    """
    values, vectors = np.linalg.eigh(K)
    A, most, rng = vectors / np.sqrt(values), 1.0, np.random.default_rng(0)
    for w in AWAY * np.vstack([np.eye(len(K)), -np.eye(len(K))]):
        rise = float((A.T @ slope(theta + A @ w)) @ w) / AWAY**2
        bent = _curvature(lambda at: A.T @ slope(theta + A @ at), w, rng.standard_normal(len(K)))
        if not (rise >= FLATTEST and bent <= STEEPEST):
            where = f"its slope there is {rise:.2g} and its curvature {bent:.2g} of the quadratic's"
            raise RunError(
                f"step_size: auto: U is far from a quadratic {AWAY:g} sds from its mode ({where}): no fixed step "
                f"that is chosen at the mode serves; {OTHERS}, or state a step size"
            )
        most = max(most, bent)
    return most


def _curvature(slope: Slope, w: Array, start: Array) -> float:
    """Return about the spectral norm of the derivative of a slope at w: from below, as the power iteration has it."""
    found, largest = start, 0.0
    for _ in range(TURNS):
        direction = found / np.linalg.norm(found)
        found = (slope(w + APART * direction) - slope(w - APART * direction)) / (2.0 * APART)
        largest = float(np.linalg.norm(found))
        if not 0.0 < largest < np.inf:
            break
    return largest
