"""What was found: intervals, pairs, and sds beside those that were forecast."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from recipe_compiler.formula.arrays import Array
from recipe_compiler.plots.coordinates import PlottedCoordinate, coordinates_of, forecast_of, slowest
from recipe_compiler.plots.panels import COLOURS, GREY, colour, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import DataTree

ROWS = 40
"""Coordinates of one list."""

PAIRED = 5
"""Coordinates that are drawn against each other."""

POINTS = 3000
SEEN = 0.05
"""The least part of its axis that an interval takes."""
WIDE, NARROW = (0.03, 0.97), (0.25, 0.75)
"""Ends of the intervals of 94 % and of 50 %."""


def forest(tree: "DataTree") -> "Figure":
    """Return intervals of 94 % and 50 % with medians, of every chain and of all, beside R-hat and effective draws."""
    chosen, heading = slowest(coordinates_of(tree), ROWS, "Posterior: 94 % and 50 % intervals")
    groups = _of_one_scale(chosen)
    rows = [len(group) for group in groups]
    page = sheet(
        heading, len(groups), height=_height(len(chosen) + 2 * len(groups)) / len(groups), columns=1, rows=rows
    )
    for panel, group in zip(page.panels, groups, strict=True):
        _forest_panel(panel, group)
    return page.figure


def _of_one_scale(chosen: tuple[PlottedCoordinate, ...]) -> list[list[PlottedCoordinate]]:
    """Return coordinates in groups, none of whose intervals is a dot on the axis of its group."""
    groups: list[list[PlottedCoordinate]] = []
    for one in chosen:
        fitting = next((group for group in groups if _are_seen([*group, one])), None)
        groups += [] if fitting is not None else [[]]
        (fitting or groups[-1]).append(one)
    return groups


def _are_seen(group: list[PlottedCoordinate]) -> bool:
    ends = [np.quantile(one.whole, WIDE) for one in group]
    across = max(high for _, high in ends) - min(low for low, _ in ends)
    return all(high - low >= SEEN * across or high == low for low, high in ends)


def _forest_panel(panel: "Axes", chosen: Sequence[PlottedCoordinate]) -> None:
    for row, one in enumerate(chosen):
        draws = one.whole
        for chain, line in enumerate(draws):
            _interval(panel, line, row + 0.2 + 0.45 * chain / max(len(draws), 4), colour(chain), 0.7)
        _interval(panel, draws.ravel(), row, "black", 2.0)
        panel.text(1.01, row, f"R-hat {one.r_hat:.3f}   ess {one.ess:.0f}", transform=panel.get_yaxis_transform(),
                   fontsize=7, verticalalignment="center")  # fmt: skip
    _named_rows(panel, chosen)


def _interval(panel: "Axes", draws: Array, row: float, colour: str, width: float) -> None:
    low, a, median, b, high = np.quantile(draws, [WIDE[0], NARROW[0], 0.5, NARROW[1], WIDE[1]])
    panel.plot([low, high], [row, row], color=colour, linewidth=width / 2)
    panel.plot([a, b], [row, row], color=colour, linewidth=1.5 * width)
    panel.plot([median], [row], marker="o", color=colour, markersize=2.0 + width)


def _named_rows(panel: "Axes", chosen: Sequence[PlottedCoordinate]) -> None:
    panel.set_yticks(range(len(chosen)), [one.name for one in chosen])
    panel.set_ylim(len(chosen) - 0.2, -0.5)  # the last chain of a row lies 0.65 below it
    panel.grid(axis="x", linewidth=0.3)


def _height(rows: int) -> float:
    return max(1.5, 0.36 * rows)


def pairs(tree: "DataTree") -> "Figure":
    """Return draws of two coordinates at a time, and their histograms on the diagonal."""
    chosen, heading = slowest(coordinates_of(tree), PAIRED, "Draws, two coordinates at a time")
    count = len(chosen)
    page = sheet(heading, count * count, height=10.0 / max(count, 2), columns=count)
    step = max(1, chosen[0].whole.size // POINTS)
    flat = [one.whole.ravel()[::step] for one in chosen]
    for i, down in enumerate(chosen):
        for j, across in enumerate(chosen):
            panel = page.panels[i * count + j]
            if j > i:
                panel.set_axis_off()
            elif i == j:
                panel.hist(down.whole.ravel(), bins=40, color=COLOURS[0], alpha=0.7)
                panel.set_yticks([])
            else:
                panel.plot(flat[j], flat[i], ".", color=COLOURS[0], markersize=1.0, alpha=0.4)
            if i == count - 1:
                panel.set_xlabel(across.name, fontsize=8)
            if j == 0 and i > 0:
                panel.set_ylabel(down.name, fontsize=8)
    return page.figure


def sds(tree: "DataTree") -> "Figure | None":
    """Return measured sds with two Monte Carlo errors beside those forecast, in units of those of the target.

    All are over the sd of exp(-U) made Gaussian at the mode, so that 1 is right where U is quadratic. None where
    nothing was forecast of the coordinates that are sampled.
    """
    ahead = forecast_of(tree)
    every = [one for one in coordinates_of(tree) if one.name in ahead]
    if not every:
        return None
    chosen, heading = slowest(every, ROWS, "Posterior sds over those of the target, made Gaussian at its mode")
    page = sheet(heading, 1, height=_height(len(chosen)))
    panel = page.panels[0]
    for row, one in enumerate(chosen):
        unit = ahead[one.name].sd_of_target
        label = ("measured, with two Monte Carlo errors", "forecast of the step") if row == 0 else (None, None)
        panel.errorbar(one.sd / unit, row, xerr=2.0 * one.error / unit, fmt="o", color=COLOURS[0], markersize=4,
                       capsize=2, label=label[0])  # fmt: skip
        panel.plot(ahead[one.name].sd / unit, row, "|", color=COLOURS[1], markersize=14, markeredgewidth=2,
                   label=label[1])  # fmt: skip
    panel.axvline(1.0, color=GREY, linewidth=0.8)
    panel.legend(fontsize=7, loc="best")
    _named_rows(panel, chosen)
    return page.figure
