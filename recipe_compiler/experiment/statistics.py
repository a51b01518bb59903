"""Figures of a run: a number with its Monte Carlo error, or words."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from recipe_compiler.advise.diagnostics import Summary
from recipe_compiler.advise.moments import effective_shares, errors_of
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.errors import RunError
from recipe_compiler.experiment.document import statistic_of
from recipe_compiler.formula.arrays import Array
from recipe_compiler.pipeline import compile_build
from recipe_compiler.plots.coordinates import forecast_of
from recipe_compiler.run.posterior_numbers import PosteriorNumbers, coordinates, final_scores, posterior_numbers
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.stages import Ready
from recipe_compiler.spec.catalogue import shipped
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.schema_experiment import ColumnEntry
from recipe_compiler.verdict import Report

if TYPE_CHECKING:
    from xarray import DataTree

_T = TypeVar("_T")


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


def _named(known: Mapping[str, _T], name: str) -> _T:
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


def _quantile(draws: Array, at: float) -> Figure:
    from arviz_stats.base.array import array_stats

    error = cast("Any", array_stats).mcse(draws, chain_axis=0, draw_axis=1, method="quantile", prob=at)
    return Figure(float(np.quantile(draws, at)), float(error))


def _cost(of: str, run: FinishedRun) -> Figure:
    draws, settings = run.draws, run.draws.settings
    kept = settings.chains * settings.draws * settings.thin
    steps = settings.chains * (settings.draws + settings.warmup) * settings.thin
    match of:
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
    least = run.numbers.least
    draws = coordinates(run.tree)[least.name]
    alone = effective_shares(draws.T[None]) * draws.shape[1]
    return Figure(least.effective / spent, float(alone.std(ddof=1) * math.sqrt(alone.size)) / spent)


def figure_of(column: ColumnEntry, run: FinishedRun, numbers: Mapping[str, float]) -> Figure:
    """Return a figure of a run; NaN where no chain stays finite, or nothing is forecast.

    Args:
        column: what it is.
        run: what it is taken from.
        numbers: those that the column states.

    Raises:
        RunError: a coordinate or a score that the run does not have.
    """
    statistic = statistic_of(column)
    of = getattr(column, statistic)
    if all(run.draws.diverging) and column.cost not in ("finite", "seconds"):
        return Figure(math.nan)
    match statistic:
        case "cost":
            return _cost(of, run)
        case "score":
            known = final_scores(run.tree)
            if of not in known:
                raise RunError(f"found no score {of}, expected it under `scores` of the build")
            return Figure(known[of]["value"], known[of]["error"])
        case "forecast":
            ahead = forecast_of(run.tree)
            return Figure(_named(ahead, of).sd, 0.0) if ahead else Figure(math.nan)
    draws = _named(coordinates(run.tree, by_place=True), of)
    match statistic:
        case "mean":
            return Figure(*_average(draws))
        case "sd":
            return _root((draws - draws.mean()) ** 2)
        case "rmse":
            return _root((draws - numbers.get("to", 0.0)) ** 2)
        case _:
            return _quantile(draws, float(column.at or 0))


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
