"""Why the summary of a run is not to be believed: with any of these `recipe run` ends with exit code 4.

A warning says that numbers are rough; a doubt says that they may be wrong, by what the chains say of each other, by the
target itself (`advise/stein.py`) or by what was forecast.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recipe_compiler.advise.forecast import Forecast
from recipe_compiler.advise.stein import Departures
from recipe_compiler.advise.stuck import STUCK, least_accepted
from recipe_compiler.advise.tails import NO_SD, Tail
from recipe_compiler.run.posterior_numbers import (
    LEAST_DRAWS,
    MAX_R_HAT,
    Row,
    Standing,
    fallen_chains,
    finite_draws,
    sampled_block,
)
from recipe_compiler.run.sample import Accepted, Draws
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


def doubts(
    tree: "DataTree", draws: Draws, rows: tuple[Row, ...], over: Standing, tails: tuple[Tail, ...],
    forecast: Forecast | None, departures: Departures | None, word: Sequence[str] = (),
) -> Iterator[str]:  # fmt: skip
    """Yield every reason not to trust a summary, each with what to do about it.

    They are: chains that diverged, draws that are not finite or lie outside their domain, chains that are stuck, R-hat
    above its limit (Vehtari et al. 2021), heavy tails, Stein's identity, the forecast, and draws that contradict it.

    Args:
        tree: the draws, as they are stored.
        draws: what was drawn.
        rows: the summary.
        over: the draws it is over.
        tails: those that are heavy.
        forecast: what was forecast before the run, if anything.
        departures: how far the draws are from the target, if that can be said.
        word: what code is taken to do where it follows that they are those of the target.
    """
    yield from _diverged(draws)
    yield from _infinite(tree, draws)
    if not over.whole and rows:
        yield f"every chain diverged: the summary is over the {over.length} draws of each before the first was lost."
    yield from _outside(draws)
    yield from _stuck(tree, draws)
    yield from _apart(rows, asked=draws.settings.draws >= LEAST_DRAWS and not draws.interrupted)
    yield from _heavy(tails)
    if departures is not None and (doubt := departures.doubt or departures.contradicts(word)) is not None:
        yield doubt
    if forecast is not None:
        yield from forecast.doubts
        yield from _contradictions(draws, over, forecast, judged=departures is not None and departures.known <= JUDGED)


def _diverged(draws: Draws) -> Iterator[str]:
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


def _infinite(tree: "DataTree", draws: Draws) -> Iterator[str]:
    """Yield blocks with draws that are not finite though the state is: what is turned back from u may overflow."""
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


def _stuck(tree: "DataTree", draws: Draws) -> Iterator[str]:
    """Yield the chains that hardly moved, or were for long where what they propose is refused.

    Beside involutions that are refused other moves may move a chain: draws that differ from those before count as
    accepted.
    """
    accepted = draws.mapped if draws.acceptance is None else draws.acceptance
    own = sampled_block(tree, draws)
    if accepted is None or own is None:
        return
    shorter = (
        "smaller draws in the involutions" if draws.acceptance is None else "a smaller step size, fewer steps a move"
    )
    of_draw = draws.involutions() if draws.acceptance is None else draws.moves()
    for k, (rates, kept) in enumerate(zip(accepted, draws.kept, strict=True)):
        after = slice(draws.warmup, kept)
        moves, probable = of_draw[k, after], rates[after]
        if draws.acceptance is None:
            theta = draws.block(own)[k, after]
            probable = np.where(np.any(np.diff(theta, axis=0, prepend=np.nan) != 0.0, axis=1), 1.0, probable)
        total, expected = int(moves.sum()), float(np.nansum(probable * moves))
        least = least_accepted(probable, moves)
        where = next(_seldom_alone(draws.kinds, k, after), "")
        if total and expected < LEAST_ACCEPTED and draws.acceptance is not None:
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


def _outside(draws: Draws) -> Iterator[str]:
    for one in draws.outside:
        size = draws.block(one.block).shape[2]
        value = f"{one.block}[{one.entry}]" if size > 1 else one.block
        where = f"draw {one.draw + 1} (warmup counted) of chain {one.chain + 1}, with {value} = {one.value:.4g}"
        via = next((name for name, domains in DOMAINS.items() if one.domain in domains), None)
        unbounded = f", or an unbounded variable: `transform: {via}` in the target, with dynamics of real blocks"
        yield (
            f"{one.block} left its domain, {one.says}, in {one.draws} draws of {one.chains} chains, first in {where}. "
            "Emitted steps do not enforce boundaries; draws beyond one are not from the target, but all draws are "
            f"kept and counted. Try a smaller step size{unbounded if via else ''}."
        )


def _apart(rows: tuple[Row, ...], *, asked: bool) -> Iterator[str]:
    if not rows and asked:
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


def _heavy(tails: tuple[Tail, ...]) -> Iterator[str]:
    heavy = [tail for tail in tails if tail.shape > NO_SD]
    if heavy:
        more = f" (and {len(heavy) - 1} more)" if len(heavy) > 1 else ""
        yield (
            f"the tails of {heavy[0].name} are too heavy for its sd{more}: {heavy[0].says}; "
            "from 0.5 on there is no sd, from 1 on no mean. Quantiles are valid. A prior with lighter tails has both."
        )


def _contradictions(draws: Draws, over: Standing, forecast: Forecast, *, judged: bool) -> Iterator[str]:
    """Yield where the draws are not what was forecast: they are somewhere else, or have not moved as far.

    A forecast takes the posterior for a Gaussian around its mode: where the target itself has `judged` how far the
    draws spread, or U is far from quadratic, this is skipped.
    """
    if forecast.width is None or over.length < 2:
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
    if judged or forecast.bends:
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
