"""The command started as a process: closed and full streams, signals, exit codes, other operating systems."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray
from command import recipe

from recipe_compiler.commands import schema
from recipe_compiler.errors import CompilerError

pytestmark = pytest.mark.usefixtures("interruptible")

COMMAND = [sys.executable, "-m", "recipe_compiler"]
ROOT = Path(__file__).parents[2]
CHECK = ("check", "specs/dynamics/sgld.yaml")
MISSING = ("check", "nowhere.yaml")
FULL = "stdout: No space left on device\n"
STREAMS = (
    *((">&-", CHECK, 0, ""), (">&- 2>&-", CHECK, 0, ""), ("2>/dev/full", CHECK, 0, ""), (">/dev/full", CHECK, 2, FULL)),
    ("1</dev/null 2>&-", CHECK, 2, ""),
    *((streams, MISSING, 2, "") for streams in (">&- 2>&-", "2>/dev/full", "<&- >&- 2>&-", "1</dev/null 2>&-")),
    (">/dev/full 2>/dev/full", (*CHECK, "--json"), 2, ""),
    *((">/dev/full", (one,), 2, FULL) for one in ("--help", "schema")),
    *((">&-", (one,), 0, "") for one in ("--help", "--version", "schema")),
)


def ended(redirections: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command by a shell that redirects its streams."""
    shell = ["sh", "-c", f'exec "$@" {redirections}', "sh", *COMMAND, *arguments]
    return subprocess.run(
        shell, capture_output=True, text=True, cwd=ROOT, check=False, env=os.environ | environment
    )  # fmt: skip


@pytest.mark.usefixtures("known_verdicts")
@pytest.mark.parametrize(
    ("redirections", "arguments", "code", "err"),
    [
        ("<&- >&- 2>&-", CHECK, 0, ""),
        ("2>&-", MISSING, 2, ""),
        ("| true", ("schema",), 0, ""),
        (">/dev/full", ("--version",), 2, FULL),
        *(pytest.param(*row, marks=pytest.mark.slow) for row in STREAMS),
    ],
)
def test_the_exit_code_is_that_of_the_verdict_whatever_becomes_of_the_streams(
    redirections: str, arguments: tuple[str, ...], code: int, err: str
) -> None:
    done = ended(redirections, *arguments)
    assert (done.returncode, done.stderr) == (code, err)


@pytest.mark.parametrize(("stream", "arguments", "code"), [("stdout", ("--help",), 0), ("stderr", MISSING, 2)])
def test_a_reader_who_has_gone_changes_no_exit_code(stream: str, arguments: tuple[str, ...], code: int) -> None:
    read, write = os.pipe()
    os.close(read)
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: write}
    assert subprocess.run([*COMMAND, *arguments], **streams, cwd=ROOT, check=False).returncode == code
    os.close(write)


@pytest.mark.slow
def test_a_file_takes_no_number_of_a_closed_stream(tmp_path: Path) -> None:
    """A certificate that was opened as number 1 would be written into by what the command prints."""
    assert ended(">&-", *CHECK, "--certificate", str(tmp_path / "certificate.json")).returncode == 0
    assert (tmp_path / "certificate.json").read_text(encoding="utf-8").startswith("{")


@pytest.mark.slow
def test_colours_and_letters_are_those_that_the_terminal_has(write) -> None:
    plain = ended("", *CHECK, NO_COLOR="1", FORCE_COLOR="")
    assert plain.returncode == 0
    assert "\x1b" not in plain.stdout
    path = write(replacing={"name: sampler": "name: sampler\ntitle: größer ∇"})
    done = ended("", "derive", str(path), PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["recipe_compiler.display", "recipe_compiler.commands.check", "typer"])
def test_an_import_that_fails_is_no_refutation(tmp_path: Path, module: str) -> None:
    """What is missing from an installation does not end with the exit code of a refutation."""
    program = f"import sys; sys.modules[{module!r}] = None; sys.argv = ['recipe', 'check', 'x.yaml']\n"
    program += "from recipe_compiler.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 70, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (CompilerError("it is broken"), 70, ("it is broken", "report")),
        (KeyError("missing"), 70, ("KeyError", "report")),
        (KeyboardInterrupt(), 130, ()),
    ],
)
def test_a_fault_of_our_own_leaves_with_70_and_an_interrupt_with_130(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int, words: tuple[str, ...]
) -> None:
    def broken(kind: str | None) -> int:
        raise raised

    monkeypatch.setattr(schema, "print_schema", broken)
    outcome = recipe("schema")
    assert outcome.code == code
    assert all(one in outcome.err for one in words)


ENDLESS = ["--draws", "100000", "--warmup", "10", "--thin", "100000", "--chains", "2", "--cores", "2"]


@pytest.mark.slow
@pytest.mark.usefixtures("known_verdicts")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_draws_survive_a_signal(tmp_path: Path, number: signal.Signals, code: int) -> None:
    command = [*COMMAND, "run", "sgld_gaussian", *ENDLESS, "-o", str(tmp_path)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    while not (tmp_path / "sgld_gaussian.checkpoint" / "lock").is_file():
        assert child.poll() is None
        time.sleep(0.05)
    time.sleep(2.0)  # some draws on a busy machine, too
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert child.returncode == code, err
    assert "interrupted" in out
    assert "Traceback" not in err
    with xarray.open_datatree(tmp_path / "sgld_gaussian.nc", engine="h5netcdf") as tree:
        assert tree.attrs["interrupted"] == 1
        assert 0 < tree["posterior"].sizes["draw"] < 100_000


LACKING = """
import asyncio, ctypes, multiprocessing.connection, multiprocessing.popen_fork
import os, signal, subprocess, sys, tempfile, types

for module in ("fcntl", "resource", "pwd", "grp"):
    sys.modules[module] = None
for name in ("SIGALRM", "SIGPROF", "SIGXCPU", "SIGVTALRM", "setitimer", "ITIMER_REAL", "ITIMER_PROF"):
    vars(signal).pop(name, None)
for name in ("sysconf", "sched_getaffinity", "killpg"):
    vars(os).pop(name, None)
multiprocessing.get_all_start_methods = lambda: ["spawn"]
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda *_: None)
sys.argv = ["recipe", *sys.argv[1:]]
from recipe_compiler.__main__ import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "check sgld",
        "derive sgld",
        "compile sgld_gaussian",
        "run sgld_gaussian --draws 2000 --warmup 100",
        "schema",
    ],
)
def test_a_command_needs_nothing_that_only_posix_has(line: str, tmp_path: Path) -> None:
    """Neither fcntl, resource, timers, groups of processes, sysconf nor forks."""
    command = [sys.executable, "-c", LACKING, *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
