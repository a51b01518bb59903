"""`recipe run` of builds by moves, of code too: the bits of a model and of the file, chains that are stuck, trust."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray
from code_moves import HMC, MOVES, code
from code_moves import written as coded
from command import FINISHED, recipe
from cycles import document
from emitted_file import imported
from loaders import load_build
from some import some

import recipe_compiler as rc
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_function

pytestmark = pytest.mark.usefixtures("known_verdicts", "without_reading_back", "interruptible")

SHORT = {"draws": 12, "warmup": 2, "thin": 1, "chains": 3, "seed": 5}
KEPT = "the code of my_moves.py:turn preserves exp(-H)"


def options(**settings: int) -> list[str]:
    return [text for name, number in settings.items() for text in (f"--{name}", str(number))]


def written(folder: Path, target: str, cycle: str, eps: float) -> Path:
    path = folder / f"{cycle}_{target}.yaml"
    path.write_text(document(target, cycle, eps), encoding="utf-8")
    return path


def run(path: Path, *more: str, **settings: int):
    return recipe("run", path, *options(**settings), *more, "-o", path.parent / "out")


def compare_with_model_and_file(path: Path, *allowed: str) -> xarray.DataTree:
    """Run a build by the command, from Python and by its file; return what the command stored."""
    assert run(path, *allowed, **SHORT).code in FINISHED
    assert recipe("compile", path, "-o", path.parent / "made").code == 0
    build = load_build(path)
    tree = xarray.load_datatree(path.parent / f"out/{build.name}.nc", engine="h5netcdf")
    theta = tree["posterior"]["theta"].to_numpy()
    with warnings.catch_warnings(action="ignore", category=rc.SampleWarning):  # so few draws are doubted
        fit = rc.compile(rc.load(path)).sample(**SHORT, progress=False, allow_code=bool(allowed))
    np.testing.assert_array_equal(fit["posterior"]["theta"].to_numpy(), theta)
    fields = load_data(build.data, build.target).fields if build.data else ()
    functions = map(load_function, build.codes)
    drawn = imported(path.parent / f"made/{build.name}.py").sample(*functions, *(f.values for f in fields), **SHORT)
    np.testing.assert_array_equal(drawn["theta"], theta)
    if not allowed:
        rate = tree["sample_stats"]["acceptance_rate"].to_numpy()
        np.testing.assert_array_equal(fit["sample_stats"]["acceptance_rate"].to_numpy(), rate)
        np.testing.assert_array_equal(drawn["acceptance"], rate)
        assert rate.shape == theta.shape[:2]
        assert 0.0 <= rate.min() < rate.max() <= 1.0
    return tree


@pytest.mark.parametrize(
    ("target", "cycle", "eps"), some([("double_well", "ghmc", 0.5), ("logistic_regression", "hmc", 0.05)])
)
def test_a_command_a_model_and_a_file_draw_the_same_bits(tmp_path: Path, target: str, cycle: str, eps: float) -> None:
    compare_with_model_and_file(written(tmp_path, target, cycle, eps))


@pytest.mark.slow
def test_they_do_with_code_and_the_file_says_what_is_assumed(tmp_path: Path) -> None:
    path = coded(tmp_path, f"{HMC}, {code('turn')}, {code('hit_and_run', 'every: 2')}")
    tree = compare_with_model_and_file(path, "--allow-code")
    assert tree.attrs["assumed"] == f"the code of my_moves.py:hit_and_run preserves exp(-H)\n{KEPT}"
    assert "code: proved" in tree.attrs["verdicts"]
    with pytest.raises(rc.RunError, match=r"a move of its cycle is code, .*run only with allow_code=True"):
        rc.compile(rc.load(path)).sample(**SHORT, progress=False)


def test_code_is_read_checked_and_compiled_and_run_only_where_that_is_allowed(tmp_path: Path) -> None:
    path = coded(tmp_path, f"{HMC}, {code('turn')}", moves="raise SystemExit('this file was run')\n")
    outcome = run(path, **SHORT)
    assert outcome.code == 2
    said = f"a move of its cycle is code, {tmp_path / 'my_moves.py'}, which is run only with --allow-code"
    assert said in outcome.err
    assert recipe("check", path).code == 0
    assert recipe("compile", path, "-o", tmp_path / "made").code == 0
    outcome = run(path, "--allow-code", **SHORT)
    assert outcome.code == 2
    assert "cannot be run: SystemExit: this file was run" in outcome.err
    outcome = recipe("check", path, "--certificate", tmp_path / "my_moves.py")
    assert outcome.code == 2
    assert "found a file that is read" in outcome.err


@pytest.mark.slow
def test_trust_is_given_on_what_is_assumed(tmp_path: Path) -> None:
    outcome = run(coded(tmp_path, f"{HMC}, {code('turn')}"), "--allow-code", "--step-size", "0.5",
                  draws=2000, warmup=200, chains=4)  # fmt: skip
    assert outcome.code == 0, outcome.out
    assert f"assumed, not proved: {KEPT}" in outcome.out
    (trust,) = re.findall("^trust: .*$", outcome.out, re.MULTILINE)
    assert trust.startswith("trust: yes")
    assert trust.endswith(f"a step proved to preserve exp(-H), given that {KEPT}")
    path = coded(tmp_path, f"refresh: r, {code('hit_and_run', 'repeat: 3')}")
    found = json.loads(run(path, "--allow-code", "--json", "--overwrite", draws=2000, warmup=200, chains=4).out)
    kept, moved = (f"the code of my_moves.py:hit_and_run {what}" for what in ("preserves exp(-H)", "moves theta"))
    assert sorted(found["assumed"]) == sorted([kept, moved])
    assert found["doubts"] == []
    assert found["trust"].endswith(f"given that {' and that '.join(found['assumed'])}")


@pytest.mark.slow
def test_code_that_keeps_another_law_is_not_believed(tmp_path: Path) -> None:
    """Stein's identity holds of the target, not of these draws; 8 % more variance shows in no digit of a summary."""
    many = {"warmup": 200, "thin": 5, "chains": 4}
    path = coded(tmp_path, f"refresh: r, {code('too_wide')}")
    outcome = run(path, "--allow-code", "--json", draws=2000, **many)
    assert outcome.code == 4
    assert any("target" in doubt for doubt in json.loads(outcome.out)["doubts"])
    moves = MOVES.replace("math.sqrt(2.0 / width)", "math.sqrt(1.08 / width)")
    path = coded(tmp_path, f"refresh: r, {code('too_wide', 'repeat: 5')}", moves=moves)
    outcome = run(path, "--allow-code", "--json", "--overwrite", draws=8000, **many)
    assert outcome.code == 4
    found = json.loads(outcome.out)
    assert not found["stein"]["flagged"]
    (doubt,) = found["doubts"]
    assert "Either it is not true that the code of my_moves.py:too_wide preserves exp(-H)" in doubt
    assert found["trust"].startswith("trust: no")


@pytest.mark.slow
def test_a_run_with_code_is_made_again_from_its_file(tmp_path: Path) -> None:
    assert run(coded(tmp_path, f"{HMC}, {code('turn')}"), "--allow-code", **SHORT).code in FINISHED
    file = tmp_path / "out/coded.nc"
    outcome = recipe("rerun", file, "-o", tmp_path / "again")
    assert outcome.code == 2
    assert "run only with --allow-code" in outcome.err
    again = recipe("rerun", file, "--allow-code", "-o", tmp_path / "again")
    assert f"the draws of {file} again, bit for bit" in again.out
    (tmp_path / "my_moves.py").write_text(MOVES.replace("< 0.5", "< 0.25"), encoding="utf-8")
    outcome = recipe("rerun", file, "--allow-code", "-o", tmp_path / "other")
    assert "bit for bit" not in outcome.out
    assert "cannot be made again\nmove my_moves.py:turn: found " in outcome.err


@pytest.mark.slow
def test_moves_beside_code_are_planned(tmp_path: Path) -> None:
    path = coded(tmp_path, f"{HMC}, {code('turn')}", ("step_size: 1/4", "step_size: auto"))
    outcome = run(path, "--allow-code", **{**SHORT, "draws": 60, "warmup": 10, "thin": 3})
    assert outcome.code in FINISHED, outcome.err
    assert "step size" in outcome.out
