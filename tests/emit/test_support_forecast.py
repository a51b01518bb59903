"""Support functions of the forecast against SciPy and closed forms."""

import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

from recipe_compiler.emit.support.forecast import _forecast, _jacobian, _standstill, _stationary

ROWS = 60


def test_the_stationary_covariance_solves_its_equation() -> None:
    rng = np.random.default_rng(0)
    M = rng.standard_normal((4, 4))
    M *= 0.99 / np.abs(np.linalg.eigvals(M)).max()
    factor = rng.standard_normal((4, 2))
    N = factor @ factor.T
    np.testing.assert_allclose(_stationary(M, N), solve_discrete_lyapunov(M, N), rtol=1e-7)


def test_a_standstill_is_found_from_afar_and_its_absence_is_said() -> None:
    def change(z: np.ndarray) -> np.ndarray:
        return np.array([np.arctan(z[0] - 3.0), z[1] - z[0] ** 2])

    z, slopes = _standstill(change, np.zeros(2))
    np.testing.assert_allclose(z, [3.0, 9.0], atol=1e-8)
    np.testing.assert_allclose(slopes, [[1.0, 0.0], [-6.0, 1.0]], atol=1e-6)
    np.testing.assert_allclose(_jacobian(change, z), slopes, atol=1e-6)
    none = "no state was found where the step stands still on average: Newton's method met"
    with pytest.raises(ValueError, match=none):
        _standstill(lambda z: 1.0 + z**2, np.array([0.3]))
    with pytest.raises(ValueError, match=f"{none} a singular matrix"):
        _standstill(lambda z: np.ones(2) + 0.0 * z, np.zeros(2))
    with pytest.raises(ValueError, match=f"{none} values that are not finite"):
        _standstill(lambda z: np.log(z - 1.0), np.zeros(2))


def asked(eps: float, batch_size: int, *, replacement: bool, noise: str = "as it is", curvature: float = 1.0):
    """Return the forecast of SGLD on U = sum_n curvature (theta - x_n).(theta - x_n)/2, whose V is constant."""
    x = np.random.default_rng(1).standard_normal((ROWS, 2)) @ np.array([[1.0, 0.5], [0.0, 0.3]])

    def take(z: np.ndarray, batch: np.ndarray, normals: np.ndarray) -> np.ndarray:
        gradient = ROWS * curvature * (z - x[batch].mean(axis=0))
        return z - eps * gradient + np.sqrt(2.0 * eps) * normals

    def slope(theta: np.ndarray) -> np.ndarray:
        return curvature * (ROWS * theta - x.sum(axis=0))

    return x, _forecast(take, slope, np.zeros(2), slice(0, 2), 2, ROWS, batch_size, replacement, noise)


@pytest.mark.parametrize("replacement", [False, True])
def test_a_gaussian_mean_has_its_closed_form(replacement: bool) -> None:
    """S (1 - (1 - eps N)^2) = 2 eps I + eps^2 V, V = N^2/n Cov (N - n)/(N - 1) without replacement."""
    eps, n = 0.002, 6
    x, (z, target, exact, chain) = asked(eps, n, replacement=replacement)
    V = ROWS**2 / n * np.cov(x.T, bias=True) * (1.0 if replacement else (ROWS - n) / (ROWS - 1))
    shrink = 1.0 - (1.0 - eps * ROWS) ** 2
    np.testing.assert_allclose(z, x.mean(axis=0), atol=1e-8)
    np.testing.assert_allclose(target, np.eye(2) / ROWS, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(exact, 2.0 * eps / shrink * np.eye(2), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(chain, (2.0 * eps * np.eye(2) + eps**2 * V) / shrink, rtol=1e-4)


def test_noise_that_does_not_change_is_taken_out_whole() -> None:
    for noise in ("subtracted", "control variates"):
        _, (_, _, exact, chain) = asked(0.002, 6, replacement=True, noise=noise)
        np.testing.assert_allclose(chain, exact, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("eps", "curvature", "says"),
    [
        (0.05, 1.0, "the step size is too large"),
        (0.002, -1.0, "U curves downwards"),
        (0.02, 1.0, "not positive semidefinite"),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(eps: float, curvature: float, says: str) -> None:
    noise = "subtracted" if "semidefinite" in says else "as it is"
    with pytest.raises(ValueError, match=says):
        asked(eps, 1, replacement=True, noise=noise, curvature=curvature)


def test_a_flat_direction_is_said_and_is_no_fault_of_the_step_size() -> None:
    """U depends on the first coordinate alone."""

    def take(z: np.ndarray, batch: np.ndarray, normals: np.ndarray) -> np.ndarray:
        return z - 0.01 * np.array([z[0], 0.0]) + 0.1 * normals + 0.0 * batch.size

    with pytest.raises(ValueError, match="singular matrix"):
        _forecast(take, lambda theta: np.array([theta[0], 0.0]), np.ones(2), slice(0, 2), 2, ROWS, 5, True, "as it is")


def test_a_posterior_of_any_scale_is_made_linear() -> None:
    """U = sum_i exp(z_i/s_i) - z_i/s_i: sds s_i of 1e-7 and 1e5, mode 0; what is linear there is its curvature."""
    scales = np.array([1e-7, 1e5])

    def slope(theta: np.ndarray) -> np.ndarray:
        return (np.exp(theta / scales) - 1.0) / scales

    def take(z: np.ndarray, batch: np.ndarray, normals: np.ndarray) -> np.ndarray:
        return z - 0.01 * scales**2 * slope(z) + np.sqrt(0.02) * scales * normals + 0.0 * batch.size

    _, target, exact, _ = _forecast(take, slope, np.zeros(2), slice(0, 2), 2, ROWS, 5, True, "as it is")
    np.testing.assert_allclose(np.sqrt(np.diag(target)), scales, rtol=1e-4)
    np.testing.assert_allclose(np.sqrt(np.diag(exact)), scales, rtol=0.01)
