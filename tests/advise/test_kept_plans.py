"""Plans that are kept: what was chosen once is found again, bit for bit, and only where nothing has changed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

import recipe_compiler as rc
from recipe_compiler import pipeline
from recipe_compiler.advise import make_plan
from recipe_compiler.advise.chosen import Pace, PilotFigures, Plan, plan_of_text, plan_text
from recipe_compiler.advise.plan_run import plan_run
from recipe_compiler.cache import NOTHING, Cache
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.to_yaml import to_yaml
from recipe_compiler.verdict import Report

pytestmark = pytest.mark.usefixtures("taken_for_granted", "without_reading_back")

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(7)
X = np.column_stack([np.ones(60), RNG.normal(5.0, 30.0, size=60)])
Y = X @ [1.0, -2.0] + RNG.normal(size=60)
REGRESSION = f"""
name: kept
dynamics: {ROOT}/specs/dynamics/sghmc.yaml
target: {ROOT}/specs/targets/linear_regression.yaml
scheme: {{name: baoab}}
variant: full
data: {{file: rows.csv, x: [a, b], y: y}}
run: {{step_size: auto, draws: 50}}
"""
FIGURES = PilotFigures((1.5, -0.1), (2.0, 1e-300), (0.1, 0.2), (0.3, 0.4), (-0.01, 0.02), (0.001, 0.03), 12.5, 400)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The builds that are planned anew."""
    found: list[str] = []
    plan = make_plan.make_plan

    def counted(build: Build, *given: object, **named: object) -> Plan:
        found.append(build.name)
        return plan(build, *given, **named)

    monkeypatch.setattr(make_plan, "make_plan", counted)
    return found


def regression(folder: Path, *changes: tuple[str, str], y: np.ndarray = Y) -> Build:
    text = REGRESSION
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    rows = "\n".join(",".join(map(repr, map(float, row))) for row in np.column_stack([X, y]))
    (folder / "rows.csv").write_text(f"a,b,y\n{rows}\n", encoding="utf-8")
    (folder / "kept.yaml").write_text(text, encoding="utf-8")
    return load_build(folder / "kept.yaml")


def plan_of(build: Build, cache: Cache) -> tuple[Plan, Report]:
    return plan_run(build, pipeline.check_once(build, cache), cache=cache)


def parts(plan: Plan) -> tuple[object, ...]:
    """Return all that a plan says; two of them are not compared as they are."""
    return (
        plan.build,
        to_yaml(plan.build),
        plan.says,
        plan.measured,
        plan.doubts,
        plan.damping,
        plan.pace,
        plan.by_limit,
    )


def test_what_was_planned_is_found_again(tmp_path: Path, cache: Cache, planned: list[str]) -> None:
    first, report = plan_of(regression(tmp_path), cache)
    second, again = plan_of(regression(tmp_path), cache)
    assert planned == ["kept"]
    anew, without = plan_of(regression(tmp_path), NOTHING)
    assert planned == ["kept", "kept"]
    assert parts(first) == parts(second) == parts(anew)
    assert report == again == without


CHANGES: dict[str, tuple[str, str] | str] = {
    "draws": ("draws: 50", "draws: 51"),
    "columns": ("a, b", "b, a"),
    "share": ("auto,", "auto, share: 0.01,"),
    "seed": ("step", "seed: 3, step"),
    "rows": "rows",
    "compiler": "recipe_compiler.cache.compiler",
    "processor": "recipe_compiler.advise.plan_run.processor",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_whatever_has_changed_is_planned_anew(
    what: str, tmp_path: Path, cache: Cache, planned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    change = CHANGES[what]
    plan_of(regression(tmp_path), cache)
    if "." in change:
        monkeypatch.setattr(str(change), lambda: "another")
    text = (change,) if isinstance(change, tuple) else ()
    plan_of(regression(tmp_path, *text, y=np.roll(Y, 1) if what == "rows" else Y), cache)
    assert planned == ["kept"] * 2


@pytest.mark.slow
def test_what_took_too_long_is_tried_again(
    tmp_path: Path, cache: Cache, planned: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan.make_plan
    monkeypatch.setattr(make_plan, "make_plan", lambda *given, **named: replace(plan(*given, **named), by_limit=True))
    for _ in range(2):
        plan_of(regression(tmp_path), cache)
    assert planned == ["kept"] * 2


@pytest.mark.slow
def test_what_pilot_chains_measured_is_kept_to_the_bit(tmp_path: Path, cache: Cache) -> None:
    build = regression(tmp_path)
    found = replace(plan_of(build, cache)[0], measured=FIGURES, doubts=("chains are stuck",), damping=0.1 + 0.2)
    found = replace(found, pace=Pace(0.1 / 3.0, 10.5, 1e-300))
    assert parts(plan_of_text(plan_text(found), build)) == parts(found)


@pytest.mark.slow
@pytest.mark.parametrize("kept", [True, False])
def test_in_python_data_in_memory_are_told_apart(kept: bool, planned: list[str]) -> None:
    model = rc.compile(
        str(ROOT / "specs/dynamics/sghmc.yaml"), str(ROOT / "specs/targets/linear_regression.yaml"), name="kept",
        scheme="baoab", variant="full", step_size="auto", cache=kept,
    )  # fmt: skip
    first = model.plan({"x": X, "y": Y})
    again = model.plan({"x": X.copy(order="F"), "y": Y.tolist()})
    assert first.to_yaml() == again.to_yaml()
    assert len(planned) == (1 if kept else 2)
    model.plan({"x": X, "y": np.nextafter(Y, np.inf)})
    assert len(planned) == (2 if kept else 3)
