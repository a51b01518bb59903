"""The posterior in numbers, by ArviZ, over the chains that stand."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.constraints import Constraint, is_fixed
from recipe_compiler.run.sample import Draws

if TYPE_CHECKING:
    from xarray import DataTree

SHOWN = ("mean", "sd", "ess_bulk", "ess_tail", "r_hat", "mcse_mean")
"""The columns of a summary that are shown, in order."""

COLUMNS = (*SHOWN, "mcse_sd")
"""All columns of a summary."""

LEAST_DRAWS = 4
"""R-hat splits every chain in two halves of two draws or more."""

MAX_R_HAT = 1.01
"""The largest R-hat of chains that agree (Vehtari and others 2021)."""

MOST_NAMED = 8
"""More constants are only counted."""

TURNS = 4
"""Copies of a draw of mean weight in a chain at equal intervals of its time: light ones are rounded."""

ROUNDING = 1e-14
"""Within which relative difference values of a formula are the same number."""

DERIVED = "derived"
"""The attribute of a variable in files that is computed from others."""

CONSTRAINT = "constraint"
"""The attribute of a variable in files that says which set it lies in as a whole."""

SEEN = 1e-3
"""Less that is outside of a range is not said."""

SCORES = "scores"
"""The group of files that holds them (`run/scores.py`)."""

BOUNDED = "bounded"
"""The attribute of a variable in files whose entries lie between two numbers."""


@dataclass(frozen=True, slots=True)
class Row:
    """One coordinate of the target: its name and the values of `COLUMNS`."""

    name: str
    values: tuple[float, ...]

    def value(self, column: str) -> float:
        """Return the value of one column."""
        return self.values[COLUMNS.index(column)]

    @property
    def effective(self) -> float:
        """The effective sample size, in bulk or tails, whichever is less."""
        return min(self.value("ess_bulk"), self.value("ess_tail"))


@dataclass(frozen=True, slots=True)
class Standing:
    """The draws that a summary is over: the first `length` after warmup of some chains."""

    chains: tuple[int, ...]
    length: int
    whole: bool
    """Whether these chains came to their end; else none did, and they are summarised up to where the first ended."""


def standing(finite: NDArray[np.bool_], draws: Draws) -> Standing:
    """Return the draws to summarise: those of the chains all of whose draws are finite.

    If there is no such chain: all chains up to the first draw of any that is not finite.

    Args:
        finite: which draws after warmup are, `[chain, draw]`.
        draws: what was drawn.
    """
    reached = [int(np.argmin(row)) if not row.all() else row.size for row in finite]
    kept = [max(0, min(count - draws.warmup, n)) for count, n in zip(draws.kept, reached, strict=True)]
    ended = [count - draws.warmup for count in draws.kept]
    whole = [k for k, lost in enumerate(draws.diverging) if not lost and 0 < kept[k] == ended[k]]
    chosen = whole or [k for k, count in enumerate(kept) if count >= LEAST_DRAWS]
    return Standing(tuple(chosen), min((kept[k] for k in chosen), default=0), bool(whole))


def sampled_block(tree: "DataTree", draws: Draws) -> str | None:
    """Return the block that the potential is of."""
    auxiliary = tree["auxiliary"].data_vars if "auxiliary" in tree else ()
    return next((name for name in draws.blocks if name not in auxiliary), None)


def stored_standing(tree: "DataTree") -> Standing:
    """Return the same, as the groups of a run tell it: what `posterior` holds."""
    posterior = cast("Any", tree["posterior"])
    chains = tuple(int(chain) for chain in posterior["chain"].to_numpy())
    fallen = fallen_chains(tree)
    if not set(chains) <= set(fallen):
        return Standing(chains, int(posterior.sizes["draw"]), whole=True)
    blocks = [array.to_numpy() for array in posterior.data_vars.values()]
    if finite_draws(blocks, (len(chains), posterior.sizes["draw"])).all():
        return Standing(chains, int(posterior.sizes["draw"]), whole=False)
    return Standing((), 0, whole=False)


def fallen_chains(tree: "DataTree") -> tuple[int, ...]:
    """Return the chains that have draws that are not finite, or fewer than the others as they diverged."""
    if "diverged_posterior" not in tree.children:
        return ()
    return tuple(int(chain) for chain in cast("Any", tree["diverged_posterior"])["chain"].to_numpy())


def finite_draws(blocks: Iterable[Array], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return which draws of `[chain, draw]` are finite in every coordinate of every block."""
    found = np.ones(shape, dtype=bool)
    for values in blocks:
        found &= np.isfinite(values).reshape(*shape, -1).all(axis=2) if values.size else True
    return found


@dataclass(frozen=True, slots=True)
class PosteriorNumbers:
    """The rows of a summary, and derived entries that are the same in all draws: no diagnostic is of these."""

    rows: tuple[Row, ...] = ()
    constants: tuple[tuple[str, float], ...] = ()

    @property
    def least(self) -> Row:
        """The coordinate with the smallest effective sample size, in bulk or tails."""
        return min(self.rows, key=lambda row: np.nan_to_num(row.effective, nan=0.0))


def posterior_numbers(tree: "DataTree") -> PosteriorNumbers:
    """Return mean, sd, rank-normalised ESS and R-hat, and mcse of every coordinate (Vehtari et al. 2021, by ArviZ).

    R-hat compares the variance between (split) chains with that within them (Gelman and Rubin 1992); for one chain it
    compares its halves. Where the step size falls along a chain draws are weighted by it in mean and sd; ESS, R-hat and
    mcse are of the chain at equal intervals of its time, where a draw stands as often as its weight says. Left out are
    entries that are constant on the set their block lies in, and entries of discrete blocks that never change. None
    where no chain has `LEAST_DRAWS` finite draws.
    """
    posterior = cast("Any", tree["posterior"])
    if stored_standing(tree).length < LEAST_DRAWS:
        return PosteriorNumbers()
    import arviz_stats
    from arviz_stats.base.array import array_stats

    weight = draw_weights(tree, int(posterior.sizes["draw"]))
    timed = posterior if weight is None else posterior.isel(draw=_places_in_time(weight))
    columns = np.concatenate([columns_of(array) for array in posterior.data_vars.values()], axis=2)
    with np.errstate(all="ignore"):
        table = cast("Any", arviz_stats).summary(timed, kind="all", round_to="none")[[*COLUMNS]]  # "none": in full
        if weight is not None:
            weights, flat = np.tile(weight, columns.shape[0]), columns.reshape(-1, columns.shape[2])
            table["mean"] = means = np.average(flat, axis=0, weights=weights)
            table["sd"] = np.sqrt(np.average((flat - means) ** 2, axis=0, weights=weights))
        if columns.shape[0] == 1 and columns.shape[1] >= 2 * LEAST_DRAWS:
            evenly = np.concatenate([columns_of(array) for array in timed.data_vars.values()], axis=2)
            half = evenly[:, : evenly.shape[1] // 2 * 2].reshape(2, evenly.shape[1] // 2, -1)
            table["r_hat"] = np.atleast_1d(cast("Any", array_stats).rhat(half, chain_axis=0, draw_axis=1))
    derived = [DERIVED in array.attrs for array in posterior.data_vars.values() for _ in np.ndindex(*array.shape[2:])]
    rows = [Row(str(name), tuple(map(float, values))) for name, *values in table.itertuples(name=None)]
    chosen = [*zip(rows, varying(tree), derived, columns[0, 0], strict=True)]
    return PosteriorNumbers(
        tuple(row for row, moves, _, _ in chosen if moves),
        tuple((row.name, float(first)) for row, moves, own, first in chosen if own and not moves),
    )


def shown_cells(row: Row) -> tuple[str, ...]:
    """Return the name of a coordinate and its numbers, each with the digits that its column is shown with."""

    def cell(column: str, value: float) -> str:
        if column.startswith("ess"):
            return f"{value:.0f}"
        return f"{value:.3f}" if column == "r_hat" else f"{value:.3g}"

    return row.name, *(cell(column, row.value(column)) for column in SHOWN)


def speed(numbers: PosteriorNumbers, seconds: float) -> tuple[str, ...]:
    """Return in a line how many effective draws a second are worth, of the coordinate with the fewest.

    Args:
        numbers: of the run.
        seconds: of processor time that its draws took, warmup included; NaN where it is not known.
    """
    if not numbers.rows or not seconds > 0.0:
        return ()
    least = numbers.least
    return (
        f"ESS/s: {least.effective / seconds:.3g} ({least.name}, the least), per second of processor time; drawing took "
        f"{seconds:.3g} s of it, warmup included",
    )


def scores_said(tree: "DataTree") -> Iterator[str]:
    """Yield each score of a run, of all its draws, in a line."""
    yield from (f"score {name}: {says_score(score)}" for name, score in final_scores(tree).items())


def says_score(score: Mapping[str, float]) -> str:
    """Return a score in words, as `final_scores` has it."""
    error = f" +- {score['error']:.1g}" if math.isfinite(score["error"]) else ""
    floor = f" (floor {score['floor']:.2g})" if score.get("floor", 0.0) > 0.0 else ""
    beyond = (("of draws", score.get("outside", 0.0)), ("of the law", score.get("law_outside", 0.0)))
    outside = " and ".join(f"{100 * share:.2g} % {what}" for what, share in beyond if share > SEEN)
    floor += f" (perplexity {score['perplexity']:.4g})" if "perplexity" in score else ""
    return f"{score['value']:.4g}{error}{floor}" + (f"; {outside} outside of its range" if outside else "")


def final_scores(tree: "DataTree") -> dict[str, dict[str, float]]:
    """Return name to what is known of a score of all draws of a run: value, error, floor."""
    if SCORES not in tree.children:
        return {}
    group = cast("Any", tree[SCORES])
    return {
        str(name): {"value": float(own[-1]), "error": float(group[f"{name}_error"][-1]),
                    **{key: float(value) for key, value in own.attrs.items() if key != "kind"}}
        for name, own in group.data_vars.items() if "kind" in own.attrs
    }  # fmt: skip


def says_constant(numbers: PosteriorNumbers) -> tuple[str, ...]:
    """Return in a line which derived entries are constant."""
    shown = [f"{name} = {value:.6g}" for name, value in numbers.constants[:MOST_NAMED]]
    more = f", and {len(numbers.constants) - len(shown)} more" if len(numbers.constants) > len(shown) else ""
    return (f"constant: {', '.join(shown)}{more}",) if shown else ()


def varying(tree: "DataTree") -> list[bool]:
    """Return, for every coordinate of the posterior, whether it has a row of numbers."""
    return [moves for array in cast("Any", tree["posterior"]).data_vars.values() for moves in _varies(array)]


def is_discrete(array: Any) -> bool:
    """Whether a variable is a discrete block, stored as integers."""
    return array.dtype.kind == "i"


def _varies(array: Any) -> Iterator[bool]:
    """Yield of every coordinate of a variable whether the set that it lies in, or its draws, leave it free."""
    if is_discrete(array) or DERIVED in array.attrs:
        columns = columns_of(array)
        rounding = 0.0 if is_discrete(array) else ROUNDING * np.abs(columns).max(axis=(0, 1))
        yield from ~(np.ptp(columns, axis=(0, 1)) <= rounding)  # true of what is not finite
        return
    sizes = array.shape[2:]
    constraint = Constraint(array.attrs[CONSTRAINT]) if CONSTRAINT in array.attrs and len(sizes) == 2 else None
    for at in np.ndindex(*sizes):
        yield constraint is None or not is_fixed(constraint, at[0], at[1])


def columns_of(array: Any) -> Array:
    """Return a variable as `[chain, draw, coordinate]`."""
    values = array.transpose("chain", "draw", ...).to_numpy()
    return values.reshape(*values.shape[:2], math.prod(values.shape[2:]))


def coordinates(tree: "DataTree", group: str = "posterior", *, by_place: bool = False) -> dict[str, Array]:
    """Return the draws `[chain, draw]` of every coordinate of a group.

    They are named as in a summary, `tau` and `theta[age]`, or by their places, `theta[0]`.
    """
    from arviz_base.labels import BaseLabeller, IdxLabeller
    from arviz_base.sel_utils import xarray_var_iter

    entries = xarray_var_iter(tree[group].to_dataset(), skip_dims={"chain", "draw"}) if group in tree.children else ()
    labeller = IdxLabeller() if by_place else BaseLabeller()
    named = ((labeller.make_label_flat(name, of, at), draws) for name, of, at, draws in entries)
    return {name: np.asarray(draws, dtype=float) for name, draws in named}


def effective_size(draws: Array, **how: object) -> Array:
    """Return the effective sample size of `[chain, draw]`, or of each coordinate of `[chain, draw, coordinate]`.

    Args:
        draws: of a quantity.
        how: the method and its arguments, as ArviZ takes them: in bulk if left out.
    """
    from arviz_stats.base.array import array_stats

    with np.errstate(all="ignore"):
        return np.asarray(cast("Any", array_stats).ess(draws, chain_axis=0, draw_axis=1, **how))


def draw_weights(tree: "DataTree", draws: int) -> Array | None:
    """Return the step sizes of the draws after warmup, their weights in averages; None where all are the same."""
    if "sample_stats" not in tree.children or "step_size" not in cast("Any", tree["sample_stats"]):
        return None
    found = cast("Any", tree["sample_stats"])["step_size"].transpose("chain", "draw").to_numpy()[0, :draws]
    return found if np.ptp(found) > 0.0 else None


def draws_in_time(tree: "DataTree", draws: int) -> NDArray[np.intp]:
    """Return the draws after warmup at equal intervals of a chain's time: each once, where the step size stays."""
    weight = draw_weights(tree, draws)
    return np.arange(draws) if weight is None else _places_in_time(weight)


def _places_in_time(weight: Array) -> NDArray[np.intp]:
    """Return the draws in whose time a chain is at equal intervals of it, `TURNS` times as many as there are draws."""
    ends, count = np.cumsum(weight), TURNS * weight.size
    return np.searchsorted(ends, (np.arange(count) + 0.5) / count * ends[-1])
