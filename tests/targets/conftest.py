"""A target whose gradient is code: that of logistic regression, written with numba."""

from pathlib import Path

import pytest

SPECS = Path(__file__).parents[2] / "specs"

CODE = """
import math

from numba import njit


@njit(error_model="numpy")
def grad_U(out, theta, prior_variance, x, y, batch):
    out[:] = 0.0
    for b in range(batch.shape[0]):
        row = batch[b]
        t = 0.0
        for i in range(theta.shape[0]):
            t += x[row, i] * theta[i]
        weight = 1.0 / (1.0 + math.exp(-t)) - y[row]
        for i in range(theta.shape[0]):
            out[i] += weight * x[row, i]
    for i in range(theta.shape[0]):
        out[i] = theta[i] / prior_variance + x.shape[0] * out[i] / batch.shape[0]
"""
TARGET = """
name: coded
state: {theta: {shape: d}}
data: {x: {shape: [N, d]}, y: {shape: N, in: [0, 1]}}
parameters: {prior_variance: {is: positive, default: 10}}
gradient: my_gradient.py:grad_U
"""


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """Return a build of a target whose gradient is code; `plain.yaml` beside it states the same target."""
    (tmp_path / "my_gradient.py").write_text(CODE)
    (tmp_path / "coded.yaml").write_text(TARGET)
    build = (SPECS / "builds/sghmc_logistic.yaml").read_text().replace("../", f"{SPECS}/")
    (tmp_path / "plain.yaml").write_text(build)
    (tmp_path / "build.yaml").write_text(build.replace(f"{SPECS}/targets/logistic_regression.yaml", "coded.yaml"))
    return tmp_path / "build.yaml"
