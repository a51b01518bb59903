"""`recipe run --plan`, and runs of builds with `step_size: auto`."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray
from command import recipe

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("known_verdicts", "without_reading_back", "interruptible"),
]


def test_the_command_prints_a_build_that_runs(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    x = np.column_stack([np.ones(100), rng.normal(5.0, [1.0, 300.0], size=(100, 2))])
    y = x @ [1.0, -2.0, 0.01] + rng.normal(size=100)
    rows = "\n".join(",".join(map(repr, map(float, row))) for row in np.column_stack([x, y]))
    (tmp_path / "rows.csv").write_text(f"a,b,c,y\n{rows}\n")
    (tmp_path / "asked.yaml").write_text(
        "name: asked\ndynamics: sghmc\ntarget: linear_regression\nscheme: {name: baoab}\nvariant: full\n"
        "data: {file: rows.csv, x: [a, b, c], y: y}\nrun: {step_size: auto, draws: 200}\n"
    )
    printed = recipe("run", "--plan", "--no-cache", tmp_path / "asked.yaml")
    assert printed.code == 0, printed.err
    assert printed.out.startswith("# plan: around the mode")
    assert not list(tmp_path.glob("*/*.nc"))
    (tmp_path / "printed.yaml").write_text(printed.out)
    both = [recipe("run", tmp_path / f"{name}.yaml", "-o", tmp_path / name) for name in ("asked", "printed")]
    assert [outcome.code for outcome in both] == [0, 0]
    plan = [line.removeprefix("# ") for line in printed.out.splitlines() if line.startswith("# ")]
    assert plan[0] in both[0].out
    assert ["planning: " in outcome.out for outcome in both] == [True, False]
    trees = [xarray.load_datatree(tmp_path / name / "asked.nc", engine="h5netcdf") for name in ("asked", "printed")]
    np.testing.assert_array_equal(trees[0]["posterior"]["theta"], trees[1]["posterior"]["theta"])
    assert trees[0].attrs["plan"].splitlines() == plan
    assert trees[0].attrs["trust"].startswith("trust: yes")
    assert trees[0].attrs["trust"] in both[0].out
    assert trees[0].attrs["doubts"] == ""
    assert trees[0].attrs["forecast_lines"] in both[0].out
    as_json = [recipe("run", tmp_path / "asked.yaml", "--json", "-o", tmp_path, *more) for more in (("--plan",), ())]
    planned, ran = (json.loads(outcome.out) for outcome in as_json)
    assert planned["plan"] == ran["plan"] == plan
    assert planned["build"].splitlines() == printed.out.splitlines()
    assert planned["doubts"] == []
    again = recipe("run", tmp_path / "asked.yaml", "-o", tmp_path / "again")
    assert "planning: " not in again.out
    kept = xarray.load_datatree(tmp_path / "again" / "asked.nc", engine="h5netcdf")
    np.testing.assert_array_equal(kept["posterior"]["theta"], trees[0]["posterior"]["theta"])
    assert kept.attrs["plan"] == trees[0].attrs["plan"]


def test_what_is_undecided_is_named_with_what_runs_it_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "laplace.yaml").write_text(
        "name: laplace\nstate: {theta: {shape: 2}}\npotential: abs(theta[0]) + theta[1]**2\n"
    )
    (tmp_path / "tails.yaml").write_text(
        "name: tails\ndynamics: sghmc\ntarget: laplace.yaml\nscheme: {name: baoab}\nvariant: full\n"
        "run: {step_size: auto}\n"
    )
    outcome = recipe("run", tmp_path / "tails.yaml", "-o", tmp_path)
    assert outcome.code == 3
    last = outcome.err.splitlines()[-1]
    assert last.startswith("tails is undecided: it is not run, for ")
    assert "`the log posterior is differentiable inside the domain`" in last
    assert last.endswith("--allow-undecided runs it anyway")


APART = """
name: apart
state: {theta: {shape: 2}}
potential: -log(exp(-(theta[0] - 12)**2/2) + exp(-(theta[0] + 12)**2/8)/2) + theta[1]**2/2
"""


def test_a_plan_with_a_doubt_is_not_drawn(tmp_path: Path) -> None:
    (tmp_path / "apart.yaml").write_text(APART)
    asked = ("run", "hmc", "apart.yaml", "--set", "init.theta=-12*ones", "--allow-undecided")
    outcome = recipe(*asked, folder=tmp_path)
    assert outcome.code == 4, outcome.err
    assert "doubt: the draws miss a mode of U" in outcome.out
    assert "nothing is drawn, for the doubt of the plan:" in outcome.err
    assert not (tmp_path / "runs").exists()
    assert json.loads(recipe(*asked, "--json", folder=tmp_path).out)["doubts"][0].startswith("the draws miss a mode")
