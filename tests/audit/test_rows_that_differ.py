"""Words with minibatches of data whose rows have Hessians of their own, against the law over all batches.

U is quadratic, so that a step with the batch b is affine, z+ - z* = F_b (z - z*) + c_b + G_b xi, and its chain has the
covariance S = E F_b S F_b^T + E c_b c_b^T + E G_b G_b^T, the means over all subsets of the rows: a linear system. The
forecast takes F and G of all rows, which is right to first order in eps beside what V makes of the law.
"""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from affine_builds import SPECS, written
from reports import required

from recipe_compiler.cache import NOTHING, check_once
from recipe_compiler.emit.module import emit_module
from recipe_compiler.pipeline import derive, discretise, estimate, lower, plan_run, schedule
from recipe_compiler.run.data import Data, load_data
from recipe_compiler.run.forecast import linearized_chain_of
from recipe_compiler.run.linear_step import LinearStep
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.map_estimate import Start, find_mode
from recipe_compiler.run.one_step import OneStep, one_step
from recipe_compiler.run.sample import prepare_inputs
from recipe_compiler.run.sizes import with_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Verdict

ROWS = 6
DATA = "a,b,y\n1,0.1,1\n-2,0.5,-1\n0.2,3,2\n0.1,-1,0.5\n4,0.3,3\n-0.3,2,1\n"
BUILD = f"""
format: 1
name: rows
dynamics: {SPECS}/dynamics/sghmc.yaml
target: {SPECS}/targets/linear_regression.yaml
parameters:
  M: {{value: [[20, 5], [5, 10]]}}
  C: {{value: [[30, -10], [-10, 60]]}}
scheme: SCHEME
variant: minibatch
data: {{file: data.csv, x: [a, b], y: y}}
run: {{step_size: 0.1, batch_size: SIZE}}
"""
ALIKE = "a,b,y\n" + "".join(f"{a},{b},{3 * a + b / 2 + y}\n" for a in (1, -1) for b in (1, -1) for y in (1, -1))
WORDS = ("{name: baoab}", "{name: obabo}", "{split: [O/2, A/2, B, A/2, O/2]}")


def made(folder: Path, scheme: str, size: int) -> tuple[OneStep, LinearStep]:
    """Return a step, and the same made linear."""
    (folder / "data.csv").write_text(DATA)
    build = written(folder, BUILD.replace("SCHEME", scheme).replace("SIZE", str(size)))
    return linear(build, load_data(build.data, build.target))


def linear(build: Build, data: Data) -> tuple[OneStep, LinearStep]:
    """Return the step of a build, and the same made linear."""
    build = with_sizes(build, data)
    program = discretise(build, derive(bind(build), stated=True))
    module = emit_module(build.name, program, schedule(program, lower(program)), "Rows.", "0" * 64)
    emitted = load_text(module.name, module.text)
    inputs = prepare_inputs(emitted, build, build.run, data, 0)
    chain = linearized_chain_of(module, emitted, build, inputs)
    mode = find_mode(chain.slope, (Start("zero", np.zeros(2)),)).theta
    return one_step(module, emitted, inputs), chain.around(mode).linear()[1]


def over_all_batches(step: OneStep, z: np.ndarray, size: int, rows: int = ROWS) -> np.ndarray:
    """Return S by the linear system."""
    n, quiet = step.width, np.zeros(step.normals)
    left, noise = np.eye(n * n), np.zeros((n, n))
    batches = [np.array(one, dtype=np.uint64) for one in itertools.combinations(range(rows), size)]
    for batch in batches:
        start = step.after(z, batch, quiet)
        c = start - z
        F = np.array([step.after(z + unit, batch, quiet) - start for unit in np.eye(n)]).T
        G = np.array([step.after(z, batch, unit) - start for unit in np.eye(step.normals)]).T
        left -= np.kron(F, F) / len(batches)
        noise += (np.outer(c, c) + G @ G.T) / len(batches)
    return np.linalg.solve(left, noise.ravel()).reshape(n, n)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", WORDS)
def test_with_all_rows_in_every_batch_nothing_is_off(tmp_path: Path, scheme: str) -> None:
    step, found = made(tmp_path, scheme, ROWS)
    np.testing.assert_allclose(found.chain, over_all_batches(step, found.z, ROWS), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.chain, found.exact, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", WORDS)
def test_batches_of_half_of_the_rows(tmp_path: Path, scheme: str) -> None:
    step, found = made(tmp_path, scheme, 3)
    expected = over_all_batches(step, found.z, 3)[:2, :2]
    wider = expected - found.exact[:2, :2]
    assert np.linalg.eigvalsh(wider)[0] > 0.0
    np.testing.assert_allclose(found.chain[:2, :2], expected, rtol=0, atol=0.01 * np.abs(wider).max())


@pytest.mark.slow
@pytest.mark.usefixtures("without_reading_back")
@pytest.mark.parametrize("scheme", ["{name: sequential_euler, order: [r, theta]}", "{name: baoab}"])
def test_a_plan_that_subtracts_keeps_to_its_share(tmp_path: Path, scheme: str) -> None:
    """Of rows that are alike V says most of the noise, and subtracting it takes less work than control variates."""
    (tmp_path / "data.csv").write_text(ALIKE)
    text = BUILD.replace("SCHEME", scheme).replace("step_size: 0.1, batch_size: SIZE", "step_size: auto, batch_size: 4")
    stated = written(tmp_path, re.sub(r"parameters:\n(  .*\n)+", "", text))
    with required():
        build = plan_run(stated, check_once(stated, NOTHING))[0].build
        assert check_once(build, NOTHING).verdict is Verdict.PROVED
    assert (build.estimated, build.control) == ("V_hat", ())
    data = load_data(build.data, build.target)
    report = check_once(build, NOTHING)
    step, found = linear(estimate(build, report, build.run, data), data)
    x = np.loadtxt(tmp_path / "data.csv", delimiter=",", skiprows=1)[:, :2]
    target = np.linalg.inv(x.T @ x + np.eye(2) / 10)
    factors = np.sqrt(np.diag(over_all_batches(step, found.z, 4, 8)[:2, :2]) / np.diag(target))
    assert np.abs(np.log(factors)).max() < 0.02
