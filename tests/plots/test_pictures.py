"""Pictures of a run: what is drawn is what was found, and what cannot be drawn is told."""

import sys
import warnings
from pathlib import Path
from typing import Any, cast

import arviz_base
import numpy as np
import pytest
import xarray
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, StepPatch
from typer.testing import CliRunner

import recipe_compiler as rc
from recipe_compiler.cli import app
from recipe_compiler.errors import RunError
from recipe_compiler.plots.coordinates import coordinates_of, slowest
from recipe_compiler.plots.pictures import KINDS, pictures_of
from recipe_compiler.run.posterior_numbers import posterior_numbers

CHAINS, DRAWS, WARMUP = 4, 800, 100
PNG = b"\x89PNG\r\n\x1a\n"
ROOT = Path(__file__).parents[2]


def draws_of(phi: np.ndarray, seed: int = 1, shift: float = 0.0, lost: int = 0) -> xarray.DataTree:
    """Return a run of independent AR(1) coordinates of unit variance, the first chain shifted, the last ones lost."""
    rng = np.random.default_rng(seed)
    z = np.empty((CHAINS, WARMUP + DRAWS, len(phi)))
    z[:, 0] = rng.standard_normal((CHAINS, len(phi)))
    for k in range(1, z.shape[1]):
        z[:, k] = phi * z[:, k - 1] + np.sqrt(1.0 - phi**2) * rng.standard_normal((CHAINS, len(phi)))
    z[0] += shift
    over = slice(0, CHAINS - lost or CHAINS)
    groups = {"posterior": {"theta": z[over, WARMUP:]}, "warmup_posterior": {"theta": z[:, :WARMUP]}}
    tree = arviz_base.from_dict(groups, save_warmup=True, check_conventions=False)
    if lost:
        fallen = xarray.Dataset(coords={"chain": range(CHAINS - lost, CHAINS)})
        tree["diverged_posterior"] = xarray.DataTree(fallen)
    lags = np.arange(101)
    tree["forecast"] = xarray.DataTree(
        xarray.Dataset(
            {
                "sd": ("coordinate", np.full(len(phi), 1.1)),
                "sd_of_target": ("coordinate", np.full(len(phi), 0.5)),
                "autocorrelation": (("coordinate", "lag"), phi[:, None] ** lags),
            },
            coords={"coordinate": [f"theta[{k}]" for k in range(len(phi))], "lag": lags},
        )
    )
    return tree


def with_checks(seed: int = 5) -> xarray.DataTree:
    """A run whose H is an AR(1) chain of its own, and whose data are predicted."""
    rng = np.random.default_rng(seed)
    tree = draws_of(np.array([0.5, 0.0]))
    energy = np.cumsum(rng.standard_normal((CHAINS, DRAWS)), axis=1)
    tree["sample_stats"] = xarray.DataTree(xarray.Dataset({"energy": (("chain", "draw"), energy)}))
    drawn = rng.standard_normal((CHAINS, DRAWS, 30))
    tree["posterior_predictive"] = xarray.DataTree(xarray.Dataset({"y": (("chain", "draw", "N"), drawn)}))
    tree["observed_data"] = xarray.DataTree(xarray.Dataset({"y": ("N", rng.standard_normal(30))}))
    steps = 5 * np.arange(1, 21)
    known = {"near": ("draws", 1.0 / steps, {"kind": "kl", "floor": 0.005}), "near_error": ("draws", 0.1 / steps)}
    coords = {"draws": CHAINS * steps, "gradients": ("draws", steps)}
    tree["scores"] = xarray.DataTree(xarray.Dataset(known, coords=coords))
    return tree


def panels(figure: Figure) -> list[Axes]:
    return [panel for panel in figure.axes if panel.axison]


def test_scores_are_drawn_with_their_errors_and_their_floor() -> None:
    (panel,) = panels(pictures_of(with_checks(), "scores").figures["scores"])
    line, floor = panel.lines[0], panel.lines[-1]
    assert np.asarray(line.get_xdata()).tolist() == [5.0 * k for k in range(1, 21)]
    assert np.asarray(line.get_ydata()) == pytest.approx(0.2 / np.arange(1, 21))
    assert np.asarray(floor.get_ydata()).tolist() == [0.005, 0.005]
    assert panel.get_title() == "near"


def test_traces_are_the_draws_of_every_chain_warmup_first() -> None:
    tree = draws_of(np.array([0.5, 0.0]))
    found = panels(pictures_of(tree, "traces").figures["traces"])
    assert len(found) == 2
    for k, panel in enumerate(found):
        assert f"theta[{k}]" in panel.get_title()
        assert len(panel.lines) == CHAINS
        for chain, line in enumerate(panel.lines):
            x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
            np.testing.assert_array_equal(y[x >= 0], tree.posterior.theta.values[chain, :, k])
            np.testing.assert_array_equal(y[x < 0], tree.warmup_posterior.theta.values[chain, :, k])


@pytest.mark.slow
def test_the_slowest_coordinates_are_shown_in_their_order() -> None:
    phi = np.full(12, 0.3)
    phi[[2, 7]] = 0.95
    coordinates = coordinates_of(draws_of(phi))
    assert [one.name for one in slowest(coordinates, 2, "")[0]] == ["theta[2]", "theta[7]"]
    figure = pictures_of(draws_of(phi), "traces").figures["traces"]
    assert len(panels(figure)) == 8
    assert "8 of 12 coordinates" in figure.get_suptitle()


def outside(panel: Axes) -> int:
    """Return how many bars of ranks lie outside of their band."""
    band: Any = panel.patches[0].get_window_extent().transformed(panel.transData.inverted())
    heights = [np.asarray(patch.get_data()[0]) for patch in panel.patches if isinstance(patch, StepPatch)]
    assert len(heights) == CHAINS
    for row in heights:
        assert np.mean(row) == pytest.approx(1.0)
    return int(sum(((row > band.y1) | (row < band.y0)).sum() for row in heights))


@pytest.mark.slow
def test_ranks_leave_their_band_where_a_chain_is_elsewhere_and_not_by_chance() -> None:
    phi = np.array([0.8, 0.0])
    alarms = sum(sum(map(outside, panels(pictures_of(draws_of(phi, s), "ranks").figures["ranks"]))) for s in range(10))
    assert alarms <= 1  # of ten sheets one in a hundred has a bar outside
    apart = pictures_of(draws_of(phi, shift=2.5), "ranks").figures["ranks"]
    assert all(outside(panel) > 2 for panel in panels(apart))


def test_the_forest_holds_quantiles_of_all_draws() -> None:
    tree = draws_of(np.array([0.2, 0.6]))
    panel = panels(pictures_of(tree, "forest").figures["forest"])[0]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["theta[0]", "theta[1]"]
    whole = [line for line in panel.lines if line.get_color() == "black" and len(np.asarray(line.get_xdata())) == 2]
    for k in range(2):
        ends = np.quantile(tree.posterior.theta.values[:, :, k], [0.03, 0.97, 0.25, 0.75])
        found = np.concatenate([np.asarray(line.get_xdata(), float) for line in whole[2 * k : 2 * k + 2]])
        np.testing.assert_allclose(found, ends)


def test_the_forest_shows_every_interval_on_an_axis_of_its_scale() -> None:
    tree = draws_of(np.array([0.2, 0.6, 0.3]))
    tree["posterior"]["theta"].values[:] *= np.array([100.0, 0.01, 50.0])
    shown = panels(pictures_of(tree, "forest").figures["forest"])
    assert [[label.get_text() for label in panel.get_yticklabels()] for panel in shown] == [
        ["theta[0]", "theta[2]"],
        ["theta[1]"],
    ]
    for panel in shown:
        lowest = max(np.max(np.asarray(line.get_ydata(), float)) for line in panel.lines)
        assert lowest + 0.05 < max(panel.get_ylim())
        left, right = panel.get_xlim()
        lengths = [np.ptp(np.asarray(line.get_xdata(), float)) for line in panel.lines if line.get_color() == "black"]
        assert max(lengths[::3]) > 0.05 * (right - left)


def test_autocorrelations_lie_beside_those_that_were_forecast() -> None:
    phi = np.array([0.7, 0.2])
    for k, panel in enumerate(panels(pictures_of(draws_of(phi), "autocorrelations").figures["autocorrelations"])):
        measured = np.mean([np.asarray(line.get_ydata(), float)[:5] for line in panel.lines[:CHAINS]], axis=0)
        ahead = np.asarray(panel.lines[CHAINS].get_ydata(), float)[:5]
        np.testing.assert_allclose(ahead, phi[k] ** np.arange(5))
        # the sd of a measured one is below sqrt((1 + phi^2)/((1 - phi^2) CHAINS DRAWS)) = 0.03: five of them
        np.testing.assert_allclose(measured, ahead, atol=0.15)


def test_sds_are_in_units_of_those_of_the_target() -> None:
    tree = draws_of(np.array([0.0, 0.0]))
    panel = panels(pictures_of(tree, "sds").figures["sds"])[0]
    marks = [line for line in panel.lines if line.get_marker() == "|" and line.get_markersize() > 10]
    assert [float(np.asarray(mark.get_xdata())[0]) for mark in marks] == pytest.approx([2.2, 2.2])
    dots = [line for line in panel.lines if line.get_marker() == "o"]
    expected = tree.posterior.theta.values.reshape(-1, 2).std(axis=0, ddof=1) / 0.5
    np.testing.assert_allclose([float(np.asarray(dot.get_xdata())[0]) for dot in dots], expected, rtol=1e-3)


@pytest.mark.slow
def test_what_was_neither_drawn_nor_forecast_has_no_picture() -> None:
    tree = with_checks()
    del tree["forecast"]
    assert set(pictures_of(tree).figures) == set(KINDS) - {"sds"}
    assert set(pictures_of(draws_of(np.array([0.5, 0.0]))).figures) == set(KINDS) - {"energies", "predictive", "scores"}


def test_chains_that_were_lost_are_in_no_number() -> None:
    tree = draws_of(np.array([0.1, 0.2]), lost=2)
    assert [one.whole.shape for one in coordinates_of(tree)] == [(CHAINS - 2, DRAWS)] * 2
    assert all(len(panel.lines) == CHAINS - 2 for panel in panels(pictures_of(tree, "traces").figures["traces"]))
    with pytest.raises(RunError, match="a chain whose draws are finite to its end"):
        pictures_of(draws_of(np.array([0.1, 0.2]), lost=CHAINS))


def test_pictures_are_written_whole_and_show_themselves(tmp_path: Path) -> None:
    pictures = pictures_of(with_checks())
    paths = pictures.write(tmp_path / "new" / "folder")
    assert [path.name for path in paths] == [f"{kind}.png" for kind in KINDS]
    assert all(path.read_bytes().startswith(PNG) for path in paths)
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(p.name for p in paths)
    assert pictures._repr_html_().count("data:image/png;base64,") == len(KINDS)


def test_what_is_no_picture_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = draws_of(np.array([0.1, 0.2]))
    with pytest.raises(RunError, match="found 'trace', expected some of traces, ranks"):
        pictures_of(tree, "trace")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RunError, match="plots need matplotlib: `pip install matplotlib`"):
        pictures_of(tree)


@pytest.mark.slow
def test_a_run_draws_its_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build, out = str(ROOT / "specs/builds/sghmc_gaussian_baoab.yaml"), str(tmp_path / "runs")
    small = ["run", build, "-o", out, "--draws", "200", "--warmup", "50"]
    asked = CliRunner().invoke(app, [*small, "--plots", str(tmp_path / "pictures")])
    assert f"{tmp_path / 'pictures'}: traces.png, ranks.png" in asked.output.replace("\n", " ")
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {
        f"{kind}.png" for kind in KINDS if kind not in ("predictive", "scores")
    }
    (tmp_path / "file").write_text("mine")
    refused = CliRunner().invoke(app, [*small, "--plots", str(tmp_path / "file")])
    assert refused.exit_code == 2
    assert "--plots" in refused.output
    assert (tmp_path / "file").read_text() == "mine"
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    without = CliRunner().invoke(app, [*small[:3], str(tmp_path / "none"), "--plots", str(tmp_path / "more")])
    assert without.exit_code == 2
    assert "pip install" in without.output
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted")
def test_the_forecast_of_a_gaussian_is_kept_by_coordinate(tmp_path: Path) -> None:
    """SGLD on N(0, K^-1): F = I - eps K, and S with S = F S F + 2 eps I."""
    K = np.array([[2.0, 0.6], [0.6, 1.0]])
    theta, A = rc.vector("theta", "d"), rc.matrix("A", "d", "d", is_="positive definite")
    U = rc.function("U", of=theta, role="potential")
    sgld = rc.Dynamics(name="sgld", state=[theta], H=U, D=[[rc.I]], Q=[[0]])
    target = rc.Target(name="plane", state=[theta], parameters=[A], potential=theta.T @ A @ theta / 2)
    eps, thin = 0.3, 2
    model = rc.compile(sgld, target, sizes={"d": 2}, parameters={"A": K.tolist()}, step_size=eps, thin=thin,
                       draws=400, warmup=50, chains=4)  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)  # Euler's sds are 40 % too wide, and it says so
        fit = model.sample(progress=False)
    assert isinstance(fit, rc.Fit)
    values, vectors = np.linalg.eigh(K)
    S = (vectors * (2.0 * eps / (1.0 - (1.0 - eps * values) ** 2))) @ vectors.T
    forecast = fit["forecast"]
    assert forecast.coordinate.values.tolist() == ["theta[0]", "theta[1]"]
    np.testing.assert_allclose(forecast.sd, np.sqrt(np.diag(S)), rtol=1e-5)
    np.testing.assert_allclose(forecast.sd_of_target, np.sqrt(np.diag(np.linalg.inv(K))), rtol=1e-5)
    for k in (0, 1, 5):
        after = (vectors * (1.0 - eps * values) ** (thin * k)) @ vectors.T @ S
        np.testing.assert_allclose(forecast.autocorrelation[:, k], np.diag(after) / np.diag(S), atol=1e-6)
    assert fit.verdict.doubts
    assert fit.verdict.trust.startswith("trust: no")
    with pytest.raises(TypeError, match="is not a boolean"):
        bool(fit.verdict)
    again = rc.Fit.read(fit.save(tmp_path / "fit.nc"))
    assert again.verdict == fit.verdict
    np.testing.assert_array_equal(again.posterior.theta, fit.posterior.theta)
    assert set(again.plot().figures) == set(KINDS) - {"predictive", "scores"}
    assert len(again._repr_html_().encode()) < 20_000


def test_energies_are_those_of_the_draws_beside_their_changes() -> None:
    tree = with_checks()
    figure = pictures_of(tree, "energies").figures["energies"]
    energy = tree["sample_stats"]["energy"].to_numpy()
    own = (np.diff(energy, axis=1) ** 2).mean(axis=1) / energy.var(axis=1)
    assert figure.get_suptitle() == f"Energies; bfmi {', '.join(f'{one:.2f}' for one in own)}, chain by chain"
    wide, narrow = (cast("Polygon", patch).get_xy() for patch in panels(figure)[0].patches)
    spreads = [np.sqrt(np.average(xy[:, 0] ** 2, weights=xy[:, 1])) for xy in (wide, narrow)]
    assert spreads[0] > 3.0 * spreads[1]
    assert 1.0 < spreads[1] < 2.0  # 1, and the width of a bin


def test_predicted_data_stand_beside_those_observed() -> None:
    tree = with_checks()
    (panel,) = panels(pictures_of(tree, "predictive").figures["predictive"])
    assert panel.get_title() == "y"
    assert len(panel.lines) == 51
    x, share = (np.asarray(values, float) for values in panel.lines[-1].get_data())
    np.testing.assert_array_equal(x, np.sort(tree["observed_data"]["y"].to_numpy()))
    np.testing.assert_allclose(share, np.arange(1, 31) / 30)
    first = np.asarray(panel.lines[0].get_xdata(), float)
    np.testing.assert_array_equal(first, np.sort(tree["posterior_predictive"]["y"].to_numpy()[0, 0]))


def test_pictures_of_a_falling_step_size_have_the_numbers_of_the_run() -> None:
    tree = draws_of(np.array([0.5, 0.0]), lost=1)
    steps = np.tile((1.0 + np.arange(DRAWS)) ** -1.0, (CHAINS, 1))
    tree["sample_stats"] = xarray.DataTree(xarray.Dataset({"step_size": (("chain", "draw"), steps)}))
    rows = posterior_numbers(tree).rows
    for one, row in zip(coordinates_of(tree), rows, strict=True):
        assert (one.name, one.sd, one.ess, one.r_hat) == (
            row.name, row.value("sd"), row.effective, row.value("r_hat"),
        )  # fmt: skip
        lines, weight = one.draws, steps[0] / steps[0].sum()
        assert one.count == lines.size
        below = (weight * (lines < 0.3)).sum(axis=1).mean()
        assert abs((one.whole < 0.3).mean() - below) < 1e-3
        assert abs((lines < 0.3).mean() - below) > 1e-2  # what unweighted draws would show
    assert "R-hat" in panels(pictures_of(tree, "traces").figures["traces"])[0].get_title()


def test_what_is_constant_has_no_picture() -> None:
    tree = draws_of(np.array([0.5, 0.0]))
    values = tree.posterior.theta.values.copy()
    values[:, :, 0] = 1.0
    tree["posterior"] = xarray.DataTree(
        tree.posterior.to_dataset().assign(R=(("chain", "draw", "k"), values, {"derived": "L @ L.T"}))
    )
    assert [one.name for one in coordinates_of(tree)] == ["theta[0]", "theta[1]", "R[1]"]
