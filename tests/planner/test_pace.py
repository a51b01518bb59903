"""Thinning by a pilot run: chains that mix more slowly than their step made linear says are thinned, others are not."""

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from loaders import load_build

import recipe_compiler as rc
from recipe_compiler import pipeline
from recipe_compiler.planner.pace import CHAINS, DRAWS, MOST, effective_shares, paced
from recipe_compiler.planner.plan import Plan

pytestmark = pytest.mark.usefixtures("without_reading_back")

ROOT = Path(__file__).parents[2]
PLAN = Plan(load_build(ROOT / "specs/builds/sghmc_gaussian_baoab.yaml"), ("plan: of a test",))
NAMES = ("a", "b")


def chains(decay: float, seed: int = 1) -> np.ndarray:
    """Return draws of two coordinates: independent ones, and x' = decay x + noise, of variance 1."""
    rng = np.random.default_rng(seed)
    normals = rng.standard_normal((CHAINS, DRAWS, 2))
    draws = normals.copy()
    for k in range(1, DRAWS):
        draws[:, k, 1] = decay * draws[:, k - 1, 1] + np.sqrt(1.0 - decay**2) * normals[:, k, 1]
    return draws


@pytest.mark.parametrize(
    ("decay", "factors"), [(0.0, {1}), (0.3, {1}), (0.8, {4, 8}), (0.9, {8, 16, 32}), (0.98, {32, 64})]
)
def test_steps_a_draw_follow_the_slowest_coordinate(decay: float, factors: set[int]) -> None:
    # of x' = decay x + noise a draw counts (1 - decay)/(1 + decay); asked for is one half
    shares = effective_shares(chains(decay))
    assert shares[1] == pytest.approx(min(1.0, (1.0 - decay) / (1.0 + decay)), rel=0.6)
    found = paced(PLAN, chains(decay), NAMES)
    assert found.build.run.thin / PLAN.build.run.thin in factors
    assert (found is PLAN) == (factors == {1})
    assert found is PLAN or " draws of b " in found.says[-1]


def test_what_stands_still_is_thinned_no_more_than_a_plan_may() -> None:
    still = np.broadcast_to(np.arange(CHAINS, dtype=float)[:, None, None], (CHAINS, DRAWS, 2)).copy()
    still += 1e-9 * chains(0.0)
    assert paced(PLAN, still, NAMES).build.run.thin == MOST * PLAN.build.run.thin


def schools(**run: Any) -> tuple[rc.Model, dict[str, np.ndarray]]:
    """Return eight schools, sampled as log tau, to be planned, and their data."""
    build = rc.Build(
        name="schools", dynamics=str(ROOT / "specs/dynamics/sghmc.yaml"),
        target=str(ROOT / "specs/targets/eight_schools.yaml"), scheme="baoab", variant="full", step_size="auto",
        sizes={"J": 8}, **run,
    )  # fmt: skip
    table = np.genfromtxt(ROOT / "specs/data/eight_schools.csv", delimiter=",", names=True)
    return rc.compile(build, allow_undecided=True), {"y": table["effect"], "w": table["weight"], "z": np.eye(8)}


@pytest.mark.parametrize("stated", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_a_scale_sampled_as_its_logarithm_is_thinned_as_its_chains_need(stated: int | None) -> None:
    model, data = schools(**({} if stated is None else {"thin": stated}))
    planned = model.plan(data).document
    assert planned.run.thin == 2 if stated else planned.run.thin >= 16


@pytest.mark.usefixtures("interruptible")
def test_who_stops_the_pilot_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = schools()
    monkeypatch.setattr(pipeline, "sample", lambda *_: SimpleNamespace(stopped=signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        model.sample(data, progress=False)
