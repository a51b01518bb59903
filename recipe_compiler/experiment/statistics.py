"""Figures of a run, a row for each statistic: a number with its Monte Carlo error, or words."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recipe_compiler.advise.diagnostics import Summary
from recipe_compiler.advise.moments import effective_shares, errors_of
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.errors import RunError
from recipe_compiler.experiment.document import statistic_of
from recipe_compiler.formula.arrays import Array
from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.posterior_numbers import PosteriorNumbers, final_scores, posterior_numbers
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.stages import Ready
from recipe_compiler.spec.catalogue import shipped
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.schema_experiment import ColumnEntry
from recipe_compiler.verdict import Report

if TYPE_CHECKING:
    from xarray import DataTree


@dataclass(frozen=True, slots=True)
class Figure:
    """A number and its standard error (NaN where none is known), or words."""

    value: float
    error: float = math.nan
    words: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class FinishedRun:
    """What figures are taken from."""

    ready: Ready
    draws: Draws
    tree: "DataTree"
    summary: Summary | None
    """None of a cell of a sweep, which is compared and not believed."""

    @property
    def numbers(self) -> PosteriorNumbers:
        """The posterior in numbers."""
        return posterior_numbers(self.tree) if self.summary is None else self.summary.numbers


def coordinates(tree: "DataTree") -> dict[str, Array]:
    """Return the draws `[chain, draw]` of every coordinate, under `tau` or `theta[0]`."""
    found: dict[str, Array] = {}
    for name, array in cast("Any", tree["posterior"]).data_vars.items():
        values = array.transpose("chain", "draw", ...).to_numpy().astype(float)
        for place in np.ndindex(*values.shape[2:]):
            inner = f"[{', '.join(map(str, place))}]" if place else ""
            found[f"{name}{inner}"] = values[(..., *place)]
    return found


def _draws_of(run: FinishedRun, name: str) -> Array:
    known = coordinates(run.tree)
    if name not in known:
        raise RunError(f"found the coordinate {name}, expected one of {', '.join(known)}")
    return known[name]


def _average(values: Array) -> tuple[float, float]:
    """Return a mean over draws `[chain, draw]`, and its standard error."""
    with np.errstate(all="ignore"):
        return float(values.mean()), float(errors_of(values[:, :, None])[0])


def _root(values: Array) -> Figure:
    """Return the root of a mean, and its error by the delta method."""
    mean, error = _average(values)
    root = math.sqrt(mean)
    return Figure(root, error / (2.0 * root) if root > 0.0 else math.nan)


def _mean(column: ColumnEntry, run: FinishedRun, numbers: Mapping[str, float]) -> Figure:
    return Figure(*_average(_draws_of(run, cast("str", column.mean))))


def _sd(column: ColumnEntry, run: FinishedRun, numbers: Mapping[str, float]) -> Figure:
    draws = _draws_of(run, cast("str", column.sd))
    return _root((draws - draws.mean()) ** 2)


def _rmse(column: ColumnEntry, run: FinishedRun, numbers: Mapping[str, float]) -> Figure:
    return _root((_draws_of(run, cast("str", column.rmse)) - numbers.get("to", 0.0)) ** 2)


def _quantile(column: ColumnEntry, run: FinishedRun, numbers: Mapping[str, float]) -> Figure:
    from arviz_stats.base.array import array_stats

    draws, at = _draws_of(run, cast("str", column.quantile)), float(column.at or 0)
    error = cast("Any", array_stats).mcse(draws, chain_axis=0, draw_axis=1, method="quantile", prob=at)
    return Figure(float(np.quantile(draws, at)), float(error))


def _score(column: ColumnEntry, run: FinishedRun, numbers: Mapping[str, float]) -> Figure:
    known = final_scores(run.tree)
    if column.score not in known:
        raise RunError(f"found no score {column.score}, expected it under `scores` of the build")
    return Figure(known[column.score]["value"], known[column.score]["error"])


def _forecast(column: ColumnEntry, run: FinishedRun, numbers: Mapping[str, float]) -> Figure:
    if "forecast" not in run.tree.children:
        return Figure(math.nan)
    group = cast("Any", run.tree["forecast"]).to_dataset()
    if column.forecast not in (names := [str(name) for name in group["coordinate"].to_numpy()]):
        raise RunError(f"found the coordinate {column.forecast}, expected one of {', '.join(names)}")
    return Figure(float(group["sd"].to_numpy()[names.index(column.forecast)]), 0.0)


def _cost(column: ColumnEntry, run: FinishedRun, numbers: Mapping[str, float]) -> Figure:
    draws, settings = run.draws, run.draws.settings
    kept = settings.chains * settings.draws * settings.thin
    steps = settings.chains * (settings.draws + settings.warmup) * settings.thin
    match column.cost:
        case "seconds":
            return Figure(draws.processor_seconds)
        case "ms_per_step":
            return Figure(1e3 * draws.processor_seconds / steps)
        case "finite":
            return Figure(1.0 - float(np.mean(draws.diverging)), 0.0)
        case _ if not run.numbers.rows:
            return Figure(math.nan)
        case "r_hat":
            return Figure(max(row.value("r_hat") for row in run.numbers.rows))
        case "ess_per_second":
            return _effective(run, draws.processor_seconds)
        case _:
            return _effective(run, kept * Sampler.of_run(run.ready).gradients_of_step())


def _effective(run: FinishedRun, spent: float) -> Figure:
    """Return the effective sample size of the slowest coordinate for what was spent, its error by that of chains."""
    least, known = run.numbers.least, coordinates(run.tree)
    if least.name not in known:
        return Figure(least.effective / spent)
    alone = effective_shares(known[least.name].T[None]) * known[least.name].shape[1]
    return Figure(least.effective / spent, float(alone.std(ddof=1) * math.sqrt(alone.size)) / spent)


STATISTICS: Mapping[str, Callable[[ColumnEntry, FinishedRun, Mapping[str, float]], Figure]] = {
    "mean": _mean,
    "sd": _sd,
    "rmse": _rmse,
    "quantile": _quantile,
    "score": _score,
    "forecast": _forecast,
    "cost": _cost,
}
"""Statistic to what computes it of a run, with the numbers that the column states."""


def figure_of(column: ColumnEntry, run: FinishedRun, numbers: Mapping[str, float]) -> Figure:
    """Return a figure of a run; NaN where no chain stays finite.

    Raises:
        RunError: a coordinate or a score that the run does not have.
    """
    statistic = statistic_of(column)
    is_lost = all(run.draws.diverging) and not (statistic == "cost" and column.cost in ("finite", "seconds"))
    return Figure(math.nan) if is_lost else STATISTICS[statistic](column, run, numbers)


def trust_word(trust: str) -> str:
    """Return `yes`, `no` or `only` (by chains that agree), of the last line of a summary."""
    return trust.removeprefix("trust: ").replace(",", " ").partition(" ")[0]


def _command_of(report: Report, build: Build | None) -> str:
    if build is None:
        return f"check {report.name}"
    if shipped(build.name, ("build",)):
        return f"run {report.name}"
    path = Path(build.source.file).resolve()
    if path.parent.name != "refuted":
        return f"experiment {path.stem}"
    return f"run specs/refuted/{path.name} --allow-refuted"


def fact_of(fact: str, report: Report, build: Build | None, trust: str) -> Figure:
    """Return in words what is known of a build, or of a document that is checked alone."""
    match fact:
        case "document":
            words = report.name
        case "verdict":
            words = report.verdict.value
        case "command":
            words = f"`recipe {_command_of(report, build)}`"
        case "trust":
            words = trust_word(trust)
        case _:
            words = "" if build is None else sha256(compile_build(build, report).file.encode()).hexdigest()[:12]
    return Figure(math.nan, words=words)
