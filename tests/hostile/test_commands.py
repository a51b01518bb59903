"""Hostile inputs by the real command: all that is more than one document, and the first variant of every entry."""

import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parent / "by_command.py"


@pytest.mark.slow
def test_every_hostile_input_behaves() -> None:
    done = subprocess.run([sys.executable, str(RUNNER), "--first"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "kind",
    [
        "cycle of 2 builds, check",
        "npy: objects",
        "a certificate at 'hard.json'",
        "Python: an interrupt",
        "Python: closed streams",
    ],
)
def test_some_behave(kind: str) -> None:
    done = subprocess.run([sys.executable, str(RUNNER), "--only", kind], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert ", 0 of which did not behave" in done.stdout
