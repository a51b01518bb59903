"""Moves that are code in a build: read as names, written back, and refused where they do not say what they have to."""

from pathlib import Path

from code_moves import HMC, code, coded_build, written

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
