"""Scores of a run: distances of its draws to stated laws, of all draws and of the first parts of every chain.

    ks              sup |F_n - F| of a number; of a vector the mean over the uniform numbers of its Rosenblatt transform
                    (1952), one of which is left out of Dirichlet shares, whose sum is known
    kl              sum_b f_b log(f_b/p_b) = KL(draws || law), f and p the shares of the bins of an interval
    log_predictive  mean over the rows under `test` of log (1/S) sum_s p(row | theta_s)

Draws count by the step size where it falls along a chain. Errors are those of the jackknife over chains. What draws of
the law itself would have is the floor: (b - 1)/(2 n) of `kl`, for the b bins in which one draw is expected or more, and
sqrt(pi/2) log(2)/sqrt(n) = .869/sqrt(n) of `ks`. n is the effective sample size, of `ks` in bulk, of `kl` that of
whether a draw is between two quantiles, the harmonic mean over intervals (Vehtari and others 2021). No score has a part
in trust.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.run.energies import LARGEST, at_draws
from recipe_compiler.run.gradients import of_state
from recipe_compiler.run.posterior_numbers import SCORES, draw_weights, effective_size, stored_standing
from recipe_compiler.run.sample import Draws, laid_out_fields
from recipe_compiler.run.score_laws import Reference, uniforms
from recipe_compiler.run.stages import Ready
from recipe_compiler.spec.model import Data, Law

if TYPE_CHECKING:
    from xarray import DataTree

PARTS = 20
"""Scores are of the first 1/20, 2/20, ... of the draws."""

MOST_GROUPS = 20
"""More chains are left out together, in as many groups."""

INTERVALS = 20
"""Of equal probability: those in which it is looked how fast draws come and go."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The draws of chains one after another, and sums over parts of them, with and without each group of chains."""

    segment: NDArray[np.intp]
    """Of each draw: its group of chains, and the part in which it comes first."""
    weight: Array
    sums: Array
    """[1 + groups, part, segment]: which segments a sum is over; the first is over all groups."""
    ends: Array
    """How many draws of a chain the parts have."""

    @classmethod
    def of(cls, chains: int, draws: int, weight: Array | None) -> "Parts":
        """Return the parts of so many draws of each chain; `weight` is that of each draw of one, None where it is 1."""
        ends = np.unique(np.maximum(1, np.arange(1, PARTS + 1) * draws // PARTS))
        groups = min(chains, MOST_GROUPS)
        group, part = np.arange(chains) * groups // chains, np.searchsorted(ends, np.arange(1, draws + 1))
        so_far = np.tri(ends.size)  # [part, segment of a chain]
        others = 1.0 - np.eye(groups) if groups > 1 else np.empty((0, 1))
        sums = np.einsum("ag,pq->apgq", np.vstack([np.ones(groups), others]), so_far)
        segment = (group[:, None] * ends.size + part).ravel()
        own = np.tile(np.ones(draws) if weight is None else weight, chains)
        return cls(segment, own, sums.reshape(len(sums), ends.size, -1), ends)

    def over_bins(self, place: Array, bins: int) -> Array:
        """Return the weight of draws in each bin, `[..., bin]`; a draw whose place is `bins` is in none."""
        own = np.bincount(self.segment * (bins + 1) + place, self.weight, self.sums.shape[2] * (bins + 1))
        return self.sums @ own.reshape(-1, bins + 1)[:, :bins]

    def kolmogorov_smirnov(self, uniform: Array) -> Array:
        """Return sup |F_n(u) - u| of one uniform number."""
        order = np.argsort(uniform)
        u, segment, weight = uniform[order], self.segment[order], self.weight[order]
        found = np.empty(self.sums.shape[:2])
        for place in np.ndindex(found.shape):
            own = self.sums[place][segment] * weight
            below = np.cumsum(own)
            found[place] = max(np.max(below / below[-1] - u), np.max(u - (below - own) / below[-1]))
        return found

    def table(self, found: Array) -> tuple[Array, Array]:
        """Return a score of all parts, and its standard error by the jackknife over groups; NaN of one chain."""
        value, left = found[0], found[1:]
        if not len(left):
            return value, np.full_like(value, np.nan)
        return value, np.sqrt((len(left) - 1) * left.var(axis=0))


def add_scores(ready: Ready, tree: "DataTree", draws: Draws, gradients: float) -> None:
    """Add the group `scores` to the tree of a run: every score, its error and its floor, by draws, steps and seconds.

    Args:
        ready: the run.
        tree: its draws.
        draws: the same, as they were drawn.
        gradients: of one step; 0 where it has none.
    """
    over, build = stored_standing(tree), ready.run.build
    if not ready.run.scores or not over.length:
        return
    import xarray

    posterior = cast("Any", tree["posterior"])
    declared = build.target.as_declared.declarations.blocks
    blocks = {b.name: posterior[b.name].transpose("chain", "draw", ...).to_numpy().astype(float) for b in declared}
    states = [own[list(over.chains), draws.warmup :][:, : over.length] for own in draws.arrays]
    parts = Parts.of(len(over.chains), over.length, draw_weights(tree, over.length))
    variables: dict[str, Any] = {}
    for one in ready.run.scores:
        if one.score.of is None:
            found, known = _log_predictive(ready, states, parts)
        else:
            drawn = at_draws(one.score.of, build, blocks, dict(draws.sizes))
            found, known = (_ks if one.score.kind == "ks" else _kl)(one, drawn, parts)
        value, error = parts.table(found)
        variables[one.score.name] = ("draws", value, {"kind": one.score.kind, **known})
        variables[f"{one.score.name}_error"] = ("draws", error)
    every = draws.warmup + parts.ends
    seconds = draws.processor_seconds * every / (draws.warmup + over.length)
    coords = {"draws": parts.ends * len(over.chains), "steps": ("draws", every * draws.settings.thin)}
    coords |= {"seconds": ("draws", seconds), "gradients": ("draws", every * draws.settings.thin * gradients)}
    tree[SCORES] = xarray.DataTree(xarray.Dataset(variables, coords=coords))


def _ks(one: Reference, drawn: Array, parts: Parts) -> tuple[Array, dict[str, float]]:
    law = cast("Law", one.score.law)
    flat = uniforms(law.name, drawn.reshape(*drawn.shape[:2], -1), one.arguments)
    columns = np.moveaxis(flat, 2, 0)
    worth = effective_size(flat)
    floor = math.sqrt(math.pi / 2.0) * math.log(2.0) * float(np.mean(1.0 / np.sqrt(worth)))
    return np.mean([parts.kolmogorov_smirnov(own.ravel()) for own in columns], axis=0), {"floor": floor}


def _kl(one: Reference, drawn: Array, parts: Parts) -> tuple[Array, dict[str, float]]:
    score, shares = one.score, cast("Array", one.shares)
    low, high = score.range
    place = np.floor((drawn - low) / (high - low) * score.bins).ravel()
    place[drawn.ravel() == high] = score.bins - 1
    place = np.where((place >= 0) & (place < score.bins), place, score.bins).astype(np.int64)
    from scipy.special import rel_entr

    counts = parts.over_bins(place, score.bins)
    with np.errstate(all="ignore"):
        found = rel_entr(counts / counts.sum(axis=-1, keepdims=True), shares).sum(axis=-1)
    ends = np.linspace(0.0, 1.0, INTERVALS + 1)
    worth = 1.0 / np.mean([1.0 / effective_size(drawn, method="local", prob=own) for own in pairwise(ends)])
    known = {"floor": (np.count_nonzero(worth * shares >= 1.0) - 1) / (2.0 * worth)}
    known["outside"] = 1.0 - counts[0, -1].sum() / parts.weight.sum()
    return found, known | ({} if math.isnan(one.beyond) else {"law_outside": one.beyond})


def _log_predictive(ready: Ready, states: Sequence[Array], parts: Parts) -> tuple[Array, dict[str, float]]:
    """Return the mean log predictive density of the held-out rows, some rows at a time."""
    run, test = ready.run, cast("Data", ready.run.data.test)
    count = parts.segment.size
    flat = [own.reshape(count, -1) for own in states]
    names, each = [name for name, _ in run.module.blocks], max(1, LARGEST // (8 * count))
    mass = parts.sums @ np.bincount(parts.segment, parts.weight, parts.sums.shape[2])
    total = np.zeros(mass.shape)
    for first in range(0, test.rows, each):
        rows = {name: np.ascontiguousarray(own[first : first + each]) for name, own in test.arrays.items()}
        fields = laid_out_fields(run.module, rows)
        call = of_state(run.module, replace(ready.inputs, data=fields), run.module.log_likelihood)
        logs = np.array([call(dict(zip(names, state, strict=True))) for state in zip(*flat, strict=True)])
        most = logs.max(axis=0)
        own = np.zeros((parts.sums.shape[2], logs.shape[1]))
        np.add.at(own, parts.segment, np.exp(logs - most) * parts.weight[:, None])
        with np.errstate(divide="ignore"):
            total += (np.log(parts.sums @ own / mass[..., None]) + most).sum(axis=-1)
    found = total / test.rows
    stated = run.build.target.stated.densities
    if not any(DENSITIES[one.name].discrete for one in stated if one.entry == "log_likelihood"):
        return found, {}
    return found, {"perplexity": math.exp(-found[0, -1])}
