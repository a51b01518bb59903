"""Names of the user that an emitted module cannot have as they are get an underscore, and are listed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build
from recipe_compiler.spec.model import Build

DYNAMICS = """
name: awkward
state: {row: {shape: k}, run: {shape: k}}
parameters:
  range: {shape: [k, k], is: positive definite}
  eps: {is: positive}
  row_new: {is: positive}
functions:
  U: {of: row, role: potential}
H: U(row) + row_new * run.T @ inv(range) @ run / 2
D: [[0, 0], [0, eps*I]]
Q: [[0, -I], [I, 0]]
"""
TARGET = """
name: awkward_target
state: {b: {shape: k}}
data: {i: {shape: [len, k]}, step: {shape: len}}
parameters: {total: {is: positive, default: 2}}
log_prior: -b.T @ b / (2*total)
log_likelihood: -(step - i @ b)**2 / 2
"""
BUILD = """
name: awkward_build
dynamics: dynamics.yaml
target: target.yaml
parameters:
  range: {value: [[2, 0.5], [0.5, 1]]}
  eps: {value: 1}
  row_new: {value: 3}
scheme: {name: sequential_euler, order: [run, row]}
variant: minibatch
data: {file: data.csv, i: [p, q], step: y}
run: {step_size: 0.1, batch_size: 2}
"""

SGLD = """
name: sgld
state: {theta: {shape: d}}
functions:
  U: {of: theta, role: potential}
H: U(theta)
D: [[I]]
Q: [[0]]
"""
STACKED = """
name: stacked
state: {NAME: {shape: 2}, a: {}}
data: {x: {shape: [N, 2]}, y: {shape: N}}
log_prior: -(NAME.T @ NAME + a**2)/2
log_likelihood: -(y - x @ NAME - a)**2/2
"""
STACKED_BUILD = """
name: stacked_build
dynamics: dynamics.yaml
target: target.yaml
scheme: {name: euler}
variant: VARIANT
data: {file: data.csv, x: [p, q], y: y}
run: {step_size: 0.1BATCH}
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Build]:
    """Write documents and data, and load the build among them."""

    def write(**documents: str) -> Build:
        for name, text in documents.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        (tmp_path / "data.csv").write_text("p,q,y\n1,2,3\n0,1,1\n2,2,1\n")
        return load_build(tmp_path / "build.yaml")

    return write


@pytest.mark.slow
def test_awkward_names_are_changed_and_the_module_still_reads_back(written: Callable[..., Build]) -> None:
    text = compile_build(written(dynamics=DYNAMICS, target=TARGET, build=BUILD)).file
    compile(text, "awkward", "exec")
    for old in ("row", "run", "range", "eps", "step", "total", "len"):
        assert f"{old} is called {old}_" in text
    assert "def step(" in text
    assert "def run(" in text


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted")
@pytest.mark.parametrize(("variant", "batch"), [("full", ""), ("minibatch", ", batch_size: 2")])
@pytest.mark.parametrize("name", ["total", "row", "batch", "grad_U", "grad_U_tilde"])
def test_blocks_of_a_target_keep_clear_of_what_is_computed(
    name: str, variant: str, batch: str, written: Callable[..., Build]
) -> None:
    """Blocks of a target that are parts of the potential's block stand in loops with names of their own."""
    build = STACKED_BUILD.replace("VARIANT", variant).replace("BATCH", batch)
    made = compile_build(written(dynamics=SGLD, target=STACKED.replace("NAME", name), build=build))
    compile(made.text, name, "exec")
