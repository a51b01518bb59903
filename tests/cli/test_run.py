"""`recipe run` and `recipe rerun`: from a build to a file of draws, how it ends, and how it goes on."""

import json
import os
import re
import signal
from pathlib import Path

import numpy as np
import pytest
import xarray
from command import FINISHED, recipe
from stopping import stopping

pytestmark = pytest.mark.usefixtures("interruptible", "known_verdicts")
unread = pytest.mark.usefixtures("without_reading_back")

ROOT = Path(__file__).parents[2]
BUILD = "sgld_gaussian"
FEW = ("run", BUILD, "--draws", "40", "--warmup", "5", "--thin", "5", "--chains", "2", "--cores", "2")
MANY = ("run", BUILD, "--draws", "1500", "--warmup", "50", "--chains", "2", "--cores", "2", "--thin", "100")


def tree_of(folder: Path, name: str = BUILD) -> xarray.DataTree:
    return xarray.load_datatree(folder / f"{name}.nc", engine="h5netcdf")


def theta(folder: Path, name: str = BUILD) -> np.ndarray:
    return tree_of(folder, name)["posterior"]["theta"].to_numpy()


def changed(folder: Path, build: str, *changes: tuple[str, str]) -> Path:
    """Return a copy of a shipped build with some texts replaced."""
    text = (ROOT / f"specs/builds/{build}.yaml").read_text(encoding="utf-8").replace("../", f"{ROOT}/specs/")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "build.yaml").write_text(text, encoding="utf-8")
    return folder / "build.yaml"


@pytest.mark.slow
def test_a_run_prints_verdicts_and_summary_and_stores_the_draws(tmp_path: Path) -> None:
    code, out, _ = recipe(*MANY, "-o", tmp_path)
    assert code == 0
    for words in ("Q is skew", "mean", "sd", "ess_bulk", "ess_tail", "r_hat", "mcse_mean", "theta[0]"):
        assert words in out
    assert theta(tmp_path).shape == (2, 1500, 3)
    found = json.loads(recipe(*MANY, "--seed", "7", "-o", tmp_path, "--json").out)
    assert (found["verdict"], found["settings"]["seed"]) == ("proved", 7)
    assert [row["name"] for row in found["summary"]] == ["theta[0]", "theta[1]", "theta[2]"]


DOUBTED = {
    "by Stein's identity they miss the mean square of theta": ("--step-size", "0.4", "--thin", "20"),
    "R-hat is": ("--step-size", "1e-7"),
    "there are too few draws for a summary": ("--draws", "3"),
}


@pytest.mark.slow
@pytest.mark.parametrize("doubt", DOUBTED)
def test_a_summary_that_is_doubted_leaves_with_4(tmp_path: Path, doubt: str) -> None:
    """Steps near the largest stable one: R-hat and ESS are perfect, the variances are not."""
    found = json.loads(recipe(*MANY, *DOUBTED[doubt], "-o", tmp_path, "--json").out)
    code, out, _ = recipe(*MANY, *DOUBTED[doubt], "-o", tmp_path)
    assert code == 4
    assert any(doubt in one for one in found["doubts"])
    assert "not to be trusted: " in out


def test_leapfrog_alone_is_doubted_whatever_its_draws_say(tmp_path: Path) -> None:
    """Nothing is random but the starts: with these R-hat or Stein's identity may see nothing."""
    code, out, _ = recipe("run", "hmc_gaussian_leapfrog", *FEW[2:], "-o", tmp_path)
    assert code == 4
    assert "not to be trusted: a step without noise is not ergodic" in out
    assert "Add friction with its noise" in out


@unread
def test_a_second_run_with_other_settings_is_not_verified_again(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def kept() -> list[Path]:
        return [path for path in Path(os.environ["XDG_CACHE_HOME"]).rglob("*") if path.is_file()]

    assert recipe("check", "sgld", "--no-cache").code == 0
    assert kept() == []
    first = recipe("check", "sgld")
    assert len(kept()) == 1
    assert recipe("check", "sgld") == first
    assert recipe(*FEW, "-o", tmp_path).code in FINISHED
    before = kept()
    assert recipe(*FEW, "--draws", "50", "--step-size", "0.04", "-o", tmp_path).code in FINISHED
    assert kept() == before


@unread
def test_draws_of_an_earlier_run_are_kept_unless_asked_otherwise(tmp_path: Path) -> None:
    for seed, more in (("1", ()), ("2", ()), ("3", ("--overwrite",))):
        outcome = recipe(*FEW, "--draws", "5", "--seed", seed, *more, "-o", tmp_path)
        assert ("moved out of the way" in " ".join(outcome.out.split())) == (seed == "2")
    seeds = {path.stem: int(tree_of(tmp_path, path.stem).attrs["seed"]) for path in tmp_path.glob("*.nc")}
    assert seeds.pop(BUILD) == 3
    ((name, seed),) = seeds.items()
    assert seed == 1
    assert re.fullmatch(r"sgld_gaussian-\d{8}T\d{6}", name)


@unread
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_draws_are_written_leaves_them_in_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr("recipe_compiler.commands.run.save", lambda *_: signal.raise_signal(number))
        outcome = recipe(*FEW, "-o", tmp_path)
    assert outcome.code == code
    assert "all draws are in the checkpoint" in outcome.err
    assert signal.getsignal(signal.SIGTERM) == before
    assert recipe(*FEW, "-o", tmp_path, "--resume").code in FINISHED
    assert (tmp_path / "sgld_gaussian.nc").is_file()


@unread
def test_a_terminated_run_goes_on_with_its_own_settings_alone(tmp_path: Path) -> None:
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    assert "found no checkpoint, expected one: run without --resume" in recipe(*FEW, "-o", stopped, "--resume").err
    with stopping(10):
        first = recipe(*FEW, "--draws", "3000", "-o", stopped)
    assert first.code == 143, first.err
    assert "interrupted after" in first.out
    drawn = theta(stopped).shape[1]
    assert drawn < 3000
    draws = ("--draws", str(drawn + 20))
    again = recipe(*FEW, *draws, "-o", stopped)
    assert again.code == 2
    assert "continue it with --resume, or remove the folder" in again.err
    other = recipe(*FEW, *draws, "--seed", "5", "-o", stopped, "--resume")
    assert other.code == 2
    assert "seed: found" in other.err
    rest = recipe(*FEW, *draws, "--allow-undecided", "-o", stopped, "--resume")  # only the module's header is another
    assert rest.code in FINISHED, rest.err
    assert recipe(*FEW, *draws, "-o", whole).code in FINISHED
    np.testing.assert_array_equal(theta(stopped), theta(whole))


@pytest.mark.slow
@unread
def test_a_run_again_is_compared_bit_by_bit(tmp_path: Path) -> None:
    assert recipe(*FEW, "-o", tmp_path).code == 4
    file = tmp_path / "sgld_gaussian.nc"
    outcome = recipe("rerun", file, "-o", tmp_path / "again")
    assert outcome.code == 4  # as it was: so few draws are not to be believed
    assert f"the draws of {file} again, bit for bit" in outcome.out
    before = file.read_bytes()
    outcome = recipe("rerun", file, "-o", tmp_path)
    assert outcome.code == 2
    assert "expected another folder for the result" in outcome.err
    assert file.read_bytes() == before


@pytest.mark.slow
def test_a_cycle_within_one_draw_is_refused(tmp_path: Path) -> None:
    path = changed(tmp_path, BUILD, ("run: {", "run: {schedule: {name: cyclic, period: 100}, "))
    outcome = recipe("run", path, *MANY[2:], folder=tmp_path)
    assert outcome.code == 2
    words = "found a period of 100 steps and draws of 100 steps, expected a longer period"
    assert words in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("none.yaml",), "found no"),
        (("sgld",), "found no target, expected one"),
        ((BUILD, "--batch-size", "3"), "found --batch-size"),
        ((BUILD, "--draws", "1000000000", "--chains", "10000"), "must fit into"),
    ],
)
def test_json_of_a_run_that_is_refused_has_its_faults(tmp_path: Path, arguments: tuple, problem: str) -> None:
    code, out, err = recipe("run", *arguments, "-o", tmp_path, "--json")
    found = json.loads(out)
    assert (code, found["verdict"]) == (2, None)
    assert problem in " ".join(fault["problem"] for fault in found["faults"])
    assert err


@pytest.mark.slow
def test_json_of_a_build_that_is_refuted_has_its_claims(tmp_path: Path) -> None:
    """C = -c I, which is not positive semidefinite."""
    path = changed(tmp_path, "sghmc_correlated_plane", ("C: c*I", "C: (c - 2*c)*I"))
    code, out, _ = recipe("run", path, "--json", folder=tmp_path)
    found = json.loads(out)
    assert (code, found["verdict"]) == (1, "refuted")
    assert "refuted" in {fault["problem"] for fault in found["faults"]}
    assert all(fault["entry"] for fault in found["faults"])
