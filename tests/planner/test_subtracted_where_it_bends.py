"""V subtracted where U bends: V is that of the mode, chains go far from it, and pilot chains measure what that does."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import recipe_compiler as rc
from recipe_compiler.errors import RunError
from recipe_compiler.planner import plan as planner
from recipe_compiler.planner.bulk import Bulk
from recipe_compiler.planner.chosen import Plan
from recipe_compiler.planner.plan import Bent, plan_of_bulk
from recipe_compiler.run.infinitesimal_means import errors_of
from recipe_compiler.spec.model import Build

SHARE = 0.02
BUILD = """
format: 1
name: few
dynamics: sghmc
target: logistic_regression
parameters: {prior_variance: {value: 4}}
scheme: {name: baoab}
variant: minibatch
data: {file: few.csv, x: [a, b], y: y, intercept: true}
run: {step_size: auto, batch_size: 5, draws: 2000}
"""


def data_of(rows: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Return x, with a column of ones, and y: so few that U bends."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((rows, 2)) * [1.0, 1.5]
    y = rng.random(rows) < 1.0 / (1.0 + np.exp(-(x @ [1.2, -1.0] + 0.3)))
    return np.column_stack([np.ones(rows), np.round(x, 3)]), y.astype(int)


def moments(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and sds by a sum over a grid."""
    axes = [np.linspace(at - far, at + far, 121) for at, far in ((0.8, 3.0), (1.1, 4.0), (-1.5, 4.0))]
    theta = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    eta = theta @ x.T
    log_law = (y * eta - np.logaddexp(0.0, eta)).sum(axis=1) - (theta**2).sum(axis=1) / 8.0
    law = np.exp(log_law - log_law.max())
    law /= law.sum()
    mean = law @ theta
    return mean, np.sqrt(law @ (theta - mean) ** 2)


@pytest.mark.slow
def test_a_plan_that_subtracts_v_of_the_mode_has_the_moments_of_the_target(tmp_path: Path) -> None:
    """The audit at the mode chooses it, for its work; its bias is measured, not that of the quadratic."""
    x, y = data_of()
    rows = "".join(f"{a},{b},{k}\n" for (_, a, b), k in zip(x, y, strict=True))
    (tmp_path / "few.csv").write_text(f"a,b,y\n{rows}")
    (tmp_path / "few.yaml").write_text(BUILD)
    model = rc.compile(tmp_path / "few.yaml", allow_undecided=True)
    fit = model.sample(progress=False)
    assert "plan: by pilot chains" in fit.attrs["plan"]
    assert "its noise at the mode subtracted" in fit.attrs["plan"]
    draws, (mean, sd) = fit["posterior"]["theta"].to_numpy(), moments(x, y)
    found, spread = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
    of_means, of_squares = np.split(errors_of(np.concatenate([draws, (draws - found) ** 2], axis=2)), 2)
    assert (np.abs(found - mean) <= SHARE * sd + 5.0 * of_means).all(), (found, mean, of_means)
    assert (np.abs(spread - sd) <= SHARE * sd + 5.0 * of_squares / (2.0 * sd)).all(), (spread, sd)
    assert fit.attrs["trust"].startswith("trust: yes"), fit.attrs["trust"]


def test_the_plan_is_made_without_where_no_step_of_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """V of the mode may be far from that of the bulk."""
    one, other = (Plan(cast("Build", name), ()) for name in ("subtracted", "as it is"))
    bulk = Bulk(np.zeros(2), np.eye(2), 1.0, 1.0, 0.5, 2, np.zeros((8, 2)))
    bent = Bent("U bends", "serves", lambda theta: theta, (np.zeros(2),), bulk, (one, other))
    serves = {other.build}

    def by_pilots(_stated: Build, _bent: Bent, walker: Plan, _names: tuple[str, ...]) -> Plan:
        if walker.build in serves:
            return walker
        raise RunError(f"no step size serves {walker.build}")

    def plan_of(found: Bent) -> Plan:
        return plan_of_bulk(cast("Build", None), found, cast("Any", lambda own: own), ("a", "b"))

    monkeypatch.setattr(planner, "_by_pilots", by_pilots)
    assert plan_of(bent) is other
    assert plan_of(replace(bent, own=(other, one))) is other
    serves.clear()
    with pytest.raises(RunError, match="no step size serves as it is"):
        plan_of(bent)
