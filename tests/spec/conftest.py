"""Documents that are right, to be spoiled one fault at a time."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from recipe_compiler.errors import DocumentError, Fault
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics, Target

SPECS = Path(__file__).parents[2] / "specs"
Document = Dynamics | Target | Build
Load = Callable[..., Document]
Refusal = Callable[..., tuple[Fault, ...]]


@pytest.fixture
def specs() -> Path:
    return SPECS


RUN = "run: {step_size: 0.02, batch_size: 64, thin: 40, draws: 4000, warmup: 1000, chains: 4, seed: 1}"
FRICTION = "c: {is: nonnegative, value: 2}"
"""The settings of every spoiled minibatch build: those that ship are tuned now and then."""


@pytest.fixture
def spoiled(tmp_path: Path) -> Callable[..., Path]:
    """A shipped document with parts of its text replaced."""

    def write(name: str, *changes: tuple[str, str]) -> Path:
        text = (SPECS / f"{name}.yaml").read_text(encoding="utf-8").replace("../", f"{SPECS}/")
        text = re.sub(r"(?m)^run: .*batch_size.*$", RUN, text)
        text = re.sub(r"c: {is: nonnegative, value: \d+}", FRICTION, text)
        for old, new in changes:
            assert old in text, f"{old!r} is not in {name}"
            text = text.replace(old, new)
        path = tmp_path / "document.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def load_spoiled(spoiled: Callable[..., Path]) -> Load:
    return lambda name, *changes: load(spoiled(name, *changes))


@pytest.fixture
def refused(spoiled: Callable[..., Path]) -> Refusal:
    """The faults of a spoiled document."""

    def faults(name: str, *changes: tuple[str, str]) -> tuple[Fault, ...]:
        with pytest.raises(DocumentError) as caught:
            load(spoiled(name, *changes))
        return caught.value.faults

    return faults


@pytest.fixture
def load_text(tmp_path: Path) -> Callable[[str], Document]:
    def read(text: str) -> Document:
        path = tmp_path / "document.yaml"
        path.write_text(text, encoding="utf-8")
        return load(path)

    return read
