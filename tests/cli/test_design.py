"""`recipe design`: samplers of one target in the order of what an effective draw takes; some have no figure."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import recipe

pytestmark = pytest.mark.usefixtures("with_jit", "without_reading_back")

NORMAL = ("standard_normal", "--set", "d=2", "--json")
WRONG = """
name: wrong
state: {theta: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [[I]]
Q: [[0]]
claims: {drift: {theta: "grad(U, theta)"}}
"""


def table(*arguments: str | Path, folder: Path) -> dict[str, dict[str, Any]]:
    done = recipe("design", *arguments, folder=folder)
    assert done.code == 0, done.err
    return {one["name"]: one for one in json.loads(done.out)["samplers"]}


def test_samplers_are_ranked_and_those_without_a_figure_say_why(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(WRONG)
    metric = ("--set", "K=sqrt(1 + norm2(theta))*I")
    found = table(*NORMAL, *metric, "sgld", "sghmc", "gsgrhmc", "wrong.yaml", "hmc_reflected", folder=tmp_path)
    assert list(found)[-2:] == ["wrong.yaml", "hmc_reflected"]
    planned = list(found.values())[:3]
    costs = [one["gradients_per_effective_draw"] for one in planned]
    assert costs == sorted(costs)
    assert [found[name]["D"] for name in ("sgld", "sghmc", "gsgrhmc")] == ["constant", "constant", "of the state"]
    assert [found[name]["Q"] for name in ("sgld", "sghmc", "gsgrhmc")] == ["0", "constant", "of the state"]
    assert found["gsgrhmc"]["by"] == "pilot chains"
    assert found["sgld"]["by"] == "audit of the step at the mode"
    # Euler's step of dtheta = -theta dt + sqrt(2) dW with sds 2 % too wide: eps = 2 (1 - 1/1.02**2) = 0.078, and
    # 1 - eps is the correlation of two draws; what counts least is the draw itself: (2 - eps)/eps
    assert found["sgld"]["gradients_per_effective_draw"] == pytest.approx(24.7, rel=0.1)
    assert str(found["wrong.yaml"]["why_not"]).startswith("refuted: ")
    assert "expected positive" in str(found["hmc_reflected"]["why_not"])


@pytest.mark.slow
def test_of_all_that_ship_a_metric_that_nothing_states_is_no_sampler_of_its_own(tmp_path: Path) -> None:
    found = table(*NORMAL, "--seconds", "5", folder=tmp_path)
    assert found["hmc"]["sds_off"] == "none"
    assert found["hmc"]["by"] == "chains that warmed up"
    assert "--set" in str(found["gsgrhmc"]["why_not"])
    assert found["gsgrhmc"]["gradients_per_effective_draw"] is None
    assert {"sghmc", "sgld", "sgnht"} <= {name for name, one in found.items() if one["steps_per_effective_draw"]}
    assert "still" not in found


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sghmc",), "found no target, expected one"),
        (("standard_normal", "double_well"), "found a target, expected dynamics or a build"),
        (("standard_normal", "sghmc_gaussian"), "found a build of gaussian"),
        (("logistic_regression", "sgld"), "found no data, expected columns for x, y"),
        (("standard_normal", "sgld", "--set", "nothing=2"), "found `nothing`, expected a parameter"),
        (("standard_normal", "rhmc", "--set", "d=2", "--set", "G=I", "--seconds", "0"), "no sampler has a plan"),
    ],
)
def test_what_cannot_be_ranked_is_refused(arguments: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = recipe("design", *arguments, folder=tmp_path)
    assert done.code == 2 or (done.code and "plan" in says)
    assert says in done.err
