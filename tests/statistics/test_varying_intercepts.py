"""SGHMC on a regression with varying intercepts, known variances, against its Gaussian posterior in closed form."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build
from shipped_text import shipped_text

from recipe_compiler.pipeline import prepare_run
from recipe_compiler.report.check import check
from recipe_compiler.run.data import Data, load_data
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.model import Build

ROOT = Path(__file__).parents[2]


def posterior(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of (mu, alpha, beta): P = A.T A/(1/2) + inv(prior), P mean = A.T y/(1/2)."""
    g, x, y = (field.values for field in data.fields)
    A = np.column_stack([np.ones(len(y)), np.eye(12)[g], x])
    prior = np.diag([1 / 25, *[1.0] * 12, 1 / 25])
    covariance = np.linalg.inv(2 * A.T @ A + prior)
    return 2 * covariance @ A.T @ y, covariance


def shipped() -> tuple[Build, Data]:
    build = load_build(ROOT / "specs/builds/sghmc_varying_intercepts.yaml")
    return build, load_data(build.data, build.target)


@pytest.mark.usefixtures("without_jit")
def test_the_gradient_is_that_of_the_closed_form() -> None:
    """grad U is P (theta - mean), wherever."""
    from recipe_compiler.run.load_module import load_text

    build, data = shipped()
    module = load_text(build.name, shipped_text(build.name))
    mean, covariance = posterior(data)
    for theta in (mean, mean + np.linspace(-1, 2, 14)):
        found = np.full(14, np.nan)
        module.gradient(found, theta, 25.0, 1.0, 0.5, *(field.values for field in data.fields))
        np.testing.assert_allclose(found, np.linalg.solve(covariance, theta - mean), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_means_and_standard_deviations() -> None:
    """8,000 draws are worth some 3,000 independent ones: means within 0.1 sd are 5 errors, sds within 5 % 4 of them."""
    build, data = shipped()
    run = prepare_run(build, check(build), build.run, data)
    draws = sample(run.module, run.build, build.run, data)
    theta = draws.arrays[0][:, draws.warmup :].reshape(-1, 14)
    mean, covariance = posterior(data)
    sd = np.sqrt(np.diag(covariance))
    assert np.abs((theta.mean(axis=0) - mean) / sd).max() < 0.1
    np.testing.assert_allclose(theta.std(axis=0) / sd, 1.0, atol=0.05)
