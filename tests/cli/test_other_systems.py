"""Every command where the system lacks what POSIX has: fcntl, resource, timers, groups of processes, sysconf, forks."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = "specs/builds/sgld_gaussian.yaml"
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
    "arguments",
    [
        ("check", "specs/dynamics/sgld.yaml"),
        ("derive", "specs/dynamics/sgld.yaml"),
        ("compile", BUILD, "-o", "FOLDER"),
        ("run", BUILD, "--draws", "2000", "--warmup", "100", "-o", "FOLDER"),
        ("schema",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_needs_nothing_that_only_posix_has(arguments: tuple[str, ...], tmp_path: Path) -> None:
    given = [str(tmp_path) if argument == "FOLDER" else argument for argument in arguments]
    done = subprocess.run(
        [sys.executable, "-c", LACKING, *given], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
