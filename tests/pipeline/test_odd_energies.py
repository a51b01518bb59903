"""Steps that are no polynomials in their noise, or large ones, are compiled and read back, whatever the order."""

import time
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build

pytestmark = pytest.mark.usefixtures("taken_for_granted")

SPECS = Path(__file__).parents[2] / "specs"
KINETIC = """
format: 1
name: kinetic
title: Langevin dynamics with another kinetic energy
state: {theta: {shape: d}, r: {shape: d}}
parameters: {m: {is: positive}, C: {shape: [d, d], is: positive semidefinite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + ENERGY
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
"""
STUDENT = """
format: 1
name: student
title: A line with Student's errors
state: {b: {shape: 2}}
data: {x: {shape: N}, y: {shape: N}}
parameters: {nu: {is: positive, default: 4}}
log_prior: -b.T @ b/200
log_likelihood: -(nu + 1)/2*log1p((y - b[0] - b[1]*x)**2/nu)
"""
BUILD = """
format: 1
name: odd
title: A test
dynamics: DYNAMICS
target: TARGET
bind: BIND
parameters: PARAMETERS
scheme: {name: sequential_euler, order: ORDER}
variant: full
sizes: {d: 2}
run: {step_size: 0.01, draws: 10}
DATA
"""
METRIC = {
    "DYNAMICS": f"{SPECS}/dynamics/gsgrhmc.yaml",
    "BIND": '{K: "B/(1 + norm2(theta)) + I"}',
    "PARAMETERS": "{B: {shape: [d, d], is: positive definite, value: [[2, 1/2], [1/2, 1]]}}",
}
FRICTION = {
    "DYNAMICS": "kinetic.yaml",
    "BIND": "{}",
    "PARAMETERS": "{m: {value: 2}, C: {value: [[2, 1/2], [1/2, 1]]}}",
}
NORMAL = {"TARGET": f"{SPECS}/targets/standard_normal.yaml", "DATA": ""}
CASES = {
    "relativistic": FRICTION | NORMAL | {"ENERGY": "m*sqrt(1 + r.T @ r/m)"},
    "quartic": FRICTION | NORMAL | {"ENERGY": "(r.T @ r)**2/(4*m) + r.T @ r/2"},
    "metric": METRIC | NORMAL,
    "metric and Student's errors": METRIC | {"TARGET": "student.yaml", "DATA": "data: {file: data.csv, x: x, y: y}"},
}
SECONDS = 20.0
"""Processor time for one of them, which takes about one; by the moments of its noise the quartic one took 97 s."""


@pytest.mark.slow
@pytest.mark.parametrize("order", ["[r, theta]", "[theta, r]"])
@pytest.mark.parametrize("name", CASES)
def test_it_is_compiled_and_read_back(name: str, order: str, tmp_path: Path) -> None:
    text = BUILD.replace("ORDER", order)
    for old, new in CASES[name].items():
        text = text.replace(old, new)
    (tmp_path / "build.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "kinetic.yaml").write_text(KINETIC.replace("ENERGY", CASES[name].get("ENERGY", "0")), encoding="utf-8")
    (tmp_path / "student.yaml").write_text(STUDENT, encoding="utf-8")
    (tmp_path / "data.csv").write_text("x,y\n1,2\n2,3\n3,5\n", encoding="utf-8")
    build = load_build(tmp_path / "build.yaml")
    before = time.process_time() + sum(time_of_children())
    module = compile_build(build, allow_undecided=True)
    assert "def step(" in module.text
    assert time.process_time() + sum(time_of_children()) - before < SECONDS


def time_of_children() -> tuple[float, float]:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime
