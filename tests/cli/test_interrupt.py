"""Ctrl-C in a real `recipe run`: what was drawn is kept, summarised and stored, and the exit code says so."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray

pytestmark = pytest.mark.usefixtures("known_verdicts", "interruptible")

ROOT = Path(__file__).parents[2]
ENDLESS = ["--draws", "100000", "--warmup", "10", "--thin", "100000", "--chains", "2", "--cores", "2"]


@pytest.mark.slow
def test_draws_survive_ctrl_c(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "recipe_compiler",
        "run",
        "specs/builds/sgld_gaussian.yaml",
        *ENDLESS,
        "-o",
        str(tmp_path),
    ]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    while not (tmp_path / "sgld_gaussian.checkpoint" / "lock").is_file():
        assert child.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert time.monotonic() - begin < 60
    assert "interrupted" in out
    assert "Traceback" not in err
    with xarray.open_datatree(tmp_path / "sgld_gaussian.nc", engine="h5netcdf") as tree:
        assert tree.attrs["interrupted"] == 1
        assert 0 < tree["posterior"].sizes["draw"] < 100_000
