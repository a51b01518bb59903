"""`recipe run`: a short run from a build to a file, its settings, and how it ends."""

import json
import re
import signal
from pathlib import Path

import pytest
import xarray

import recipe_compiler as rc
from recipe_compiler.errors import DataError

pytestmark = pytest.mark.usefixtures("interruptible", "known_verdicts")

ROOT = Path(__file__).parents[2]
BUILD = "specs/builds/sgld_gaussian.yaml"
SHORT = ("--draws", "1500", "--warmup", "50", "--chains", "2", "--cores", "2", "--thin", "100")


@pytest.mark.slow
def test_a_run_prints_verdicts_and_summary_and_stores_the_draws(recipe, tmp_path: Path) -> None:
    outcome = recipe("run", BUILD, *SHORT, "-o", tmp_path)
    assert outcome.code == 0
    assert "Q is skew" in outcome.out
    for column in ("mean", "sd", "ess_bulk", "ess_tail", "r_hat", "mcse_mean", "theta[0]"):
        assert column in outcome.out
    with xarray.open_datatree(tmp_path / "sgld_gaussian.nc", engine="h5netcdf") as tree:
        assert tree["posterior"]["theta"].shape == (2, 1500, 3)


@pytest.mark.slow
def test_json_is_one_object(recipe, tmp_path: Path) -> None:
    outcome = recipe("run", BUILD, *SHORT, "--seed", "7", "-o", tmp_path, "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 0
    assert found["verdict"] == "proved"
    assert found["settings"]["seed"] == 7
    assert [row["name"] for row in found["summary"]] == ["theta[0]", "theta[1]", "theta[2]"]


@pytest.mark.slow
def test_coordinates_are_told_by_name_and_what_v_takes_off_beside_the_noise(recipe, tmp_path: Path) -> None:
    short = ("--draws", "100", "--warmup", "10", "--thin", "20")
    outcome = recipe("run", "specs/builds/sghmc_linear_regression.yaml", *short, "-o", tmp_path)
    names = set(re.findall(r"^(theta\[\w+\]) ", outcome.out, re.M))
    forecast = re.search(r"posterior sd .* \((.+)\)$", outcome.out, re.M)
    stein = re.search(r"the draws miss the mean (?:square )?of (\S+) by", outcome.out)
    assert forecast is not None
    assert stein is not None
    assert names == {f"theta[{name}]" for name in ("intercept", "a", "b", "c", "e")}
    assert {forecast[1], stein[1]} <= names
    parts = re.search(r"minibatch noise \+(\S+), step size and V subtracted -(\S+)\)", outcome.out)
    assert parts is not None
    assert float(parts[1]) == pytest.approx(float(parts[2]), rel=0.1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered:RuntimeWarning")
def test_chains_that_diverge_in_their_warmup_are_not_told_to_draw_more(recipe, tmp_path: Path) -> None:
    outcome = recipe("run", BUILD, *SHORT, "--step-size", "50", "--warmup", "500", "-o", tmp_path)
    assert outcome.code == 4
    assert "no chain has 4 finite draws after warmup" in outcome.out
    assert "more --draws" not in outcome.out


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:(invalid value|overflow) encountered:RuntimeWarning")
def test_a_run_that_diverges_leaves_with_4(recipe, tmp_path: Path) -> None:
    outcome = recipe("run", BUILD, *SHORT, "--step-size", "50", "-o", tmp_path)
    assert outcome.code == 4
    assert "finite" in outcome.out
    with xarray.open_datatree(tmp_path / "sgld_gaussian.nc", engine="h5netcdf") as tree:
        assert tree["sample_stats"]["diverging"].to_numpy().any(axis=1).all()


def test_dynamics_cannot_be_run(recipe) -> None:
    outcome = recipe("run", "specs/dynamics/sgld.yaml")
    assert outcome.code == 2
    assert "expected a build" in outcome.err


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_cycle_within_one_draw_is_refused(recipe, tmp_path: Path) -> None:
    text = (ROOT / BUILD).read_text(encoding="utf-8").replace("../", f"{ROOT}/specs/")
    text = text.replace("run: {", "run: {schedule: {name: cyclic, period: 100}, ")
    (tmp_path / "cyclic.yaml").write_text(text, encoding="utf-8")
    outcome = recipe("run", "cyclic.yaml", *SHORT, folder=tmp_path)
    assert outcome.code == 2
    assert "found a period of 100 steps and draws of 100 steps, expected a longer period" in " ".join(
        outcome.err.split()
    )


@pytest.mark.slow
def test_draws_of_an_earlier_run_are_kept_unless_asked_otherwise(recipe, tmp_path: Path) -> None:
    seeds = {}
    for seed in ("1", "2", "3"):
        more = ("--overwrite",) if seed == "3" else ()
        outcome = recipe("run", BUILD, *SHORT, "--draws", "5", "--seed", seed, *more, "-o", tmp_path)
        assert ("moved out of the way" in " ".join(outcome.out.split())) == (seed == "2")
        for path in tmp_path.glob("*.nc"):
            with xarray.open_datatree(path, engine="h5netcdf") as tree:
                seeds[path.name] = int(tree.attrs["seed"])
    assert seeds.pop("sgld_gaussian.nc") == 3
    assert list(seeds.values()) == [1]
    assert re.fullmatch(r"sgld_gaussian-\d{8}T\d{6}\.nc", next(iter(seeds)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "doubt"),
    [
        (("--step-size", "0.4", "--thin", "20"), "by Stein's identity they miss the mean square of theta"),
        (("--step-size", "1e-7"), "R-hat is"),
        (("--draws", "3"), "there are too few draws for a summary"),
    ],
)
def test_a_summary_that_is_not_to_be_believed_leaves_with_4(
    recipe, tmp_path: Path, asked: tuple[str, ...], doubt: str
) -> None:
    """Steps near the largest stable one: R-hat and ESS are perfect, the variances are not."""
    found = json.loads(recipe("run", BUILD, *SHORT, *asked, "-o", tmp_path, "--json").out)
    again = recipe("run", BUILD, *SHORT, *asked, "-o", tmp_path)
    assert again.code == 4
    assert any(doubt in one for one in found["doubts"])
    assert "not to be believed: " in again.out


@pytest.mark.slow
def test_a_minibatch_that_is_too_noisy_leaves_with_4(recipe, tmp_path: Path) -> None:
    """Forecast and draws say the same: the posterior sds are much too wide, whatever R-hat is."""
    build = "specs/builds/sgld_logistic.yaml"
    more = ("--batch-size", "5", "--draws", "400", "--warmup", "100", "--chains", "2", "--cores", "2")
    outcome = recipe("run", build, *more, "-o", tmp_path)
    assert outcome.code == 4
    assert "not to be believed: by the forecast" in outcome.out
    assert "around the mode found from zero" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("specs/builds/none.yaml",), "found no"),
        (("specs/dynamics/sgld.yaml",), "expected a build"),
        ((BUILD, "--batch-size", "3"), "found --batch-size"),
        ((BUILD, "--draws", "1000000000", "--chains", "10000"), "must fit into"),
    ],
)
def test_json_of_a_run_that_is_refused_has_its_faults(
    recipe, tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    outcome = recipe("run", *arguments, "-o", tmp_path, "--json")
    found = json.loads(outcome.out)
    assert outcome.code == 2
    assert found["verdict"] is None
    assert problem in " ".join(fault["problem"] for fault in found["faults"])
    assert outcome.err


@pytest.mark.slow
def test_json_of_a_build_that_is_refuted_has_its_claims(recipe, tmp_path: Path) -> None:
    """C = -c I, which is not positive semidefinite."""
    build = (ROOT / "specs/builds/sghmc_correlated_plane.yaml").read_text(encoding="utf-8")
    assert "C: c*I" in build
    text = build.replace("../", f"{ROOT}/specs/").replace("C: c*I", "C: (c - 2*c)*I")
    (tmp_path / "wrong.yaml").write_text(text, encoding="utf-8")
    outcome = recipe("run", "wrong.yaml", "--json", folder=tmp_path)
    found = json.loads(outcome.out)
    assert outcome.code == 1
    assert found["verdict"] == "refuted"
    assert "refuted" in {fault["problem"] for fault in found["faults"]}
    assert all(fault["entry"] for fault in found["faults"])


FLAT = """\
format: 1
name: flat
state: {beta: {shape: d}}
data: {x: {shape: [N, d]}, y: {shape: N}}
log_likelihood: -(y - x @ beta)**2/2
"""


@pytest.mark.slow
def test_data_that_cannot_be_read_are_told_before_what_they_leave_undecided(recipe, tmp_path: Path) -> None:
    """Whether the integral is finite depends on the rank of x."""
    (tmp_path / "flat.yaml").write_text(FLAT, encoding="utf-8")
    (tmp_path / "rows.csv").write_text("a,b,y\n1,2,3\n2,1,\n", encoding="utf-8")
    text = "dynamics: hmc\ntarget: flat.yaml\ndata: {file: rows.csv, x: [a, b], y: y}\nrun: {step_size: 0.1}\n"
    scheme = "scheme: {cycle: [refresh: r, metropolis: {split: [B/2, A, B/2]}]}\nvariant: full\nbind: {M: I}\n"
    (tmp_path / "build.yaml").write_text(f"format: 1\nname: build\n{text}{scheme}", encoding="utf-8")
    outcome = recipe("run", "build.yaml", folder=tmp_path)
    assert outcome.code == 2
    assert "rows.csv, row 2 (line 3), column `y`: found an empty cell" in outcome.err
    assert "undecided" not in outcome.out + outcome.err
    (tmp_path / "rows.csv").write_text("a,b,y\n1,2,3\n2,1,1\n3,1,1\n", encoding="utf-8")
    recipe("run", "build.yaml", "--draws", "10", "--warmup", "10", folder=tmp_path)
    (tmp_path / "rows.csv").write_text("a,b,y\n1,2,3\n2,1,1\n3,many,1\n", encoding="utf-8")
    outcome = recipe("rerun", "runs/build.nc", folder=tmp_path)
    assert outcome.code == 2
    assert "rows.csv, row 3 (line 4), column `b`: found `many`, expected a number" in outcome.err
    assert "undecided" not in outcome.out + outcome.err
    with pytest.raises(DataError, match=r"row 3 \(line 4\), column `b`"):
        rc.rerun(tmp_path / "runs/build.nc")


def test_leapfrog_alone_is_not_believed_whatever_its_draws_say(recipe, tmp_path: Path) -> None:
    """Nothing is random but the starts: with these R-hat or Stein's identity may see nothing."""
    outcome = recipe("run", "specs/builds/hmc_gaussian_leapfrog.yaml", *SHORT, "-o", tmp_path)
    assert outcome.code == 4
    assert "not to be believed: a step without noise of its own forgets nothing" in outcome.out
    assert "Add friction with its noise" in outcome.out


@pytest.mark.slow
def test_a_word_whose_step_is_too_large_is_forecast_to_be(recipe, tmp_path: Path) -> None:
    build = "specs/builds/sghmc_gaussian_baoab.yaml"
    outcome = recipe("run", build, *SHORT, "--step-size", "1.6", "--thin", "5", "-o", tmp_path)
    assert outcome.code == 4
    assert "forecast: none: the chain is unstable: the step size is too large" in outcome.out
    assert "not to be believed: by the forecast no chain stays at the posterior" in outcome.out
