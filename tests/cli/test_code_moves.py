"""`recipe` with moves that are code: checked and compiled without it, run where that is allowed, named throughout."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray
from code_moves import HMC, MOVES, code, written
from emitted_file import imported
from loaders import load_build

import recipe_compiler as rc
from recipe_compiler.run.load_module import load_function

pytestmark = pytest.mark.usefixtures("known_verdicts", "without_reading_back", "interruptible")

SHORT = {"draws": 60, "warmup": 10, "thin": 3, "chains": 3, "seed": 5}
OPTIONS = [text for name, number in SHORT.items() for text in (f"--{name}", str(number))]
KEPT = "the code of my_moves.py:turn keeps exp(-H)"
NEVER_RUN = "raise SystemExit('this file was run')\n"


def test_it_runs_only_where_that_is_allowed(recipe, tmp_path: Path) -> None:
    path = written(tmp_path, f"{HMC}, {code('turn')}", moves=NEVER_RUN)
    outcome = recipe("run", path, *OPTIONS, "-o", tmp_path / "out")
    assert outcome.code == 2
    said = f"a move of its cycle is code, {tmp_path / 'my_moves.py'}, which is run only with --allow-code"
    assert said in outcome.err
    assert recipe("check", path).code == 0
    assert recipe("compile", path, "-o", tmp_path / "made").code == 0
    outcome = recipe("run", path, *OPTIONS, "--allow-code", "-o", tmp_path / "out")
    assert outcome.code == 2
    assert "cannot be run: SystemExit: this file was run" in outcome.err


@pytest.mark.slow
def test_a_command_a_model_and_a_file_draw_the_same_bits(recipe, tmp_path: Path) -> None:
    path = written(tmp_path, f"{HMC}, {code('turn')}, {code('hit_and_run', 'every: 2')}")
    outcome = recipe("run", path, *OPTIONS, "--allow-code", "-o", tmp_path / "out")
    assert outcome.code in (0, 4)
    assert f"assumed, not proved: {KEPT}" in outcome.out
    assert recipe("compile", path, "-o", tmp_path / "made").code == 0
    with xarray.open_datatree(tmp_path / "out/coded.nc", engine="h5netcdf") as tree:
        theta = tree["posterior"]["theta"].to_numpy()
        assert tree.attrs["assumed"] == f"the code of my_moves.py:hit_and_run keeps exp(-H)\n{KEPT}"
        assert "code: proved" in tree.attrs["verdicts"]
    model = rc.compile(rc.load(path))
    with pytest.raises(rc.RunError, match=r"a move of its cycle is code, .*run only with allow_code=True"):
        model.sample(**SHORT, progress=False)
    with warnings.catch_warnings(action="ignore", category=rc.SampleWarning):  # so few draws are doubted
        fit = model.sample(**SHORT, progress=False, allow_code=True)
    np.testing.assert_array_equal(fit["posterior"]["theta"].to_numpy(), theta)
    file = imported(tmp_path / "made/coded.py")
    drawn = file.sample(*map(load_function, load_build(path).codes), **SHORT)
    np.testing.assert_array_equal(drawn["theta"], theta)


@pytest.mark.slow
def test_a_run_that_is_trusted_says_on_whose_word(recipe, tmp_path: Path) -> None:
    path = written(tmp_path, f"{HMC}, {code('turn')}")
    longer = ["--draws", "2000", "--warmup", "200", "--step-size", "0.5", "--chains", "4"]
    outcome = recipe("run", path, *longer, "--allow-code", "-o", tmp_path / "out")
    assert outcome.code == 0, outcome.out
    (trust,) = re.findall("^trust: .*$", outcome.out, re.MULTILINE)
    assert trust.startswith("trust: yes")
    assert trust.endswith(f"a step proved to keep exp(-H), given that {KEPT}")


@pytest.mark.slow
def test_a_run_names_all_that_is_assumed(recipe, tmp_path: Path) -> None:
    path = written(tmp_path, f"refresh: r, {code('hit_and_run', 'repeat: 3')}")
    longer = ["--draws", "2000", "--warmup", "200", "--chains", "4"]
    outcome = recipe("run", path, *longer, "--allow-code", "--json", "-o", tmp_path / "out")
    found = json.loads(outcome.out)
    kept, moved = (f"the code of my_moves.py:hit_and_run {what}" for what in ("keeps exp(-H)", "moves theta"))
    assert sorted(found["assumed"]) == [kept, moved]
    assert found["doubts"] == []
    assert found["trust"].endswith(f"given that {' and that '.join(found['assumed'])}")


@pytest.mark.slow
def test_code_that_keeps_almost_the_law_is_not_believed(recipe, tmp_path: Path) -> None:
    """Of 8 % more variance, as surely as these draws tell, though no summary of a few digits would be another."""
    moves = MOVES.replace("math.sqrt(2.0 / width)", "math.sqrt(1.08 / width)")
    path = written(tmp_path, f"refresh: r, {code('too_wide', 'repeat: 5')}", moves=moves)
    longer = ["--draws", "8000", "--warmup", "200", "--thin", "5", "--chains", "4"]
    outcome = recipe("run", path, *longer, "--allow-code", "--json", "-o", tmp_path / "out")
    assert outcome.code == 4
    found = json.loads(outcome.out)
    assert not found["stein"]["flagged"]
    (doubt,) = found["doubts"]
    assert "it may not be so that the code of my_moves.py:too_wide keeps exp(-H)" in doubt
    assert found["trust"].startswith("trust: no")


@pytest.mark.slow
def test_code_that_keeps_another_law_is_not_believed(recipe, tmp_path: Path) -> None:
    """Proved, given what is not so: Stein's identity holds of the target, and not of these draws."""
    path = written(tmp_path, f"refresh: r, {code('too_wide')}")
    longer = ["--draws", "2000", "--warmup", "200", "--thin", "5", "--chains", "4"]
    outcome = recipe("run", path, *longer, "--allow-code", "--json", "-o", tmp_path / "out")
    assert outcome.code == 4
    assert any("target" in doubt for doubt in json.loads(outcome.out)["doubts"])


@pytest.mark.slow
def test_it_is_made_again_from_its_file(recipe, tmp_path: Path) -> None:
    path = written(tmp_path, f"{HMC}, {code('turn')}")
    assert recipe("run", path, *OPTIONS, "--allow-code", "-o", tmp_path / "out").code in (0, 4)
    file = tmp_path / "out/coded.nc"
    outcome = recipe("rerun", file, "-o", tmp_path / "again")
    assert outcome.code == 2
    assert "run only with --allow-code" in outcome.err
    outcome = recipe("rerun", file, "--allow-code", "-o", tmp_path / "again")
    assert f"the draws of {file} again, bit for bit" in outcome.out
    (tmp_path / "my_moves.py").write_text(MOVES.replace("< 0.5", "< 0.25"), encoding="utf-8")
    outcome = recipe("rerun", file, "--allow-code", "-o", tmp_path / "other")
    assert "bit for bit" not in outcome.out
    assert "found other values of move my_moves.py:turn" in outcome.err


@pytest.mark.slow
def test_what_is_beside_it_is_planned(recipe, tmp_path: Path) -> None:
    path = written(tmp_path, f"{HMC}, {code('turn')}", ("step_size: 1/4", "step_size: auto"))
    outcome = recipe("run", path, *OPTIONS, "--allow-code", "-o", tmp_path / "out")
    assert outcome.code in (0, 4), outcome.err
    assert "step size" in outcome.out


def test_it_is_read_and_not_written_over(recipe, tmp_path: Path) -> None:
    path = written(tmp_path, f"{HMC}, {code('turn')}")
    outcome = recipe("check", path, "--certificate", tmp_path / "my_moves.py")
    assert outcome.code == 2
    assert "found a file that is read" in outcome.err
