"""What U far out says of tails: laws whose powers are known, in coordinates that others pull at."""

import numpy as np
import pytest
from answers import document

from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.judge import forecast_run, judge_run
from recipe_compiler.advise.tails import power, powers_along
from recipe_compiler.pipeline import draw, make_ready, prepare_run
from recipe_compiler.report.check import check

BUILD = """
dynamics: hmc
target: target.yaml
bind: {M: I}
scheme: {cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 10, flip: {r: -r}}}]}
variant: full
sizes: {d: 2}
run: {step_size: 0.35, draws: 500, warmup: 100, chains: 4, seed: 3}
"""
COUPLED = np.array([[2.0, -0.7], [-0.7, 1.5]])
CENTRE, SD = np.array([3.0, -4.0]), np.array([0.5, 20.0])


def student_t(dof: float):
    """Return the slope of log(1 + theta' A theta/dof) (dof + 2)/2, whose power along a coordinate is dof + 2."""

    def slope(theta: np.ndarray) -> np.ndarray:
        pulled = COUPLED @ theta
        return (dof + 2) * pulled / (dof + theta @ pulled)

    return slope


@pytest.mark.parametrize("dof", [0.5, 1.0, 3.0, 12.0])
def test_the_power_of_tails_is_that_of_the_law(dof: float) -> None:
    np.testing.assert_allclose(list(powers_along(student_t(dof), CENTRE, SD)), 1.0 / (dof + 1.0), rtol=1e-3)


@pytest.mark.parametrize(
    "slope",
    [
        lambda theta: COUPLED @ theta,
        lambda theta: np.sign(theta) * np.array([1.0, 0.01]),
        lambda theta: COUPLED @ np.tanh(theta) + np.array([0.3, -0.2]),
        lambda theta: theta / (1.0 + theta**2) * np.log1p(theta**2),
    ],
    ids=["normal", "Laplace", "logistic", "lognormal on both sides"],
)
def test_tails_that_fall_off_faster_have_none(slope) -> None:
    assert list(powers_along(slope, CENTRE, SD)) == [0.0, 0.0]


def test_one_tail_is_enough_and_a_level_one_has_no_mean() -> None:
    """Along theta_0 U is level on one side alone; along theta_1 it is normal."""
    assert list(powers_along(lambda z: np.array([min(z[0], 0.0), z[1]]), CENTRE, SD)) == [np.inf, 0.0]


@pytest.mark.slow
def test_a_run_whose_draws_look_lighter_is_told_by_the_slope() -> None:
    build = document(BUILD, target="state: {theta: {shape: d}}\npotential: 2*sum(log(ones + theta**2/3))\n")
    ready = make_ready(prepare_run(build, check(build), build.run))
    drawn = draw(ready)
    plan = Plan(build, ())
    told = judge_run(ready, plan, forecast_run(ready, plan), drawn)
    assert told.tree["posterior"]["theta"].shape == (4, 500, 2)
    assert [round(shape, 3) for shape in told.known.powers] == [0.333, 0.333]
    assert len(told.tails) == 2
    assert all(tail.shape >= 0.333 for tail in told.tails)
    assert "as warned, the sd of theta[" in told.trust or told.doubts


def test_a_slope_that_overflows_with_its_distance_is_of_no_tail_and_warns_of_nothing() -> None:
    """U of exp(theta): the slope is finite far out, its product with the distance is not."""
    assert power(np.array([1e290, 1e300, 1e305]), np.array([1e10, 1e12, 1e14])) == 0.0
