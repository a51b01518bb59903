"""Progress in a notebook: a line below the cell, which is replaced."""

import sys
import warnings
from types import SimpleNamespace

import pytest
from reports import granted

import recipe_compiler as rc

pytestmark = pytest.mark.usefixtures("without_reading_back")


def test_progress_is_a_line_below_the_cell_and_the_draws_are_those_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: "a kernel's shell"))
    theta = rc.vector("theta", "d")
    sgld = rc.Dynamics(name="sgld", state=[theta], H=rc.function("U", of=theta, role="potential"), D=[[rc.I]], Q=[[0]])
    normal = rc.Target(name="normal", state=[theta], potential=theta.T @ theta / 2)
    with granted(), warnings.catch_warnings(action="ignore", category=rc.SampleWarning):
        model = rc.compile(sgld, normal, sizes={"d": 2}, step_size=0.1, chains=3)
        watched, quiet = (model.sample(draws=40, warmup=10, seed=1, **more) for more in ({}, {"progress": False}))
    assert (watched.posterior.theta == quiet.posterior.theta).all()
    assert "\r150 of 150 draws\n" in capsys.readouterr().err
