"""Builds written in the tests, as a user would write them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.program import Program
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
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


@pytest.fixture
def program_of(written: Callable[..., Build]) -> Callable[..., Program]:
    """Return a function that makes the Program of such a build."""

    def make(build: str, **others: str) -> Program:
        loaded = written(build, **others)
        return discretise(loaded, derive(bind(loaded), stated=True))

    return make


@pytest.fixture
def assert_found() -> Callable[..., None]:
    """Assert that reading back finds changes of a text: what stands there, what then, and so on."""

    def check(module: Module, *changes: str, d: int = 2) -> None:
        text = module.text
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            assert old in text, text
            text = text.replace(old, new, 1)
        with pytest.raises(CompilerError):
            check_shipped(replace(module, text=text), {"d": d})

    return check
