"""How chains moved: traces, ranks, autocorrelations."""

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recipe_compiler.formula.arrays import Array
from recipe_compiler.plots.coordinates import PlottedCoordinate, coordinates_of, forecast_of, slowest
from recipe_compiler.plots.panels import GREY, colour, sheet
from recipe_compiler.run.posterior_numbers import effective_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import DataTree

MOST = 8
"""Coordinates of one sheet."""

POINTS = 2000
"""Draws of a chain in a trace: of longer ones every so many."""

BINS = 20
CHANCE = 0.01
"""How often one sheet of ranks of perfect chains has a bar outside of its band."""


def traces(tree: "DataTree") -> "Figure":
    """Return draws against their number, chain by chain; warmup is shaded, one that ended early stops there."""
    chosen, heading = slowest(coordinates_of(tree), MOST, "Traces")
    return _drawn(heading, chosen, _trace, "draw")


def _drawn(
    heading: str, chosen: tuple[PlottedCoordinate, ...], draw: "Callable[[Axes, PlottedCoordinate], str]", along: str
) -> "Figure":
    """Return a sheet with one panel for each coordinate, whose title goes on with what `draw` returns."""
    page = sheet(heading, len(chosen))
    for panel, one in zip(page.panels, chosen, strict=True):
        panel.set_title(f"{one.name}   {draw(panel, one)}", fontsize=8)
    page.panels[-1].set_xlabel(along, fontsize=8)
    return page.figure


def _trace(panel: "Axes", one: PlottedCoordinate) -> str:
    warmup = one.warmup.shape[1]
    lines = np.concatenate([one.warmup, one.draws], axis=1)
    number = np.arange(lines.shape[1]) - warmup
    step = max(1, lines.shape[1] // POINTS)
    for chain, line in enumerate(lines):
        panel.plot(number[::step], line[::step], color=colour(chain), linewidth=0.5, alpha=0.8)
    if warmup:
        panel.axvspan(-warmup, 0, color=GREY, alpha=0.12, linewidth=0)
    kept = one.whole
    low, high = np.quantile(kept, [0.0005, 0.9995])
    room = 0.25 * (high - low) or 1.0
    if np.abs(lines[np.isfinite(lines)]).max() > np.abs([low, high]).max() + 10.0 * room:
        panel.set_ylim(float(low - room), float(high + room))  # a chain that ran away would flatten the others
    return f"R-hat {one.r_hat:.3f}, {one.ess:.0f} effective draws"


def ranks(tree: "DataTree") -> "Figure":
    """Return the ranks of each chain's draws among all draws: flat where chains agree (Vehtari and others 2021)."""
    chosen, heading = slowest(coordinates_of(tree), MOST, "Ranks of draws, chain by chain")
    return _drawn(heading, chosen, partial(_ranks, len(chosen)), "")


def _ranks(sheets: int, panel: "Axes", one: PlottedCoordinate) -> str:
    from scipy.special import ndtri
    from scipy.stats import rankdata

    draws = one.whole
    chains, length = draws.shape
    bins = min(BINS, max(2, length // 10))
    order = rankdata(draws, method="ordinal").reshape(draws.shape)
    edges = np.linspace(0.5, draws.size + 0.5, bins + 1)
    share = np.array([np.histogram(line, edges)[0] for line in order]) * bins / length
    z = float(-ndtri(CHANCE / (2.0 * sheets * chains * bins)))
    band = z * math.sqrt((bins - 1.0) * (1.0 - 1.0 / chains) / _effective(draws))
    panel.axhspan(max(0.0, 1.0 - band), 1.0 + band, color=GREY, alpha=0.15, linewidth=0)
    panel.axhline(1.0, color=GREY, linewidth=0.8)
    for chain, row in enumerate(share):
        panel.stairs(row, np.linspace(0.0, 1.0, bins + 1), color=colour(chain), linewidth=1.0)
    panel.set_ylim(0.0, max(2.0, 1.1 * float(share.max()), 1.05 + band))
    return f"R-hat {one.r_hat:.3f}"


def _effective(draws: Array) -> float:
    """Return the effective draws of one chain, each looked at alone: chains that are apart leave it what it is."""
    return max(1.0, float(np.nanmean([effective_size(line[None]) for line in draws])))


def autocorrelations(tree: "DataTree") -> "Figure":
    """Return the correlation of draws k apart, beside that of the linearised step where there is a forecast."""
    chosen, heading = slowest(coordinates_of(tree), MOST, "Autocorrelation of kept draws")
    ahead = forecast_of(tree)
    lags = _lags(chosen)

    def draw(panel: "Axes", one: PlottedCoordinate) -> str:
        for chain, row in enumerate(_measured(one.draws, lags)):
            panel.plot(row, color=colour(chain), linewidth=0.9)
        if one.name in ahead:
            rho = ahead[one.name].autocorrelation[:lags]
            panel.plot(rho, color="black", linewidth=1.2, linestyle="--")
        panel.axhline(0.0, color=GREY, linewidth=0.6)
        panel.set_ylim(-0.3, 1.05)
        return f"{one.ess:.0f} effective draws of {one.count}"

    heading += "; dashed: by the step, made linear at the mode" if ahead else ""
    return _drawn(heading, chosen, draw, "draws apart")


def _lags(chosen: tuple[PlottedCoordinate, ...]) -> int:
    """Return how many lags are shown: where the slowest has forgotten, and some more."""
    length = chosen[0].draws.shape[1]
    apart = max(one.count / max(one.ess, 1.0) for one in chosen)
    return int(min(100.0, length // 2, max(10.0, 6.0 * apart)))


def _measured(draws: Array, lags: int) -> Array:
    from arviz_stats.base.array import array_stats

    with np.errstate(all="ignore"):
        return np.asarray(cast("Any", array_stats).autocorr(draws, axis=1))[:, :lags]
