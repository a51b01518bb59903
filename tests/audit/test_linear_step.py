"""A step as it runs, made linear by differences, against F and Sigma as they are read from its text."""

from pathlib import Path

import numpy as np
import pytest
from affine_builds import LANGEVIN, SPECS, read, written

from recipe_compiler.audit.figures import covariance
from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.pipeline import discretise, lower, rename, schedule
from recipe_compiler.run.data import Data
from recipe_compiler.run.gradients import full_gradient
from recipe_compiler.run.linear_step import AS_IT_IS, LinearStep, StepAtMode
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.map_estimate import Start, find_mode
from recipe_compiler.run.quadratic_target import quadratic_module
from recipe_compiler.run.sample import prepare_inputs
from recipe_compiler.run.target_at_mode import target_at_mode
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build


def parameters(d: int) -> str:
    """Return parameters whose K and C do not commute."""
    Sigma = [[f"{2 + i % 3}" if i == j else f"{(-1) ** (i + j)}/{2 + abs(i - j)}" for j in range(d)] for i in range(d)]
    for i in range(d):
        Sigma[i][i] = f"{3 + i % 4}"
    mu = ", ".join(f"{i - 1}" for i in range(d))
    c = ", ".join(f"{1 + i % 3}/2" for i in range(d))
    rows = ", ".join(f"[{', '.join(row)}]" for row in Sigma)
    return (
        f"bind: {{M: m*I, C: diag(c)}}\nparameters:\n  m: {{is: positive, value: 3/2}}\n"
        f"  c: {{shape: d, is: positive, value: [{c}]}}\n  mu: {{value: [{mu}]}}\n  Sigma: {{value: [{rows}]}}\n"
    )


STANDARD = f"""
format: 1
name: standard
dynamics: {SPECS}/dynamics/sghmc.yaml
target: {SPECS}/targets/standard_normal.yaml
bind: {{M: m*I, C: c*I}}
parameters: {{m: {{is: positive, value: 2}}, c: {{is: positive, value: 1/2}}}}
scheme: {{name: sequential_euler, order: [r, theta]}}
variant: full
sizes: {{d: 80}}
run: {{step_size: 0.1}}
"""


def linear(build: Build, d: int) -> tuple[Module, LinearStep]:
    """Return the module that ships, and its step made linear as it runs."""
    general = discretise(build, derive(bind(build), stated=True))
    fixed = rename(general, {"d": d})
    chunked = bool(schedule(fixed, lower(fixed)).chunked)
    program = general if chunked else fixed
    module = emit_module(f"{build.name}_{d}", program, schedule(program, lower(program)), "Linear.", "0" * 64)
    emitted = load_text(module.name, module.text)
    inputs = prepare_inputs(emitted, build, build.run, Data(()), 0)
    slope = full_gradient(emitted, inputs)
    assert slope is not None
    mode = find_mode(slope, (Start("ones", np.ones(d)),)).theta
    step = StepAtMode.of(quadratic_module(module, emitted), inputs, target_at_mode(slope, mode, None))
    return module, step.linear(0.0, AS_IT_IS)


@pytest.mark.slow
def test_a_step_by_chunks_is_made_linear_too(tmp_path: Path) -> None:
    d, h = 80, 0.1
    module, found = linear(written(tmp_path, STANDARD), d)
    assert module.kernel.chunked
    one = np.array([[1.0 - h**2 / 2.0, h / 2.0 * (1.0 - h / 4.0)], [-h, 1.0 - h / 4.0]])
    np.testing.assert_allclose(found.F, np.kron(one, np.eye(d)), atol=1e-8)
    noise = h * np.array([[(h / 2.0) ** 2, h / 2.0], [h / 2.0, 1.0]])
    S = np.kron(covariance(one, noise), np.eye(d))
    np.testing.assert_allclose(found.chain, S, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["{name: baoab}", "{name: obabo}", "{name: sequential_euler, order: [r, theta]}"])
@pytest.mark.parametrize("d", [3, 9])
def test_a_step_that_runs_is_the_one_that_was_read(tmp_path: Path, scheme: str, d: int) -> None:
    """In registers (6 coordinates) and in arrays (18)."""
    build = written(tmp_path, LANGEVIN.replace("PARAMETERS", parameters(d)).replace("SCHEME", scheme))
    module, found = linear(build, d)
    assert bool(module.kernel.registers) == (d == 3)
    expected = read(build, {"d": d}).at(build.run.step_size)
    S = covariance(expected.F, expected.Sigma)
    np.testing.assert_allclose(found.chain[: 2 * d, : 2 * d], S, rtol=0, atol=1e-7 * np.abs(S).max())
    np.testing.assert_allclose(found.z[: 2 * d], [*np.arange(-1, d - 1), *np.zeros(d)], atol=1e-8)
    if not module.program.carried:
        np.testing.assert_allclose(found.F, expected.F, rtol=0, atol=1e-8)
