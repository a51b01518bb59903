"""What tests of the command line share."""

from collections.abc import Callable
from pathlib import Path

import pytest

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
