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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.show import text
from recipe_compiler.run.chain import Array
from recipe_compiler.run.data import field_rows
from recipe_compiler.run.energies import LARGEST, at_draws
from recipe_compiler.run.evaluate import Point, evaluate, evaluate_rows
from recipe_compiler.run.gradients import of_state
from recipe_compiler.run.posterior_numbers import draw_weights, stored_standing
from recipe_compiler.run.sample import Draws, known_values, laid_out_fields
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import VALUE, Build, Data, Law, Score

if TYPE_CHECKING:
    from xarray import DataTree

    from recipe_compiler.run.stages import Ready

PARTS = 20
"""Scores are of the first 1/20, 2/20, ... of the draws."""

MOST_GROUPS = 20
"""More chains are left out together, in as many groups."""

NODES = 10
"""Points of the Gauss-Legendre rule in each bin."""

INTERVALS = 20
"""Of equal probability: those in which it is looked how fast draws come and go."""

SEEN = 1e-3
"""Less that is outside of a range is not said."""

GROUP = "scores"


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


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A score whose law is known in numbers."""

    score: Score
    arguments: tuple[Array, ...] = ()
    shares: Array | None = None
    """What the law has in each bin, given that it is in one of them."""
    beyond: float = math.nan
    """What it has outside of the range; NaN where that is not known."""


def demand_scores(build: Build, data: Data) -> tuple[Reference, ...]:
    """Return the scores of a build with their laws in numbers.

    Raises:
        RunError: parameters of a law that are none; a density that is negative, not finite, or zero in the range.
    """
    sizes = resolve_sizes(build, data)
    return tuple(_reference(one, build, data, sizes) for one in build.scores)


def _reference(score: Score, build: Build, data: Data, sizes: Mapping[str, int]) -> Reference:
    if score.law is None:
        if data.test is None:
            hint = "a `test` section, or the fields of `test=` in Python"
            raise RunError(f"scores.{score.name}: found no rows that are held out, expected {hint}")
        return Reference(score)
    at = Point(known_values(build, sizes) | _all_rows(score, build, data, sizes), sizes)
    edges = np.linspace(*score.range, score.bins + 1)
    if not isinstance(score.law, Law):
        return Reference(score, shares=_shares(score, edges, at))
    arguments = tuple(evaluate(one, at) for one in score.law.arguments)
    for name, argument in zip(_POSITIVE.get(score.law.name, ()), arguments, strict=False):
        if name and not (argument > 0).all():
            raise RunError(f"scores.{score.name}: found {argument.min():g} as {name} of {score.law.name}, expected > 0")
    if score.law.name == "Uniform" and not (arguments[0] < arguments[1]).all():
        raise RunError(f"scores.{score.name}: found ends of Uniform out of order, expected a < b")
    if score.kind == "ks":
        return Reference(score, arguments)
    below = uniforms(score.law.name, edges[:, None], arguments)[:, 0]
    inside = float(below[-1] - below[0])
    if not inside > 0:
        raise RunError(f"scores.{score.name}: found no mass of {score.law.name} in range, expected some")
    return Reference(score, arguments, np.diff(below) / inside, 1.0 - inside)


def _all_rows(score: Score, build: Build, data: Data, sizes: Mapping[str, int]) -> dict[str, Array]:
    """Return the fields of the data that the law of a score names, each as the matrix of its rows."""
    named = {name for formula in score.formulas for name in dependence(formula).parameters}
    declared = (build.target.declared or build.target).declarations
    fields = [field for field in data.fields if field.name in named]
    return {f.name: field_rows(declared, f.name, f.values, sizes).reshape(len(f.values), -1) for f in fields}


def _shares(score: Score, edges: Array, at: Point) -> Array:
    """Return the shares of bins by an unnormalised density, by Gauss-Legendre in each."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2.0
    places = edges[:-1, None] + half * (1.0 + nodes)
    density = evaluate_rows(cast("Any", score.law), at, {VALUE.name: places.reshape(-1, 1, 1)}).reshape(-1)
    density = np.broadcast_to(density, places.size)
    wrong = np.flatnonzero(~(np.isfinite(density) & (density >= 0.0)))
    if wrong.size or not density.any():
        k = wrong[0] if wrong.size else 0
        found = f"found {density[k]:g} as the density of {text(cast('Any', score.of))} at {places.ravel()[k]:g}"
        raise RunError(f"scores.{score.name}: {found}, expected a number >= 0, above 0 somewhere in the range")
    mass = (density.reshape(places.shape) * weights * half).sum(axis=1)
    return mass / mass.sum()


def add_scores(ready: "Ready", tree: "DataTree", draws: Draws, gradients: float) -> None:
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
    declared = (build.target.declared or build.target).declarations.blocks
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
    tree[GROUP] = xarray.DataTree(xarray.Dataset(variables, coords=coords))


def _ks(one: Reference, drawn: Array, parts: Parts) -> tuple[Array, dict[str, float]]:
    law = cast("Law", one.score.law)
    flat = uniforms(law.name, drawn.reshape(*drawn.shape[:2], -1), one.arguments)
    columns = np.moveaxis(flat, 2, 0)
    worth = [_effective(own) for own in columns]
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
    worth = 1.0 / np.mean([1.0 / _effective(drawn, method="local", prob=own) for own in pairwise(ends)])
    known = {"floor": (np.count_nonzero(worth * shares >= 1.0) - 1) / (2.0 * worth)}
    known["outside"] = 1.0 - counts[0, -1].sum() / parts.weight.sum()
    return found, known | ({} if math.isnan(one.beyond) else {"law_outside": one.beyond})


def _log_predictive(ready: "Ready", states: Sequence[Array], parts: Parts) -> tuple[Array, dict[str, float]]:
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


def _effective(values: Array, **how: object) -> float:
    """Return the effective sample size of `[chain, draw]`, NaN where there is none."""
    from arviz_stats.base.array import array_stats

    with np.errstate(all="ignore"):
        found = float(cast("Any", array_stats).ess(values, chain_axis=0, draw_axis=1, **how))
    return found if found > 0.0 else math.nan


_POSITIVE: Mapping[str, tuple[str, ...]] = {
    "Gamma": ("shape", "rate"), "InverseGamma": ("shape", "scale"), "Exponential": ("rate",),
    "LogNormal": ("", "v"), "Beta": ("a", "b"), "Dirichlet": ("alpha", "b"),
}  # fmt: skip
"""The parameters of laws that are positive."""


def uniforms(law: str, x: Array, arguments: tuple[Array, ...]) -> Array:
    """Return the Rosenblatt transform `[..., k]` of `x`, `[..., n]`: independent and uniform where x has the law.

    Entry by entry F(x_i) where these are independent. Of N(m, cov) the entries of L^-1 (x - m), cov = L L^T. Of shares
    with a Dirichlet law x_i/(x_i + ... + x_n) ~ Beta(a_i, a_(i+1) + ... + a_n), given those before.

    Raises:
        RunError: a covariance that is not positive definite.
    """
    from scipy import special

    if law == "N":
        m, cov = arguments[0].reshape(-1), np.atleast_2d(arguments[1])
        try:
            root = np.linalg.cholesky(cov)
        except np.linalg.LinAlgError as error:
            raise RunError("scores: found a covariance of N that is not positive definite") from error
        return special.ndtr(np.linalg.solve(root, (x - m).reshape(-1, m.size).T).T.reshape(x.shape))
    if law == "Dirichlet":
        a = np.concatenate([one.reshape(-1) for one in arguments])
        x = x if len(arguments) == 1 else np.concatenate([x, 1.0 - x.sum(axis=-1, keepdims=True)], axis=-1)
        left, rest = (np.flip(np.cumsum(np.flip(own, -1), -1), -1) for own in (x, a))
        share = np.divide(x[..., :-1], left[..., :-1], out=np.zeros_like(x[..., :-1]), where=left[..., :-1] > 0.0)
        return special.betainc(a[:-1], rest[1:], share)
    with np.errstate(all="ignore"):
        return _DISTRIBUTIONS[law](special, x, *(one.reshape(-1) for one in arguments))


_DISTRIBUTIONS: Mapping[str, Callable[..., Array]] = {
    "Gamma": lambda s, x, shape, rate: s.gammainc(shape, np.maximum(rate * x, 0.0)),
    "InverseGamma": lambda s, x, shape, scale: s.gammaincc(shape, scale / np.maximum(x, 0.0)),
    "Exponential": lambda _, x, rate: -np.expm1(-np.maximum(rate * x, 0.0)),
    "LogNormal": lambda s, x, m, v: s.ndtr((np.log(np.maximum(x, 0.0)) - m) / np.sqrt(v)),
    "Beta": lambda s, x, a, b: s.betainc(a, b, np.clip(x, 0.0, 1.0)),
    "Uniform": lambda _, x, a, b: np.clip((x - a) / (b - a), 0.0, 1.0),
}
"""Distribution functions, entry by entry."""


def scores_said(tree: "DataTree") -> Iterator[str]:
    """Yield each score of a run, of all its draws, in a line."""
    yield from (f"score {name}: {says_score(score)}" for name, score in final_scores(tree).items())


def says_score(score: Mapping[str, float]) -> str:
    """Return a score in words, as `final_scores` has it."""
    error = f" +- {score['error']:.1g}" if math.isfinite(score["error"]) else ""
    floor = f" (floor {score['floor']:.2g})" if "floor" in score else ""
    beyond = (("of draws", score.get("outside", 0.0)), ("of the law", score.get("law_outside", 0.0)))
    outside = " and ".join(f"{100 * share:.2g} % {what}" for what, share in beyond if share > SEEN)
    floor += f" (perplexity {score['perplexity']:.4g})" if "perplexity" in score else ""
    return f"{score['value']:.4g}{error}{floor}" + (f"; {outside} outside of its range" if outside else "")


def final_scores(tree: "DataTree") -> dict[str, dict[str, float]]:
    """Return name to what is known of a score of all draws of a run: value, error, floor."""
    if GROUP not in tree.children:
        return {}
    group = cast("Any", tree[GROUP])
    return {
        str(name): {"value": float(own[-1]), "error": float(group[f"{name}_error"][-1]),
                    **{key: float(value) for key, value in own.attrs.items() if key != "kind"}}
        for name, own in group.data_vars.items() if "kind" in own.attrs
    }  # fmt: skip
