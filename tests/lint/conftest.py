"""Steps of the files beside this one, judged; each once."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from loaders import load_dynamics
from warm import warm_python

from recipe_compiler.lint import process
from recipe_compiler.lint.bind_arguments import Binding, bind_arguments
from recipe_compiler.lint.findings import Lint, lint
from recipe_compiler.lint.source import read_source
from recipe_compiler.verdict import Finding, Report

HERE = Path(__file__).parent
SPECS = Path(__file__).parents[2] / "specs" / "dynamics"
Maps = tuple[tuple[str, str], ...]


@pytest.fixture(scope="session")
def _warm() -> Iterator[list[str]]:
    with warm_python(("numpy.random", "recipe_compiler.lint.calls", "recipe_compiler.lint.draws")) as python:
        yield python


@pytest.fixture
def few_calls(_warm: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Call steps a few times, in forks of a process that has all imported: for tests of what one call does."""
    few = "from recipe_compiler.lint import calls, child; calls.CALLS = calls.FEWEST; child.main()"
    plainly = process.START_PLAINLY.replace("end_with(int(sys.argv[2])); ", "")  # a fork's parent is another
    starts = {process.START: few, process.START_PLAINLY: plainly}
    given = (str(HERE.parents[1]), str(os.getpid()))

    def command(start: str) -> list[str]:
        return [*_warm, "-c", starts[start], *given]

    monkeypatch.setattr(process, "_command", command)


def ask_of(where: str, spec: str, maps: Maps = ()) -> Binding:
    own = HERE / "specs" / f"{spec}.yaml"
    document = load_dynamics(own if own.exists() else SPECS / f"{spec}.yaml")
    file, _, step = where.partition(":")
    path = Path(file) if Path(file).is_absolute() else HERE / "steps" / file
    return bind_arguments(read_source(f"{path}:{step}"), document, maps)


@cache
def linted(where: str, spec: str, maps: Maps = ()) -> Lint:
    return lint(ask_of(where, spec, maps))


@pytest.fixture
def asking() -> Callable[..., Binding]:
    """What a step is called with."""
    return ask_of


@pytest.fixture
def judged() -> Callable[..., Report]:
    """The report on a step."""

    def judge(where: str, spec: str, maps: Maps = ()) -> Report:
        report = linted(where, spec, maps).report
        assert report is not None
        return report

    return judge


@pytest.fixture
def step_finding(judged: Callable[..., Report]) -> Callable[..., Finding]:
    """The finding on a step alone."""

    def find(where: str, spec: str, maps: Maps = ()) -> Finding:
        return judged(where, spec, maps).findings[0]

    return find


@pytest.fixture
def read() -> Callable[..., Lint]:
    """All that is read off a step."""
    return linted
