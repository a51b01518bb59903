"""The posterior in numbers, by ArviZ, over the chains that stand."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.constraints import Constraint, is_fixed
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.schedule import weights

if TYPE_CHECKING:
    from xarray import DataTree

COLUMNS = ("mean", "sd", "ess_bulk", "ess_tail", "r_hat", "mcse_mean")
"""The columns of a summary, in order."""

LEAST_DRAWS = 4
"""R-hat splits every chain in two halves of two draws or more."""

MAX_R_HAT = 1.01
"""The largest R-hat of chains that agree (Vehtari and others 2021)."""

CONSTRAINT = "constraint"
"""The attribute of a variable in files that says which set it lies in as a whole."""


@dataclass(frozen=True, slots=True)
class Row:
    """One coordinate of the target: its name and the values of `COLUMNS`."""

    name: str
    values: tuple[float, ...]

    def value(self, column: str) -> float:
        """Return the value of one column."""
        return self.values[COLUMNS.index(column)]


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


def whole_chains(tree: "DataTree") -> list[int]:
    """Return the places in `posterior` of the chains that stand; files of before have others in it, with NaN."""
    posterior, fallen = cast("Any", tree["posterior"]), fallen_chains(tree)
    blocks = [array.transpose("chain", "draw", ...).to_numpy() for array in posterior.data_vars.values()]
    finite = finite_draws(blocks, (posterior.sizes["chain"], posterior.sizes["draw"]))
    chains = enumerate(posterior["chain"].to_numpy())
    return [k for k, chain in chains if finite[k].all() and int(chain) not in fallen]


def fallen_chains(tree: "DataTree") -> tuple[int, ...]:
    """Return the chains that have draws that are not finite, or fewer than the others as they diverged."""
    if "diverged_posterior" not in tree.children:
        return ()
    return tuple(int(chain) for chain in cast("Any", tree["diverged_posterior"])["chain"].to_numpy())


def finite_draws(blocks: Iterable[NDArray[np.float64]], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return which draws of `[chain, draw]` are finite in every coordinate of every block."""
    found = np.ones(shape, dtype=bool)
    for values in blocks:
        found &= np.isfinite(values).reshape(*shape, -1).all(axis=2) if values.size else True
    return found


def rows_of(tree: "DataTree", draws: Draws, over: Standing) -> Iterator[Row]:
    """Yield mean, sd, rank-normalised ESS and R-hat, and mcse of every coordinate (Vehtari et al. 2021, by ArviZ).

    R-hat compares the variance between (split) chains with that within them (Gelman and Rubin 1992); for one chain it
    compares its halves. Draws weighted by their step size have weighted means and sds. Left out are entries that are
    constant on the set their block lies in, and entries of discrete blocks that never change.
    """
    if over.length < LEAST_DRAWS:
        return
    import arviz_stats
    from arviz_stats.base.array import array_stats

    posterior = tree["posterior"]
    with np.errstate(all="ignore"):
        table = cast("Any", arviz_stats).summary(posterior, kind="all", round_to="none")  # "none": in full
        columns = np.concatenate([columns_of(array) for array in cast("Any", posterior).data_vars.values()], axis=2)
        weighted = _weighted(columns, draws)
        halves = None
        if len(over.chains) == 1 and over.length >= 2 * LEAST_DRAWS:
            half = columns[:, : over.length // 2 * 2].reshape(2, over.length // 2, -1)
            halves = np.atleast_1d(cast("Any", array_stats).rhat(half, chain_axis=0, draw_axis=1))
    varies = varying(tree)
    for k, name in enumerate(table.index):
        if not varies[k]:
            continue
        row = {column: float(table.loc[name, column]) for column in COLUMNS} | weighted[k]
        if halves is not None:
            row["r_hat"] = float(halves[k])
        yield Row(str(name), tuple(row.values()))


def varying(tree: "DataTree") -> list[bool]:
    """Return, for every coordinate of the posterior, whether it has a row of numbers."""
    return [moves for array in cast("Any", tree["posterior"]).data_vars.values() for moves in _varies(array)]


def is_discrete(array: Any) -> bool:
    """Whether a variable is a discrete block, stored as integers."""
    return array.dtype.kind == "i"


def _varies(array: Any) -> Iterator[bool]:
    """Yield of every coordinate of a variable whether the set that it lies in, or its draws, leave it free."""
    if is_discrete(array):
        yield from np.ptp(columns_of(array), axis=(0, 1)) > 0
        return
    sizes = array.shape[2:]
    constraint = Constraint(array.attrs[CONSTRAINT]) if CONSTRAINT in array.attrs and len(sizes) == 2 else None
    for at in np.ndindex(*sizes):
        yield constraint is None or not is_fixed(constraint, at[0], at[1])


def columns_of(array: Any) -> NDArray[np.float64]:
    """Return a variable as `[chain, draw, coordinate]`."""
    values = array.transpose("chain", "draw", ...).to_numpy()
    return values.reshape(*values.shape[:2], math.prod(values.shape[2:]))


def _weighted(columns: NDArray[np.float64], draws: Draws) -> list[dict[str, float]]:
    """Return mean and sd of each coordinate with draws weighted by their step size; nothing where all have one."""
    step_sizes = weights(draws.settings, draws.warmup + columns.shape[1])
    if step_sizes is None:
        return [{} for _ in range(columns.shape[2])]
    weight = np.tile(step_sizes[draws.warmup :], columns.shape[0])
    flat = columns.reshape(-1, columns.shape[2])
    means = np.average(flat, axis=0, weights=weight)
    sds = np.sqrt(np.average((flat - means) ** 2, axis=0, weights=weight))
    return [{"mean": float(m), "sd": float(sd)} for m, sd in zip(means, sds, strict=True)]
