"""`recipe rerun`: a run again from its file, or why not."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("interruptible", "known_verdicts")

SHORT = ("--draws", "60", "--warmup", "20", "--chains", "2", "--thin", "2", "--seed", "9")


@pytest.mark.slow
def test_a_run_again_is_compared_bit_by_bit(recipe, tmp_path: Path) -> None:
    assert recipe("run", "specs/builds/sgld_gaussian.yaml", *SHORT, "-o", tmp_path).code == 4
    file = tmp_path / "sgld_gaussian.nc"
    outcome = recipe("rerun", file, "-o", tmp_path / "again")
    assert outcome.code == 4  # as it was: so few draws are not to be believed
    assert f"the draws of {file} again, bit for bit" in outcome.out
    before = file.read_bytes()
    outcome = recipe("rerun", file, "-o", tmp_path)
    assert outcome.code == 2
    assert "expected another folder for the result" in outcome.err
    assert file.read_bytes() == before


def test_what_is_no_run_is_refused(recipe, tmp_path: Path) -> None:
    (tmp_path / "none.nc").write_text("no netCDF")
    outcome = recipe("rerun", tmp_path / "none.nc")
    assert outcome.code == 2
    assert "cannot be read as draws" in outcome.err
