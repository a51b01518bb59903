"""V that follows a chain: its average, what a step subtracts, its copy in checkpoints, and the mean that it repairs."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from answers import document

from recipe_compiler.pipeline import prepare_run
from recipe_compiler.report.check import check
from recipe_compiler.run.chain import advance, start_chain
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.sample import Draws, prepare_inputs, stepping, with_parameters
from recipe_compiler.run.stages import Run, conclude, draw, make_ready

N, n, WARMUP, SCALE = 24, 4, 3, 0.2
TARGET = """
name: well
state: {theta: {shape: 2}}
data: {x: {shape: N}, z: {shape: N}}
log_prior: -(theta[0]**2 - 1)**2 - (theta[1] - theta[0]/2)**2 - theta[1]**4/4
log_likelihood: x*(theta[0] + 9/10)**2/2 + z*theta[1]
assume: [normalisable]
"""
"""The data add up to zero: exp(-U) is symmetric under theta -> -theta, and the noise of its gradient is not."""
BUILD = """
name: following
dynamics: sgld
target: target.yaml
bind: {D: A}
parameters: {A: {shape: [d, d], is: positive definite, value: [[1, 0.3], [0.3, 0.5]]}}
scheme: {name: euler}
variant: minibatch
gradient_noise: {V: estimate, MORE}
data: {file: data.csv, x: x, z: z}
init: {theta: START/10*ones}
run: {step_size: 0.03, batch_size: SIZE, draws: 40, warmup: 3, thin: 5, chains: 2}
"""
AT = np.array([0.7, 0.7])


def data(rows: int, scale: float) -> np.ndarray:
    x = np.tile([1.0, -1.0, 1.0, -1.0], rows // 4) * scale
    return np.column_stack([x, np.tile([1.0, 1.0, -1.0, -1.0], rows // 4) * scale + x / 2])


@cache
def run_of(more: str, start: int = 7, rows: int = N, scale: float = SCALE, size: int = n) -> Run:
    lines = "\n".join(f"{x!r},{z!r}" for x, z in data(rows, scale).tolist())
    build = document(
        BUILD.replace("MORE", more).replace("START", str(start)).replace("SIZE", str(size)),
        target=TARGET,
        **{"data.csv": f"x,z\n{lines}\n"},
    )
    return prepare_run(build, check(build, advisory=False), build.run)


def noise_at(theta: np.ndarray) -> np.ndarray:
    """Return the covariance of the gradient of n of N data without replacement, from that of all data."""
    each = -N * data(N, SCALE) * [theta[0] + 0.9, 1.0]
    return np.cov(each.T, bias=True) / n * (N - n) / (N - 1)


@pytest.mark.parametrize("form", ["dense", "diagonal"])
def test_steps_subtract_the_average_of_v_where_their_draws_begin(form: str) -> None:
    run = run_of(f"moving: 0.2, form: {form}")
    found = draw(make_ready(run))
    inputs = prepare_inputs(run.module, run.build, run.settings, run.data)
    noise, batch = run.module.seed_streams(run.settings.seed, 2)
    chain = start_chain(run.module, replace(inputs, draws=8), {"theta": AT}, noise[1], batch[1])
    V = inputs.parameters["V_hat"]
    assert isinstance(V, np.ndarray)
    for k in range(8):
        newest, weight = noise_at(chain.state["theta"]), max(1.0 / (k + 2), 0.2)
        V = (1.0 - weight) * V + weight * (newest if form == "dense" else np.diag(newest))
        assert found.stats["gradient_noise"][1, k] == pytest.approx(V.trace() if V.ndim > 1 else V.sum(), rel=1e-9)
        own = with_parameters(run.module, run.build, inputs, {"V_hat": V})
        advance(run.module, stepping(run.module, own, inputs.eps), [chain], 1)
    np.testing.assert_allclose(found.arrays[0][1, :8], chain.draws["theta_draws"], rtol=1e-8)
    assert found.clipped == (0, 0)
    assert np.ptp(found.stats["gradient_noise"][1]) > 0.2 * found.stats["gradient_noise"][1].max()


def test_a_stopped_run_goes_on_with_the_v_that_it_had_and_a_file_has_its_trace(tmp_path: Path) -> None:
    run = run_of("moving: 0.2")
    whole = draw(make_ready(run), cores=1)

    def drawn(count: int, *, resume: bool) -> Draws:
        ready = make_ready(replace(run, settings=replace(run.settings, draws=count)))
        with Checkpoint(tmp_path / "kept", run.facts) as checkpoint:
            return draw(ready, cores=2, checkpoint=checkpoint, resume=resume)

    drawn(11, resume=False)
    continued = drawn(40, resume=True)
    np.testing.assert_array_equal(continued.arrays[0], whole.arrays[0])
    np.testing.assert_array_equal(continued.stats["gradient_noise"], whole.stats["gradient_noise"])
    tree, _ = conclude(make_ready(run), whole)
    stored = tree["sample_stats"]["gradient_noise"].to_numpy()
    np.testing.assert_array_equal(stored, whole.stats["gradient_noise"][:, WARMUP:])
    assert run.facts["V moving"] == 0.2
    assert "V moving" not in run_of("form: dense").facts


def test_v_is_shrunk_until_a_step_can_be_made_and_that_is_counted() -> None:
    run = run_of("moving: 1", start=-7, scale=0.45)  # eps V[0, 0] is 0.01 at the mode near -1, and 2.7 near 1
    found = draw(make_ready(replace(run, settings=replace(run.settings, draws=400))))
    assert np.isfinite(found.arrays[0]).all()
    assert all(0 < count < 403 for count in found.clipped)
    assert found.stats["gradient_noise"].max() * run.settings.eps > 2.0  # what is averaged is not shrunk


@pytest.mark.slow
def test_the_mean_that_noise_of_the_state_shifts_is_right_with_a_v_that_follows_it() -> None:
    """The mean of theta[0] is 0 by symmetry, of steps with exact gradients too."""

    def mean(more: str) -> tuple[float, float]:
        run = run_of(more, -7, 400, 0.03, 20)
        settings = replace(run.settings, thin=10, draws=6000, warmup=200, chains=4)
        run = replace(run, settings=settings)
        chains = draw(make_ready(run)).arrays[0][:, 200:, 0]
        of_batches = chains.reshape(4 * 12, 500).mean(axis=1)
        return float(of_batches.mean()), float(of_batches.std() / np.sqrt(4 * 12))

    at_mode, error = mean("form: dense")
    assert at_mode < -5.0 * error
    following, error = mean("moving: 1")
    print(f"at the mode {at_mode:.3f}, following {following:.3f} +- {error:.3f}")
    assert abs(following) < 4.0 * error
    assert 4.0 * error < 0.5 * abs(at_mode)
