"""What a run found: posterior summary by ArviZ, and warnings and doubts with their evidence."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recipe_compiler.advise.doubts import doubts
from recipe_compiler.advise.forecast import Forecast
from recipe_compiler.advise.infinitesimal_means import InfinitesimalMeans
from recipe_compiler.advise.stein import Departures
from recipe_compiler.advise.tails import NO_SD, Tail, heavy_tails
from recipe_compiler.run.chain import Array
from recipe_compiler.run.posterior_numbers import (
    COLUMNS,
    PosteriorNumbers,
    Row,
    posterior_numbers,
    says_constant,
    speed,
    stored_standing,
)
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.schedule import shown

if TYPE_CHECKING:
    from xarray import DataTree

__all__ = ["COLUMNS", "Row", "Summary", "summarise"]

MIN_ESS_PER_CHAIN = 100.0


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What is known of a run besides its draws; None for each that is not."""

    forecast: Forecast | None = None
    """What was said before the run; None for one with the full gradient."""
    departures: Departures | None = None
    """How far the draws are from the target."""
    generator: InfinitesimalMeans | None = None
    """What a finite step makes of momenta and other auxiliary blocks."""
    powers: tuple[float, ...] = ()
    """What U says of the tails of each coordinate that is sampled (`advise/tails.py`)."""
    kernel: str = ""
    """What is proved of the law that a step keeps, whatever its size; empty where nothing is."""
    assumed: tuple[str, ...] = ()
    """What is taken on the word of those who wrote the code that it calls."""
    missed: str = ""
    """The doubt that the draws miss a mode of U; empty where they do not."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The posterior in numbers, and every reason to doubt them."""

    numbers: PosteriorNumbers
    warnings: tuple[str, ...]
    """Why the numbers are rough."""
    doubts: tuple[str, ...]
    """Why they are not to be believed (`advise/doubts.py`)."""
    diagnostics: Diagnostics
    acceptance: tuple[float, ...] = ()
    """Mean acceptance probability of each chain after warmup; empty where none is."""
    tails: Sequence[Tail] = ()
    """Tails of coordinates whose sd has no Monte Carlo error, the heaviest first."""
    guarded: tuple[int, int, int] | None = None
    """Moves after warmup, and how many of them guards of steps that are solved for refused; None without such steps."""
    few: tuple[int, int] | None = None
    """Draws by slices after warmup with a level below what no place holds, and cycles; None where none counts that."""
    mapped: tuple[float, ...] = ()
    """As `acceptance`, of involutions."""
    kinds: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """As `acceptance`, of each kind of moves, where there are several: what kind it is, and by chain."""

    seconds: float = math.nan
    """Processor time of the draws, warmup included."""
    scheduled: str = ""
    """The step size by time, where it falls along a chain."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """The numbers of each coordinate."""
        return self.numbers.rows

    @property
    def trust(self) -> str:
        """Whether to trust the numbers, and on what grounds, in one line."""
        if self.doubts:
            why = "for the reason above" if len(self.doubts) == 1 else f"for the {len(self.doubts)} reasons above"
            return f"trust: no, {why}"
        if not self.rows:
            return "trust: no, there are no numbers"
        figures = (self.diagnostics.forecast, self.diagnostics.departures)
        by = [one.trust for one in figures if one is not None and one.trust]
        kernel, assumed = self.diagnostics.kernel, self.diagnostics.assumed
        given = f", given that {' and that '.join(assumed)}" if assumed else ""
        rough = "; the numbers are rough, as warned" if self.warnings else ""
        rough += f", the sd of {self.tails[0].name} most of all" if self.tails else ""
        chains = f"chains that agree (R-hat at most {max(row.value('r_hat') for row in self.rows):.3f})"
        if not by and (assumed or not kernel):
            beside = f", and {kernel}{given}" if kernel else f"{given}; nothing else supports the numbers"
            return f"trust: only by {chains}{beside}{rough}"
        return f"trust: yes, by {', '.join(filter(None, (chains, *by, kernel)))}{given}{rough}"

    @property
    def attributes(self) -> dict[str, str]:
        """What the file of the draws keeps of it."""
        return {"trust": self.trust, "doubts": "\n".join(self.doubts), "warnings": "\n".join(self.warnings)}

    @property
    def notes(self) -> tuple[str, ...]:
        """What is reported besides the numbers."""
        diagnostics = self.diagnostics
        forecast = diagnostics.forecast
        ahead = forecast.says[:1] if forecast is not None and forecast.width is not None else ()
        weighted = f"the step size is {self.scheduled}: every number weights a draw by it (sample_stats/step_size)"
        return (
            *says_constant(self.numbers),
            *speed(self.numbers, self.seconds),
            *((weighted,) if self.scheduled else ()),
            *(f"assumed, not proved: {one}" for one in diagnostics.assumed),
            *_rates("of the moves", self.acceptance),
            *(line for says, by_chain in self.kinds for line in _rates(f"of the {says}", by_chain)),
            *_rates("of the involutions", self.mapped),
            *self._guarded,
            *self._too_few,
            *ahead,
            *(one.says for one in (diagnostics.departures, diagnostics.generator) if one is not None),
        )

    @property
    def _guarded(self) -> tuple[str, ...]:
        if self.guarded is None:
            return ()
        moves, unsolved, irreversible = self.guarded
        refused = f"{unsolved} not solved, {irreversible} not reversible"
        return (f"rejected by guards of implicit steps: {refused}, of {moves} moves",)

    @property
    def _too_few(self) -> tuple[str, ...]:
        if self.few is None:
            return ()
        few, cycles = self.few
        return (f"draws by slices beyond all components: {few}, in {cycles} cycles",)


def summarise(tree: "DataTree", draws: Draws, diagnostics: Diagnostics | None = None) -> Summary:
    """Return the summary of a run: mean, sd, ESS, R-hat and Monte Carlo errors by coordinate (Vehtari et al. 2021).

    Chains that diverged, or have draws that are not finite, are left out; if no other is left, the numbers are over the
    draws before the first was lost. Warnings and doubts are decided from these numbers, the tails, Stein's identity and
    the forecast.
    """
    diagnostics, over = diagnostics or Diagnostics(), stored_standing(tree)
    numbers = posterior_numbers(tree)
    rows = numbers.rows
    tails = heavy_tails(tree, draws, rows, over, diagnostics.powers)
    word = diagnostics.assumed if diagnostics.kernel else ()
    about = (diagnostics.forecast, diagnostics.departures, word)
    of_run = doubts(tree, draws, rows, over, tails, *about)
    doubted = (*of_run, *filter(None, (diagnostics.missed,)))
    return Summary(
        numbers,
        (*_chain_warnings(draws), *_number_warnings(rows, len(over.chains)), *_tail_warnings(tails)),
        doubted,
        diagnostics,
        tuple(_rates_of(draws, draws.acceptance, draws.moves())),
        tails,
        _guarded(draws),
        _too_few(draws),
        tuple(_rates_of(draws, draws.mapped, draws.involutions())),
        tuple((kind.says, tuple(_rates_of(draws, kind.rates, kind.moves))) for kind in draws.kinds),
        draws.processor_seconds,
        "" if draws.settings.schedule.name == "constant" else shown(draws.settings),
    )


def _rates(what: str, by_chain: tuple[float, ...]) -> tuple[str, ...]:
    """Return how many moves of a kind were accepted, by chain; nothing where there are none."""
    if not by_chain:
        return ()
    chains = f"{min(by_chain):.2f} to {max(by_chain):.2f} by chain"
    return (f"acceptance: {sum(by_chain) / len(by_chain):.2f} {what} ({chains})",)


def _rates_of(draws: Draws, accepted: Array | None, moves: Array) -> Iterator[float]:
    """Yield with what probability the moves of each chain were accepted, after warmup; nothing where there are none."""
    if accepted is None:
        return
    for rates, there, kept in zip(accepted, moves, draws.kept, strict=True):
        after = slice(draws.warmup, kept)
        tried = float(there[after].sum())
        yield float(np.nansum(rates[after] * there[after])) / tried if tried else 0.0


def _guarded(draws: Draws) -> tuple[int, int, int] | None:
    if draws.unsolved is None or draws.irreversible is None:
        return None
    after = slice(draws.warmup, None)
    tried = draws.moves()
    moves = sum(int(tried[k, draws.warmup : kept].sum()) for k, kept in enumerate(draws.kept))
    return moves, int(np.nansum(draws.unsolved[:, after])), int(np.nansum(draws.irreversible[:, after]))


def _too_few(draws: Draws) -> tuple[int, int] | None:
    if draws.too_few is None:
        return None
    kept = sum(max(0, done - draws.warmup) for done in draws.kept)
    return int(np.nansum(draws.too_few[:, draws.warmup :])), kept * draws.settings.thin


def _chain_warnings(draws: Draws) -> Iterator[str]:
    if draws.interrupted:
        total = draws.warmup + draws.settings.draws
        yield f"interrupted after {min(draws.kept)} of {total} draws of each chain; what was drawn is kept."
    if sum(draws.clipped):
        yield (
            f"2D - eps B_hat was not positive semidefinite {sum(draws.clipped)} times (counted "
            "by coordinate if diagonal) and was truncated at zero: the draws are biased. Try a smaller step size or a "
            "larger batch."
        )


def _tail_warnings(tails: Sequence[Tail]) -> Iterator[str]:
    """Yield that an sd is not known within its mcse_sd, which is finite for any draws: with few far out it is small."""
    if tails and tails[0].shape <= NO_SD:
        more = f" (and {len(tails) - 1} more)" if len(tails) > 1 else ""
        yield (
            f"the tails of {tails[0].name} are too heavy to know the error of its sd{more}: {tails[0].says}; "
            "from 0.25 on it has no Monte Carlo error, and is too small more often than too "
            "large, for any number of draws. Quantiles and the mean are valid."
        )


def _number_warnings(rows: tuple[Row, ...], chains: int) -> Iterator[str]:
    if not rows:
        return
    if chains == 1:
        yield (
            "R-hat needs two chains: one chain cannot show that it has mixed, so its two halves are compared. "
            "Try --chains 4."
        )
    for column in ("ess_bulk", "ess_tail"):
        least = min(rows, key=lambda row: np.nan_to_num(row.value(column), nan=0.0))
        if not least.value(column) >= MIN_ESS_PER_CHAIN * chains:
            yield (
                f"{column} is {least.value(column):.0f} for {least.name}, below {MIN_ESS_PER_CHAIN:.0f} per chain: "
                "the numbers are rough. Try more draws or more thinning."
            )
