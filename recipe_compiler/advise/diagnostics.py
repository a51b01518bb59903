"""Diagnostics of a run: one row each, of what it measures and by what, and the sentences that it leads to.

A warning says that numbers are rough; a doubt says that they may be wrong, by what the chains say of each other, by the
target itself (`stein.py`, `missed_modes.py`) or by what was forecast: with any doubt `recipe run` ends with exit code
4. A new diagnostic is a row of `DOUBTS` or `WARNINGS`, and a field of `Diagnostics` where it needs what no other does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recipe_compiler.advise.forecast import Forecast
from recipe_compiler.advise.missed_modes import LEAST, MISSED
from recipe_compiler.advise.solver_error import SolverError
from recipe_compiler.advise.stein import BLOWN_UP, OF_EXACT, SMALL, Departures
from recipe_compiler.advise.stuck import STUCK, least_accepted
from recipe_compiler.advise.suggestions import WIDE
from recipe_compiler.advise.tails import NO_ERROR, NO_SD, Tail, heavy_tails
from recipe_compiler.formula.arrays import Array
from recipe_compiler.program.step_stats import ACCEPTANCE, INVOLUTION_ACCEPTANCE, IRREVERSIBLE, TOO_FEW, UNSOLVED
from recipe_compiler.run.posterior_numbers import (
    LEAST_DRAWS,
    MAX_R_HAT,
    PosteriorNumbers,
    Row,
    Standing,
    fallen_chains,
    finite_draws,
    posterior_numbers,
    sampled_block,
    says_constant,
    scores_said,
    speed,
    stored_standing,
)
from recipe_compiler.run.sample import Accepted, Draws
from recipe_compiler.run.schedule import shown
from recipe_compiler.spec.transform import DOMAINS

if TYPE_CHECKING:
    from xarray import DataTree

NEAR = 3.0
"""The factor within which the sds of draws are those of the forecast, which takes the posterior for a Gaussian."""

FAR = 8.0
"""How many sds, of the draws or of the forecast, their mean may be from the mode."""

FAR_FROM_PILOT = 1.0
"""The same of the mean of pilot chains, which is known within much less."""

JUDGED = 0.5
"""The largest standard error of what the target says of the draws, that says it all."""

LEAST_ACCEPTED = 10.0
"""Fewer accepted moves of a chain tell nothing of a law."""

MOST_NAMED = 8
"""More chains that diverge are only counted."""


MIN_ESS_PER_CHAIN = 100.0
"""Effective draws of a chain, below which numbers are rough."""


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What is known of a run besides its draws; None for each that is not."""

    forecast: Forecast | None = None
    """What was said before the run; None for one with the full gradient."""
    departures: Departures | None = None
    """How far the draws are from the target."""
    powers: tuple[float, ...] = ()
    """What U says of the tails of each coordinate that is sampled (`advise/tails.py`)."""
    kernel: str = ""
    """What is proved of the law that a step keeps, whatever its size; empty where nothing is."""
    assumed: tuple[str, ...] = ()
    """What is taken on the word of those who wrote the code that it calls."""
    pace: tuple[float, float] | None = None
    """Effective draws per gradient, of the coordinate that has fewest: as predicted (no number where none was) and as
    found."""
    missed: str = ""
    """The doubt that the draws miss a mode of U; empty where they do not."""
    solver: SolverError | None = None
    """What the steps of `solve` do to the posterior."""
    refuted: str = ""
    """The doubt that the build is refuted: it is a negative control; empty of any other."""
    laws: tuple[str, ...] = ()
    """What such a one samples instead, as far as it is found."""
    gradient: str = ""
    """The doubt that what a target's author computes is no gradient where chains went; empty where it is one."""


@dataclass(frozen=True, eq=False)
class Summary:
    """The posterior in numbers, and every reason to doubt them."""

    tree: "DataTree"
    draws: Draws
    known: Diagnostics

    @cached_property
    def over(self) -> Standing:
        """The draws that the numbers are over."""
        return stored_standing(self.tree)

    @cached_property
    def numbers(self) -> PosteriorNumbers:
        """The posterior in numbers."""
        return posterior_numbers(self.tree)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The numbers of each coordinate."""
        return self.numbers.rows

    @cached_property
    def tails(self) -> tuple[Tail, ...]:
        """Tails of coordinates whose sd has no Monte Carlo error, the heaviest first."""
        return heavy_tails(self.tree, self.draws, self.rows, self.over, self.known.powers)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Why the numbers are not to be believed."""
        return sentences(DOUBTS, self)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Why they are rough."""
        return sentences(WARNINGS, self)

    @property
    def trust(self) -> str:
        """Whether to trust the numbers, and on what grounds, in one line."""
        if self.known.refuted:
            return f"trust: no, {self.known.refuted}"
        if self.doubts:
            why = "for the reason above" if len(self.doubts) == 1 else f"for the {len(self.doubts)} reasons above"
            return f"trust: no, {why}"
        if not self.rows:
            return "trust: no, there are no numbers"
        known, tails = self.known, self.tails
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
        known, draws = self.known, self.draws
        ahead = known.forecast.says[:1] if known.forecast is not None and known.forecast.width is not None else ()
        return (
            *says_constant(self.numbers),
            *scores_said(self.tree),
            *speed(self.numbers, draws.processor_seconds),
            *_pace(known.pace),
            *(f"assumed, not proved: {one}" for one in known.assumed),
            *_notes(draws),
            *ahead,
            *(() if known.departures is None else (known.departures.says,)),
            *(() if known.solver is None or known.solver.doubt else (known.solver.says,)),
            *known.laws,
        )


def _pace(pace: tuple[float, float] | None) -> Iterator[str]:
    if pace is not None and pace[0] > 0.0:
        yield f"ESS per gradient: predicted {pace[0]:.2g}, measured {pace[1]:.2g}"


def _diverged(found: Summary) -> Iterator[str]:
    draws = found.draws
    thin = draws.settings.thin
    lost = [k for k, diverging in enumerate(draws.diverging) if diverging]
    for k in lost[:MOST_NAMED]:
        kept = draws.kept[k]
        last = f"last state kept: {_state(draws, k, kept - 1)}" if kept else "no draw was kept"
        before = " Its draws before that are kept." if kept else ""
        steps = f"between steps {kept * thin + 1} and {(kept + 1) * thin}"
        yield (
            f"chain {k + 1} left the finite numbers {steps}; {last}.{before} "
            "The summary omits the chain if others did not diverge. Try a smaller step size."
        )
    if len(lost) > MOST_NAMED:
        yield (
            f"{len(lost) - MOST_NAMED} more of {len(draws.kept)} chains left the finite numbers; the file says which "
            "and where (sample_stats/diverging)."
        )


def _state(draws: Draws, chain: int, draw: int) -> str:
    parts: list[str] = []
    for name, array in zip(draws.blocks, draws.arrays, strict=True):
        values = array[chain, draw]
        shown = ", ".join(f"{value:.4g}" for value in values[:4]) + (", ..." if values.size > 4 else "")
        parts.append(f"{name} = [{shown}]" if values.size > 1 else f"{name} = {shown}")
    return "; ".join(parts)


def _infinite(found: Summary) -> Iterator[str]:
    """Yield blocks with draws that are not finite though the state is: what is turned back from u may overflow."""
    tree, draws = found.tree, found.draws
    fallen = list(fallen_chains(tree))
    for name, array in cast("Any", tree["diverged_posterior"]).data_vars.items() if fallen else ():
        values = array.transpose("chain", "draw", ...).to_numpy()
        bad = ~finite_draws([values], values.shape[:2])
        bad &= np.arange(values.shape[1]) < np.array(draws.kept)[fallen, None] - draws.warmup
        if bad.any():
            chains = int(np.any(bad, axis=1).sum())
            share = bad.sum() / max(1, sum(max(0, kept - draws.warmup) for kept in draws.kept))
            yield (
                f"{name} is not finite in {bad.sum()} draws ({100.0 * share:.3g} %) of {chains} chains: they diverged "
                "until its value overflowed. Try a smaller step size, or a prior that bounds it."
            )


def _stuck(summary: Summary) -> Iterator[str]:
    """Yield the chains that hardly moved, or were for long where what they propose is refused.

    Beside involutions that are refused other moves may move a chain: draws that differ from those before count as
    accepted.
    """
    tree, draws = summary.tree, summary.draws
    are_moves = ACCEPTANCE in draws.stats
    accepted = draws.stats.get(ACCEPTANCE if are_moves else INVOLUTION_ACCEPTANCE)
    own = sampled_block(tree, draws)
    if accepted is None or own is None:
        return
    shorter = "a smaller step size, fewer steps a move" if are_moves else "smaller draws in the involutions"
    of_draw = draws.moves() if are_moves else draws.involutions()
    for k, (rates, kept) in enumerate(zip(accepted, draws.kept, strict=True)):
        after = slice(draws.warmup, kept)
        moves, probable = of_draw[k, after], rates[after]
        if not are_moves:
            theta = draws.block(own)[k, after]
            probable = np.where(np.any(np.diff(theta, axis=0, prepend=np.nan) != 0.0, axis=1), 1.0, probable)
        total, expected = int(moves.sum()), float(np.nansum(probable * moves))
        least = least_accepted(probable, moves)
        where = next(_seldom_alone(draws.kinds, k, after), "")
        if total and expected < LEAST_ACCEPTED and are_moves:
            found = f": about {expected:.2g} of its {total} moves after warmup are accepted"
        elif least is not None and least[0] < 1.0 / STUCK:
            found = f": for {least[1]} moves in a row, about {least[0] * least[1]:.2g} of them are accepted"
        elif where:
            found = where
        else:
            continue
        yield f"chain {k + 1} is stuck{found}. Try {shorter}, or another start (`init`)."


def _seldom_alone(kinds: Sequence[Accepted], chain: int, after: slice) -> Iterator[str]:
    """Yield the kinds of moves that a chain hardly makes, though others move it on.

    What one kind refuses for long others may lead out of: it is all of its moves that count.
    """
    for kind in kinds:
        moves, rates = kind.moves[chain, after], kind.rates[chain, after]
        total, expected = int(moves.sum()), float(np.nansum(rates * moves))
        if total and expected < max(min(LEAST_ACCEPTED, total / 4.0), total / STUCK):
            yield f" in {kind.says}: about {expected:.2g} of the {total} after warmup are accepted"


def _outside(found: Summary) -> Iterator[str]:
    for one in found.draws.outside:
        size = found.draws.block(one.block).shape[2]
        value = f"{one.block}[{one.entry}]" if size > 1 else one.block
        where = f"draw {one.draw + 1} (warmup counted) of chain {one.chain + 1}, with {value} = {one.value:.4g}"
        via = next((name for name, domains in DOMAINS.items() if one.domain in domains), None)
        unbounded = f", or an unbounded variable: `transform: {via}` in the target, with dynamics of real blocks"
        yield (
            f"{one.block} left its domain, {one.says}, in {one.draws} draws of {one.chains} chains, first in {where}. "
            "Emitted steps do not enforce boundaries; draws beyond one are not from the target, but all draws are "
            f"kept and counted. Try a smaller step size{unbounded if via else ''}."
        )


def _apart(found: Summary) -> Iterator[str]:
    rows, draws = found.rows, found.draws
    if not rows and draws.settings.draws >= LEAST_DRAWS and not draws.interrupted:
        yield f"no chain has {LEAST_DRAWS} finite draws after warmup, from which a summary could be made."
        return
    if not rows:
        yield "there are too few draws for a summary: each chain needs 4 after warmup. Try more --draws."
        return
    wrong = [row for row in rows if not row.value("r_hat") <= MAX_R_HAT]
    if not wrong:
        return
    worst = max(wrong, key=lambda row: np.nan_to_num(row.value("r_hat"), nan=np.inf))
    more = f" (and {len(wrong) - 1} more are above {MAX_R_HAT})" if len(wrong) > 1 else ""
    if np.isnan(worst.value("r_hat")):
        yield (
            f"R-hat of {worst.name} is not a number{more}: its draws are all the same, or not finite. Try other "
            "starts, more thinning or another step size."
        )
        return
    yield (
        f"R-hat is {worst.value('r_hat'):#.4g} for {worst.name}, above {MAX_R_HAT}{more}: the chains do not agree. "
        "Try more draws, more warmup, more thinning or another step size."
    )


def _heavy(found: Summary) -> Iterator[str]:
    heavy = [tail for tail in found.tails if tail.shape > NO_SD]
    if heavy:
        more = f" (and {len(heavy) - 1} more)" if len(heavy) > 1 else ""
        yield (
            f"the tails of {heavy[0].name} are too heavy for its sd{more}: {heavy[0].says}; "
            "from 0.5 on there is no sd, from 1 on no mean. Quantiles are valid. A prior with lighter tails has both."
        )


def _contradictions(found: Summary) -> Iterator[str]:
    """Yield where the draws are not what was forecast: they are somewhere else, or have not moved as far.

    A forecast takes the posterior for a Gaussian around its mode: how far draws spread is left to the target where that
    says it, or where U is far from quadratic.
    """
    draws, over, forecast, departures = found.draws, found.over, found.known.forecast, found.known.departures
    if forecast is None or forecast.width is None or over.length < 2:
        return
    kept = draws.block(forecast.block)[list(over.chains), draws.warmup : draws.warmup + over.length]
    mode, expected = np.array(forecast.width.mode), np.array(forecast.width.sds)
    with np.errstate(all="ignore"):
        mean, sd = kept.mean(axis=(0, 1)), kept.std(axis=(0, 1))
        within = kept.std(axis=1).min(axis=0)  # of the chain that has moved least
        off = np.abs(mean - mode) / np.maximum(sd, expected)
    far, still, wide = int(np.argmax(off)), int(np.argmin(within / expected)), int(np.argmax(sd / expected))
    again = "Try more steps (--thin, --warmup), another step size, or `init` near the mode."
    if forecast.measured is not None and not off[far] <= FAR_FROM_PILOT:
        yield (
            f"the draws contradict the forecast: the mean of {forecast.names[far]} is {mean[far]:.4g}, {off[far]:.2g} "
            f"sds from where pilot chains of the plan had it, {mode[far]:.4g}. {again}"
        )
    elif not off[far] <= FAR:
        yield (
            f"the draws contradict the forecast: the mean of {forecast.names[far]} is {mean[far]:.4g}, "
            f"{off[far]:.2g} sds from the mode {mode[far]:.4g} that was found from {forecast.around}: the chains have "
            f"not reached it, or there are several modes. {again}"
        )
    if forecast.bends or (departures is not None and departures.known <= JUDGED):
        return
    if not within[still] * NEAR >= expected[still]:
        yield (
            f"the chains have not moved as far as forecast: the sd of {forecast.names[still]} within one chain is "
            f"{within[still]:.3g}, expected about {expected[still]:.3g}. {again}"
        )
    if not sd[wide] <= NEAR * expected[wide]:
        yield (
            f"the draws contradict the forecast: the sd of {forecast.names[wide]} is {sd[wide]:.3g}, expected about "
            f"{expected[wide]:.3g}. Try a smaller step size."
        )


def _interrupted(found: Summary) -> Iterator[str]:
    draws = found.draws
    if draws.interrupted:
        total = draws.warmup + draws.settings.draws
        yield f"interrupted after {min(draws.kept)} of {total} draws of each chain; what was drawn is kept."


def _clipped(found: Summary) -> Iterator[str]:
    if clipped := sum(found.draws.clipped):
        yield (
            f"2D - eps B_hat was not positive semidefinite {clipped} times (counted "
            "by coordinate if diagonal) and was truncated at zero, a moving V shrunk until it was: the draws are "
            "biased. Try a smaller step size or a larger batch."
        )


def _uncertain_sds(found: Summary) -> Iterator[str]:
    """Yield that an sd is not known within its mcse_sd, which is finite for any draws: with few far out it is small."""
    tails = found.tails
    if tails and tails[0].shape <= NO_SD:
        more = f" (and {len(tails) - 1} more)" if len(tails) > 1 else ""
        yield (
            f"the tails of {tails[0].name} are too heavy to know the error of its sd{more}: {tails[0].says}; "
            "from 0.25 on it has no Monte Carlo error, and is too small more often than too "
            "large, for any number of draws. Quantiles and the mean are valid."
        )


def _alone(found: Summary) -> Iterator[str]:
    if found.rows and len(found.over.chains) == 1:
        yield (
            "R-hat needs two chains: one chain cannot show that it has mixed, so its two halves are compared. "
            "Try --chains 4."
        )


def _few(found: Summary) -> Iterator[str]:
    for column in ("ess_bulk", "ess_tail") if found.rows else ():
        least = min(found.rows, key=lambda row: np.nan_to_num(row.value(column), nan=0.0))
        if not least.value(column) >= MIN_ESS_PER_CHAIN * len(found.over.chains):
            yield (
                f"{column} is {least.value(column):.0f} for {least.name}, below {MIN_ESS_PER_CHAIN:.0f} per chain: "
                "the numbers are rough. Try more draws or more thinning."
            )


def _none_whole(found: Summary) -> Iterator[str]:
    if not found.over.whole and found.rows:
        yield (
            f"every chain diverged: the summary is over the {found.over.length} draws of each before the first was "
            "lost."
        )


def _departed(found: Summary) -> Iterator[str | None]:
    departures, word = found.known.departures, found.known.assumed if found.known.kernel else ()
    if departures is not None:
        yield departures.doubt or departures.contradicts(word)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is looked at after every run."""

    id: str
    finds: str
    """What it finds, with its threshold."""
    by: str
    """What that is measured by."""
    sentences: Callable[[Summary], Iterable[str | None]]
    """What was found, each with what to do about it; nothing, or nothing but empty ones, where all is well."""


DOUBTS = (
    Diagnostic("refuted", "the build is refuted, and was run as a negative control", "its report",
               lambda found: (found.known.refuted,)),
    Diagnostic("diverged", "chains left the finite numbers", "the draws", _diverged),
    Diagnostic("infinite", "draws are not finite though their state is", "the draws", _infinite),
    Diagnostic("none_whole", "no chain came to its end", "the draws", _none_whole),
    Diagnostic("outside", "draws, warmup included, lie outside of the domain of their block", "the draws", _outside),
    Diagnostic(
        "stuck", f"none of {STUCK} moves of a chain in a row was likely to be accepted, or fewer than "
        f"{LEAST_ACCEPTED:g} of all", "the probabilities that moves were accepted with", _stuck,
    ),
    Diagnostic(
        "r_hat", f"R-hat is above {MAX_R_HAT}, or not a number (a coordinate that does not move); of one chain its "
        f"halves are compared; or a chain has fewer than {LEAST_DRAWS} draws", "the chains", _apart,
    ),
    Diagnostic(
        "tails", "the tails of a coordinate, as it is sampled, are too heavy for an sd: a generalised Pareto law "
        f"fitted to them, or what U does far out, has a shape above {NO_SD}", "the draws, U", _heavy,
    ),
    Diagnostic(
        "stein", f"the draws are not those of the target: a mean is off by more than {SMALL} sd, or a mean square (or "
        f"a positive mean smaller than its sd) by more than {100 * SMALL:g} %, and by more than one right run in 1000 "
        f"shows; or by more than {BLOWN_UP:g} ({OF_EXACT:g} where the step is proved to preserve exp(-H)), however "
        "uncertain; or by anything that more than one right run in 1000 does not show, where the step preserves "
        "exp(-H) by the word of code's author",
        "Stein's identity", _departed,
    ),
    Diagnostic(
        "forecast", f"a posterior sd that is more than {100 * (WIDE - 1):.0f} % too wide or too narrow, or a step that "
        "is too large, is forecast", "the linearised step",
        lambda found: () if found.known.forecast is None else found.known.forecast.doubts,
    ),
    Diagnostic(
        "contradiction", f"the mean is more than {FAR:g} sds from the mode; where Stein's identity says nothing, also "
        f"chains that have moved 1/{NEAR:g} as far as forecast, or {NEAR:g} times as far", "chains and forecast",
        _contradictions,
    ),
    Diagnostic(
        "missed_mode", f"a mode of U that a search finds holds {100 * LEAST:g} % of exp(-U) or more, and less than "
        f"{100 * MISSED:g} % of that of the draws is around it", "U at the draws and around the mode",
        lambda found: (found.known.missed,),
    ),
    Diagnostic(
        "solver", f"the error of the steps of `solve` changes U by more than {SMALL} (its sd over the draws, which "
        "bounds the errors of means in posterior sds), or U is not finite at twice the steps",
        "U at draws, by the steps taken and twice as many",
        lambda found: () if found.known.solver is None else (found.known.solver.doubt,),
    ),
    Diagnostic(
        "gradient", "a gradient that is code has an asymmetric Jacobian, or a mean over minibatches that is another, "
        "where chains went; or all of them go ever farther while U falls",
        "differences of the gradient, at draws, warmup included, the farthest among them",
        lambda found: (found.known.gradient,),
    ),
)  # fmt: skip
"""Why a summary is not to be believed."""

WARNINGS = (
    Diagnostic("interrupted", "the run was stopped before its end", "the chains", _interrupted),
    Diagnostic("clipped", "2D - eps B_hat was not positive semidefinite", "the chains", _clipped),
    Diagnostic("one_chain", "one chain alone cannot show that it has mixed", "the chains", _alone),
    Diagnostic("few", f"an effective sample size is below {MIN_ESS_PER_CHAIN:g} per chain", "the chains", _few),
    Diagnostic(
        "uncertain_sd", f"the tails of a coordinate are too heavy for its sd to have a Monte Carlo error: a shape "
        f"above {NO_ERROR}", "the draws, U", _uncertain_sds,
    ),
)  # fmt: skip
"""Why its numbers are rough."""


def sentences(diagnostics: tuple[Diagnostic, ...], found: Summary) -> tuple[str, ...]:
    """Return what diagnostics say of a run, in their order."""
    return tuple(sentence for one in diagnostics for sentence in one.sentences(found) if sentence)


def summarise(tree: "DataTree", draws: Draws, diagnostics: Diagnostics | None = None) -> Summary:
    """Return the summary of a run: mean, sd, ESS, R-hat and Monte Carlo errors by coordinate (Vehtari et al. 2021).

    Chains that diverged, or have draws that are not finite, are left out; if no other is left, the numbers are over the
    draws before the first was lost. Warnings and doubts are decided from these numbers, the tails, Stein's identity and
    the forecast.
    """
    return Summary(tree, draws, diagnostics or Diagnostics())


def _notes(draws: Draws) -> Iterator[str]:
    """Yield what the chains say of their moves: how many were accepted, refused by guards, or drawn beyond all."""
    if draws.settings.schedule.name != "constant":
        falling = shown(draws.settings)
        yield f"the step size is {falling}: every number weights a draw by it (sample_stats/step_size)"
        yield f"schedule: {draws.settings.schedule.in_the_limit}"
    stats, kinds = draws.stats, ((kind.says, kind.rates, kind.moves) for kind in draws.kinds)
    involutions = ("involutions", stats.get(INVOLUTION_ACCEPTANCE), draws.involutions())
    for what, accepted, moves in (("moves", stats.get(ACCEPTANCE), draws.moves()), *kinds, involutions):
        if accepted is not None:
            by_chain = [*_rates(draws, accepted, moves)]
            chains = f"{min(by_chain):.2f} to {max(by_chain):.2f} by chain"
            yield f"acceptance: {sum(by_chain) / len(by_chain):.2f} of the {what} ({chains})"
    after = slice(draws.warmup, None)
    if UNSOLVED in stats:
        moves = sum(
            int(tried[draws.warmup : kept].sum()) for tried, kept in zip(draws.moves(), draws.kept, strict=True)
        )
        refused = [int(np.nansum(one[:, after])) for one in (stats[UNSOLVED], stats[IRREVERSIBLE])]
        yield (
            f"rejected by guards of implicit steps: {refused[0]} not solved, {refused[1]} not reversible, of {moves} "
            "moves"
        )
    if TOO_FEW in stats:
        cycles = sum(max(0, done - draws.warmup) for done in draws.kept) * draws.settings.thin
        yield f"draws by slices beyond all components: {int(np.nansum(stats[TOO_FEW][:, after]))}, in {cycles} cycles"


def _rates(draws: Draws, accepted: Array, moves: Array) -> Iterator[float]:
    """Yield with what probability the moves of each chain were accepted, after warmup."""
    for rates, there, kept in zip(accepted, moves, draws.kept, strict=True):
        after = slice(draws.warmup, kept)
        tried = float(there[after].sum())
        yield float(np.nansum(rates[after] * there[after])) / tried if tried else 0.0
