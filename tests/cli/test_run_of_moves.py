"""`recipe run` of builds by moves: the same bits as from Python and from the file, and chains that are stuck."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray
from cycles import document
from emitted_file import imported
from loaders import load_build
from some import some

import recipe_compiler as rc
from recipe_compiler.run.data import load_data

SPECS = Path(__file__).parents[2] / "specs"
unread = pytest.mark.usefixtures("known_verdicts", "without_reading_back")
SHORT = {"draws": 60, "warmup": 10, "thin": 3, "chains": 3, "seed": 5}
OPTIONS = [text for name, number in SHORT.items() for text in (f"--{name}", str(number))]


def written(folder: Path, target: str, cycle: str, eps: float) -> Path:
    path = folder / f"{cycle}_{target}.yaml"
    path.write_text(document(target, cycle, eps), encoding="utf-8")
    return path


@unread
@pytest.mark.parametrize(
    ("target", "cycle", "eps"), some([("double_well", "ghmc", 0.5), ("logistic_regression", "hmc", 0.05)])
)
def test_a_command_a_model_and_a_file_draw_the_same_bits(
    recipe, tmp_path: Path, target: str, cycle: str, eps: float
) -> None:
    path = written(tmp_path, target, cycle, eps)
    assert recipe("run", path, *OPTIONS, "-o", tmp_path / "out").code in (0, 4)
    assert recipe("compile", path, "-o", tmp_path / "emitted").code == 0
    with xarray.open_datatree(tmp_path / "out" / f"{path.stem}.nc", engine="h5netcdf") as tree:
        theta = tree["posterior"]["theta"].to_numpy()
        rate = tree["sample_stats"]["acceptance_rate"].to_numpy()
    with warnings.catch_warnings(action="ignore", category=rc.SampleWarning):  # so few draws are doubted
        of_model = rc.compile(rc.load(path)).sample(**SHORT, progress=False)
    np.testing.assert_array_equal(of_model["posterior"]["theta"].to_numpy(), theta)
    np.testing.assert_array_equal(of_model["sample_stats"]["acceptance_rate"].to_numpy(), rate)
    file = imported(tmp_path / "emitted" / f"{path.stem}.py")
    build = load_build(path)
    drawn = file.sample(*(field.values for field in load_data(build.data, build.target).fields), **SHORT)
    np.testing.assert_array_equal(drawn["theta"], theta)
    np.testing.assert_array_equal(drawn["acceptance"], rate)
    assert rate.shape == theta.shape[:2]
    assert (rate >= 0.0).all()
    assert (rate <= 1.0).all()
    assert np.ptp(rate) > 0.0


@pytest.mark.slow
@unread
def test_chains_that_accept_nothing_are_said_to_be_stuck(recipe, tmp_path: Path) -> None:
    path = written(tmp_path, "gaussian", "hmc", 0.7)
    still = recipe("run", path, *OPTIONS, "--step-size", "50", "-o", tmp_path)
    assert still.code == 4
    assert "acceptance: 0.00 of the moves (0.00 to 0.00 by chain)" in still.out
    for chain in (1, 2, 3):
        assert re.search(f"chain {chain} is stuck: about 0 of its 180 moves after warmup are accepted", still.out)
    with xarray.open_datatree(tmp_path / f"{path.stem}.nc", engine="h5netcdf") as tree:
        assert np.ptp(tree["posterior"]["theta"].to_numpy(), axis=1).max() == 0.0
    moving = recipe("run", path, *OPTIONS, "-o", tmp_path)
    assert "stuck" not in moving.out


@pytest.mark.slow
@unread
def test_of_moves_that_are_accepted_nothing_is_said_of_finite_steps(recipe, tmp_path: Path) -> None:
    path = written(tmp_path, "gaussian", "hmc", 0.7)
    outcome = recipe("run", path, "--draws", "400", "--seed", "2", "-o", tmp_path)
    assert "generator L of the whole state: the mean of L(" in outcome.out
    assert "O(eps) off" not in outcome.out
    assert outcome.out.count("forecast: none") == 1


@pytest.mark.slow
@unread
def test_a_funnel_is_doubted_and_sent_to_a_metric_that_follows_it(recipe, tmp_path: Path) -> None:
    """Of spread 3: what plain HMC draws there may look as if it were well."""
    path = tmp_path / "funnel.yaml"
    path.write_text(
        f"name: funnel_hmc\ndynamics: {SPECS}/dynamics/hmc.yaml\ntarget: {SPECS}/targets/funnel.yaml\n"
        "scheme: {cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], steps: 10, flip: {r: -r}}}]}\n"
        "variant: full\nsizes: {d: 3, k: 2}\nrun: {step_size: auto, draws: 200, warmup: 50, thin: 1}\n"
    )
    outcome = recipe("run", path, "-o", tmp_path)
    assert outcome.code == 4
    assert "planning: chains warm up, until 0.8 of their moves are accepted" in outcome.out
    assert "doubt: " in outcome.out
    assert "dynamics `rhmc`" in outcome.out.partition("doubt: ")[2]
    assert "nothing is drawn, for the" in outcome.err
    assert not (tmp_path / "funnel_hmc.nc").exists()
