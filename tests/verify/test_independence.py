"""The metric may not be made of the gradient's own minibatch."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_build, load_dynamics

from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Refuted, Undecided, Verdict
from recipe_compiler.verify.builds.minibatch_independence import estimates_gradients, independence, independent_update
from recipe_compiler.verify.core.subject import subject_of

SPECS = Path(__file__).parents[2] / "specs"
BUILDS = sorted((SPECS / "builds").glob("*.yaml"))

DYNAMICS = """
name: m
state: {{theta: {{shape: d}}, r: {{shape: d}}}}
parameters: {{c: {{is: positive, default: 1}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: U(theta) + r.T @ r/2
D: [[0, 0], [0, "{D}"]]
Q: [[0, "-({Q})"], ["{Q}", 0]]
"""
BUILD = """
name: b
dynamics: dynamics.yaml
target: {specs}/targets/{target}.yaml
scheme: {{name: euler}}
variant: {variant}
{data}
run: {{step_size: 0.1{batch}}}
"""
DATA = "data: {file: data.csv, x: [a, b], y: y}"
MINIBATCH = {"target": "logistic_regression", "variant": "minibatch", "data": DATA, "batch": ", batch_size: 2"}
FULL = {**MINIBATCH, "variant": "full", "batch": ""}

Make = Callable[..., Build]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def build(D: str, Q: str, setting: dict[str, str]) -> Build:
        (tmp_path / "data.csv").write_text("a,b,y\n1,-2,1\n0.5,1.5,0\n-1,0.25,1\n")
        (tmp_path / "dynamics.yaml").write_text(DYNAMICS.format(D=D, Q=Q))
        (tmp_path / "build.yaml").write_text(BUILD.format(specs=SPECS, **setting))
        return load_build(tmp_path / "build.yaml")

    return build


@pytest.mark.parametrize("path", BUILDS, ids=lambda path: path.stem)
def test_shipped_builds_are_independent(path: Path) -> None:
    build = load_build(path)
    assert independence(build, bind(build)).verdict is Verdict.PROVED


METRICS = [
    ("exp(U)*I", "I"),
    ("c*I", "exp(U/2)*I"),
    ("outer(grad(U, theta), grad(U, theta))", "I"),
    ("diag(ones + grad(U, theta)**2)", "I"),
]


@pytest.mark.parametrize(("D", "Q"), METRICS)
def test_a_metric_of_the_same_minibatch_is_refuted(make: Make, D: str, Q: str) -> None:
    build = make(D, Q, MINIBATCH)
    found = independence(build, bind(build)).decision
    assert isinstance(found, Refuted)
    assert found.witness[-1][0].startswith("the slope of the entry in")
    assert found.witness[-1][1] != "0"


@pytest.mark.parametrize(("D", "Q"), METRICS)
def test_all_the_data_are_no_minibatch(make: Make, D: str, Q: str) -> None:
    build = make(D, Q, FULL)
    assert independence(build, bind(build)).verdict is Verdict.PROVED


@pytest.mark.parametrize("D", ["c*I", "diag(ones + theta**2)", "c*I + U*I - U*I"])
def test_the_state_is_no_minibatch(make: Make, D: str) -> None:
    build = make(D, "I", MINIBATCH)
    assert independence(build, bind(build)).verdict is Verdict.PROVED


UPDATE = """
name: m
state: {{theta: {{shape: d}}, r: {{shape: d}}}}
parameters: {{C: {{shape: [d, d], is: positive semidefinite}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: U(theta) + r.T @ r/2
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
claims:
  update:
    r: "{r}"
    theta: theta + eps*next(r)
"""


def claimed(tmp_path: Path, r: str) -> Dynamics:
    (tmp_path / "update.yaml").write_text(UPDATE.format(r=r))
    return load_dynamics(tmp_path / "update.yaml")


@pytest.mark.parametrize(
    "r",
    [
        "r - eps*grad_tilde(U, theta) - eps*C @ r + N(0, 2*eps*C)",
        "r - eps*C @ (grad_tilde(U, theta) + r) + N(0, 2*eps*C)",
        "r - eps*U*C @ grad_tilde(U, theta) + N(0, 2*eps*C)",
    ],
)
def test_one_estimate_in_each_term_is_unbiased(tmp_path: Path, r: str) -> None:
    dynamics = claimed(tmp_path, r)
    assert estimates_gradients(dynamics)
    assert independent_update(subject_of(dynamics)).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "r",
    [
        "r - eps*norm2(grad_tilde(U, theta))*grad_tilde(U, theta) + N(0, 2*eps*C)",
        "r - eps*grad_tilde(U, theta)**2 + N(0, 2*eps*C)",
        "r - eps*tanh(grad_tilde(U, theta)) + N(0, 2*eps*C)",
        "r - eps*C @ r + N(0, 2*eps*outer(grad_tilde(U, theta), grad_tilde(U, theta)))",
        "r - eps*grad_tilde(U, theta)*(grad_tilde(U, theta).T @ r) + N(0, 2*eps*C)",
    ],
)
def test_an_estimate_that_meets_itself_is_not(tmp_path: Path, r: str) -> None:
    found = independent_update(subject_of(claimed(tmp_path, r))).decision
    assert isinstance(found, Undecided)
    assert "grad_tilde" in found.tried[0]
