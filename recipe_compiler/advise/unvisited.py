"""After a run: whether the draws are where exp(-U) is: around its modes that searches find, and outside of the draws.

Around a mode theta* with K = Hess U(theta*), B is where (theta - theta*)^T K (theta - theta*) is what it is for most
draws of N(theta*, K^-1). Its mass is a mean over these, Z_B = |2 pi K^-1|^(1/2) E[exp(-(U - w^T K w/2)) 1_B], w being
theta - theta*. `advise/visits.py` says how many draws should be in it, `advise/outside.py` what is outside.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from recipe_compiler.advise.infinitesimal_means import chosen_draws
from recipe_compiler.advise.other_minima import counted, minima
from recipe_compiler.advise.outside import visits_outside
from recipe_compiler.advise.visits import Array, Visited, Visits
from recipe_compiler.errors import RunError
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.differences import curvature, is_definite
from recipe_compiler.run.energies import potential_of
from recipe_compiler.run.gradients import full_gradient
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.map_estimate import DENSE, Mode, Slope, Start, find_mode
from recipe_compiler.run.sample import Draws, potential_place
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.model import Build

DRAWS = 256
"""Draws of the Gaussian around the mode: they give the mass around it within a few per cent."""

SDS = 3.0
"""How far B reaches: the squared distance is so many sds above its mean d."""

READ = 1e6
"""The most entries of data with which modes are looked for: of more a posterior is all but Gaussian, and a search takes
minutes."""

SEARCHES = 1e8
"""Entries of the data that searches for other modes may read, a call of a function from outside being worth `CALL`."""

CALL = 1000.0

ENERGIES = 1e8
"""Entries of the data that may be read for U at the draws."""

EFFECTIVE = 10.0
"""Draws a coordinate, counted as independent ones, from which on their covariance shows what is outside."""

CURE = "Try `init` on both sides, to see whether chains pass between them, or another parameterisation."


def unvisited(
    module: Emitted, build: Build, inputs: Inputs, draws: Draws, names: Sequence[str], starts: Sequence[Start],
    mode: Mode | None = None, lp: Array | None = None,
) -> tuple[Visits, ...]:  # fmt: skip
    """Return what there is of draws around modes of U, and outside of where they are; nothing where none can be said.

    Nothing is said of bounded states, of discrete blocks, which have no mode, of a gradient that is code, and of more
    than `DENSE` coordinates.

    Args:
        module: emitted and imported.
        build: that was run.
        inputs: what its chains were given.
        draws: what was drawn.
        names: of the coordinates of the potential's block.
        starts: where the search for a mode begins, one after another.
        mode: of U, where it is known.
        lp: -U of the draws after warmup, chains x draws; None where it is not known.
    """
    slope, potential = full_gradient(module, inputs), potential_of(module, inputs)
    bounded = any(b.domain.name is not DomainName.REAL for b in build.dynamics.declarations.blocks)
    bounded = bounded or bool(discrete_blocks(build.target.declarations))
    chosen = chosen_draws(inputs, draws)
    if slope is None or potential is None or chosen is None or bounded or inputs.gradient is not None:
        return ()
    theta = draws.arrays[potential_place(module)][np.ix_(*chosen)]
    if theta.shape[2] > DENSE or not np.isfinite(theta).all():
        return ()
    entries = inputs.rows * theta.shape[2]
    mode = mode or (mode_of(slope, starts, names) if entries <= READ else None)
    chains, places = chosen
    energies = None if lp is None else -lp[np.ix_(chains, places - draws.warmup)].ravel()
    return visits(potential, slope, mode, starts, theta, entries, energies)


def mode_of(slope: Slope, starts: Sequence[Start], names: Sequence[str]) -> Mode | None:
    """Return what a search for a mode finds; None where that is nothing."""
    try:
        return find_mode(slope, starts, names)
    except RunError:
        return None


def visits(
    potential: Callable[[Array], float], slope: Slope, mode: Mode | None, starts: Sequence[Start], theta: Array,
    entries: float, energies: Array | None = None,
) -> tuple[Visits, ...]:  # fmt: skip
    """Return what there is of draws around the modes of U that searches find, and outside of where they are.

    Args:
        potential: theta to U.
        slope: theta to grad U.
        mode: of U, None where none was found or looked for.
        starts: where chains would start.
        theta: draws, chains x draws x coordinates.
        entries: of the data, each of which one U reads.
        energies: U at the draws, where it is known.
    """
    flat = np.ascontiguousarray(theta.reshape(-1, theta.shape[2]))
    if energies is None:
        stride = max(1, math.ceil(len(flat) * entries / ENERGIES))
        energies = np.array([potential(one) for one in flat[::stride]])
    effective = _effective(theta)
    visited = Visited.of(flat, energies, effective)
    if visited is None:
        return ()
    found = list[Visits | None]()
    K = None if mode is None else curvature(slope, mode.theta)
    if mode is not None and K is not None and is_definite(K):
        limited = counted(slope, entries + CALL, SEARCHES)
        for k, at in enumerate(minima(limited, mode.theta, K, starts, potential)):
            says = "far away from another" if k else mode.says
            found.append(around_mode(potential, at, curvature(slope, at), visited, says))
    if effective >= EFFECTIVE * theta.shape[2]:
        found.append(visits_outside(potential, slope, visited, entries))
    return tuple(one for one in found if one is not None)


def _effective(theta: Array) -> float:
    """Return how many independent draws the draws are worth in the coordinate in which they are worth least."""
    from arviz_stats.base.array import array_stats

    with np.errstate(all="ignore"):
        ess = np.asarray(cast("Any", array_stats).ess(theta, chain_axis=0, draw_axis=1, method="bulk"))
    return float(np.clip(np.nan_to_num(np.min(ess), nan=1.0), 1.0, theta.shape[0] * theta.shape[1]))


def around_mode(
    potential: Callable[[Array], float], mode: Array, K: Array, visited: Visited, says: str
) -> Visits | None:
    """Return what part of the draws is around a mode, beside what part has to be there; None where it is no mode.

    Args:
        potential: theta to U.
        mode: a minimum of it, d numbers.
        K: the Hessian of U there, d x d.
        visited: where the draws are.
        says: where the search for the mode began.
    """
    d = len(mode)
    if not is_definite(K):
        return None
    root = np.linalg.cholesky(K)
    reach = d + SDS * math.sqrt(2.0 * d)
    z = np.random.default_rng(0).standard_normal((DRAWS, d))
    length = (z**2).sum(axis=1)
    at = mode + np.linalg.solve(root.T, z.T).T
    own = potential(np.ascontiguousarray(mode))
    with np.errstate(all="ignore"):
        rises = np.array([potential(np.ascontiguousarray(theta)) for theta in at]) - own
        within = np.where(length <= reach, np.exp(length / 2.0 - rises), 0.0)
        log_held = math.log(max(float(np.nan_to_num(within).mean()), 1e-300))
        log_held += (d * math.log(2.0 * math.pi) - np.linalg.slogdet(K)[1]) / 2.0 - own
    if not math.isfinite(log_held):
        return None
    inside = (((visited.draws - mode) @ root) ** 2).sum(axis=1) <= reach
    region = f"a mode of U, found by a search from {says}"
    return Visits(visited.share(log_held), float(inside.mean()), region, "around it", CURE)
