"""What is proved at the values of a build alone is of these: the file's `sample` takes no others."""

import ast
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build

DYNAMICS = """
name: pushed
state: {theta: {shape: d}, r: {shape: d}}
parameters: {a: {}, c: {default: 2}, M: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ inv(M) @ r/2
D: [[0, 0], [0, c*I]]
Q: [[0, -a*I], [I, 0]]
"""
TARGET = "name: normal\nstate: {theta: {shape: 2}}\npotential: theta.T @ theta/2\n"
BUILD = """
name: pushed_normal
dynamics: dynamics.yaml
target: target.yaml
parameters: {a: {value: 1}, M: {value: [[2, 1/2], [1/2, 1]]}}
scheme: {name: baoab}
variant: full
run: {step_size: 0.2, draws: 10, warmup: 0, chains: 2}
"""


@pytest.fixture
def text(tmp_path: Path) -> str:
    """The file of a build whose Q is skew at a = 1, and whose D is semidefinite at the default c = 2."""
    (tmp_path / "dynamics.yaml").write_text(DYNAMICS)
    (tmp_path / "target.yaml").write_text(TARGET)
    (tmp_path / "build.yaml").write_text(BUILD)
    return compile_build(load_build(tmp_path / "build.yaml")).file


def test_a_build_that_is_right_at_its_values_alone_is_read_back_and_holds_them(text: str) -> None:
    head = text.split('"""')[1]
    assert "Fixed:\n    a: 1.0\n    c: 2.0\n    M: [[2.0, 0.5], [0.5, 1.0]]\n" in head
    assert "exp(-H) is stationary (index calculus for every size; second engine, at the values of the build)" in head
    assert "default" not in head


def test_its_sample_takes_no_others(text: str) -> None:
    functions = {one.name: one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)}
    sample, run = functions["sample"], functions["run"]
    taken = {one.arg for one in (*sample.args.args, *sample.args.kwonlyargs)}
    assert "step_size" in taken
    assert not taken & {"a", "c", "M"}
    assert {"a", "c"} <= {one.arg for one in run.args.args}
