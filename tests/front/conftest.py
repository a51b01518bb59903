"""What tests of the Python front share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode leaves test folders off the path

ROOT = Path(__file__).parents[2]


@pytest.fixture
def at_root(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work where the examples of the documentation do."""
    monkeypatch.chdir(ROOT)
    return ROOT
