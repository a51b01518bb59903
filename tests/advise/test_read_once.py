"""A run that is planned reads one text back: that of its plan is the text that was tried, with other values."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build
from ruamel.yaml import YAML

from recipe_compiler import pipeline
from recipe_compiler.advise.entries import ChosenEntries
from recipe_compiler.advise.plan import trial
from recipe_compiler.advise.roles import open_parameters
from recipe_compiler.cache import Cache
from recipe_compiler.readback import child_process
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.to_yaml import restated, text_of

SPECS = Path(__file__).parents[2] / "specs"
BUILD = f"""
name: read
dynamics: {SPECS}/dynamics/hmc.yaml
target: own.yaml
scheme: {{cycle: [{{refresh: r}}, {{metropolis: {{split: [B/2, A, B/2], steps: 3, flip: {{r: -r}}}}}}]}}
variant: full
run: {{step_size: auto}}
"""
TARGET = "name: own\nstate: {theta: {shape: 2}}\npotential: theta[0]**4 + (theta[1] - theta[0])**2\n"


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The builds whose texts are read back."""
    found: list[str] = []
    monkeypatch.setattr(child_process, "read_all", lambda name, _: found.append(name))
    return found


def builds(folder: Path) -> tuple[Build, Build]:
    """Return a build as it is tried, and as it is planned."""
    (folder / "own.yaml").write_text(TARGET)
    (folder / "read.yaml").write_text(BUILD)
    stated = load_build(folder / "read.yaml")
    open_ones = open_parameters(stated)
    chosen = ChosenEntries(
        stated, open_ones, 0.5, 1, 20, None, {one.name: np.diag([2.0, 3.0]) for one in open_ones}, False,
        np.ones(2), np.diag([1.0 / 8.0, 1.0 / 12.0]), goes_on=True,
    )  # fmt: skip
    return trial(stated, 2, 1), restated(stated, chosen.changes)


def test_chains_of_a_plan_begin_as_wide_as_its_mass_says(tmp_path: Path) -> None:
    assert yaml_of(builds(tmp_path)[1])["init"] == {"theta": "start + N(0, inv(M)*0.25)"}


def yaml_of(build: Build) -> dict[str, object]:
    return dict(YAML(typ="safe").load(text_of(build.source)))


def read(build: Build, cache: Cache) -> None:
    pipeline._read_once(pipeline.emit_unread(build)[1], build, cache)


@pytest.mark.parametrize("is_held", [True, False])
def test_the_text_of_a_plan_was_read_when_it_was_tried(
    tmp_path: Path,
    readings: list[str],
    is_held: bool,
) -> None:
    cache = Cache(held={}) if is_held else Cache(tmp_path / "cache")
    for build in builds(tmp_path):
        read(build, cache)
    assert readings == ["read"]


def test_a_text_of_another_target_or_word_is_read_again(tmp_path: Path, readings: list[str]) -> None:
    cache = Cache(held={})
    read(builds(tmp_path)[1], cache)
    (tmp_path / "own.yaml").write_text(TARGET.replace("**4", "**2"))
    other = tmp_path / "read.yaml"
    other.write_text(BUILD)
    read(trial(load_build(other), 2, 1), cache)
    other.write_text(BUILD.replace("[B/2, A, B/2]", "[A/2, B, A/2]"))
    read(trial(load_build(other), 2, 1), cache)
    assert readings == ["read"] * 3


def test_nothing_is_known_of_a_text_without_a_cache(tmp_path: Path, readings: list[str]) -> None:
    for build in builds(tmp_path):
        read(build, Cache())
    assert readings == ["read"] * 2
