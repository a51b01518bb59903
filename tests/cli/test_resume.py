"""`recipe run --resume` as a user meets it: the same draws after a stop, and clear words where nothing can go on."""

import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import xarray

pytestmark = pytest.mark.usefixtures("known_verdicts", "without_reading_back", "interruptible")

ROOT = Path(__file__).parents[2]
BUILD = "specs/builds/sgld_gaussian.yaml"
SETTINGS = ("--warmup", "10", "--thin", "400000", "--chains", "2", "--cores", "2")
FEW_DRAWS = (0, 4)
"""So few draws may be no good, which is not what is asked here."""


def start(warm: list[str], *arguments: str) -> subprocess.Popen[str]:
    command = [*warm, "-m", "recipe_compiler", "run", BUILD, *SETTINGS, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def theta(folder: Path) -> np.ndarray:
    with xarray.open_datatree(folder / "sgld_gaussian.nc", engine="h5netcdf") as tree:
        return tree["posterior"]["theta"].to_numpy()


def test_a_terminated_run_goes_on(recipe, warm: list[str], tmp_path: Path) -> None:
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    child = start(warm, "--draws", "300", "-o", str(stopped))
    while not (stopped / "sgld_gaussian.checkpoint" / "lock").is_file():
        assert child.poll() is None
        time.sleep(0.1)
    time.sleep(0.5)
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 143, err
    assert "interrupted after" in out
    assert theta(stopped).shape[1] < 300
    again = recipe("run", BUILD, *SETTINGS, "--draws", "300", "-o", stopped)
    assert again.code == 2
    assert "continue it with --resume, or remove the folder" in again.err
    other = recipe("run", BUILD, *SETTINGS, "--draws", "300", "--seed", "5", "-o", stopped, "--resume")
    assert other.code == 2
    assert "seed: found" in other.err
    rest = recipe("run", BUILD, *SETTINGS, "--draws", "300", "-o", stopped, "--resume")
    assert rest.code == 0, rest.err
    assert recipe("run", BUILD, *SETTINGS, "--draws", "300", "-o", whole).code == 0
    np.testing.assert_array_equal(theta(stopped), theta(whole))


def test_there_must_be_a_checkpoint(recipe, tmp_path: Path) -> None:
    outcome = recipe("run", BUILD, *SETTINGS, "--draws", "5", "-o", tmp_path, "--resume")
    assert outcome.code == 2
    assert "found no checkpoint, expected one: run without --resume" in outcome.err


@pytest.mark.slow
def test_a_run_goes_on_where_only_the_header_of_its_module_is_another(recipe, tmp_path: Path) -> None:
    """The header of a module that may be undecided names no verdicts; its step is the same."""
    short = ("run", BUILD, "--warmup", "5", "--thin", "10", "--chains", "2", "-o", tmp_path)
    assert recipe(*short, "--draws", "40").code in FEW_DRAWS
    again = recipe(*short, "--draws", "60", "--resume", "--allow-undecided")
    assert again.code in FEW_DRAWS, again.err
    assert theta(tmp_path).shape[1] == 60


@pytest.mark.slow
def test_a_run_does_not_go_on_with_another_value(recipe, tmp_path: Path) -> None:
    text = (ROOT / BUILD).read_text(encoding="utf-8").replace("../", f"{ROOT}/specs/")
    path = tmp_path / "build.yaml"
    path.write_text(text, encoding="utf-8")
    short = ("run", path, "--warmup", "5", "--thin", "10", "--chains", "2", "-o", tmp_path)
    assert recipe(*short, "--draws", "40").code in FEW_DRAWS
    path.write_text(text.replace("mu: {value: [1,", "mu: {value: [2,"), encoding="utf-8")
    again = recipe(*short, "--draws", "60", "--resume")
    assert again.code == 2
    assert "parameter mu: found" in again.err
    assert "code" not in again.err
