"""Runs side by side: one law is not said to be two, two are, and what is no run is told."""

from pathlib import Path

import arviz_base
import numpy as np
import pytest
import xarray
from typer.testing import CliRunner

from recipe_compiler.cli import app
from recipe_compiler.errors import RunError
from recipe_compiler.run.compare import compared, stored_run

CHAINS, DRAWS = 4, 1000
FACTOR = np.linalg.cholesky(np.array([[2.0, 1.2], [1.2, 1.5]]))


def stored(
    path: Path, seed: int, *, shift: float = 0.0, scale: float = 1.0, target: str = "plane", lost: int = 0
) -> Path:
    """Write a run of two correlated coordinates, the last `lost` chains of which diverged."""
    theta = np.random.default_rng(seed).standard_normal((CHAINS, DRAWS, 2)) @ FACTOR.T
    theta = scale * theta + np.array([shift * FACTOR[0, 0], 0.0])
    facts = {
        "target": target,
        "scheme": "baoab",
        "step_size": 0.25,
        "thin": 2,
        "sampling_seconds": 1.0,
        "processor_seconds": 0.5,
    }
    over = {"posterior": {"theta": theta[: CHAINS - lost or CHAINS]}}
    tree = arviz_base.from_dict(over, attrs={"/": facts}, check_conventions=False)
    if lost:
        tree["diverged_posterior"] = xarray.DataTree(xarray.Dataset(coords={"chain": range(CHAINS - lost, CHAINS)}))
    tree.to_netcdf(path, engine="h5netcdf")
    return path


def test_runs_of_one_law_do_not_contradict_each_other(tmp_path: Path) -> None:
    for seed in range(2):
        files = [stored(tmp_path / f"{seed}{k}.nc", 10 * seed + k) for k in range(3)]
        found = compared([stored_run(path) for path in files])
        assert not found.contradictions
        assert len(found.apart) == 2 * 2 * 2
        assert 2.0 < found.limit < 4.5


@pytest.mark.parametrize(
    ("changed", "of", "sign"),
    [({"shift": 0.2}, "mean", 1), ({"shift": -0.2}, "mean", -1), ({"scale": 1.1}, "sd", 1), ({"scale": 0.9}, "sd", -1)],
)
def test_runs_of_two_laws_do(changed: dict[str, float], of: str, sign: int, tmp_path: Path) -> None:
    runs = [stored_run(stored(tmp_path / "a.nc", 1)), stored_run(stored(tmp_path / "b.nc", 2, **changed))]
    found = compared(runs)
    worst = found.apart[0]
    assert worst.of == of
    assert np.sign(worst.in_sds) == sign
    assert abs(abs(worst.in_sds) - (0.2 if of == "mean" else 0.1)) < 0.06
    assert len(found.contradictions) == 1
    assert "b.nc: the " in found.contradictions[0]


def test_chains_that_left_the_finite_numbers_count_for_nothing(tmp_path: Path) -> None:
    run = stored_run(stored(tmp_path / "a.nc", 1, lost=2))
    assert run.chains == CHAINS - 2
    assert np.isfinite(run.least_ess)
    with pytest.raises(RunError, match="found no chain whose draws are finite"):
        stored_run(stored(tmp_path / "b.nc", 1, lost=CHAINS))


def test_what_cannot_be_compared_is_told(tmp_path: Path) -> None:
    runs = [stored_run(stored(tmp_path / "a.nc", 1)), stored_run(stored(tmp_path / "b.nc", 2, target="funnel"))]
    with pytest.raises(RunError, match="found the target funnel, expected plane"):
        compared(runs)
    with pytest.raises(RunError, match="found no file"):
        stored_run(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("no draws")
    with pytest.raises(RunError, match="cannot be read as draws"):
        stored_run(tmp_path / "text.nc")
    arviz_base.from_dict({"posterior": {"a": np.zeros((2, 9))}}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(RunError, match="found no run of this compiler"):
        stored_run(tmp_path / "other.nc")


def test_the_command_ends_with_4_where_runs_contradict_each_other(tmp_path: Path) -> None:
    files = [str(stored(tmp_path / f"{k}.nc", k)) for k in range(2)]
    wrong = str(stored(tmp_path / "wrong.nc", 3, shift=0.3))
    agreeing = CliRunner().invoke(app, ["compare", *files])
    assert agreeing.exit_code == 0
    assert "4 numbers beside those of" in agreeing.output
    contrary = CliRunner().invoke(app, ["compare", *files, wrong])
    assert contrary.exit_code == 4
    assert "the runs contradict each other" in contrary.output.replace("\n", " ")
    assert CliRunner().invoke(app, ["compare", "--json", *files]).output.startswith('{"schema_version": 1, "runs"')
    assert CliRunner().invoke(app, ["compare", files[0], files[0]]).exit_code == 2
