"""The mode that a forecast is made around is kept for runs that differ in their steps alone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler import pipeline
from recipe_compiler.cache import NOTHING, Cache
from recipe_compiler.pipeline import make_ready, prepare_run
from recipe_compiler.run import kept_mode
from recipe_compiler.run.map_estimate import Mode, Slope, Start, find_mode
from recipe_compiler.run.stages import Ready
from recipe_compiler.spec.model import Build

pytestmark = pytest.mark.usefixtures("taken_for_granted", "without_reading_back", "without_jit")

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(3)
ROWS = np.column_stack([np.ones(30), RNG.normal(size=(30, 2))])
BUILD = f"""
name: kept
dynamics: {ROOT}/specs/dynamics/sghmc.yaml
target: {ROOT}/specs/targets/linear_regression.yaml
scheme: {{name: baoab}}
parameters: {{M: {{value: [[2, 0.5], [0.5, 1]]}}, C: {{value: [[1, 0.2], [0.2, 3]]}}}}
variant: full
data: {{file: rows.csv, x: [a, b], y: y}}
run: {{step_size: 0.01, draws: 50}}
"""


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Mode]:
    """The modes that are searched for."""
    found: list[Mode] = []

    def counted(slope: Slope, starts: tuple[Start, ...], names: tuple[str, ...] = ()) -> Mode:
        found.append(find_mode(slope, starts, names))
        return found[-1]

    monkeypatch.setattr(kept_mode, "find_mode", counted)
    monkeypatch.setattr(pipeline, "find_mode", counted)
    return found


def regression(folder: Path, *changes: tuple[str, str], rows: np.ndarray = ROWS) -> Build:
    text = BUILD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    lines = "\n".join(",".join(map(repr, map(float, row))) for row in rows)
    (folder / "rows.csv").write_text(f"a,b,y\n{lines}\n", encoding="utf-8")
    (folder / "kept.yaml").write_text(text, encoding="utf-8")
    return load_build(folder / "kept.yaml")


def ready(build: Build, cache: Cache, **settings: float) -> Ready:
    run = prepare_run(build, pipeline.check_once(build, NOTHING), replace(build.run, **settings))
    return make_ready(run, cache)


@pytest.mark.slow
def test_another_step_has_the_same_mode_and_the_forecast_that_a_search_gives(
    tmp_path: Path, cache: Cache, searches: list[Mode]
) -> None:
    build = regression(tmp_path)
    first = ready(build, cache)
    other = ready(build, cache, step_size=0.02, draws=70, thin=2, seed=5)
    assert len(searches) == 1
    searched = ready(build, NOTHING, step_size=0.02, draws=70, thin=2, seed=5)
    assert len(searches) == 2
    assert said(other) == said(searched)
    assert said(other) != said(first)
    assert other.forecast.width is not None


def said(ready: Ready) -> tuple[object, ...]:
    """Return what a forecast says, and the numbers it says it of."""
    return ready.forecast.says, ready.forecast.width, ready.forecast.stable


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [("a, b", "b, a"), ("name: kept", "name: other"), ("value: [[1,", "value: [[1.5,"), ()]
)
def test_another_module_value_or_row_is_searched(
    change: tuple[str, str] | tuple[()], tmp_path: Path, cache: Cache, searches: list[Mode]
) -> None:
    rows = ROWS.copy()
    rows[7, 2] = np.nextafter(rows[7, 2], np.inf)
    ready(regression(tmp_path), cache)
    ready(regression(tmp_path, *([change] if change else []), rows=ROWS if change else rows), cache)
    assert len(searches) == 2


@pytest.mark.slow
def test_code_that_is_given_a_gradient_is_searched_each_time(tmp_path: Path, cache: Cache) -> None:
    build = regression(tmp_path)
    run = prepare_run(build, pipeline.check_once(build, NOTHING), build.run)
    given = replace(ready(build, NOTHING).inputs, gradient=object())
    nothing = kept_mode.find_once(run.compiled, given, run.data, lambda _: pytest.fail("read"), lambda *_: None)
    assert nothing is kept_mode.find_mode
