"""SGHMC with minibatches on Bayesian linear regression against the Gaussian posterior in closed form."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build, estimate
from recipe_compiler.report.check import check
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import sample

BUILD = Path(__file__).parents[2] / "specs/builds/sghmc_linear_regression.yaml"


@pytest.mark.slow
def test_means_and_standard_deviations() -> None:
    """The noise of the minibatch gradient is estimated at the mode and subtracted: sds come out neither way."""
    build = load_build(BUILD)
    data = load_data(build.data, build.target)
    report = check(build)
    module = compile_build(build, report)
    known = estimate(build, report, build.run, data)
    draws = sample(load_text(module.name, module.text), known, known.run, data)
    theta = draws.arrays[0][:, draws.warmup :].reshape(-1, 5)
    x, y = (field.values for field in data.fields)
    covariance = np.linalg.inv(x.T @ x + np.eye(5) / 10)  # noise_variance 1, prior_variance 10
    mean, sd = covariance @ x.T @ y, np.sqrt(np.diag(covariance))
    assert np.abs((theta.mean(axis=0) - mean) / sd).max() < 0.1
    ratio = theta.std(axis=0) / sd
    assert ratio.min() > 0.95, ratio
    assert ratio.max() < 1.05, ratio
