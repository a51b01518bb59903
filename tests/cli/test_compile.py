"""`recipe compile`: writes what was verified, compares byte for byte, refuses what is not proved."""

from pathlib import Path

import pytest

from recipe_compiler.readback import limited as read_limited

BUILD = "specs/builds/sgld_gaussian.yaml"


def test_a_build_becomes_a_module_that_is_then_current(recipe, tmp_path: Path) -> None:
    assert recipe("compile", BUILD, "-o", tmp_path).code == 0
    module = tmp_path / "sgld_gaussian.py"
    before = module.read_bytes()
    outcome = recipe("compile", BUILD, "-o", tmp_path, "--check")
    assert outcome.code == 0
    assert "current" in outcome.out
    assert module.read_bytes() == before


def test_a_module_that_was_changed_is_found_and_left_alone(recipe, tmp_path: Path) -> None:
    recipe("compile", BUILD, "-o", tmp_path)
    module = tmp_path / "sgld_gaussian.py"
    changed = module.read_text().replace("eps", "epz", 1)
    module.write_text(changed)
    outcome = recipe("compile", BUILD, "-o", tmp_path, "--check")
    assert outcome.code == 1
    assert "differs" in outcome.err
    assert "epz" in outcome.err
    assert module.read_text() == changed


def test_a_module_that_is_not_there_is_told(recipe, tmp_path: Path) -> None:
    outcome = recipe("compile", BUILD, "-o", tmp_path, "--check")
    assert outcome.code == 1
    assert "not there" in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_dynamics_are_no_build(recipe) -> None:
    outcome = recipe("compile", "specs/dynamics/sghmc.yaml")
    assert outcome.code == 2
    assert "expected a build" in outcome.err


def test_a_refuted_build_is_refused_whatever_is_allowed(recipe, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    text = (root / "specs/dynamics/sgld.yaml").read_text().replace("D: [[D]]", "D: [[-D]]")
    (tmp_path / "wrong.yaml").write_text(text)
    build = (root / BUILD).read_text().replace("../dynamics/sgld.yaml", "wrong.yaml")
    build = build.replace("../targets", str(root / "specs/targets"))
    (tmp_path / "build.yaml").write_text(build)
    outcome = recipe("compile", tmp_path / "build.yaml", "-o", tmp_path / "out", "--allow-undecided")
    assert outcome.code == 1
    assert "refuted" in outcome.out
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_one_clear_line(recipe, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = recipe("compile", BUILD, "-o", tmp_path / "file")
    assert outcome.code == 2
    assert "file" in outcome.err


def test_what_is_not_read_back_in_its_time_is_refused_by_name_and_not_written(
    recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_limited.read_all, "__defaults__", (1e-3, 1e-3))
    outcome = recipe("compile", BUILD, "-o", tmp_path)
    assert outcome.code == 3
    assert "sgld_gaussian was not read back, so nothing is written: the step (d = 1" in outcome.err
    assert list(tmp_path.iterdir()) == []
