"""The processor time of warm-up ends a plan with what is known, and changes nothing of one that keeps to it."""

from pathlib import Path

import numpy as np
import pytest
from answers import document
from loaders import load_build

from recipe_compiler import pipeline
from recipe_compiler.advise.budget import Budget, OverBudgetError, cures
from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.pilots import Pilots
from recipe_compiler.advise.plan_run import plan_run
from recipe_compiler.cache import NOTHING
from recipe_compiler.errors import ReadBackError, RunError

pytestmark = pytest.mark.usefixtures("taken_for_granted", "without_reading_back", "interruptible")

SPECS = Path(__file__).parents[2] / "specs"
BUILD = """
name: wells
dynamics: {specs}/dynamics/hmc.yaml
target: wells_target.yaml
scheme: {{cycle: [{{refresh: r}}, {{metropolis: {{split: [B/2, A, B/2], steps: "uniform(1, 8)", flip: {{r: -r}}}}}}]}}
variant: full
run: {{step_size: auto{run}}}
"""
TARGET = """
name: wells_target
state: {theta: {shape: 2}}
potential: theta[0]**4 - 2*theta[0]**2 + (theta[1] - theta[0])**2
"""


def build(folder: Path, run: str = "") -> Path:
    (folder / "wells_target.yaml").write_text(TARGET)
    path = folder / "wells.yaml"
    path.write_text(BUILD.format(specs=SPECS, run=run))
    return path


def planned(path: Path) -> Plan:
    stated = load_build(path)
    return plan_run(stated, pipeline.check_once(stated, NOTHING))[0]


def test_time_is_counted_from_the_end_of_the_first_piece_which_compiles() -> None:
    seconds = iter([100.0, 159.0, 161.0])
    budget = Budget(60.0, clock=lambda: next(seconds))
    budget.demand()
    budget.demand()
    with pytest.raises(OverBudgetError):
        budget.demand()


def test_a_refusal_names_what_chains_are_slowest_in_and_what_one_draw_takes() -> None:
    rng, budget = np.random.default_rng(0), Budget(60.0)
    theta = rng.standard_normal((8, 300, 3))
    theta[:, :, 1] += 10.0 * np.arange(8)[:, None]
    for draw in range(300):
        budget.keep(theta[:, draw : draw + 1], 40.0)
    says = str(budget.refused(("a", "log_tau", "b"), "Try `warmup_seconds`"))
    assert "more than 60 processor seconds" in says
    assert "one effective draw of log_tau takes about" in says
    assert "chains differ most in log_tau (R-hat" in says
    assert "warmup_seconds" in says
    assert "a (" not in says


def test_few_draws_are_counted() -> None:
    assert "chains made 0 draws" in str(Budget(1.0).refused(("a",), ""))


HIERARCHY = """
state: {mu: {}, tau: {constraint: positive}, b: {shape: J}, eta: {shape: J}}
data: {y: {shape: N}, g: {shape: N, index_of: J}}
log_prior: normal(mu, 0, 1) + half_normal(tau, 1) + normal(eta, 0, 1) + normal(b, 0, SCALE)
log_likelihood: normal(y, mu + b[g] + tau*eta[g], 1)
"""


@pytest.mark.parametrize(("scale", "form"), [("tau", "non-centred parameterisation of b ("), ("2", "")])
def test_another_parameterisation_is_advised_of_blocks_whose_scale_is_of_the_state(scale: str, form: str) -> None:
    says = cures(document(HIERARCHY.replace("SCALE", scale)))
    assert form in says
    assert ("parameterisation" in says) is bool(form)


def test_a_plan_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"warm-up took more than 0.001 processor seconds"):
        planned(build(tmp_path, ", warmup_seconds: 0.001"))


@pytest.mark.slow
def test_a_plan_that_keeps_to_its_time_is_the_same_whatever_the_time(tmp_path: Path) -> None:
    first, other = (planned(build(tmp_path, run)) for run in ("", ", warmup_seconds: 1000"))
    assert first.says == other.says
    assert first.yaml(Path()) == other.yaml(Path())
    assert "warmup_seconds" not in first.yaml(Path())


def test_what_is_not_read_back_is_refused_before_chains_warm_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ReadBackError("not read back")

    monkeypatch.setattr(pipeline, "_read_once", refuse)
    monkeypatch.setattr(Pilots, "begun", lambda *_: pytest.fail("chains warm up"))
    with pytest.raises(ReadBackError, match="not read back"):
        planned(build(tmp_path))
