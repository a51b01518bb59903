"""What each scheme computes, run as emitted, against the papers' update rules written out in NumPy."""

import importlib.util
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from recipe_compiler.derive.recipe import derive
from recipe_compiler.errors import ModelError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

pytestmark = pytest.mark.usefixtures("taken_for_granted")

unread = pytest.mark.usefixtures("without_reading_back")

M = np.array([[2.0, 0.5], [0.5, 1.0]])
C = np.array([[1.0, 0.25], [0.25, 3.0]])
V = np.array([[0.5, 0.125], [0.125, 0.25]])
X = np.array([[1.0, -2.0], [0.5, 1.5], [-1.0, 0.25]])
Y = np.array([1.0, 0.0, 1.0])

SGHMC = """
name: both
dynamics: SPECS/dynamics/sghmc.yaml
target: SPECS/targets/logistic_regression.yaml
parameters:
  M: {value: [[2, 0.5], [0.5, 1]]}
  C: {value: [[1, 0.25], [0.25, 3]]}
  V0: {shape: [d, d], is: positive semidefinite, value: [[0.5, 0.125], [0.125, 0.25]]}
  prior_variance: {value: 4}
SCHEME
variant: minibatch
gradient_noise: {V: V0}
data: {file: data.csv, x: [a, b], y: y}
run: {step_size: 0.1, batch_size: 2}
"""

DATA = "a,b,y\n1,-2,1\n0.5,1.5,0\n-1,0.25,1\n"


def gradient(theta: np.ndarray, batch: list[int]) -> np.ndarray:
    """grad U~ = theta/prior_variance - (N/n) sum_batch (y - sigmoid(x theta)) x."""
    weights = 1.0 / (1.0 + np.exp(-X[batch] @ theta)) - Y[batch]
    return theta / 4.0 + len(Y) / len(batch) * X[batch].T @ weights


def loaded(build: Build) -> types.ModuleType:
    """Return the emitted module of a build, imported."""
    module = compile_build(build, allow_undecided=True)  # clipping keeps what the noise budget leaves open
    path = Path(build.source.file).parent / f"{module.name}.py"
    path.write_text(module.text)
    spec = importlib.util.spec_from_file_location(module.name, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[module.name] = found  # the jit's cache refers to the module by its name
    spec.loader.exec_module(found)
    return found


def emitted(written: Callable[..., Build], scheme: str, tmp_path) -> types.ModuleType:
    (tmp_path / "data.csv").write_text(DATA)
    build = written(SGHMC.replace("SCHEME", scheme))
    return loaded(build)


def one_step(module, theta, r, noise, eps, batch):
    constants = dict(zip(module.CONSTANTS, module.prepare(M, C, V, 4.0, eps, 2), strict=True))
    arguments = {
        "theta": theta, "r": r, "M": M, "C": C, "V0": V, "prior_variance": 4.0, "x": X, "y": Y,
        "batch": np.array(batch, np.uint64), "noise_r": noise, "eps": eps, **constants,
    }  # fmt: skip
    names = module.step.py_func.__code__.co_varnames[: module.step.py_func.__code__.co_argcount]
    outputs = {name: np.full(2, np.nan) for name in names if name not in arguments}
    module.step(*(arguments.get(name, outputs.get(name)) for name in names))
    return outputs["theta_new"], outputs["r_new"], constants["L_r"]


START = (np.array([0.5, -1.0]), np.array([0.25, 2.0]), np.array([1.5, -0.5]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", ["euler", "sequential_euler, order: [r, theta]", "sequential_euler, order: [theta, r]"]
)
def test_each_block_moves_from_the_state_that_its_scheme_says(written, tmp_path, scheme: str) -> None:
    module = emitted(written, f"scheme: {{name: {scheme}}}", tmp_path)
    theta, r, noise = START
    eps, batch = 0.125, [2, 0]
    theta_new, r_new, L = one_step(module, theta, r, noise, eps, batch)
    np.testing.assert_allclose(L @ L.T, eps * (2 * C - eps * V), rtol=1e-12)
    at = theta_new if scheme.endswith("[theta, r]") else theta
    drift = -gradient(at, batch) - C @ np.linalg.solve(M, r)
    np.testing.assert_allclose(r_new, r + eps * drift + L @ noise, rtol=1e-12)
    by = r_new if scheme.endswith("[r, theta]") else r
    np.testing.assert_allclose(theta_new, theta + eps * np.linalg.solve(M, by), rtol=1e-12)


@pytest.mark.slow
@unread
def test_a_step_with_more_gradient_noise_than_friction_is_refused(written, tmp_path) -> None:
    module = emitted(written, "scheme: {name: euler}", tmp_path)
    eps_max = 1.0 / max(np.linalg.eigvals(np.linalg.solve(2 * C, V)).real)
    with pytest.raises(ValueError, match="eps_max = ") as error:
        module.prepare(M, C, V, 4.0, 1.01 * eps_max, 2)
    said = float(str(error.value).rpartition("= ")[2])
    assert said == pytest.approx(eps_max, rel=1e-12)
    module.prepare(M, C, V, 4.0, said, 2)
    module.prepare(M, C, V, 4.0, 0.99 * eps_max, 2)


@unread
def test_gradient_noise_that_leaves_the_range_of_D_is_refused(written, tmp_path) -> None:
    module = emitted(written, "scheme: {name: euler}", tmp_path)
    singular = np.array([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match="no step size"):
        module.prepare(M, singular, V, 4.0, 1e-9, 2)


METRIC = """
name: metric
state: {theta: {shape: d}}
functions:
  U: {of: theta, role: potential}
H: U(theta)
D: [[diag(ones + theta**2)]]
Q: [[0]]
"""


@pytest.mark.slow
def test_noise_that_depends_on_the_state_is_clipped_and_counted(written, tmp_path) -> None:
    (tmp_path / "data.csv").write_text(DATA)
    text = SGHMC.replace("SPECS/dynamics/sghmc.yaml", "metric.yaml").replace("SCHEME", "scheme: {name: euler}")
    lines = [line for line in text.splitlines() if not line.startswith(("  M:", "  C:", "  V0:"))]
    text = (
        "\n".join(lines)
        .replace("V: V0", "V: v*I")
        .replace("parameters:", "parameters:\n  v: {is: nonnegative, value: 4}")
    )
    module = loaded(written(text, metric=METRIC))
    theta, eps, noise, batch = np.array([0.5, 3.0]), 0.2, np.array([1.0, -2.0]), [0, 1]
    new, work, clipped = np.full(2, np.nan), np.full(2, np.nan), np.zeros(1, np.int64)
    given = {"theta_new": new, "theta": theta, "v": 4.0, "prior_variance": 4.0, "x": X, "y": Y, "noise_theta": noise,
             "batch": np.array(batch, np.uint64), "eps": eps, "clipped": clipped, "grad_U_tilde": work}  # fmt: skip
    code = module.step.py_func.__code__
    module.step(*(given.get(name, np.zeros(2)) for name in code.co_varnames[: code.co_argcount]))
    D = 1 + theta**2
    variance = eps * (2 * D - eps * D * 4.0 * D)  # B_hat = D V D
    expected = theta + eps * (-D * gradient(theta, batch) + 2 * theta) + np.sqrt(np.maximum(variance, 0)) * noise
    assert variance[1] < 0 < variance[0]
    np.testing.assert_allclose(new, expected, rtol=1e-12)
    assert clipped[0] == 1


def test_an_order_that_needs_two_gradients_is_refused_by_name(written, tmp_path) -> None:
    (tmp_path / "data.csv").write_text(DATA)
    both = """
name: both_blocks
state: {theta: {shape: d}, r: {shape: d}}
functions:
  U: {of: theta, role: potential}
H: U(theta) + r.T @ r / 2
D: [[I, 0], [0, I]]
Q: [[0, -I], [I, 0]]
"""
    text = SGHMC.replace("SPECS/dynamics/sghmc.yaml", "both_blocks.yaml")
    text = text.replace("SCHEME", "scheme: {name: sequential_euler, order: [theta, r]}").replace("V: V0", "V: 0")
    text = "\n".join(line for line in text.splitlines() if not line.startswith(("  M:", "  C:", "  V0:")))
    with pytest.raises(ModelError, match="old and the new theta"):
        compile_build(written(text, both_blocks=both))


def test_a_word_with_two_minibatches_a_step_is_refused_with_the_way_out(written, tmp_path) -> None:
    """A step of (1/2)**2 + (1/2)**2 of the noise, for twice the rows; the words of the hint evaluate one gradient."""
    (tmp_path / "data.csv").write_text(DATA)
    build = written(SGHMC.replace("SCHEME", "scheme: {split: [A/4, B/2, A/4, O, A/4, B/2, A/4]}"))
    with pytest.raises(ModelError) as refused:
        discretise(build, derive(bind(build), stated=True))
    (fault,) = refused.value.faults
    assert "evaluates the gradient 2 times a step, expected once" in fault.problem
    assert "2 minibatches have at best 1/2 of the noise for 2 times the rows" in fault.hint
    found = re.findall(r"\[[A-Z/0-9, ]+\]", fault.hint)
    assert len(found) == 2
    for word in found:
        one = written(SGHMC.replace("SCHEME", f"scheme: {{split: {word}}}"))
        assert len(discretise(one, derive(bind(one), stated=True)).evaluations) == 1
