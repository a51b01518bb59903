"""Draws as ArviZ reads them, their summary, and the warnings."""

import os
import re
import resource
import signal
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xarray
from hand_module import limited, make_build, make_data

from recipe_compiler.advise.diagnostics import Diagnostics, Summary, summarise
from recipe_compiler.advise.forecast import Forecast
from recipe_compiler.advise.suggestions import Width
from recipe_compiler.formula.declaration import Block, Domain
from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import DomainName, Shape
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.posterior_numbers import COLUMNS
from recipe_compiler.run.sample import Draws, sample
from recipe_compiler.run.store import save, set_aside, to_datatree
from recipe_compiler.spec.model import Build

BUILD, DATA = make_build(), make_data()


def independent(chains: int = 4, draws: int = 2000) -> Draws:
    """Return draws that do not depend on one another as those of a run: theta of N(mean, 1/20), r of N(0, 1)."""
    z = np.random.default_rng(7).standard_normal((2, chains, 10 + draws, 3))
    return Draws(
        blocks=("theta", "r"), arrays=(z[0] / np.sqrt(20.0) + [1.0, 2.0, 3.0], z[1]), warmup=10,
        kept=(10 + draws,) * chains, diverging=(False,) * chains, stopped=None, clipped=(0,) * chains,
        settings=replace(BUILD.run, draws=draws, warmup=10, thin=20, chains=chains), sizes=(("N", 20), ("d", 3)),
        seconds=1.0,
    )  # fmt: skip


DRAWN = independent()
"""Draws that a summary has no warning of."""
THETA = DRAWN.block("theta")
TREE = to_datatree(DRAWN, BUILD, DATA, "abc123", "d_psd: proved")


def summed(draws: Draws, build: Build = BUILD) -> tuple[xarray.DataTree, Summary]:
    """Return draws as they are stored, and their summary."""
    tree = to_datatree(draws, build, DATA, "")
    return tree, summarise(tree, draws)


def with_theta(theta: np.ndarray, draws: Draws = DRAWN) -> Draws:
    return replace(draws, arrays=(theta, draws.block("r")))


def with_second(values: object) -> Draws:
    """Return draws with another coordinate b of theta."""
    theta = THETA.copy()
    theta[:, :, 1] = values
    return with_theta(theta)


def test_what_is_stored_has_groups_coordinates_and_attributes() -> None:
    """Blocks of the target and others are kept apart; coordinates are named after the columns of the data."""
    assert list(TREE["posterior"].data_vars) == ["theta"]
    assert list(TREE["auxiliary"].data_vars) == ["r"]
    np.testing.assert_array_equal(TREE["posterior"]["theta"], THETA[:, 10:])
    np.testing.assert_array_equal(TREE["warmup_posterior"]["theta"], THETA[:, :10])
    np.testing.assert_array_equal(TREE["auxiliary"]["r"], DRAWN.block("r")[:, 10:])
    assert TREE["sample_stats"]["diverging"].dtype == bool
    assert not TREE["sample_stats"]["diverging"].any()
    assert TREE["posterior"]["theta"].dims == ("chain", "draw", "d")
    assert TREE["posterior"]["d"].to_numpy().tolist() == ["a", "b", "c"]
    expected = {"spec_digest": "abc123", "verdicts": "d_psd: proved", "seed": 1, "thin": 20, "step_size": 0.05}
    assert expected.items() <= TREE.attrs.items()
    assert {"numba_version", "numpy_version", "recipe_compiler_version"} <= TREE.attrs.keys()


def test_blocks_of_the_target_get_their_own_shapes() -> None:
    blocks = (Block("m"), Block("W", Shape(1, "k")))
    declarations = replace(BUILD.target.declarations, blocks=blocks, data=())
    other = replace(BUILD, target=replace(BUILD.target, declarations=declarations))
    tree = to_datatree(replace(DRAWN, sizes=(("d", 3), ("k", 2))), other, Data(), "")
    assert tree["posterior"]["m"].shape == (4, 2000)
    assert tree["posterior"]["W"].shape == (4, 2000, 1, 2)
    np.testing.assert_array_equal(tree["posterior"]["W"][:, :, 0], THETA[:, 10:, 1:])


def test_files_are_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "draws.nc"
    save(TREE, path)
    with xarray.open_datatree(path, engine="h5netcdf") as again:
        xarray.testing.assert_identical(again["posterior"].to_dataset(), TREE["posterior"].to_dataset())
        assert again.attrs["spec_digest"] == "abc123"
    assert [file.name for file in path.parent.iterdir()] == ["draws.nc"]


def test_the_summary_agrees_with_the_draws() -> None:
    summary, theta = summarise(TREE, DRAWN), THETA[:, 10:]
    assert [row.name for row in summary.rows] == ["theta[a]", "theta[b]", "theta[c]"]
    np.testing.assert_allclose([row.value("mean") for row in summary.rows], theta.mean(axis=(0, 1)))
    np.testing.assert_allclose([row.value("sd") for row in summary.rows], theta.std(axis=(0, 1)), rtol=1e-3)
    assert all(len(row.values) == len(COLUMNS) for row in summary.rows)
    assert (summary.warnings, summary.doubts) == ((), ())


def test_chains_that_disagree_or_stand_still_are_doubted() -> None:
    """R-hat of a constant is not a number, which compares with no limit."""
    summary = summed(with_theta(THETA + np.array([0.0, 0, 0, 1])[:, None, None]))[1]
    assert any("R-hat is" in doubt and "above 1.01" in doubt for doubt in summary.doubts)
    assert any("ess_bulk is" in warning and "below 100 per chain" in warning for warning in summary.warnings)
    assert any("R-hat of theta[b] is not a number" in doubt for doubt in summed(with_second(2.0))[1].doubts)


DOUBT = "the tails of theta[b] are too heavy for its sd: Pareto's k"
WARNING = "the tails of theta[b] are too heavy to know the error of its sd"


@pytest.mark.parametrize(("dof", "seed", "said"), [(1.0, 4, DOUBT), (1.5, 4, DOUBT), (3.0, 5, WARNING), (30.0, 5, "")])
def test_tails_too_heavy_for_an_sd_or_its_error_are_told(dof: float, seed: int, said: str) -> None:
    """Student's t has an sd from 2 degrees of freedom on, the error of which is a fourth moment: from 4 on."""
    told = summed(with_second(np.random.default_rng(seed).standard_t(dof, THETA.shape[:2])))[1]
    assert any(DOUBT in one for one in told.doubts) is (said == DOUBT)
    if said != DOUBT:
        assert told.doubts == ()
        assert any(WARNING in one for one in told.warnings) is (said == WARNING)
        assert ("rough, as warned, the sd of theta[b] most of all" in told.trust) is (said == WARNING)


def test_a_block_between_two_numbers_has_every_moment() -> None:
    """Its draws may look heavy near the middle of the interval: that is no law without an sd."""
    draws, declared = with_second(np.random.default_rng(4).standard_t(1.0, THETA.shape[:2])), BUILD.target.declarations
    domain = Domain(DomainName.INTERVAL, (Number(Fraction(0)), Number(Fraction(1))))
    between = replace(declared, blocks=tuple(replace(block, domain=domain) for block in declared.blocks))
    assert summed(draws)[1].tails
    assert not summed(draws, replace(BUILD, target=replace(BUILD.target, declarations=between)))[1].tails


def test_draws_that_overflow_are_doubted_flagged_and_left_out() -> None:
    """A chain whose state is finite may have draws that are not: sigma = exp(800)."""
    overflown = THETA.copy()
    overflown[2, 500:700, 0] = np.inf
    tree, summary = summed(with_theta(overflown))
    assert any("theta is not finite in 200 draws (2.5 %) of 1 chains" in doubt for doubt in summary.doubts)
    assert tree["sample_stats"]["diverging"].to_numpy().sum() == 200
    np.testing.assert_allclose(summary.rows[0].value("mean"), overflown[[0, 1, 3], 10:, 0].mean())
    assert np.isfinite([row.values for row in summary.rows]).all()


def test_one_chain_alone_is_warned_of() -> None:
    draws = independent(chains=1, draws=4000)
    summary = summed(draws)[1]
    assert any("R-hat needs two chains" in warning for warning in summary.warnings)
    assert summary.doubts == ()
    drifting = with_theta(draws.block("theta") + np.linspace(0.0, 1.0, draws.kept[0])[None, :, None], draws)
    assert any("R-hat is" in doubt for doubt in summed(drifting)[1].doubts)


@pytest.mark.parametrize(("limit", "seed", "whole"), [("4.1", 2, [0, 1, 3]), ("3.7", 3, []), ("1", 1, None)])
def test_diverged_chains_are_flagged_and_left_out_or_cut_where_the_first_was_lost(
    limit: str, seed: int, whole: list[int] | None, full_module: Emitted
) -> None:
    """One of four, all of them some draws after warm-up, all of them before."""
    own = limited(BUILD, limit)
    draws = sample(full_module, own, replace(BUILD.run, draws=100, thin=1, seed=seed), DATA)
    assert [k for k in range(4) if not draws.diverging[k]] == (whole or [])
    tree, summary = summed(draws, own)
    for flags, kept, diverging in zip(
        tree["sample_stats"]["diverging"].to_numpy(), draws.kept, draws.diverging, strict=True
    ):
        assert flags.sum() == (len(flags) + 5 - max(kept, 5) if diverging else 0)
        assert flags.any() == diverging
    if whole is None:
        assert summary.rows == ()
        assert "no draw was kept" in summary.doubts[0]
        return
    least = min(draws.kept[k] for k in whole or range(4))
    mean = draws.block("theta")[whole or range(4), 5:least, 0].mean()
    np.testing.assert_allclose(summary.rows[0].value("mean"), mean)
    lost = draws.diverging.index(True)
    step = draws.kept[lost] + 1
    said = f"chain {lost + 1} left the finite numbers between steps {step} and {step}; last state kept: theta = ["
    assert summary.doubts[0].startswith(said)
    cut = f"every chain diverged: the summary is over the {least - 5} draws"
    assert any(cut in doubt for doubt in summary.doubts) is (whole == [])


@pytest.mark.parametrize("count", [510, 5])
def test_an_interrupted_run_is_stored_and_says_so(count: int) -> None:
    """After warm-up, or within it: then there is nothing to sum up."""
    arrays = tuple(array[:, :count] for array in DRAWN.arrays)
    tree, summary = summed(replace(DRAWN, arrays=arrays, kept=(count,) * 4, stopped=signal.SIGINT))
    warmup = min(count, 10)
    np.testing.assert_array_equal(tree["warmup_posterior"]["theta"][:, :warmup], THETA[:, :warmup])
    assert len(summary.rows) == (3 if count > 10 else 0)
    if count > 10:
        assert tree["posterior"].sizes["draw"] == count - 10
        assert summary.warnings[0].startswith("interrupted after 510 of 2010 draws of each chain")
        assert np.isfinite([row.values for row in summary.rows]).all()


def test_clipped_covariances_are_warned_of() -> None:
    warnings = summarise(TREE, replace(DRAWN, clipped=(0, 3, 0, 0))).warnings
    assert "not positive semidefinite 3 times" in warnings[0]


@pytest.mark.parametrize(
    ("trouble", "says"), [("a short limit", "File too large"), ("a folder", "found a folder, expected a file")]
)
def test_what_cannot_be_written_is_said_of_the_file_and_leaves_what_was_there(
    trouble: str, says: str, tmp_path: Path
) -> None:
    """HDF5 ends the process where it cannot close a file, so that it writes into memory alone."""
    path = tmp_path / "draws.nc"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    if trouble == "a folder":
        path.mkdir()
    else:
        path.write_text("old")
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, before[1]))
    try:
        with pytest.raises(OSError, match=says) as caught:
            save(TREE, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.filename == str(path)
    assert [file.name for file in tmp_path.iterdir()] == ["draws.nc"]
    assert path.is_dir() or path.read_text() == "old"


def told(sd: float, away: float = 0.0, **changes: object) -> Diagnostics:
    """Return what is said beside a forecast of this sd, in units of that of the draws, around a mode so far away."""
    theta = THETA[:, 10:].reshape(-1, 3)
    sds, mode = tuple(sd * theta.std(axis=0)), tuple(theta.mean(axis=0) + away * theta.std(axis=0))
    width = Width(sds, (1.0, 1.0, 1.0), 1.0, 0.0, mode)
    known = Forecast(width, names=("theta[0]", "theta[1]", "theta[2]"), around="zero")
    return Diagnostics(replace(known, **changes))


@pytest.mark.parametrize(
    ("sd", "away", "factor", "said"),
    [
        (10.0, 0.0, 1.0, "the chains have not moved as far as forecast"),
        (0.1, 0.0, 1.0, "the draws contradict the forecast: the sd of theta"),
        (1.0, 20.0, 1.0, "from the mode .* that was found from zero: the chains have not reached it"),
        (1.0, 0.0, 1.2, "20.0 % too wide"),
        (1.0, 0.0, 967.0, "9.7e\\+02 times too wide"),
        (1.0, 0.0, 0.8, "20.0 % too narrow"),
    ],
)
def test_chains_that_contradict_the_forecast_and_widths_that_are_wrong_are_doubted(
    sd: float, away: float, factor: float, said: str
) -> None:
    width = told(sd, away).forecast.width
    (doubt,) = summarise(TREE, DRAWN, told(sd, away, width=replace(width, factors=(1.0, factor, 1.0)))).doubts
    assert re.search(said, doubt)


def test_a_step_that_is_too_large_is_doubted_and_no_forecast_is_not() -> None:
    ahead = Forecast(None, "the chain is unstable: the step size is too large")
    (doubt,) = summarise(TREE, DRAWN, Diagnostics(ahead)).doubts
    assert "no chain stays at the posterior" in doubt
    bent = told(10.0, bends=True)  # its curvature tells no sds
    for silent in (Diagnostics(Forecast(None, "the state has 300 coordinates")), bent, told(1.2, 1.0)):
        assert summarise(TREE, DRAWN, silent).doubts == ()


def test_the_last_line_says_whether_to_believe_and_by_what() -> None:
    def trust(*given: Diagnostics) -> str:
        return summarise(TREE, DRAWN, *given).trust

    assert re.fullmatch(r"trust: only by chains .* \(R-hat at most \d\.\d+\); nothing else .*", trust())
    assert re.search(
        r"^trust: yes, by chains that agree \(.*\), sds by the forecast within 0\.0 %", trust(told(1.2, 1.0))
    )
    assert "sds by the forecast" not in trust(told(1.2, 1.0, bends=True))
    kept = trust(Diagnostics(kernel="a step proved to preserve exp(-H)"))
    assert kept.endswith("), a step proved to preserve exp(-H)")
    assert trust(told(10.0)) == "trust: no, for the reason above"


def test_what_is_set_aside_takes_no_other_name_that_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    assert set_aside(path) is None
    for k in range(3):
        path.write_text(str(k))
        os.utime(path, (1e9, 1e9))
        assert set_aside(path) is not None
    names = {one.name: one.read_text() for one in tmp_path.iterdir()}
    stem = "run-20010909T014640"
    assert names == {f"{stem}.nc": "0", f"{stem}-2.nc": "1", f"{stem}-3.nc": "2"}
    path.symlink_to(tmp_path / f"{stem}.nc")
    aside = set_aside(path)
    assert aside is not None
    assert aside.is_symlink()
    assert aside.read_text() == "0"
