"""What a target is around its mode: the Hessian, and how gradients of single rows vary over states around it."""

import numpy as np
import pytest

from recipe_compiler.advise.target_at_mode import target_at_mode
from recipe_compiler.run.gradients import Gradients

ROWS, d = 60, 3
RNG = np.random.default_rng(1)
X = RNG.standard_normal((ROWS, d)) @ np.array([[1.0, 0.5, 0.2], [0.0, 0.3, -0.4], [0.1, 0.0, 2.0]])
Y = X @ [1.0, -2.0, 0.5] + RNG.standard_normal(ROWS)


def of_batch(theta: np.ndarray, batch: np.ndarray) -> np.ndarray:
    """Return the gradient of linear regression with prior N(0, 1): rows have Hessians of their own."""
    x = X[batch]
    return theta + ROWS / len(batch) * x.T @ (x @ theta - Y[batch])


def slope(theta: np.ndarray) -> np.ndarray:
    return of_batch(theta, np.arange(ROWS))


def test_the_noise_of_a_gradient_is_the_mean_of_its_covariance_over_states() -> None:
    """Over N(mode, T) by the 2d points mode +- sqrt(d) L_k, exactly as V is quadratic in the state."""
    K = np.eye(d) + X.T @ X
    mode = np.linalg.solve(K, X.T @ Y)
    found = target_at_mode(slope, mode, Gradients(ROWS, d, of_batch, X.size))

    def V_at(theta: np.ndarray) -> np.ndarray:
        return np.cov(np.array([of_batch(theta, np.array([row])) for row in range(ROWS)]).T, bias=True)

    T = np.array([[0.4, 0.1, 0.0], [0.1, 0.3, -0.1], [0.0, -0.1, 0.2]])
    points = [mode + sign * np.sqrt(d) * column for column in np.linalg.cholesky(T).T for sign in (1.0, -1.0)]
    np.testing.assert_allclose(found.K, K, rtol=1e-6)
    np.testing.assert_allclose(found.V, V_at(mode), rtol=1e-9)
    np.testing.assert_allclose(found.V + found.away_from_mode(T), np.mean([V_at(at) for at in points], axis=0))


@pytest.mark.parametrize(("least", "says"), [(0.0, "U is flat in a direction"), (-1.0, "U curves downwards")])
def test_a_mode_that_is_none_is_refused(least: float, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        target_at_mode(lambda theta: theta * [1.0, least, 2.0], np.zeros(d), None)
