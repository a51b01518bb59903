"""Names of the user that an emitted module cannot have as they are get an underscore, and are listed."""

from pathlib import Path

from recipe_compiler.pipeline import compile_build
from recipe_compiler.spec.load import load
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
data: {i: {shape: [n, k]}, step: {shape: n}}
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


def test_awkward_names_are_changed_and_the_module_still_reads_back(tmp_path: Path) -> None:
    for name, text in (("dynamics", DYNAMICS), ("target", TARGET), ("build", BUILD)):
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "data.csv").write_text("p,q,y\n1,2,3\n0,1,1\n2,2,1\n")
    build = load(tmp_path / "build.yaml")
    assert isinstance(build, Build)
    text = compile_build(build).text
    compile(text, "awkward", "exec")
    for old in ("row", "run", "range", "eps", "step", "total"):
        assert f"{old} is called {old}_" in text
    assert "def step(" in text
    assert "def run(" in text
