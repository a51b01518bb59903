"""Builds written in the tests, as a user would write them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Build]:
    """Return a function that writes documents and loads the build among them."""

    def write(build: str, **others: str) -> Build:
        for name, text in others.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        path = tmp_path / "build.yaml"
        path.write_text(build.replace("SPECS", str(SPECS)))
        return load_build(path)

    return write
