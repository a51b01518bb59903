"""Pictures of an experiment, a row for each kind: of its figures, or of the draws that its folder keeps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recipe_compiler.experiment.document import Experiment
from recipe_compiler.experiment.run import Results
from recipe_compiler.experiment.table import TableRow, exact_of, table_rows
from recipe_compiler.formula.arrays import Array
from recipe_compiler.plots.panels import GREY, colour, sheet, with_plain_numbers
from recipe_compiler.run.atomic_write import written_whole
from recipe_compiler.run.evaluate import Point, evaluate_rows
from recipe_compiler.run.observed import data_of_build, with_sizes
from recipe_compiler.run.posterior_numbers import coordinates
from recipe_compiler.run.sample import known_values
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.run.store import stored
from recipe_compiler.spec.schema_experiment import PlotEntry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from xarray import DataTree

GRID = 120
"""Points along each axis of a grid of contours."""


@dataclass(frozen=True, eq=False)
class PlottedExperiment:
    """What a picture is drawn from."""

    experiment: Experiment
    plot: PlotEntry
    rows: tuple[TableRow, ...]
    folder: Path

    @cached_property
    def trees(self) -> Mapping[str, "DataTree"]:
        """The draws of the runs that the picture shows and that are kept."""
        files = {row.title: self.folder / f"{row.label}.nc" for row in self.rows}
        return {name: stored(file) for name, file in files.items() if file.is_file()}

    @property
    def titles(self) -> list[str]:
        """Titles of the rows."""
        return [row.title for row in self.rows]


def _bars(panel: "Axes", of: PlottedExperiment) -> None:
    """Draw columns side by side, a group for each run, with two standard errors; dots are what the paper prints."""
    columns, places = of.plot.bars, np.arange(len(of.rows))
    width = 0.8 / len(columns)
    for k, name in enumerate(columns):
        figures = [row.figures[name] for row in of.rows]
        at, title = places + (k - (len(columns) - 1) / 2) * width, of.experiment.columns[name].title or name
        errors = [2.0 * np.nan_to_num(figure.error) for figure in figures]
        panel.bar(at, [figure.value for figure in figures], width, yerr=errors, color=colour(k), label=title)
        printed = [row.run.entry.published.get(name) for row in of.rows]
        dots = [(place, float(text)) for place, text in zip(at, printed, strict=True) if text is not None]
        if dots:
            panel.plot(*zip(*dots, strict=True), "o", color="black", markersize=4, label="" if k else "published")
        exact = exact_of(of.experiment, None, name, of.rows)
        if exact is not None:
            panel.axhline(exact.value, color=colour(k), linewidth=0.8, linestyle="--")
    panel.set_xticks(places, of.titles, fontsize=7, rotation=20 if len(places) > 5 else 0)


def _lines(panel: "Axes", of: PlottedExperiment) -> None:
    """Draw a column against the setting of a sweep, with two standard errors; of runs without it, a level."""
    name, against = cast("str", of.plot.lines), of.plot.against or ""
    for k, run in enumerate(dict.fromkeys(row.run for row in of.rows)):
        rows = [row for row in of.rows if row.run is run and against in row.settings]
        if not rows:
            own = next(row for row in of.rows if row.run is run)
            panel.axhline(own.figures[name].value, color=colour(k), linestyle="--", label=run.title)
            continue
        x = [row.settings[against] for row in rows]
        figures = [row.figures[name] for row in rows]
        errors = [2.0 * np.nan_to_num(figure.error) for figure in figures]
        panel.errorbar(x, [figure.value for figure in figures], errors, marker="o", color=colour(k), label=run.title)
    panel.set_xscale("log")
    with_plain_numbers(panel.xaxis)
    panel.set_xlabel(against, fontsize=8)
    panel.set_ylabel(of.experiment.columns[name].title or name, fontsize=8)


def _boxes(panel: "Axes", of: PlottedExperiment) -> None:
    """Draw columns that are quantiles as boxes: the outer two as whiskers, those in between as the box."""
    for place, row in enumerate(of.rows):
        values = [row.figures[name].value for name in of.plot.boxes]
        panel.plot([place, place], [values[0], values[-1]], color=GREY, linewidth=1)
        panel.plot([place, place], [values[1], values[-2]], color=colour(0), linewidth=12, solid_capstyle="butt")
        panel.plot([place], [values[len(values) // 2]], "o", color="black", markersize=4)
    panel.set_xticks(range(len(of.rows)), of.titles, fontsize=7)


def _contours(panel: "Axes", of: PlottedExperiment) -> None:
    """Draw contours of U over two coordinates, one unit apart, and the first draws of one chain of each run."""
    x, y = of.plot.contours
    paths = {name: [coordinates(tree, by_place=True)[one] for one in (x, y)] for name, tree in of.trees.items()}
    spread = [np.concatenate([own[k].ravel() for own in paths.values()]) for k in (0, 1)]
    axes = [np.linspace(*np.quantile(own, [0.0005, 0.9995]), GRID) for own in spread]
    across, up = np.meshgrid(*axes)
    build = next(run.build for run in of.experiment.runs if run.build is not None and run.title in paths)
    heights = potential_on(build, np.stack([across.ravel(), up.ravel()], axis=1)).reshape(across.shape)
    heights -= heights.min()
    panel.contour(across, up, heights, levels=np.arange(0.5, 6.0), colors=GREY, linewidths=0.5)
    for k, (name, own) in enumerate(paths.items()):
        first = [values[0, : of.plot.points] for values in own]
        panel.plot(*first, marker="o", markersize=3, linewidth=0.8, color=colour(k), label=name)
    panel.set_xlabel(x, fontsize=8)
    panel.set_ylabel(y, fontsize=8)


def potential_on(build: Any, points: Array) -> Array:
    """Return U of a target without data, whose state is one block, at points `[place, coordinate]`."""
    build = with_sizes(build)
    sizes = resolve_sizes(build, data_of_build(build))
    (block,) = build.target.declarations.blocks
    at = Point(known_values(build, sizes), sizes)
    return evaluate_rows(cast("Any", build.target.potential), at, {block.name: points[:, :, None]}).reshape(-1)


def _scores(panel: "Axes", of: PlottedExperiment) -> None:
    """Draw a score of the first draws of each run against the gradients that they took."""
    name = cast("str", of.plot.scores)
    for k, (label, tree) in enumerate(of.trees.items()):
        group = cast("Any", tree["scores"]).to_dataset()
        panel.plot(group["gradients"], group[name], color=colour(k), label=label)
    panel.set_xscale("log")
    panel.set_yscale("log")
    with_plain_numbers(panel.xaxis)
    with_plain_numbers(panel.yaxis)
    panel.set_xlabel("gradients", fontsize=8)
    panel.set_ylabel(name, fontsize=8)


KINDS: Mapping[str, Callable[["Axes", PlottedExperiment], None]] = {
    "bars": _bars,
    "lines": _lines,
    "boxes": _boxes,
    "contours": _contours,
    "scores": _scores,
}
"""Key of a plot to what draws it."""


def draw_pictures(experiment: Experiment, results: Results, draws: Path, folder: Path) -> Sequence[Path]:
    """Write every picture as FOLDER/EXPERIMENT_NAME.svg, the same bytes for the same results; return where they are.

    Raises OSError where that cannot be done.
    """
    import matplotlib

    written: list[Path] = []
    every = [row for row in table_rows(experiment, results) if row.records]
    for name, plot in experiment.entry.plots.items():
        rows = tuple(row for row in every if not plot.runs or {row.run.name, row.label} & {*plot.runs})
        kind = next(key for key in KINDS if getattr(plot, key))
        page = sheet(plot.title, 1, height=4.0)
        KINDS[kind](page.panels[0], PlottedExperiment(experiment, plot, rows, draws))
        if page.panels[0].get_legend_handles_labels()[0]:
            page.panels[0].legend(fontsize=7)
        path = folder / f"{experiment.entry.name}_{name}.svg"
        folder.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context({"svg.hashsalt": name}), written_whole(path) as beside:
            page.figure.savefig(beside, format="svg", metadata={"Date": None})
        written.append(path)
    return written
