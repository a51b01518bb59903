"""Progress in a notebook: bars below the cell, in one output that is replaced."""

import sys
import warnings
from types import SimpleNamespace

import pytest
from reports import granted

import recipe_compiler as rc

pytestmark = pytest.mark.usefixtures("without_reading_back")


def test_progress_is_shown_below_the_cell_and_the_draws_are_those_without(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def display(html: str, *, display_id: bool) -> SimpleNamespace:
        assert display_id
        seen.append(html)
        return SimpleNamespace(update=seen.append)

    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: "a kernel's shell"))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display, HTML=str))
    theta = rc.vector("theta", "d")
    sgld = rc.Dynamics(name="sgld", state=[theta], H=rc.function("U", of=theta, role="potential"), D=[[rc.I]], Q=[[0]])
    normal = rc.Target(name="normal", state=[theta], potential=theta.T @ theta / 2)
    with granted(), warnings.catch_warnings(action="ignore", category=rc.SampleWarning):
        model = rc.compile(sgld, normal, sizes={"d": 2}, step_size=0.1, chains=3)
        watched, quiet = (model.sample(draws=40, warmup=10, seed=1, **more) for more in ({}, {"progress": False}))
    assert (watched.posterior.theta == quiet.posterior.theta).all()
    assert seen[0].count("<progress") == 3
    assert seen[0].count("0/50") == 3
    assert seen[1:]
    assert seen[-1].count("50/50") == 3
