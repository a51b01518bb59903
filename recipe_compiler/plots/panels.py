"""Sheets of panels: what all pictures share. Matplotlib's objects alone, no window and no global state."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recipe_compiler.errors import RunError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")
"""One for each chain, told apart by every kind of eye (Okabe and Ito 2008), then from the first again."""

GREY = "#666666"
COLUMNS = 2
WIDTH = 10.0
"""Inches that a sheet is wide."""


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A figure and the panels on it."""

    figure: "Figure"
    panels: "Sequence[Axes]"


def demand_matplotlib() -> None:
    """Raise RunError where pictures cannot be made."""
    try:
        import matplotlib as matplotlib
    except ImportError as error:
        raise RunError("plots need matplotlib: `pip install matplotlib`") from error


def sheet(heading: str, count: int, *, height: float = 2.2, columns: int = COLUMNS, rows: Sequence[int] = ()) -> Sheet:
    """Return a figure with `count` panels below a heading, sizes in inches; unused places stay empty.

    Panels of one column that hold lists are as high as their `rows`.
    """
    from matplotlib.figure import Figure

    columns = min(columns, count)
    down = -(-count // columns)
    figure = Figure(figsize=(WIDTH, height * down + 0.7), layout="constrained")
    heights = [n + 1 for n in rows] or None
    grid: Any = figure.subplots(down, columns, squeeze=False, height_ratios=heights)
    panels: list[Axes] = list(grid.ravel())
    for panel in panels[count:]:
        panel.set_axis_off()
    for panel in panels[:count]:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8)
    figure.suptitle(heading, fontsize=10)
    return Sheet(figure, panels[:count])


def with_plain_numbers(axis: "Axis") -> None:
    """Label powers of ten without exponents, which need fonts of their own."""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")


def colour(chain: int) -> str:
    """Return the colour of a chain."""
    return COLOURS[chain % len(COLOURS)]
