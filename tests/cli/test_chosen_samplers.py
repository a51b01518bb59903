"""The sampler of a target that is run without dynamics: which are planned, which one is taken, and what is said."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import xarray
from command import recipe

from recipe_compiler.advise.choose import FEW, MANY, OF_TRAJECTORIES, WARM_UP, builds_of, choose, gain, order_of
from recipe_compiler.advise.chosen import Pace, Plan
from recipe_compiler.commands.arguments import BuildArguments
from recipe_compiler.commands.made_build import open_build, read_candidates
from recipe_compiler.errors import DocumentError, RunError
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Target
from recipe_compiler.verdict import Report

pytestmark = pytest.mark.usefixtures("known_verdicts", "without_reading_back")

SMALL, LARGE, HUGE = FEW, 2.0 * FEW, 2.0 * MANY
METRIC = "G=diag(ones + (ones - grad(theta[0], theta))*exp(-theta[0]))"
COLUMNS = ("data.y=diagnosis", "data.x=[mean_radius, mean_area]")


@pytest.mark.parametrize(
    ("target", "settings", "data", "numbers", "expected"),
    [
        ("standard_normal", ("d=2",), None, SMALL, ["hmc", "sghmc"]),
        ("standard_normal", ("d=2",), None, LARGE, ["sghmc", "hmc"]),
        ("standard_normal", ("d=2", "run.accept=0.9"), None, LARGE, ["hmc"]),
        ("logistic_regression", COLUMNS, "breast_cancer", SMALL, ["hmc", "sghmc"]),
        ("logistic_regression", COLUMNS, "breast_cancer", LARGE, ["sghmc in minibatches", "hmc"]),
        ("logistic_regression", (*COLUMNS, "run.batch_size=9"), "breast_cancer", SMALL, ["sghmc in minibatches"]),
        ("logistic_regression", (*COLUMNS, "variant=minibatch"), "breast_cancer", SMALL, ["sghmc in minibatches"]),
        ("funnel", ("k=2",), None, SMALL, ["hmc", "sghmc"]),
        ("funnel", ("k=2", METRIC), None, SMALL, ["rhmc"]),
        ("inverse_gaussian", ("b=[1, 1]", "c=[1, 1]", "k=1"), None, LARGE, ["hmc_reflected"]),
        ("mixture_allocations", ("K=2",), "few_of_two_groups", LARGE, ["draws by laws"]),
        ("normal_mean_precision", (), "normal_sample", SMALL, ["hmc", "sghmc"]),
        ("normal_mean_precision", ("variant=minibatch",), "normal_sample", SMALL, ["sghmc in minibatches"]),
    ],
)
def test_builds_that_can_be_read_are_planned_in_turn(
    target: str, settings: tuple[str, ...], data: str | None, numbers: float, expected: list[str]
) -> None:
    own = load(target)
    assert isinstance(own, Target)
    found = builds_of(read_candidates(target, own, BuildArguments(data, settings)))
    assert [one.name for one in order_of(found, int(numbers))] == expected


def refused(target: str | Path, *settings: str, data: str | None = None) -> list[str]:
    own = load(target)
    assert isinstance(own, Target)
    with pytest.raises(DocumentError) as told:
        read_candidates(str(target), own, BuildArguments(data, settings))
    return [fault.problem for fault in told.value.faults]


def test_what_is_wrong_with_all_candidates_is_said_once() -> None:
    assert refused("logistic_regression") == ["found no data, expected columns for x, y"]
    for setting, entry in (("run.step_size=0.1", "step_size"), ("scheme=baoab", "scheme")):
        expected = [f"found `{entry}` without dynamics, expected none: it is chosen with them"]
        assert refused("standard_normal", "d=2", setting) == expected


def test_a_target_that_no_candidate_takes_is_refused_with_the_reason_of_each(tmp_path: Path) -> None:
    (tmp_path / "flat.yaml").write_text(
        "name: flat\nstate: {w: {shape: 3, domain: simplex}}\npotential: -3*sum(log(w))\n"
    )
    problems = refused(tmp_path / "flat.yaml")
    assert problems[0].startswith("hmc: found the domain simplex of the target's `w`, expected real")
    assert "draws by laws: found no `laws` claimed by flat for w, expected one of each block" in problems
    assert len({problem.partition(": ")[2] for problem in problems}) == len(problems)


class Plans:
    """Plans that are given, by dynamics: what it takes for one is remembered."""

    def __init__(self, paces: dict[str, Pace | str | None]) -> None:
        self.paces = paces
        self.budgets = list[tuple[str, float | None]]()

    def __call__(self, build: Build, seconds: float | None) -> tuple[Plan | None, Report]:
        name = build.dynamics.name
        self.budgets.append((name, seconds))
        own = self.paces[name]
        report = Report(name, "", "", ())
        if isinstance(own, str):
            raise RunError(f"step_size: auto: {own}")
        return (None if own is None else Plan(build, ("plan",), pace=own)), report


def planned(rows: int, paces: dict[str, Pace | str | None], folder: Path) -> tuple[Plan | None, Plans]:
    """Return the plan for a logistic regression of so many rows of 5 numbers, and what was planned."""
    rng = np.random.default_rng(3)
    np.save(folder / "rows.npy", np.column_stack([rng.normal(size=(rows, 4)), rng.random(rows) < 0.5]))
    (folder / "own.yaml").write_text(
        'name: own\ntarget: logistic_regression\ndata: {file: rows.npy, x: ["0", "1", "2", "3"], y: "4"}\n'
    )
    file, plans = str(folder / "own.yaml"), Plans(paces)
    return choose(read_candidates(file, open_build(file) or {}, BuildArguments()), plans)[0], plans


def chosen(
    rows: int, paces: dict[str, Pace | str | None], folder: Path
) -> tuple[str, tuple[str, ...], list[tuple[str, float | None]]]:
    """Return the dynamics that are chosen, what is said, and the budgets of plans."""
    plan, plans = planned(rows, paces, folder)
    assert plan is not None
    return plan.build.dynamics.name, plan.says, plans.budgets


HMC = Pace(1 / 32, 10.5, 1e-5)


def test_few_data_take_one_plan(tmp_path: Path) -> None:
    name, says, budgets = chosen(200, {"hmc": HMC}, tmp_path)
    assert (name, budgets) == ("hmc", [("hmc", None)])
    assert says[0] == (
        "sampler: hmc, predicted 3.12e+03 effective draws per processor second (32 gradients each, 10 us a gradient)"
    )
    assert says[1].startswith("  sghmc: not planned; the data are 1,000 numbers, and hmc has no discretisation bias")
    assert says[2:] == ("plan",)


def test_many_data_are_planned_at_the_mode_and_compared_with_accepted_trajectories(tmp_path: Path) -> None:
    fast = Pace(0.25, 1.0, 1e-6, of_all=1e-3)
    name, says, budgets = chosen(20_000, {"sghmc": fast}, tmp_path)
    assert (name, budgets) == ("sghmc", [("sghmc", 0.0)])
    assert says[0].startswith("sampler: sghmc in minibatches, predicted 2.5e+05 effective draws per processor second")
    each = "85 gradients of all 20,000 data each, 80 of them of its warm-up"
    assert says[1] == f"  hmc: predicted 11.8 ({each}), not planned"
    slow = Pace(1e-6, 1.0, 1e-5, of_all=1e-4)
    name, says, budgets = chosen(20_000, {"sghmc": slow, "hmc": HMC}, tmp_path)
    assert (name, budgets) == ("hmc", [("sghmc", 0.0), ("hmc", None)])
    assert says[1] == "  sghmc in minibatches: predicted 0.00085 times as many by its plan at the mode"


def test_what_has_no_plan_gives_way_to_the_next(tmp_path: Path) -> None:
    name, says, budgets = chosen(20_000, {"sghmc": "U is not quadratic", "hmc": HMC}, tmp_path)
    assert (name, budgets) == ("hmc", [("sghmc", 0.0), ("hmc", None)])
    assert says[1] == "  sghmc in minibatches: U is not quadratic"
    name, says, budgets = chosen(200, {"hmc": "warm-up took more than 60", "sghmc": Pace(0.3, 1.0, 1e-6)}, tmp_path)
    assert (name, budgets) == ("sghmc", [("hmc", None), ("sghmc", 0.0)])
    assert says[0].startswith("sampler: sghmc, ")
    assert says[1] == "  hmc: warm-up took more than 60"
    for rows in (200, 20_000):
        with pytest.raises(RunError, match=r"^hmc: .*none by hmc\nsghmc.*: .*none by sghmc$"):
            chosen(rows, {"hmc": "none by hmc", "sghmc": "none by sghmc"}, tmp_path)


def test_chains_of_minibatches_may_run_where_a_warm_up_would_not_end(tmp_path: Path) -> None:
    name, says, budgets = chosen(int(MANY) // 4, {"sghmc": Pace(0.01, 1.0)}, tmp_path)
    assert (name, budgets) == ("sghmc", [("sghmc", None)])
    assert says[0] == "sampler: sghmc in minibatches"
    assert says[1] == "  hmc: not planned; of 1,250,000 numbers of data its warm-up takes longer than it may"


def test_a_build_that_its_verdicts_forbid_ends_the_choice(tmp_path: Path) -> None:
    plan, plans = planned(20_000, {"sghmc": None}, tmp_path)
    assert (plan, plans.budgets) == (None, [("sghmc", 0.0)])


def test_the_gain_is_that_of_draws_per_second() -> None:
    full = Pace(1 / 4, 1.0, 1e-3)
    assert gain(full) == pytest.approx(OF_TRAJECTORIES / 4)
    assert gain(Pace(1 / 4, 1.0, 1e-6, of_all=1e-3)) == pytest.approx(1000.0 * gain(full))
    assert gain(None) == gain(Pace(1 / 4, 1.0)) == math.inf


def csv(path: Path, rows: int, d: int) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(rows, d))
    y = rng.random(rows) < 1.0 / (1.0 + np.exp(-x @ np.linspace(-1.0, 1.0, d)))
    lines = (",".join(f"{number:.4f}" for number in row) + f",{int(own)}" for row, own in zip(x, y, strict=True))
    path.write_text("\n".join((",".join(f"x{k}" for k in range(d)) + ",y", *lines)) + "\n")


@pytest.mark.slow
def test_a_target_alone_runs_by_hmc(tmp_path: Path) -> None:
    csv(tmp_path / "d.csv", 150, 3)
    command = ("run", "logistic_regression", "--data", "d.csv")
    ran = recipe(*command, "--save", "made.yaml", "-o", "runs", folder=tmp_path)
    assert ran.code == 0, ran.err
    assert "sampler: hmc, predicted " in ran.out
    tree = xarray.load_datatree(tmp_path / "runs" / "hmc_logistic_regression.nc", engine="h5netcdf")
    assert tree.attrs["plan"].startswith("sampler: hmc, predicted ")
    predicted = float(tree.attrs["ess_per_gradient_predicted"])
    assert 2.0 < 1.0 / predicted < 2.0 * (OF_TRAJECTORIES - WARM_UP)  # what other samplers are compared with
    again = recipe("run", "made.yaml", "-o", "again", folder=tmp_path)
    other = xarray.load_datatree(tmp_path / "again" / "hmc_logistic_regression.nc", engine="h5netcdf")
    np.testing.assert_array_equal(tree["posterior"]["theta"], other["posterior"]["theta"])
    assert "sampler: " not in again.out


@pytest.mark.slow
def test_a_build_without_dynamics_runs_by_minibatches(tmp_path: Path) -> None:
    csv(tmp_path / "d.csv", 20_000, 3)
    (tmp_path / "own.yaml").write_text(
        "name: own\ntarget: logistic_regression\ndata: {file: d.csv, x: [x0, x1, x2], y: y}\nrun: {draws: 500}\n"
    )
    ran = recipe("run", "own.yaml", "--json", "-o", "runs", folder=tmp_path)
    told = json.loads(ran.out)
    assert ran.code == 0
    assert told["plan"][0].startswith("sampler: sghmc in minibatches, predicted ")
    assert told["trust"].startswith("trust: yes")
    printed = recipe("run", "own.yaml", "--plan", folder=tmp_path)
    assert "dynamics: sghmc\n" in printed.out
    assert "variant: minibatch\n" in printed.out
    assert "draws: 500" in printed.out
