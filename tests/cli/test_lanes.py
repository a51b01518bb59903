"""`recipe run --lanes`: the same draws for any number of chains, threads and processes; refused where it cannot be."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import xarray

unread = pytest.mark.usefixtures("known_verdicts", "without_reading_back")

ROOT = Path(__file__).parents[2]
BUILD = "specs/builds/sghmc_correlated_plane.yaml"
SHORT = ("--draws", "30", "--warmup", "5", "--thin", "7")
DONE = (0, 4)
"""Exit codes of a run that came to its end: so few draws are not to be believed, which is no matter here."""


def theta(folder: Path) -> np.ndarray:
    with xarray.open_datatree(folder / "sghmc_correlated_plane.nc", engine="h5netcdf") as tree:
        return tree["posterior"]["theta"].to_numpy()


@pytest.mark.slow
@unread
@pytest.mark.parametrize("mode", ["--lanes", "--no-lanes"])
def test_chains_draw_the_same_beside_others_and_in_another_process(
    recipe, warm: list[str], tmp_path: Path, mode: str
) -> None:
    many = ("run", BUILD, *SHORT, mode, "--chains", "70", "--cores", "2", "-o", str(tmp_path / "many"))
    child = subprocess.run(
        [*warm, "-m", "recipe_compiler", *many], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert child.returncode in DONE, child.stderr
    assert ("hint: --lanes" in child.stdout) == (mode == "--no-lanes")
    few = recipe("run", BUILD, *SHORT, mode, "--chains", "3", "--cores", "1", "-o", tmp_path / "few")
    assert few.code in DONE
    assert "hint" not in few.out
    np.testing.assert_array_equal(theta(tmp_path / "few"), theta(tmp_path / "many")[:3])


@pytest.mark.slow
@unread
def test_the_mode_is_stored_and_a_run_is_not_continued_in_the_other(recipe, tmp_path: Path) -> None:
    given = ("run", BUILD, *SHORT, "--chains", "3", "-o", tmp_path)
    assert json.loads(recipe(*given, "--lanes", "--json").out)["settings"]["lanes"] is True
    with xarray.open_datatree(tmp_path / "sghmc_correlated_plane.nc", engine="h5netcdf") as tree:
        assert tree.attrs["lanes"] == 1
    more = (*given, "--resume", "--draws", "60")
    other = recipe(*more, "--no-lanes")
    assert other.code == 2
    assert "lanes: found True in the checkpoint, expected False" in other.err
    assert recipe(*more, "--lanes").code in DONE
    again = recipe("run", BUILD, *SHORT, "--draws", "60", "--chains", "3", "--lanes", "-o", tmp_path / "whole")
    assert again.code in DONE
    np.testing.assert_array_equal(theta(tmp_path), theta(tmp_path / "whole"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "why"),
    [
        ("sgld_logistic", "every step reads data"),
        ("wright_fisher_dirichlet", "a step works in arrays, such as a factor of the noise"),
        ("cir_categories", "every step reads data"),
        ("scaled_categories", "a step works in arrays"),
    ],
)
def test_lanes_are_refused_by_name_where_they_cannot_be(recipe, tmp_path: Path, build: str, why: str) -> None:
    outcome = recipe("run", f"specs/builds/{build}.yaml", *SHORT, "--lanes", "-o", tmp_path)
    assert outcome.code == 2
    assert build in outcome.err
    assert why in outcome.err


@pytest.mark.slow
def test_lanes_are_refused_to_a_move_that_draws_from_a_law(recipe, tmp_path: Path) -> None:
    (tmp_path / "normal.yaml").write_text(
        "format: 1\nname: normal\nstate: {theta: {shape: d}}\npotential: theta.T @ theta\nlaws: {theta: 'N(0, I/2)'}\n"
    )
    build = tmp_path / "drawn.yaml"
    build.write_text(
        "format: 1\nname: drawn\ndynamics: still\ntarget: normal.yaml\nscheme: {cycle: [draw: theta]}\n"
        "variant: full\nsizes: {d: 2}\nrun: {draws: 30}\n"
    )
    assert recipe("run", build, *SHORT, "-o", tmp_path).code in DONE
    outcome = recipe("run", build, *SHORT, "--lanes", "--overwrite", "-o", tmp_path)
    assert outcome.code == 2
    assert "a move draws from a law, by as many random words as it takes" in outcome.err
