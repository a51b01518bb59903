"""What each scheme computes, run as emitted, against the papers' update rules written out in NumPy."""

import inspect
import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from answers import document
from emitted_file import module_of

from recipe_compiler.derive.recipe import derive
from recipe_compiler.errors import ModelError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.load_module import load_text
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

pytestmark = pytest.mark.usefixtures("taken_for_granted", "without_jit")

unread = pytest.mark.usefixtures("without_reading_back")

M, C = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.25], [0.25, 3.0]])
V = np.array([[0.5, 0.125], [0.125, 0.25]])
X, Y = np.array([[1.0, -2.0], [0.5, 1.5], [-1.0, 0.25]]), np.array([1.0, 0.0, 1.0])
DATA = "a,b,y\n1,-2,1\n0.5,1.5,0\n-1,0.25,1\n"
BUILD = """
dynamics: DYNAMICS
target: SPECS/targets/logistic_regression.yaml
parameters: {PARAMETERS, prior_variance: {value: 4}}
scheme: SCHEME
variant: minibatch
gradient_noise: {V: NOISE}
data: {file: data.csv, x: [a, b], y: y}
run: {step_size: 0.1, batch_size: 2}
"""
SGHMC = BUILD.replace("DYNAMICS", "SPECS/dynamics/sghmc.yaml").replace("NOISE", "V0").replace(
    "PARAMETERS", "M: {value: [[2, 0.5], [0.5, 1]]}, C: {value: [[1, 0.25], [0.25, 3]]}, "
    "V0: {shape: [d, d], is: positive semidefinite, value: [[0.5, 0.125], [0.125, 0.25]]}",
)  # fmt: skip


def gradient(theta: np.ndarray, batch: list[int]) -> np.ndarray:
    """grad U~ = theta/prior_variance - (N/n) sum_batch (y - sigmoid(x theta)) x."""
    weights = 1.0 / (1.0 + np.exp(-X[batch] @ theta)) - Y[batch]
    return theta / 4.0 + len(Y) / len(batch) * X[batch].T @ weights


def read(text: str, **beside: str) -> Any:
    return document(text, **beside, **{"data.csv": DATA})


def loaded(text: str, **beside: str) -> ModuleType:
    made = compile_build(read(text, **beside), allow_undecided=True)  # clipping keeps what the noise budget leaves open
    return module_of(load_text(made.name, made.loaded))


def stepped(module: ModuleType, batch: list[int], **given: Any) -> dict[str, Any]:
    """Return all that a step is given, and what it writes."""
    known = {"x": X, "y": Y, "prior_variance": 4.0, "batch": np.array(batch, np.uint64), **given}
    values = {name: known.get(name, np.zeros(2)) for name in inspect.signature(module.step).parameters}
    module.step(*values.values())
    return values


@pytest.mark.parametrize(
    "scheme", ["euler", "sequential_euler, order: [r, theta]", "sequential_euler, order: [theta, r]"]
)
def test_each_block_moves_from_the_state_that_its_scheme_says(scheme: str) -> None:
    module = loaded(SGHMC.replace("SCHEME", f"{{name: {scheme}}}"))
    theta, r, noise = np.array([0.5, -1.0]), np.array([0.25, 2.0]), np.array([1.5, -0.5])
    eps, batch = 0.125, [2, 0]
    constants = dict(zip(module.CONSTANTS, module.prepare(M, C, V, 4.0, eps, 2), strict=True))
    found = stepped(module, batch, theta=theta, r=r, M=M, C=C, V0=V, noise_r=noise, eps=eps, **constants)
    L = constants["L_r"]
    np.testing.assert_allclose(L @ L.T, eps * (2 * C - eps * V), rtol=1e-12)
    at = found["theta_new"] if scheme.endswith("[theta, r]") else theta
    drift = -gradient(at, batch) - C @ np.linalg.solve(M, r)
    np.testing.assert_allclose(found["r_new"], r + eps * drift + L @ noise, rtol=1e-12)
    by = found["r_new"] if scheme.endswith("[r, theta]") else r
    np.testing.assert_allclose(found["theta_new"], theta + eps * np.linalg.solve(M, by), rtol=1e-12)


@unread
def test_a_step_with_more_gradient_noise_than_friction_is_refused() -> None:
    module = loaded(SGHMC.replace("SCHEME", "{name: euler}"))
    eps_max = 1.0 / max(np.linalg.eigvals(np.linalg.solve(2 * C, V)).real)
    with pytest.raises(ValueError, match="eps_max = ") as error:
        module.prepare(M, C, V, 4.0, 1.01 * eps_max, 2)
    said = float(str(error.value).rpartition("= ")[2])
    assert said == pytest.approx(eps_max, rel=1e-12)
    for eps in (said, 0.99 * eps_max):
        module.prepare(M, C, V, 4.0, eps, 2)
    with pytest.raises(ValueError, match="no step size"):  # the noise leaves the range of D
        module.prepare(M, np.diag([1.0, 0.0]), V, 4.0, 1e-9, 2)


def test_noise_that_depends_on_the_state_is_clipped_and_counted() -> None:
    metric = "state: {theta: {shape: d}}\nfunctions: {U: {of: theta, role: potential}}\nH: U(theta)\n"
    metric += "D: [[diag(ones + theta**2)]]\nQ: [[0]]\n"
    text = BUILD.replace("DYNAMICS", "metric.yaml").replace("SCHEME", "{name: euler}").replace("NOISE", "v*I")
    module = loaded(text.replace("PARAMETERS", "v: {is: nonnegative, value: 4}"), metric=metric)
    theta, eps, noise, batch = np.array([0.5, 3.0]), 0.2, np.array([1.0, -2.0]), [0, 1]
    clipped = np.zeros(1, np.int64)
    found = stepped(module, batch, theta=theta, v=4.0, noise_theta=noise, eps=eps, clipped=clipped)
    D = 1 + theta**2
    variance = eps * (2 * D - eps * D * 4.0 * D)  # B_hat = D V D
    expected = theta + eps * (-D * gradient(theta, batch) + 2 * theta) + np.sqrt(np.maximum(variance, 0)) * noise
    assert variance[1] < 0 < variance[0]
    np.testing.assert_allclose(found["theta_new"], expected, rtol=1e-12)
    assert clipped[0] == 1


def test_an_order_that_needs_two_gradients_is_refused_by_name() -> None:
    both = "state: {theta: {shape: d}, r: {shape: d}}\nfunctions: {U: {of: theta, role: potential}}\n"
    both += "H: U(theta) + r.T @ r / 2\nD: [[I, 0], [0, I]]\nQ: [[0, -I], [I, 0]]\n"
    text = BUILD.replace("DYNAMICS", "both.yaml").replace("NOISE", "0").replace("PARAMETERS, ", "")
    with pytest.raises(ModelError, match="old and the new theta"):
        compile_build(read(text.replace("SCHEME", "{name: sequential_euler, order: [theta, r]}"), both=both))


def test_a_word_with_two_minibatches_a_step_is_refused_with_the_way_out() -> None:
    """A step of (1/2)**2 + (1/2)**2 of the noise, for twice the rows; the words of the hint evaluate one gradient."""
    build = read(SGHMC.replace("SCHEME", "{split: [A/4, B/2, A/4, O, A/4, B/2, A/4]}"))
    with pytest.raises(ModelError) as refused:
        discretise(build, derive(bind(build), stated=True))
    (fault,) = refused.value.faults
    assert "evaluates the gradient 2 times a step, expected once" in fault.problem
    assert "2 minibatches have at best 1/2 of the noise for 2 times the rows" in fault.hint
    found = re.findall(r"\[[A-Z/0-9, ]+\]", fault.hint)
    assert len(found) == 2
    for word in found:
        one = read(SGHMC.replace("SCHEME", f"{{split: {word}}}"))
        assert len(discretise(one, derive(bind(one), stated=True)).evaluations) == 1
