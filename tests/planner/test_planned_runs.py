"""Planned runs: what a plan says is what runs, and the moments are those that were asked for."""

from pathlib import Path

import numpy as np
import pytest

import recipe_compiler as rc
from recipe_compiler.errors import RunError

pytestmark = pytest.mark.usefixtures("interruptible", "known_verdicts")

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(11)
X = np.column_stack([np.ones(240), RNG.normal(5.0, [1.0, 300.0], size=(240, 2)) / [1.0, 1.0]])
BETA = np.array([1.0, -2.0, 0.01])
Y = X @ BETA + RNG.normal(size=240)
PRECISION = X.T @ X + np.eye(3) / 10.0
"""Of the posterior of `linear_regression.yaml`: X^T X/noise_variance + I/prior_variance."""
MEAN = np.linalg.solve(PRECISION, X.T @ Y)
SDS = np.sqrt(np.diag(np.linalg.inv(PRECISION)))


def model(variant: str, **stated: object) -> rc.Model:
    return rc.compile(
        str(ROOT / "specs/dynamics/sghmc.yaml"), str(ROOT / "specs/targets/linear_regression.yaml"),
        name=f"planned_{variant}", scheme="baoab", variant=variant, step_size="auto", **stated,
    )  # fmt: skip


@pytest.mark.usefixtures("taken_for_granted", "without_reading_back")
@pytest.mark.slow
@pytest.mark.parametrize("variant", ["full", "minibatch"])
def test_an_uncentred_regression_is_sampled_at_the_first_attempt(variant: str) -> None:
    tree = model(variant).sample({"x": X, "y": Y}, progress=False)
    assert not tree.attrs["doubts"]
    draws = tree["posterior"]["theta"].to_numpy().reshape(-1, 3)
    # 4000 draws, two for one that counts: means within 5 standard errors, sds within the share and as much
    np.testing.assert_allclose((draws.mean(axis=0) - MEAN) / SDS, 0.0, atol=5.0 / np.sqrt(2000.0))
    np.testing.assert_allclose(draws.std(axis=0) / SDS, 1.0, atol=0.02 + 5.0 / np.sqrt(4000.0))
    assert ("control variates" in tree.attrs["plan"]) == (variant == "minibatch")


@pytest.mark.slow
def test_a_step_size_is_not_given_twice() -> None:
    with pytest.raises(RunError, match=r"step_size: found 0\.1 for a build with step_size: auto"):
        model("full").sample({"x": X, "y": Y}, step_size=0.1)
