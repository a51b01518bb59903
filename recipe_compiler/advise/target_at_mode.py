"""What a linear step needs of a target, once: its mode, the Hessian of U there, and how gradients of single rows vary.

Rows have Hessians of their own. With G_n(theta) = G_n + K_n (theta - mode) the gradient estimated from row n alone, its
covariance over the rows at a state of the law N(mode, T) is on average

    V(T) = Cov(G_n) + mean_n (K_n - K) T (K_n - K)^T.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.differences import curvature, jacobian
from recipe_compiler.run.estimates import gradient_noise
from recipe_compiler.run.gradients import Gradients
from recipe_compiler.run.map_estimate import Slope

FEWEST, MOST = 200, 4_000
"""Rows whose Hessians are worked out, of as many or more."""

GRADIENTS = 20_000
"""Gradients of single rows for all of these, between the two."""

FLAT = 1e-7
"""The least curvature, in units of its coordinates, that differences tell from zero."""


@dataclass(frozen=True, slots=True, eq=False)
class TargetAtMode:
    """A target around its mode."""

    mode: Array
    K: Array
    """Hess U, d x d, positive definite."""
    V: Array
    """The covariance of gradients from single rows at the mode, d x d."""
    of_rows: Array
    """K_n - K of some rows, m x d x d, over the root of m."""

    def away_from_mode(self, T: Array) -> Array:
        """Return V(T) - V: what the spread T of states around the mode adds to the covariance, d x d."""
        d = len(self.K)
        moved, own = (rows.transpose(1, 0, 2).reshape(d, -1) for rows in (self.of_rows @ T, self.of_rows))
        return moved @ own.T


def target_at_mode(slope: Slope, mode: Array, gradients: Gradients | None) -> TargetAtMode:
    """Return a target around its mode, by central differences of grad U and of gradients from single rows.

    Args:
        slope: theta to grad U.
        mode: where it is zero.
        gradients: those estimated from minibatches; None where steps take all data.

    Raises:
        ValueError: U is flat at the mode, or curves downwards.
    """
    K = _demand_curved(curvature(slope, mode))
    d = mode.size
    if gradients is None:
        return TargetAtMode(mode, K, np.zeros((d, d)), np.zeros((0, d, d)))
    V = gradient_noise(gradients, mode, 1, "with replacement")
    return TargetAtMode(mode, K, V, _hessians_of_rows(gradients, mode, 1.0 / np.sqrt(np.diag(K))))


def _demand_curved(K: Array) -> Array:
    units = np.sqrt(np.maximum(np.abs(np.diag(K)), 1e-300))
    least = np.linalg.eigvalsh(K / np.outer(units, units))[0]
    if not least > FLAT:
        kind = "U is flat in a direction" if least > -FLAT else "U curves downwards in a direction"
        raise ValueError(f"{kind} at the mode (smallest curvature {least:.1g} in its units)")
    return K


def _hessians_of_rows(gradients: Gradients, mode: Array, sds: Array) -> Array:
    """Return K_n - K of rows drawn at random, or of all, over the root of their number: by differences over one sd."""
    N, d = gradients.rows, mode.size
    m = min(N, max(FEWEST, min(MOST, GRADIENTS // (2 * d))))
    rows = np.random.default_rng(0).permutation(N)[:m].astype(np.uint64)

    def hessian(row: NDArray[np.uint64]) -> Array:
        return jacobian(lambda at: gradients.of_batch(at, row), mode, sds)

    found = np.array([hessian(rows[k : k + 1]) for k in range(m)])
    return (found - found.mean(axis=0)) / np.sqrt(m if m == N else m - 1)
