"""Data too many to be read again and again: a plan and a forecast from some of them, drawn at random."""

import numpy as np
import pytest
import xarray
from scipy.optimize import minimize

import recipe_compiler as rc
from recipe_compiler.planner import plan
from recipe_compiler.run import estimates, forecast, gradients

pytestmark = pytest.mark.usefixtures("known_verdicts", "without_reading_back")

N, d, PRIOR = 20_000, 3, 10.0
RNG = np.random.default_rng(3)
X = RNG.standard_normal((N, d)) @ np.array([[1.0, 0.0, 0.0], [0.8, 0.5, 0.0], [-0.3, 0.4, 2.0]]).T
Y = (RNG.random(N) < 1 / (1 + np.exp(-X @ [1.0, -1.0, 0.5]))).astype(int)
FEW = 1000


def laplace() -> tuple[np.ndarray, np.ndarray]:
    """Return the mode and the Hessian of U there, by Newton's method on all data."""

    def U(theta: np.ndarray) -> float:
        eta = X @ theta
        return float(theta @ theta / (2 * PRIOR) + np.logaddexp(0.0, eta).sum() - Y @ eta)

    def slope(theta: np.ndarray) -> np.ndarray:
        return theta / PRIOR + X.T @ (1 / (1 + np.exp(-X @ theta)) - Y)

    def hessian(theta: np.ndarray) -> np.ndarray:
        p = 1 / (1 + np.exp(-X @ theta))
        return np.eye(d) / PRIOR + (X * (p * (1 - p))[:, None]).T @ X

    theta = minimize(U, np.zeros(d), jac=slope, method="BFGS").x
    for _ in range(5):
        theta = theta - np.linalg.solve(hessian(theta), slope(theta))
    return theta, hessian(theta)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let about `FEW` of the data stand for all."""
    monkeypatch.setattr(gradients, "LEAST_ROWS", FEW // 2)
    for room in (plan, forecast, estimates):
        monkeypatch.setattr(room, "ENTRIES", FEW * (d + 1))  # a row is x and y


@pytest.fixture(scope="module")
def model() -> rc.Model:
    return rc.compile("specs/dynamics/sghmc.yaml", "specs/targets/logistic_regression.yaml", scheme="baoab",
                      step_size="auto", variant="minibatch", sizes={"d": d}, batch_size=200, draws=1000)  # fmt: skip


def whitened(fit: xarray.DataTree) -> np.ndarray:
    """Return draws of every chain in units of the exact Gaussian around the mode."""
    mode, K = laplace()
    return (fit["posterior"]["theta"].to_numpy() - mode) @ np.linalg.cholesky(K)


@pytest.mark.slow
def test_a_plan_from_some_of_the_data_samples_the_posterior_of_all(model: rc.Model, few: None) -> None:
    fit = model.sample({"x": X, "y": Y}, progress=False)
    assert isinstance(fit, rc.Fit)
    assert f"of {N} data, drawn at random" in fit.attrs["plan"]
    assert f"of {N} data, drawn at random" in fit.attrs["forecast_lines"]
    assert fit.verdict.trust.startswith("trust: yes"), fit.verdict
    z = whitened(fit)
    # A mode of FEW data alone would be sqrt(N/FEW) = 4.5 sds away. The share is 2 %; 4 chains of 1,000 draws, every
    # second of which counts, know means to 0.022 sd and sds to 1.6 %: four of them, and N^-1/2 of skewness.
    assert np.abs(z.mean(axis=(0, 1))).max() < 0.02 + 4 * 0.022
    assert np.abs(z.std(axis=(0, 1)) - 1.0).max() < 0.02 + 4 * 0.016


@pytest.mark.slow
def test_candidates_are_compared_by_fewer_data_than_a_forecast(
    model: rc.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradients, "LEAST_ROWS", 2000)
    monkeypatch.setattr(plan, "ENTRIES", 1e3)
    planned = model.plan({"x": X, "y": Y})
    mode, K = laplace()
    values = dict(planned.document.values)
    start = np.array([float(row[0]) for row in values["start"].numbers])
    assert np.abs((start - mode) @ np.linalg.cholesky(K)).max() < 0.01  # of all data, which the sample's is not
    M = np.array([[float(x) for x in row] for row in values["M"].numbers])
    off = np.abs(np.linalg.eigvals(np.linalg.solve(K, M)) - 1.0).max()
    assert 1e-3 < off < 0.25  # of 2,000 rows
