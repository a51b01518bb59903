"""What the steps of `solve` do to a posterior: beside the same steps by hand, and beside exact solutions on a grid."""

import numpy as np
import pytest
from answers import document

from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.judge import forecast_run, judge_run
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.solver_error import MOST, SolverError, solver_error_of
from recipe_compiler.advise.stein import chosen_draws
from recipe_compiler.pipeline import draw, make_ready, prepare_run
from recipe_compiler.report.check import check
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.stages import Ready

TARGET = """
name: spiral
state: {{k: {{}}, w: {{}}}}
data: {{t: {{shape: N}}, y: {{shape: [N, 2]}}}}
solve:
  z: {{shape: 2, start: "[1, 1/2]", slope: "[-k*z[0] - w*z[1], w*z[0] - k*z[1]]"}}
  times: t
  from: 1/4
  steps: {steps}
  method: {method}
log_prior: normal(k, 1, 1) + normal(w, 1, 1)
log_likelihood: normal(y, z, 0.2)
"""
BUILD = """
name: spiral_{method}
dynamics: hmc
target: target.yaml
bind: {{M: I}}
scheme: {{cycle: [{{refresh: r}}, {{metropolis: {{split: [B/2, A, B/2], steps: 8, flip: {{r: -r}}}}}}]}}
variant: full
sizes: {{d: 2}}
init: {{theta: ones}}
data: {{file: data.csv, t: t, y: [y0, y1]}}
run: {{step_size: 0.02, draws: 400, warmup: 200, chains: 4, seed: 3}}
"""
FROM, TIMES, SD = 0.25, np.array([0.5, 0.75, 1.25, 1.25, 2.0]), 0.2
TRUTH = np.exp((-0.7 + 1.3j) * (TIMES - FROM)) * (1 + 0.5j)
Y = TRUTH + 0.1 * np.array([1 + 1j, -1 + 0.5j, 0.3 - 1j, -0.6 - 0.2j, 0.9 + 0.4j])


def by_euler(k: np.ndarray, w: np.ndarray, steps: int) -> np.ndarray:
    """Return the log likelihood of draws: z1 + i z2 passes on by 1 + (-k + iw) h."""
    z, total, before = np.full(k.shape, 1 + 0.5j), np.zeros(k.shape), FROM
    for t, y in zip(TIMES, Y, strict=True):
        z = z * (1 + (-k + 1j * w) * (t - before) / steps) ** steps
        total, before = total - abs(y - z) ** 2 / (2 * SD**2), t
    return total


def exact(k: np.ndarray, w: np.ndarray) -> np.ndarray:
    z = np.exp((-k + 1j * w) * (TIMES - FROM)[:, None, None]) * (1 + 0.5j)
    return -(abs(Y[:, None, None] - z) ** 2).sum(axis=0) / (2 * SD**2)


def posterior(log_likelihood: np.ndarray, k: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and sd of (k, w) on a grid."""
    lp = log_likelihood - ((k - 1) ** 2 + (w - 1) ** 2) / 2
    p = np.exp(lp - lp.max())
    p /= p.sum()
    mean = np.array([(p * k).sum(), (p * w).sum()])
    return mean, np.sqrt([(p * (k - mean[0]) ** 2).sum(), (p * (w - mean[1]) ** 2).sum()])


def ran(method: str, steps: int) -> tuple[Ready, Draws]:
    """Return a run of the model, and its draws."""
    rows = ["t,y0,y1", *(f"{t},{y.real},{y.imag}" for t, y in zip(TIMES, Y.tolist(), strict=True))]
    target = TARGET.format(method=method, steps=steps)
    build = document(BUILD.format(method=method), target=target, **{"data.csv": "\n".join(rows).encode()})
    ready = make_ready(prepare_run(build, check(build), build.run))
    return ready, draw(ready)


@pytest.mark.slow
def test_coarse_steps_are_a_doubt_by_as_much_as_they_move_means() -> None:
    ready, draws = ran("euler", 8)
    sampler = Sampler.of_run(ready)
    found = solver_error_of(sampler, draws)
    assert found is not None
    chains, places = chosen_draws(sampler.inputs, draws)
    k, w = draws.block("theta")[np.ix_(chains, places)].reshape(-1, 2)[:: len(chains) * len(places) // MOST].T
    assert found.shift == pytest.approx(np.std(2 * (by_euler(k, w, 8) - by_euler(k, w, 16))), rel=1e-9)
    grid = np.meshgrid(np.linspace(-0.5, 2.5, 400), np.linspace(-0.5, 3, 400), indexing="ij")
    mean, sd = posterior(by_euler(*grid, 8), *grid)
    moved = np.max(np.abs(posterior(exact(*grid), *grid)[0] - mean) / sd)
    assert 0.2 < moved < 1.2 * found.shift
    assert found.shift < 3 * moved
    plan = Plan(ready.run.build, ())
    summary = judge_run(ready, plan, forecast_run(ready, plan), draws)
    assert found.doubt in summary.doubts
    assert "euler, 8 steps" in found.doubt


@pytest.mark.slow
def test_fine_steps_are_none() -> None:
    ready, draws = ran("rk4", 4)
    found = solver_error_of(Sampler.of_run(ready), draws)
    assert found is not None
    assert 0.0 < found.shift < 1e-3
    assert found.doubt == ""
    assert "changes U by" in found.says


def test_solutions_without_end_are_a_doubt() -> None:
    assert "not finite" in SolverError("euler, 1 step", np.inf).doubt
    assert SolverError("euler, 1 step", 0.0, "the target has a recursion too").doubt == ""
