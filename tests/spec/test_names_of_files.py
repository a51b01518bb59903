"""The document of a build that names its files from the root is the same build in whatever folder."""

from pathlib import Path

import numpy as np

from recipe_compiler.planner.chosen import Plan
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build

TARGET = "name: line\nstate: {b: {shape: 2}}\ndata: {x: {shape: [N, 2]}, y: {shape: N}}\n"
TARGET += "log_prior: normal(b, 0, 1)\nlog_likelihood: normal(y, x @ b, 1)"
BUILD = """
name: apart
dynamics: hmc
target: targets/line.yaml
parameters: {M: {value: mass.npy}}
scheme:
  cycle: [{code: "move.py:turn", changes: theta, keeps: exp(-H)}, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}]
variant: full
data: {file: tables/data.csv, x: [p, line.csv], y: y}
run: {step_size: 0.01}
"""


def test_a_plan_is_a_file_of_the_folder_that_it_is_printed_for(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (other, own / "targets", own / "tables"):
        folder.mkdir(parents=True)
    (own / "targets/line.yaml").write_text(TARGET)
    (own / "tables/data.csv").write_text("p,line.csv,y\n1,2,3\n")
    (own / "line.csv").write_text("")  # a column may be called like a file
    (own / "move.py").write_text("import numba\n\n@numba.njit\ndef turn(theta, rng):\n    theta[:] = -theta\n")
    np.save(own / "mass.npy", np.eye(2))
    (own / "build.yaml").write_text(BUILD)
    build = load(own / "build.yaml")
    assert isinstance(build, Build)
    plan = Plan(build, ("chosen",))
    assert "target: targets/line.yaml" in plan.yaml(own)
    (other / "build.yaml").write_text(plan.yaml(other))
    again = load(other / "build.yaml")
    assert isinstance(again, Build)
    assert files_of(again)[1:] == files_of(build)[1:]
    assert again.data is not None
    assert build.data is not None
    assert again.data.columns == build.data.columns
