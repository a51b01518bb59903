"""`recipe run`: a short run from a build to a file, its settings, and how it ends."""

import json
import signal
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("interruptible")

ROOT = Path(__file__).parents[2]
BUILD = "specs/builds/sgld_gaussian.yaml"
SHORT = ("--draws", "1500", "--warmup", "50", "--chains", "2", "--cores", "2", "--thin", "100")


def test_a_run_prints_verdicts_and_summary_and_stores_the_draws(recipe, tmp_path: Path) -> None:
    outcome = recipe("run", BUILD, *SHORT, "-o", tmp_path)
    assert outcome.code == 0
    assert "Q is skew" in outcome.out
    for column in ("mean", "sd", "ess_bulk", "ess_tail", "r_hat", "mcse_mean", "theta[0]"):
        assert column in outcome.out
    import xarray

    with xarray.open_datatree(tmp_path / "sgld_gaussian.nc", engine="h5netcdf") as tree:
        assert tree["posterior"]["theta"].shape == (2, 1500, 3)


def test_json_is_one_object(recipe, tmp_path: Path) -> None:
    outcome = recipe("run", BUILD, *SHORT, "--seed", "7", "-o", tmp_path, "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 0
    assert found["verdict"] == "proved"
    assert found["settings"]["seed"] == 7
    assert [row["name"] for row in found["summary"]] == ["theta[0]", "theta[1]", "theta[2]"]


@pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered:RuntimeWarning")
def test_a_run_that_diverges_leaves_with_4(recipe, tmp_path: Path) -> None:
    outcome = recipe("run", BUILD, *SHORT, "--step-size", "50", "-o", tmp_path)
    assert outcome.code == 4
    assert "finite" in outcome.out


def test_dynamics_cannot_be_run(recipe) -> None:
    outcome = recipe("run", "specs/dynamics/sgld.yaml")
    assert outcome.code == 2
    assert "expected a build" in outcome.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_draws_are_written_leaves_them_in_the_checkpoint(
    recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr("recipe_compiler.commands.run.save", lambda *_: signal.raise_signal(number))
        outcome = recipe("run", BUILD, *SHORT, "-o", tmp_path)
    assert outcome.code == code
    assert "all draws are in the checkpoint" in outcome.err
    assert signal.getsignal(signal.SIGTERM) == before
    assert recipe("run", BUILD, *SHORT, "-o", tmp_path, "--resume").code == 0
    assert (tmp_path / "sgld_gaussian.nc").is_file()


def test_a_cycle_within_one_draw_is_refused(recipe, tmp_path: Path) -> None:
    text = (ROOT / BUILD).read_text(encoding="utf-8").replace("../", f"{ROOT}/specs/")
    text = text.replace("run: {", "run: {schedule: {name: cyclic, period: 100}, ")
    (tmp_path / "cyclic.yaml").write_text(text, encoding="utf-8")
    outcome = recipe("run", "cyclic.yaml", *SHORT, folder=tmp_path)
    assert outcome.code == 2
    assert "found a period of 100 steps and draws of 100 steps, expected a longer period" in " ".join(
        outcome.err.split()
    )
