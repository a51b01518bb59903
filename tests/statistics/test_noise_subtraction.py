"""SGLD on the mean of a Gaussian: what is too wide with the noise of the gradient, and right where it is subtracted.

The noise has the same covariance V at every theta, so that the law of a chain is Gaussian, its covariance X exactly

    X = A X A.T + 2 eps D + eps**2 D (V - V_subtracted) D,    A = I - eps D K,

at any step size, with K = N inv(Sigma) + I/prior_variance. With exactly V subtracted it is that of exact gradients.
"""

import numpy as np
import pytest
from answers import SPECS, document
from scipy.linalg import solve_discrete_lyapunov

from recipe_compiler.pipeline import prepare_run
from recipe_compiler.report.check import check
from recipe_compiler.run.stages import draw, make_ready

pytestmark = pytest.mark.usefixtures("without_reading_back")

ROWS = np.loadtxt(f"{SPECS}/data/linear_regression.csv", delimiter=",", skiprows=1)[:, :2]
N, n, EPS, CHAINS, DRAWS = len(ROWS), 10, 1e-4, 4, 5000
SIGMA, D = np.array([[1.0, 0.25], [0.25, 2.0]]), np.array([[0.5, 0.15], [0.15, 0.75]])
INVERSE = np.linalg.inv(SIGMA)
K = N * INVERSE + np.eye(2) / 10
V = N**2 * (N - n) / (n * (N - 1)) * INVERSE @ np.cov(ROWS.T, bias=True) @ INVERSE
BUILD = f"""
name: mean
dynamics: DYNAMICS
target: {SPECS}/targets/gaussian_mean.yaml
parameters:
  Sigma: {{value: {SIGMA.tolist()}}}
  D: {{value: {D.tolist()}}}
  MORE
scheme: {{name: euler}}
variant: minibatch
sizes: {{d: 2}}
data: {{file: {SPECS}/data/linear_regression.csv, x: [a, b]}}
run: {{step_size: {EPS}, batch_size: {n}, thin: 120, draws: {DRAWS}, warmup: 100, chains: {CHAINS}, seed: 5}}
"""
W = f"W: {{shape: [d, d], is: positive definite, value: {V.tolist()}}}"
KINDS = {
    "nothing": ("sgld", "", np.zeros((2, 2))),
    "exact": ("sgld_noise_subtraction", f"{W}\nbind: {{V: W}}\ngradient_noise: {{V: W}}", V),
    "half": ("sgld", f"{W}\ngradient_noise: {{V: W/2}}", V / 2),
    "estimate": ("sgld", "\ngradient_noise: {V: estimate}", V),
    "moving": ("sgld", "\ngradient_noise: {V: estimate, moving: 0.1}", V),
}


def covariance(subtracted: np.ndarray) -> np.ndarray:
    """Return that of the law which steps have."""
    return solve_discrete_lyapunov(np.eye(2) - EPS * D @ K, 2 * EPS * D + EPS**2 * D @ (V - subtracted) @ D)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_covariances_are_those_of_the_noise_that_is_left(kind: str) -> None:
    name, more, subtracted = KINDS[kind]
    build = document(BUILD.replace("DYNAMICS", name).replace("MORE", more))
    draws = draw(make_ready(prepare_run(build, check(build, advisory=False), build.run))).arrays[0][:, 100:]
    mean = np.linalg.solve(K, INVERSE @ ROWS.sum(axis=0))
    off = (draws - mean).reshape(CHAINS * 25, DRAWS // 25, 2)
    each = np.einsum("csa,csb->cab", off, off) / (DRAWS // 25)
    exact, error = covariance(subtracted), each.std(axis=0, ddof=1) / np.sqrt(len(each))
    z = (each.mean(axis=0) - exact) / error
    posterior = np.sqrt(np.diag(np.linalg.inv(K)))
    wide = np.sqrt(np.diag(exact)) / posterior
    print(f"{kind}: sds {wide.round(3)} times those of the posterior, |z| {abs(z).max():.2f}")
    assert abs(z).max() < 4.0
    assert np.all(4.0 * np.diag(error) < 0.1 * np.diag(exact))
    assert max(wide) > 1.15 if kind == "nothing" else max(wide) < 1.12
    assert max(wide) < 1.01 or kind in ("nothing", "half")
