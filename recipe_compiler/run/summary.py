"""What a run found: posterior summary by ArviZ, and warnings with their evidence."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recipe_compiler.run.forecast import Forecast
from recipe_compiler.run.generator import GeneratorMeans
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.schedule import shown, weights
from recipe_compiler.spec.transform import DOMAINS

if TYPE_CHECKING:
    from xarray import DataTree

COLUMNS = ("mean", "sd", "ess_bulk", "ess_tail", "r_hat", "mcse_mean")
"""The columns of a summary, in order."""

MAX_R_HAT = 1.01
MIN_ESS_PER_CHAIN = 100.0

MOST_NAMED = 8
"""Of more chains that diverge, the number alone is given."""


@dataclass(frozen=True, slots=True)
class Row:
    """One coordinate of the target: its name and the values of `COLUMNS`."""

    name: str
    values: tuple[float, ...]

    def value(self, column: str) -> float:
        """Return the value of one column."""
        return self.values[COLUMNS.index(column)]


@dataclass(frozen=True, slots=True)
class Summary:
    """The posterior in numbers, and what speaks against believing them."""

    rows: tuple[Row, ...]
    warnings: tuple[str, ...]
    forecast: Forecast | None = None
    """What was said before the run; None for one with the full gradient."""
    generator: GeneratorMeans | None = None
    """What the draws say of the step; None where there are too few, or the gradient is code."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is said beside the numbers."""
        ahead = self.forecast.says[:1] if self.forecast is not None else ()
        return (*ahead, *((self.generator.says,) if self.generator is not None else ()))


def summarise(
    tree: "DataTree", draws: Draws, forecast: Forecast | None = None, generator: GeneratorMeans | None = None
) -> Summary:
    """Return the summary of a run: rank-normalised ESS and R-hat (Vehtari and others 2021) by arviz-stats.

    Chains that diverged are left out of the numbers; if nothing is left, there are no rows.
    """
    rows = tuple(_rows(tree, draws))
    found = (None if forecast is None else forecast.warning, None if generator is None else generator.warning)
    told = (warning for warning in found if warning is not None)
    warnings = (*_chain_warnings(draws), *_outside_warnings(draws), *_number_warnings(rows, draws), *told)
    return Summary(rows, warnings, forecast, generator)


def _rows(tree: "DataTree", draws: Draws) -> Iterator[Row]:
    whole = [k for k, diverging in enumerate(draws.diverging) if not diverging]
    length = min((draws.kept[k] for k in whole), default=0) - draws.warmup
    if length < 4:  # R-hat splits every chain in two halves of two draws or more
        return
    import arviz_stats

    posterior = tree["posterior"].isel(chain=whole, draw=slice(0, length))
    table = cast("Any", arviz_stats).summary(posterior, kind="all", round_to="none")  # "none": in full
    for name, weighted in zip(table.index, _weighted(posterior, draws), strict=True):
        row = {column: float(table.loc[name, column]) for column in COLUMNS} | weighted
        yield Row(str(name), tuple(row.values()))


def _weighted(posterior: Any, draws: Draws) -> Iterator[dict[str, float]]:
    """Yield mean and sd of each coordinate with draws weighted by their step size; nothing where all have one."""
    step_sizes = weights(draws.settings, draws.warmup + posterior.sizes["draw"])
    for array in posterior.data_vars.values():
        values = array.transpose("chain", "draw", ...).to_numpy()
        columns = values.reshape(-1, math.prod(values.shape[2:]))
        if step_sizes is None:
            yield from ({} for _ in range(columns.shape[1]))
            continue
        weight = np.tile(step_sizes[draws.warmup :], values.shape[0])
        means = np.average(columns, axis=0, weights=weight)
        sds = np.sqrt(np.average((columns - means) ** 2, axis=0, weights=weight))
        yield from ({"mean": float(m), "sd": float(s)} for m, s in zip(means, sds, strict=True))


def _chain_warnings(draws: Draws) -> Iterator[str]:
    thin = draws.settings.thin
    lost = [k for k, diverging in enumerate(draws.diverging) if diverging]
    for k in lost[:MOST_NAMED]:
        kept = draws.kept[k]
        last = f"last state kept: {_state(draws, k, kept - 1)}" if kept else "no draw was kept"
        before = " Its draws before that are kept." if kept else ""
        steps = f"between steps {kept * thin + 1} and {(kept + 1) * thin}"
        yield (
            f"chain {k + 1} left the finite numbers {steps}; {last}.{before} "
            "The summary leaves the chain out. Try a smaller step size."
        )
    if len(lost) > MOST_NAMED:
        yield (
            f"{len(lost) - MOST_NAMED} more of {len(draws.kept)} chains left the finite numbers; the file says which "
            "and where (sample_stats/diverging)."
        )
    if draws.interrupted:
        total = draws.warmup + draws.settings.draws
        yield f"interrupted after {min(draws.kept)} of {total} draws of each chain; what was drawn is kept."
    if sum(draws.clipped):
        yield (
            f"2D - eps B_hat lost definiteness {sum(draws.clipped)} times (a diagonal one: in as many coordinates) and "
            "was cut off at zero there: the draws are biased. Try a smaller step size or a larger batch."
        )


def _outside_warnings(draws: Draws) -> Iterator[str]:
    for one in draws.outside:
        size = draws.block(one.block).shape[2]
        value = f"{one.block}[{one.entry}]" if size > 1 else one.block
        where = f"draw {one.draw + 1} (warmup counted) of chain {one.chain + 1}, with {value} = {one.value:.4g}"
        via = next((name for name, domains in DOMAINS.items() if one.domain in domains), None)
        unbounded = f", or an unbounded variable: `transform: {via}` in the target, with dynamics of real blocks"
        yield (
            f"{one.block} left its domain, {one.says}, in {one.draws} draws of {one.chains} chains, first in {where}. "
            "An emitted step knows of no boundary, and what is drawn beyond one is not of the target; all draws are "
            f"kept and counted. Try a smaller step size{unbounded if via else ''}."
        )


def _state(draws: Draws, chain: int, draw: int) -> str:
    parts: list[str] = []
    for name, array in zip(draws.blocks, draws.arrays, strict=True):
        values = array[chain, draw]
        shown = ", ".join(f"{value:.4g}" for value in values[:4]) + (", ..." if values.size > 4 else "")
        parts.append(f"{name} = [{shown}]" if values.size > 1 else f"{name} = {shown}")
    return "; ".join(parts)


def _number_warnings(rows: tuple[Row, ...], draws: Draws) -> Iterator[str]:
    chains = sum(not diverging for diverging in draws.diverging)
    if not rows:
        yield "too few draws for a summary: 4 per chain, after warmup, are the least."
        return
    if draws.settings.schedule.name != "constant":
        yield (
            f"the step size is {shown(draws.settings)}: mean and sd weight every draw by it, ess, R-hat and mcse do "
            "not. The weights are in the file, as sample_stats/step_size."
        )
    if chains == 1:
        yield "R-hat needs two chains: one alone cannot show that it has not mixed. Try --chains 4."
    worst = max(rows, key=lambda row: np.nan_to_num(row.value("r_hat"), nan=np.inf))
    if chains > 1 and not worst.value("r_hat") <= MAX_R_HAT:
        yield (
            f"R-hat is {worst.value('r_hat'):.3f} for {worst.name}, above {MAX_R_HAT}: the chains do not agree. "
            "Try more draws, more thinning or another step size."
        )
    for column in ("ess_bulk", "ess_tail"):
        least = min(rows, key=lambda row: np.nan_to_num(row.value(column), nan=0.0))
        if not least.value(column) >= MIN_ESS_PER_CHAIN * chains:
            yield (
                f"{column} is {least.value(column):.0f} for {least.name}, below {MIN_ESS_PER_CHAIN:.0f} per chain: "
                "the numbers are rough. Try more draws or more thinning."
            )
