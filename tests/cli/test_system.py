"""What the system refuses ends in one clear line: a full disk, a reader that went away, a fault of our own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recipe_compiler.commands import schema
from recipe_compiler.errors import CompilerError

RECIPE = [sys.executable, "-m", "recipe_compiler"]
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_clear_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*RECIPE, "schema"], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_reader_that_went_away_is_no_complaint() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*RECIPE, "schema"], stdout=write, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    os.close(write)
    assert done.stderr == ""


@pytest.mark.slow
def test_no_colours_when_they_are_not_wanted() -> None:
    done = subprocess.run(
        [*RECIPE, "check", "specs/dynamics/sghmc.yaml"],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, "NO_COLOR": "1", "FORCE_COLOR": ""},
    )  # fmt: skip
    assert done.returncode == 0
    assert "\x1b" not in done.stdout


@pytest.mark.slow
def test_output_survives_a_terminal_without_unicode(write) -> None:
    path = write(replacing={"name: sampler": "name: sampler\ntitle: größer ∇"})
    done = subprocess.run(
        [*RECIPE, "derive", str(path)], capture_output=True, text=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_fault_of_our_own_asks_for_a_report(recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(kind: str | None) -> int:
        raise CompilerError(f"{kind} is broken")

    monkeypatch.setattr(schema, "print_schema", broken)
    outcome = recipe("schema")
    assert outcome.code == 70
    assert "report" in outcome.err
    assert "None is broken" in outcome.err


def test_an_unforeseen_exception_is_a_fault_of_our_own(recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(kind: str | None) -> int:
        return {}["missing"]

    monkeypatch.setattr(schema, "print_schema", broken)
    outcome = recipe("schema")
    assert outcome.code == 70
    assert "KeyError" in outcome.err


def test_an_interrupt_leaves_with_130(recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(kind: str | None) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(schema, "print_schema", interrupted)
    assert recipe("schema").code == 130
