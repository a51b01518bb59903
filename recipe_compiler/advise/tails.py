"""How fast the tails of what is sampled fall off: whether a coordinate has an sd, and its sd a Monte Carlo error.

Both go by the shape k of a generalised Pareto law: moments of order 1/k and more are integrals that do not converge.
Student's t has k = 1/dof. It is fitted to the draws farthest out (Vehtari and others 2024), which few runs have enough
of; and where U itself grows along a coordinate as a log(|theta_i|), so that exp(-U) falls off as the power -a, it is
1/(a - 1) at least, whatever the draws say.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.map_estimate import Slope
from recipe_compiler.run.posterior_numbers import (
    BOUNDED,
    CONSTRAINT,
    MAX_R_HAT,
    Row,
    Standing,
    columns_of,
    is_discrete,
    sampled_block,
    varying,
)
from recipe_compiler.run.sample import Draws

if TYPE_CHECKING:
    from xarray import DataTree

NO_SD = 0.5
"""The shape from which on there is no second moment."""

NO_ERROR = 0.25
"""The shape from which on there is no fourth, by which the error of an sd is known."""

TELLING = 400.0
"""Effective draws of a coordinate that tell the shape of its tails."""

FAR = (1e4, 1e6, 1e8)
"""How many sds out U is looked at: its slope along a coordinate times the distance is there the power, or grows."""

ALIKE = 0.01
"""Within which relative difference it is a power."""

ENTRIES = 1e5
"""Entries of the data that a gradient reads where all have more."""

MOST_COORDINATES = 200
"""With more, U is not examined."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The heavier tail of a coordinate: Pareto's shape k, moments of order 1/k and more being infinite."""

    name: str
    shape: float
    """Pareto's k."""
    by_draws: bool
    """Whether draws say so, else U."""

    @property
    def says(self) -> str:
        """The shape, and by what."""
        return f"Pareto's k of them is {self.shape:.2f} by {'the draws' if self.by_draws else 'the slope of U far out'}"


def powers(sampler: Sampler, draws: Draws) -> tuple[float, ...]:
    """Return Pareto's k of each coordinate by how U grows far out along it; 0 where faster than a logarithm.

    exp(-U) ~ |theta_i|**-a, that is theta_i dU/dtheta_i -> a, has k = 1/(a - 1). Empty where the state is bounded,
    there are many coordinates, or the module has no gradient of all data. Of much data a sample is looked at first: a
    tail that is light there is light.
    """
    slope, theta = sampler.slope, sampler.theta(draws)[:, draws.warmup :]
    many = theta.shape[2] > MOST_COORDINATES
    if slope is None or sampler.bounded or many or not theta.size or not np.isfinite(theta).all():
        return ()
    centre, sd = theta.mean(axis=(0, 1)), theta.std(axis=(0, 1))
    by_batches = sampler.module.variant == "minibatch" and sampler.inputs.gradient is None
    of_few = sampler.gradients.of_few(ENTRIES) if by_batches else None
    shapes = tuple(powers_along(of_few or slope, centre, sd))
    return shapes if of_few is None or not any(shapes) else tuple(powers_along(slope, centre, sd))


def powers_along(slope: Slope, centre: Array, sd: Array) -> Iterator[float]:
    """Yield Pareto's k of the heavier tail of each coordinate, the others at the centre.

    Args:
        slope: grad U.
        centre: of the draws.
        sd: of each coordinate, the unit of distances.
    """
    for k, unit in enumerate(np.eye(len(centre))):
        out = np.array([[sign * far * (sd[k] or 1.0) for far in FAR] for sign in (-1.0, 1.0)])
        with np.errstate(all="ignore"):
            slopes = np.array([[slope(centre + step * unit)[k] for step in side] for side in out])
        yield max(power(*side) for side in zip(slopes, out, strict=True))


def power(slopes: Array, distances: Array) -> float:
    """Return Pareto's k of a tail from the slopes of U at some distances out: 1/(a - 1) where slope * distance -> a.

    0 where that does not settle, as U then grows faster than a logarithm; infinite for a <= 1. Student's law with nu
    degrees has U = (nu + 1) log|x| far out, a = nu + 1 and k = 1/nu.
    """
    with np.errstate(over="ignore"):  # of exp(theta), say, which has no tail
        found = slopes * distances
    if not (np.isfinite(found).all() and np.ptp(found) <= ALIKE * max(1.0, float(np.abs(found).max()))):
        return 0.0
    return 1.0 / (found[-1] - 1.0) if found[-1] > 1.0 + ALIKE else math.inf


def heavy_tails(
    tree: "DataTree", draws: Draws, rows: tuple[Row, ...], over: Standing, of_potential: tuple[float, ...] = ()
) -> tuple[Tail, ...]:
    """Return the tails of coordinates whose sd has no Monte Carlo error, or that have no sd, the heaviest first.

    k >= 1/4: no fourth moment, so that the error of an sd is infinite; k >= 1/2: no variance. k is fitted to the draws
    farthest out (Vehtari et al. 2024), or comes from U. A block with a transform is judged in its unbounded variable:
    log tau of a lognormal tau, whose own tail looks heavy and has every moment. If that is heavy, the block itself is
    judged as well. A share, or a block between two numbers, is bounded and has every moment, however far its logit
    goes.

    Args:
        tree: the draws, as they are stored.
        draws: what was drawn.
        rows: the summary.
        over: the draws it is over.
        of_potential: k by U (`powers`).
    """
    from arviz_stats.base.array import array_stats

    own = sampled_block(tree, draws)
    blocks = tuple(cast("Any", tree["posterior"]).data_vars.values())
    matrices = any(CONSTRAINT in block.attrs and block.ndim == 4 for block in blocks)  # entries are no variables
    if own is None or matrices or not rows:
        return ()
    count = draws.block(own).shape[2]  # what is sampled stands before what is derived
    moving = varying(tree)[:count]
    light = [is_discrete(b) or BOUNDED in b.attrs for b in blocks for _ in range(math.prod(b.shape[2:]))]
    if sum(moving) > len(rows):
        return ()
    kept = draws.block(own)[list(over.chains), draws.warmup : draws.warmup + over.length]
    declared = np.concatenate([columns_of(block) for block in blocks], axis=2)

    def fit(draws_of: Array) -> float:
        return float(cast("Any", array_stats).pareto_khat(draws_of, chain_axis=0, draw_axis=1))

    found = list[Tail]()
    for k, row in zip((k for k, moves in enumerate(moving) if moves), rows, strict=False):
        if light[k]:  # U has no slope along counts
            continue
        by_draws, by_slope = 0.0, of_potential[k] if of_potential else 0.0
        if row.value("ess_bulk") >= TELLING and row.value("r_hat") <= MAX_R_HAT:
            by_draws = fit(kept[:, :, k])
            by_draws = min(by_draws, fit(declared[:, :, k])) if by_draws > NO_ERROR else by_draws
        if (shape := max(by_slope, by_draws)) > NO_ERROR:
            found.append(Tail(row.name, shape, by_draws > by_slope))
    return tuple(sorted(found, key=lambda tail: -tail.shape))
