"""The command line as a function: arguments in, exit code and output out."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from recipe_compiler.cli import main

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str


Recipe = Callable[..., Outcome]


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Recipe:
    """Run `recipe` in this process, from the root of the repository."""

    def run(*arguments: str | Path, folder: Path = ROOT) -> Outcome:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["recipe", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Outcome(int(end.value.code or 0), captured.out, captured.err)

    return run


SGHMC = """\
name: sampler
state:
  theta: {shape: d}
  r: {shape: d}
parameters:
  C: {shape: [d, d], is: positive semidefinite}
functions:
  U: {of: theta, role: potential}
H: U(theta) + r.T @ r / 2
D: [[0, 0],
    [0, C]]
Q: [[0, -I],
    [I, 0]]
"""
"""SGHMC with unit mass; tests change it."""


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a document derived from SGHMC by replacing texts, each of which must be there."""

    def document(name: str = "spec.yaml", replacing: dict[str, str] | None = None, text: str = SGHMC) -> Path:
        for old, new in (replacing or {}).items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return document
