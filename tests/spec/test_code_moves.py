"""Moves that are code in a build: read as names, written back, and refused where they do not say what they have to."""

from pathlib import Path

import pytest
from code_moves import HMC, code, coded_build, written

from recipe_compiler.errors import DocumentError
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Code, CodeMove
from recipe_compiler.spec.moves import cycle_text
from recipe_compiler.spec.places import digest
from recipe_compiler.spec.to_yaml import to_yaml


def faults_of(folder: Path, cycle: str, *changes: tuple[str, str]) -> list[str]:
    with pytest.raises(DocumentError) as raised:
        load(written(folder, cycle, *changes))
    assert all(fault.where.line for fault in raised.value.faults)
    return [f"{fault.entry}: {fault.problem} ({fault.hint})" for fault in raised.value.faults]


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


@pytest.mark.parametrize(
    ("move", "entry", "problem"),
    [
        (
            "{code: my_moves.py:turn, changes: theta}", "scheme.cycle[2]",
            "found code my_moves.py:turn that does not say what it keeps, expected `keeps`",
        ),
        (
            "{code: my_moves.py:turn, changes: theta, keeps: exp(-U)}", "scheme.cycle[2].keeps",
            "found `keeps: exp(-U)`, expected `keeps: exp(-H)`: all moves of a cycle keep one law",
        ),
        (
            "{code: my_moves.py:turn, keeps: exp(-H)}", "scheme.cycle[2]",
            "found code my_moves.py:turn that changes no block, expected `changes`",
        ),
        (
            "{code: my_moves.py:turn, changes: tau, keeps: exp(-H)}", "scheme.cycle[2].changes",
            "found `tau`, expected a block of the dynamics (theta, r)",
        ),
        (
            "{code: my_moves.py:turn, changes: theta, reads: [r, xi], keeps: exp(-H)}", "scheme.cycle[2].reads",
            "found `xi`, expected a block of the dynamics (theta, r)",
        ),
        (
            "{code: my_moves.py:turn, changes: theta, reads: theta, keeps: exp(-H)}", "scheme.cycle[2].reads",
            "found `theta` a second time, expected each block once",
        ),
        (
            "{code: my_moves:turn, changes: theta, keeps: exp(-H)}", "scheme.cycle[2].code",
            "found `my_moves:turn`, expected a function of a Python file: my_moves.py:swap",
        ),
        (
            "{code: other.py:turn, changes: theta, keeps: exp(-H)}", "scheme.cycle[2].code",
            "found no file `other.py`, expected one",
        ),
        (
            "{code: my_moves.py:turn, changes: theta, keeps: exp(-H), steps: 3}", "scheme.cycle[2].steps",
            "found `steps` beside `code`, expected `code` alone in its move",
        ),
        (
            "{refresh: r, keeps: exp(-H)}", "scheme.cycle[2].keeps",
            "found `keeps` beside `refresh`, expected `refresh` alone in its move",
        ),
        (
            "{changes: theta, keeps: exp(-H)}", "scheme.cycle[2].changes",
            "found `changes` without `code`, expected the function that it is said of",
        ),
    ],
)  # fmt: skip
def test_what_it_does_not_say_is_told(tmp_path: Path, move: str, entry: str, problem: str) -> None:
    assert any(fault.startswith(f"{entry}: {problem}") for fault in faults_of(tmp_path, f"{HMC}, {move}"))


def test_a_block_of_the_target_is_told_where_it_stands(tmp_path: Path) -> None:
    schools = Path(__file__).parents[2] / "specs/targets/eight_schools.yaml"
    (fault,) = [
        one
        for one in faults_of(
            tmp_path, f"{HMC}, {code('turn', changes='mu')}", ("target: ", f"target: {schools}\n# "),
            ("sizes: {d: 3}", "sizes: {J: 8}"), ("mu: {value: [1, -2, 1/2]}, ", ""),
        )
        if "`mu`" in one
    ]  # fmt: skip
    assert "code takes blocks of the dynamics, in which those of the target stand: theta, r" in fault
