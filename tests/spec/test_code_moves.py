"""Moves that are code in a build, and plans beside its files: read as names, and written back."""

from pathlib import Path

import numpy as np
from code_moves import HMC, code, coded_build, written

from recipe_compiler.advise.chosen import Plan
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Code, CodeMove
from recipe_compiler.spec.moves import cycle_text
from recipe_compiler.spec.places import digest
from recipe_compiler.spec.to_yaml import to_yaml


def test_it_is_a_name_with_the_blocks_that_it_takes(tmp_path: Path) -> None:
    build = coded_build(tmp_path, f"{HMC}, {code('along', 'reads: r', 'every: 3')}")
    file = tmp_path / "my_moves.py"
    assert build.scheme.cycle[-1] == CodeMove(Code(file, "along", "my_moves.py"), ("theta",), ("r",), 3)
    assert build.codes == (Code(file, "along", "my_moves.py"),)
    assert file in files_of(build)
    assert cycle_text(build.scheme).endswith(
        "{code: my_moves.py:along, changes: [theta], reads: [r], keeps: exp(-H), every: 3}]"
    )


def test_it_is_repeated_and_is_one_function(tmp_path: Path) -> None:
    build = coded_build(tmp_path, f"{HMC}, {code('turn', 'repeat: 3')}, {code('hit_and_run')}")
    assert [move.code.function for move in build.scheme.cycle if isinstance(move, CodeMove)] == [
        *["turn"] * 3,
        "hit_and_run",
    ]
    assert [one.function for one in build.codes] == ["turn", "hit_and_run"]


def test_it_is_written_back(tmp_path: Path) -> None:
    build = coded_build(tmp_path, f"{HMC}, {code('turn', changes='[theta, r]')}, {code('along', 'reads: [r]')}")
    (tmp_path / "again.yaml").write_text(to_yaml(build), encoding="utf-8")
    again = load(tmp_path / "again.yaml")
    assert isinstance(again, Build)
    assert again == build
    assert digest(again) == digest(build)
    assert digest(coded_build(tmp_path, f"{HMC}, {code('turn')}")) != digest(build)


def test_the_file_is_not_looked_at(tmp_path: Path) -> None:
    path = written(tmp_path, f"{HMC}, {code('turn')}", moves="raise SystemExit('this file was run')\n")
    assert isinstance(load(path), Build)


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
