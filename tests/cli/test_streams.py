"""Streams that are closed, full, or whose reader has gone: the exit code still says what was decided."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COLD = [sys.executable, "-m", "recipe_compiler"]
ROOT = Path(__file__).parents[2]
PROVED = ("check", "specs/dynamics/sgld.yaml")
FAULTY = ("check", "nowhere.yaml")
NO_USAGE = ("check", "--frobnicate")

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="streams are closed by a POSIX shell")


@pytest.fixture
def command(warm: list[str]) -> list[str]:
    return [*warm, "-m", "recipe_compiler"]


def ended(recipe: list[str], redirections: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command by a shell that redirects its streams."""
    shell = ["sh", "-c", f'exec "$@" {redirections}', "sh", *recipe, *arguments]
    return subprocess.run(shell, capture_output=True, text=True, cwd=ROOT, check=False)


def unread(recipe: list[str], stream: str, *arguments: str) -> int:
    """Run a command that writes one stream into a pipe whose reader has gone."""
    read, write = os.pipe()
    os.close(read)
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: write}
    done = subprocess.run([*recipe, *arguments], **streams, cwd=ROOT, check=False)
    os.close(write)
    return done.returncode


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("arguments", "code"), [(PROVED, 0), (FAULTY, 2)])
def test_a_closed_stream_changes_no_exit_code(command, closed: str, arguments: tuple[str, ...], code: int) -> None:
    done = ended(command, closed, *arguments)
    assert done.returncode == code, done.stderr
    assert "fault of recipe_compiler" not in done.stderr


def test_a_refutation_is_one_with_both_streams_closed(write, command) -> None:
    path = write(replacing={"[0, C]]": "[0, -C]]"})
    assert ended(command, ">&- 2>&-", "check", str(path)).returncode == 1


@pytest.mark.parametrize(("arguments", "code"), [(PROVED, 0), (("schema",), 0), (("--help",), 0)])
def test_a_reader_of_results_who_has_gone_changes_no_exit_code(command, arguments: tuple[str, ...], code: int) -> None:
    assert unread(command, "stdout", *arguments) == code


@pytest.mark.parametrize("arguments", [FAULTY, NO_USAGE])
def test_a_reader_of_faults_who_has_gone_changes_no_exit_code(command, arguments: tuple[str, ...]) -> None:
    assert unread(command, "stderr", *arguments) == 2


@needs_full
@pytest.mark.parametrize("arguments", [FAULTY, NO_USAGE, ("--help",)])
def test_faults_that_cannot_be_told_are_faults_nevertheless(command, arguments: tuple[str, ...]) -> None:
    assert ended(command, ">/dev/full 2>/dev/full", *arguments).returncode == 2


@needs_full
@pytest.mark.parametrize("arguments", [PROVED, ("--help",), ("--version",), ("schema",)])
def test_a_result_that_finds_no_room_is_said_in_one_line(command, arguments: tuple[str, ...]) -> None:
    done = ended(command, ">/dev/full", *arguments)
    assert done.returncode == 2
    assert done.stderr == "stdout: No space left on device\n"


@pytest.mark.slow
def test_a_file_takes_no_number_of_a_closed_stream(tmp_path: Path) -> None:
    """A certificate that was opened as number 1 would be written into by whatever is said."""
    done = ended(COLD, ">&-", *PROVED, "--certificate", str(tmp_path / "certificate.json"))
    assert done.returncode == 0
    assert (tmp_path / "certificate.json").read_text(encoding="utf-8").startswith("{")


@pytest.mark.slow
def test_an_import_that_fails_is_no_refutation(write, tmp_path: Path) -> None:
    """Whatever is missing from an installation, it does not end with the exit code of a refutation."""
    for module in ("recipe_compiler.display", "recipe_compiler.commands.check", "typer"):
        program = f"import sys; sys.modules[{module!r}] = None; sys.argv = ['recipe', 'check', 'x.yaml']\n"
        program += "from recipe_compiler.__main__ import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert done.returncode == 70, (module, done.stderr)
        assert "Traceback" not in done.stderr
