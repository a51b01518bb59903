"""What a run found: posterior summary by ArviZ, and warnings and doubts with their evidence."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recipe_compiler.advise.diagnostics import DOUBTS, WARNINGS, Diagnostics, Figures, sentences
from recipe_compiler.run.chain import Array
from recipe_compiler.run.posterior_numbers import PosteriorNumbers, Row, says_constant, speed
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.schedule import shown

if TYPE_CHECKING:
    from xarray import DataTree


@dataclass(frozen=True, eq=False)
class Summary:
    """The posterior in numbers, and every reason to doubt them."""

    figures: Figures

    @property
    def numbers(self) -> PosteriorNumbers:
        """The numbers, and derived entries that are constant."""
        return self.figures.numbers

    @property
    def rows(self) -> tuple[Row, ...]:
        """The numbers of each coordinate."""
        return self.figures.rows

    @property
    def diagnostics(self) -> Diagnostics:
        """What is known of the run besides its draws."""
        return self.figures.known

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Why the numbers are not to be believed."""
        return sentences(DOUBTS, self.figures)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Why they are rough."""
        return sentences(WARNINGS, self.figures)

    @property
    def trust(self) -> str:
        """Whether to trust the numbers, and on what grounds, in one line."""
        if self.doubts:
            why = "for the reason above" if len(self.doubts) == 1 else f"for the {len(self.doubts)} reasons above"
            return f"trust: no, {why}"
        if not self.rows:
            return "trust: no, there are no numbers"
        known, tails = self.diagnostics, self.figures.tails
        by = [one.trust for one in (known.forecast, known.departures) if one is not None and one.trust]
        given = f", given that {' and that '.join(known.assumed)}" if known.assumed else ""
        rough = "; the numbers are rough, as warned" if self.warnings else ""
        rough += f", the sd of {tails[0].name} most of all" if tails else ""
        chains = f"chains that agree (R-hat at most {max(row.value('r_hat') for row in self.rows):.3f})"
        if not by and (known.assumed or not known.kernel):
            beside = f", and {known.kernel}{given}" if known.kernel else f"{given}; nothing else supports the numbers"
            return f"trust: only by {chains}{beside}{rough}"
        return f"trust: yes, by {', '.join(filter(None, (chains, *by, known.kernel)))}{given}{rough}"

    @property
    def attributes(self) -> dict[str, str]:
        """What the file of the draws keeps of it."""
        return {"trust": self.trust, "doubts": "\n".join(self.doubts), "warnings": "\n".join(self.warnings)}

    @property
    def notes(self) -> tuple[str, ...]:
        """What is reported besides the numbers."""
        known, draws = self.diagnostics, self.figures.draws
        ahead = known.forecast.says[:1] if known.forecast is not None and known.forecast.width is not None else ()
        return (
            *says_constant(self.numbers),
            *speed(self.numbers, draws.processor_seconds),
            *(f"assumed, not proved: {one}" for one in known.assumed),
            *_notes(draws),
            *ahead,
            *(one.says for one in (known.departures, known.generator) if one is not None),
        )


def summarise(tree: "DataTree", draws: Draws, diagnostics: Diagnostics | None = None) -> Summary:
    """Return the summary of a run: mean, sd, ESS, R-hat and Monte Carlo errors by coordinate (Vehtari et al. 2021).

    Chains that diverged, or have draws that are not finite, are left out; if no other is left, the numbers are over the
    draws before the first was lost. Warnings and doubts are decided from these numbers, the tails, Stein's identity and
    the forecast (`diagnostics.py`).
    """
    return Summary(Figures(tree, draws, diagnostics or Diagnostics()))


def _notes(draws: Draws) -> Iterator[str]:
    """Yield what the chains say of their moves: how many were accepted, refused by guards, or drawn beyond all."""
    if draws.settings.schedule.name != "constant":
        falling = shown(draws.settings)
        yield f"the step size is {falling}: every number weights a draw by it (sample_stats/step_size)"
    rates = [("moves", draws.acceptance, draws.moves()), *((kind.says, kind.rates, kind.moves) for kind in draws.kinds)]
    for what, accepted, moves in (*rates, ("involutions", draws.mapped, draws.involutions())):
        if accepted is not None:
            by_chain = [*_rates(draws, accepted, moves)]
            chains = f"{min(by_chain):.2f} to {max(by_chain):.2f} by chain"
            yield f"acceptance: {sum(by_chain) / len(by_chain):.2f} of the {what} ({chains})"
    after = slice(draws.warmup, None)
    if draws.unsolved is not None and draws.irreversible is not None:
        moves = sum(
            int(tried[draws.warmup : kept].sum()) for tried, kept in zip(draws.moves(), draws.kept, strict=True)
        )
        refused = [int(np.nansum(one[:, after])) for one in (draws.unsolved, draws.irreversible)]
        yield (
            f"rejected by guards of implicit steps: {refused[0]} not solved, {refused[1]} not reversible, of {moves} "
            "moves"
        )
    if draws.too_few is not None:
        cycles = sum(max(0, done - draws.warmup) for done in draws.kept) * draws.settings.thin
        yield f"draws by slices beyond all components: {int(np.nansum(draws.too_few[:, after]))}, in {cycles} cycles"


def _rates(draws: Draws, accepted: Array, moves: Array) -> Iterator[float]:
    """Yield with what probability the moves of each chain were accepted, after warmup."""
    for rates, there, kept in zip(accepted, moves, draws.kept, strict=True):
        after = slice(draws.warmup, kept)
        tried = float(there[after].sum())
        yield float(np.nansum(rates[after] * there[after])) / tried if tried else 0.0
