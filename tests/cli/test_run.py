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

import recipe_compiler as rc
from recipe_compiler.errors import DataError

pytestmark = pytest.mark.usefixtures("interruptible", "known_verdicts")
unread = pytest.mark.usefixtures("without_reading_back")

ROOT = Path(__file__).parents[2]
BUILD = "sgld_gaussian"
FEW = ("run", BUILD, "--draws", "40", "--warmup", "5", "--thin", "5", "--chains", "2", "--cores", "2")
MANY = ("run", BUILD, "--draws", "1500", "--warmup", "50", "--chains", "2", "--cores", "2", "--thin", "100")
DIVERGING = pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered:RuntimeWarning")


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


@pytest.mark.slow
def test_coordinates_have_names_and_the_forecast_says_what_v_takes_off_beside_the_noise(tmp_path: Path) -> None:
    short = ("--draws", "100", "--warmup", "10", "--thin", "20")
    _, out, _ = recipe("run", "sghmc_linear_regression", *short, "-o", tmp_path)
    names = set(re.findall(r"^(theta\[\w+\]) ", out, re.M))
    assert names == {f"theta[{name}]" for name in ("intercept", "a", "b", "c", "e")}
    assert set(re.findall(r"posterior sd .* \((.+)\)$", out, re.M)) <= names
    assert set(re.findall(r"the draws miss the mean (?:square )?of (\S+) by", out)) <= names
    noise, subtracted = re.findall(r"minibatch noise \+(\S+), step size and V subtracted -(\S+)\)", out)[0]
    assert float(noise) == pytest.approx(float(subtracted), rel=0.1)


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
    assert "not to be believed: " in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sgld_logistic", "--batch-size", "5", "--draws", "400", "--warmup", "100", "--chains", "2", "--cores", "2"),
         ("forecast: none: the noise of the gradient grows without bound",
          "not to be believed: by the forecast no chain stays at the posterior")),
        (("sghmc_gaussian_baoab", *MANY[2:], "--step-size", "1.6", "--thin", "5"),
         ("forecast: none: the chain is unstable: the step size is too large",
          "not to be believed: by the forecast no chain stays at the posterior")),
    ],
)  # fmt: skip
def test_a_forecast_doubts_what_minibatches_and_steps_do(tmp_path: Path, arguments: tuple, words: tuple) -> None:
    code, out, _ = recipe("run", *arguments, "-o", tmp_path)
    assert code == 4
    assert all(one in out for one in words)


def test_leapfrog_alone_is_doubted_whatever_its_draws_say(tmp_path: Path) -> None:
    """Nothing is random but the starts: with these R-hat or Stein's identity may see nothing."""
    code, out, _ = recipe("run", "hmc_gaussian_leapfrog", *FEW[2:], "-o", tmp_path)
    assert code == 4
    assert "not to be believed: a step without noise of its own forgets nothing" in out
    assert "Add friction with its noise" in out


@DIVERGING
@pytest.mark.slow
def test_a_run_that_diverges_leaves_with_4(tmp_path: Path) -> None:
    code, out, _ = recipe(*MANY, "--step-size", "50", "-o", tmp_path)
    assert code == 4
    assert "finite" in out
    assert tree_of(tmp_path)["sample_stats"]["diverging"].to_numpy().any(axis=1).all()
    code, out, _ = recipe(*MANY, "--step-size", "50", "--warmup", "500", "-o", tmp_path)
    assert code == 4
    assert "no chain has 4 finite draws after warmup" in out
    assert "more --draws" not in out


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
def test_a_run_does_not_go_on_with_another_value(tmp_path: Path) -> None:
    assert recipe("run", changed(tmp_path, BUILD), *FEW[2:], "-o", tmp_path).code in FINISHED
    path = changed(tmp_path, BUILD, ("mu: {value: [1,", "mu: {value: [2,"))
    again = recipe("run", path, *FEW[2:], "--draws", "60", "--resume", "-o", tmp_path)
    assert again.code == 2
    assert "parameter mu: found" in again.err
    assert "code" not in again.err


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
        (("sgld",), "expected a build"),
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


FLAT = """\
name: flat
state: {beta: {shape: d}}
data: {x: {shape: [N, d]}, y: {shape: N}}
log_likelihood: -(y - x @ beta)**2/2
"""
HMC = """\
name: build
dynamics: hmc
target: flat.yaml
data: {file: rows.csv, x: [a, b], y: y}
run: {step_size: 0.1}
scheme: {cycle: [refresh: r, metropolis: {split: [B/2, A, B/2]}]}
variant: full
bind: {M: I}
"""


@pytest.mark.slow
def test_data_that_cannot_be_read_are_reported_before_what_they_leave_undecided(tmp_path: Path) -> None:
    """Whether the integral is finite depends on the rank of x."""
    (tmp_path / "flat.yaml").write_text(FLAT, encoding="utf-8")
    (tmp_path / "build.yaml").write_text(HMC, encoding="utf-8")
    rows = tmp_path / "rows.csv"
    rows.write_text("a,b,y\n1,2,3\n2,1,\n", encoding="utf-8")
    code, out, err = recipe("run", "build.yaml", folder=tmp_path)
    assert code == 2
    assert "rows.csv, row 2 (line 3), column `y`: found an empty cell" in err
    assert "undecided" not in out + err
    rows.write_text("a,b,y\n1,2,3\n2,1,1\n3,1,1\n", encoding="utf-8")
    recipe("run", "build.yaml", "--draws", "10", "--warmup", "10", folder=tmp_path)
    rows.write_text("a,b,y\n1,2,3\n2,1,1\n3,many,1\n", encoding="utf-8")
    code, out, err = recipe("rerun", "runs/build.nc", folder=tmp_path)
    assert code == 2
    assert "rows.csv, row 3 (line 4), column `b`: found `many`, expected a number" in err
    assert "undecided" not in out + err
    with pytest.raises(DataError, match=r"row 3 \(line 4\), column `b`"):
        rc.rerun(tmp_path / "runs/build.nc")


PLANE = "sghmc_correlated_plane"
LANES = ("run", PLANE, "--draws", "30", "--warmup", "5", "--thin", "7")


@pytest.mark.slow
@unread
@pytest.mark.parametrize("mode", ["--lanes", "--no-lanes"])
def test_chains_draw_the_same_beside_others(tmp_path: Path, mode: str) -> None:
    many = recipe(*LANES, mode, "--chains", "70", "--cores", "2", "-o", tmp_path / "many")
    few = recipe(*LANES, mode, "--chains", "3", "--cores", "1", "-o", tmp_path / "few")
    assert {many.code, few.code} <= {*FINISHED}
    assert ("hint: --lanes" in many.out) == (mode == "--no-lanes")
    assert "hint" not in few.out
    np.testing.assert_array_equal(theta(tmp_path / "few", PLANE), theta(tmp_path / "many", PLANE)[:3])


@pytest.mark.slow
@unread
def test_the_mode_is_stored_and_a_run_is_not_continued_in_the_other(tmp_path: Path) -> None:
    given = (*LANES, "--chains", "3", "-o", tmp_path)
    assert json.loads(recipe(*given, "--lanes", "--json").out)["settings"]["lanes"] is True
    assert tree_of(tmp_path, PLANE).attrs["lanes"] == 1
    more = (*given, "--resume", "--draws", "60")
    other = recipe(*more, "--no-lanes")
    assert other.code == 2
    assert "lanes: found True in the checkpoint, expected False" in other.err
    assert recipe(*more, "--lanes").code in FINISHED
    whole = recipe(*LANES, "--draws", "60", "--chains", "3", "--lanes", "-o", tmp_path / "whole")
    assert whole.code in FINISHED
    np.testing.assert_array_equal(theta(tmp_path, PLANE), theta(tmp_path / "whole", PLANE))


@pytest.mark.slow
def test_lanes_are_refused_to_a_move_that_draws_from_a_law(tmp_path: Path) -> None:
    (tmp_path / "normal.yaml").write_text(
        "name: normal\nstate: {theta: {shape: d}}\npotential: theta.T @ theta\nlaws: {theta: 'N(0, I/2)'}\n"
    )
    build = tmp_path / "drawn.yaml"
    build.write_text(
        "name: drawn\ndynamics: still\ntarget: normal.yaml\nscheme: {cycle: [draw: theta]}\n"
        "variant: full\nsizes: {d: 2}\nrun: {draws: 30}\n"
    )
    assert recipe("run", build, *LANES[2:], "-o", tmp_path).code in FINISHED
    outcome = recipe("run", build, *LANES[2:], "--lanes", "--overwrite", "-o", tmp_path)
    assert outcome.code == 2
    assert "a move draws from a law, by as many random words as it takes" in outcome.err
