"""What a plan that no linear step can audit does to the posterior: measured, each figure with its Monte Carlo error.

A chain with step size eps has an sd sigma(eps) of each coordinate, and sigma(eps) = sigma (1 + b eps^p + ...) where the
step is of weak order p >= 1. Of two walks, with eps and eps/4, with R = 4,

    log sigma(eps) - log sigma(eps/R) = b eps^p (1 - R^-p) + ...

so that b eps^p is 4/3 of the difference for p = 1 and 16/15 for p = 2: the larger is taken, and likewise of the means.
A step size is taken where no difference is seen that is larger than the share; else it is halved.

Thinning follows from the effective sample sizes of a walk, rank-normalised, of the bulk and of the tails, and of its
sds (Vehtari and others 2021): chains that pass from one mode to another do so at their own pace. Where they do not,
R-hat tells, and nothing is planned.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.planner.bulk import Bulk, settings_of
from recipe_compiler.planner.pilot_chains import CHAINS, Settings, Walker
from recipe_compiler.planner.roles import Open
from recipe_compiler.run.infinitesimal_means import errors_of
from recipe_compiler.run.pilot_figures import PilotFigures
from recipe_compiler.run.suggestions import rounded

Array = NDArray[np.float64]

WANTED, LEAST = 0.5, 0.25
"""Effective draws a draw: what a plan is made for, and what is taken for it without another word."""

TAILS = 0.9
"""The part of the draws between the quantiles that tell the tails."""

DRAWS = 250
"""Of a chain, in walks that tell the pace."""

MOST = 256
"""Times of the bulk from one draw to the next at most."""

AGREE = 1.05
"""The largest R-hat of walks that pass from one end of the bulk to the other."""

SHORTER = 4.0
"""The step size over that of the walk it is compared with."""

FACTOR = SHORTER / (SHORTER - 1.0)
"""The bias of a step of order 1 over the difference of the two."""

ERROR = 0.25
"""The error of a bias that is aimed at, over the share."""

ROUNDS, MORE = 3, 6.0
"""How often a comparison is made longer whose error is larger, and by what factor at most."""

SEEN = 3.5
"""Errors beyond which a difference is no chance: one in 2000."""

HALVINGS = 6
"""How often a step size is halved whose bias is seen to be too large."""

WIDENINGS = (2.0, 1.0, 0.5, 0.25)
"""Sds of the bulk around its mean from which chains are tried: half of the first at which all stay finite is taken."""

STARTS, TRIED = 64, 4
"""Chains that are tried, and draws of each."""

MOST_DRAWS = 5e5
"""Of a chain in a comparison, times coordinates: what memory is good for."""

READ = 3e9
"""Entries of the data that a comparison may read: some ten seconds."""

AFFORDED = 10.0
"""Times as much may be read where chains are slow."""

WARMUP = 20.0
"""Effective draws that are thrown away."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredSettings:
    """Settings, and what walks with them made of the posterior."""

    settings: Settings
    warmup: int
    spread: float
    """Sds of the bulk, in which chains start."""
    measured: PilotFigures


def measure(
    walker: Walker, open_ones: tuple[Open, ...], bulk: Bulk, share: float, names: tuple[str, ...]
) -> MeasuredSettings:
    """Return a step size that keeps to the share, and the thinning that its chains need.

    Raises:
        RunError: chains do not pass from one end of the bulk to the other, or no step size serves; says why.
    """
    settings = settings_of(open_ones, bulk, bulk.eps, bulk.thin)
    for k in range(HALVINGS + 1):
        pace = _paced(walker, bulk, settings, names, seed=100 * (k + 1))
        if pace is not None:
            warmup = math.ceil(WARMUP / pace.counts)
            found = _compared(walker, bulk, pace, share, warmup, seed=100 * (k + 1) + 50)
            if _holds(found, share):
                return _with_room(MeasuredSettings(pace.settings, warmup, pace.spread, found))
        settings = replace(settings, eps=rounded(settings.eps / 2.0), thin=2 * settings.thin)
    raise RunError(
        f"no step size that was tried, at last {settings.eps * 2.0:g}, has every mean and sd of theirs within "
        f"{100.0 * share:g} % of an sd of those with steps {SHORTER:g} times shorter"
    )


def _with_room(found: MeasuredSettings) -> MeasuredSettings:
    """Return settings as they were measured; where seconds do not tell their bias, with steps half as long."""
    if found.measured.is_known:
        return found
    settings = replace(found.settings, eps=found.settings.eps / 2.0, thin=2 * found.settings.thin)
    return replace(found, settings=settings, measured=replace(found.measured, steps=2.0 * found.measured.steps))


@dataclass(frozen=True, slots=True)
class _Pace:
    """How chains go."""

    settings: Settings
    spread: float
    """Sds of the bulk, in which they may start."""
    counts: float
    """What part of their draws counts."""


def _paced(walker: Walker, bulk: Bulk, settings: Settings, names: tuple[str, ...], seed: int) -> _Pace | None:
    """Return settings with as many steps a draw as chains need; None where these leave the finite numbers.

    Raises:
        RunError: chains do not pass from one end of the bulk to the other, or take too long to.
    """
    spread = _started(walker, bulk, settings, seed)
    if spread is None:
        return None
    afforded = AFFORDED * READ / ((1.0 + SHORTER) * DRAWS * CHAINS * walker.entries)
    if settings.thin > afforded:
        raise RunError(
            f"with a step size of {settings.eps:g} a draw takes {settings.thin} steps or more, and in a minute too few "
            "of them are tried"
        )
    most = min(MOST * settings.thin, int(afforded))
    while True:
        # From where windows left them: chains in modes between which they do not pass stay in them, and R-hat tells.
        kept = walker.walked(bulk.theta, settings, DRAWS + DRAWS // 4, seed)[:, DRAWS // 4 :]
        if not np.isfinite(kept).all():
            return None
        shares = effective_shares(kept)
        slowest = int(np.argmin(np.nan_to_num(shares, nan=0.0)))
        counts = float(np.nan_to_num(shares[slowest], nan=0.0))
        if counts >= LEAST or settings.thin >= most:
            break
        factor = 2 ** math.ceil(math.log2(WANTED / max(counts, WANTED / MOST)))
        settings, seed = replace(settings, thin=min(most, factor * settings.thin)), seed + 1
    apart = float(np.max(r_hats(kept)))
    if not apart <= AGREE:
        raise RunError(
            f"{CHAINS} chains of {DRAWS} draws of {settings.thin} steps each do not pass from one end of the bulk to "
            f"the other (R-hat {apart:.3g}; of the draws of {names[slowest]} {100.0 * counts:.2g} % count)"
        )
    return _Pace(settings, spread, max(counts, 1.0 / DRAWS))


def _started(walker: Walker, bulk: Bulk, settings: Settings, seed: int) -> float | None:
    """Return how wide chains may start around the mean of the bulk, in its sds; None where they are lost anyhow."""
    for spread in WIDENINGS:
        if np.isfinite(walker.walked(_starts(bulk, spread, STARTS, seed), settings, TRIED, seed)).all():
            return spread / 2.0
    return None


def _starts(bulk: Bulk, spread: float, chains: int, seed: int) -> Array:
    normals = np.random.default_rng(seed).standard_normal((chains, len(bulk.mean)))
    return bulk.mean + spread * normals @ np.linalg.cholesky(bulk.covariance).T


def _compared(walker: Walker, bulk: Bulk, pace: _Pace, share: float, warmup: int, seed: int) -> PilotFigures:
    """Return how far means and sds of one walk are from those of another with steps a quarter as long.

    Both are made longer until the error of sds is a part of the share, or the data were read as often as they may be.
    """
    aim = ERROR * share
    draws = (FACTOR / aim) ** 2 / (WANTED * CHAINS)
    most = max(
        DRAWS, min(READ / ((1.0 + SHORTER) * pace.settings.thin * CHAINS * walker.entries), MOST_DRAWS / len(bulk.mean))
    )
    found = _difference(walker, bulk, pace, warmup, int(min(draws, most)), seed)
    for k in range(1, ROUNDS):
        known = max(found.sds_within)
        if not known > aim or draws >= most:
            break
        draws = min(most, draws * min(MORE, (1.1 * known / aim) ** 2))
        found = _difference(walker, bulk, pace, warmup, int(draws), seed + 2 * k)
    return found


def _difference(walker: Walker, bulk: Bulk, pace: _Pace, warmup: int, draws: int, seed: int) -> PilotFigures:
    settings = pace.settings
    shorter = replace(settings, eps=settings.eps / SHORTER, thin=int(SHORTER) * settings.thin)
    (mean, sd, mean_error, sd_error), (exact, width, exact_error, width_error) = (
        _figures(walker.walked(_starts(bulk, pace.spread, CHAINS, n), one, warmup + draws, n)[:, warmup:])
        for n, one in ((seed, settings), (seed + 1, shorter))
    )
    return PilotFigures(
        tuple(map(float, mean)),
        tuple(map(float, sd)),
        tuple(map(float, FACTOR * (mean - exact) / width)),
        tuple(map(float, FACTOR * np.hypot(mean_error, exact_error) / width)),
        tuple(map(float, FACTOR * np.log(sd / width))),
        tuple(map(float, FACTOR * np.hypot(sd_error / sd, width_error / width))),
        settings.thin / WANTED,
        CHAINS * draws,
    )


def _figures(draws: Array) -> tuple[Array, Array, Array, Array]:
    """Return means and sds of a walk by coordinate, and the errors of both."""
    mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
    with np.errstate(all="ignore"):
        errors = errors_of(np.concatenate([draws, (draws - mean) ** 2], axis=2))
    return mean, sd, errors[: mean.size], errors[mean.size :] / (2.0 * sd)


def _holds(found: PilotFigures, share: float) -> bool:
    """Whether no bias is seen that is larger than the share."""
    errors = np.concatenate([found.of_means, found.of_sds])
    known = np.concatenate([found.means_within, found.sds_within])
    return bool((np.abs(errors) <= np.maximum(share, SEEN * known)).all())


def effective_shares(draws: Array) -> Array:
    """Return the effective draws a draw by coordinate, the least of bulk, tails and sd; chains x draws x coordinates.

    Ranks do not see how seldom chains go far out into a tail, which means and sds are made of.
    """
    from arviz_stats.base.array import array_stats

    ess = cast("Any", array_stats).ess
    bulk = np.atleast_1d(ess(draws, chain_axis=0, draw_axis=1, method="bulk"))
    tails = np.atleast_1d(ess(draws, chain_axis=0, draw_axis=1, method="tail", prob=TAILS))
    spread = np.atleast_1d(ess(draws, chain_axis=0, draw_axis=1, method="sd"))
    return np.minimum(np.minimum(bulk, tails), spread) / (draws.shape[0] * draws.shape[1])


def r_hats(draws: Array) -> Array:
    """Return R-hat by coordinate, rank-normalised and split; chains x draws x coordinates."""
    from arviz_stats.base.array import array_stats

    return np.atleast_1d(cast("Any", array_stats).rhat(draws, chain_axis=0, draw_axis=1))
