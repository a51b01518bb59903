"""What a plan that no linear step can audit does to the posterior: measured, each figure with its Monte Carlo error.

A chain with step size eps has an sd sigma(eps) of each coordinate, and sigma(eps) = sigma (1 + b eps^p + ...) where the
step is of weak order p >= 1. Two walks, with eps and eps/4, give for R = 4

    log sigma(eps) - log sigma(eps/R) = b eps^p (1 - R^-p) + ...

so that b eps^p is 4/3 of the difference for p = 1 and 16/15 for p = 2: the larger is taken, and likewise of the means.
A step size is taken where no difference larger than the share is found; else it is halved.

Thinning follows from the effective sample sizes of a walk, rank-normalised, of the bulk and of the tails, and of its
sds (Vehtari and others 2021): chains that pass from one mode to another do so at their own pace. Where they do not,
R-hat shows it, and nothing is planned.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from recipe_compiler.advise.bulk import Bulk, settings_of
from recipe_compiler.advise.chosen import PilotFigures
from recipe_compiler.advise.moments import (
    AGREE,
    LEAST,
    WANTED,
    Difference,
    Moments,
    apart,
    effective_shares,
    moments_of,
    r_hats,
)
from recipe_compiler.advise.pilots import CHAINS, Pilots, Settings
from recipe_compiler.advise.roles import Open
from recipe_compiler.advise.suggestions import rounded
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array

DRAWS = 250
"""Draws of a chain, in walks that measure the pace."""

MOST = 256
"""Times of the bulk from one draw to the next at most."""

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
"""How often a step size with too large a bias is halved."""

HALVINGS_BESIDE = 2
"""The same beside chains that are exact: where a quarter of the first does not agree with them, there is a neck that
takes ever shorter ones."""

WIDENINGS = (2.0, 1.0, 0.5, 0.25)
"""Sds of the bulk around its mean from which chains are tried: half of the first at which all stay finite is taken."""

STARTS, TRIED = 64, 4
"""Chains that are tried, and draws of each."""

MOST_DRAWS = 5e5
"""Draws of a chain in a comparison, times coordinates: what memory allows."""

READ = 1.5e9
"""Entries of the data that a comparison may read: some ten seconds."""

AFFORDED = 20.0
"""Times as much may be read where chains are slow."""

WARMUP = 20.0
"""Effective draws that are thrown away."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredSettings:
    """Settings, and what walks with them did to the posterior."""

    settings: Settings
    warmup: int
    spread: float
    """Sds of the bulk, in which chains start."""
    measured: PilotFigures
    moments: Moments
    """Moments of the walk."""


def measure(
    walker: Pilots, open_ones: tuple[Open, ...], bulk: Bulk, share: float, names: tuple[str, ...],
    exact: Moments | None = None,
) -> MeasuredSettings:  # fmt: skip
    """Return a step size whose bias keeps to the share, and the thinning that its chains need.

    sigma(eps) = sigma (1 + b eps**p + ...), so of walks with eps and eps/4, log sigma(eps) - log sigma(eps/4) = b
    eps**p (1 - 4**-p): the bias is at most 4/3 of the difference for p >= 1, likewise of means. eps is halved while a
    difference larger than the share is found. Thinning is from rank-normalised effective sample sizes (Vehtari et al.
    2021).

    Args:
        walker: of the build.
        open_ones: the parameters to be chosen.
        bulk: where its chains are.
        share: what part of an sd means and sds may be off.
        names: of the coordinates.
        exact: moments of chains with exactly the target's law, if there are any: a walk has to agree with them too.

    Raises:
        RunError: chains do not pass from one end of the bulk to the other, or no step size is small enough; says why.
    """
    agrees = True
    settings = settings_of(open_ones, bulk, bulk.eps, bulk.thin, walker.damping)
    for k in range((HALVINGS if exact is None else HALVINGS_BESIDE) + 1):
        pace = _paced(walker, bulk, settings, names, seed=100 * (k + 1))
        agrees = pace is None or _agree(pace.moments, exact, share)
        if pace is not None and agrees:
            warmup = math.ceil(WARMUP / pace.counts)
            found, moments = _compared(walker, bulk, pace, share, warmup, 100 * (k + 1) + 50, exact)
            agrees = _agree(moments, exact, share)
            if found is not None and agrees and _holds(found, share):
                return _with_room(MeasuredSettings(pace.settings, warmup, pace.spread, found, moments))
        settings = replace(settings, eps=rounded(settings.eps / 2.0), thin=2 * settings.thin)
    those = (
        f"chains with steps {SHORTER:g} times shorter" if agrees else "chains that preserve exp(-U) at every step size"
    )
    raise RunError(
        f"no step size down to {settings.eps * 2.0:g} has every mean and sd within {100.0 * share:g} % of an sd of "
        f"those of {those}"
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
    moments: Moments
    """Moments of the few that showed it."""


def _paced(walker: Pilots, bulk: Bulk, settings: Settings, names: tuple[str, ...], seed: int) -> _Pace | None:
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
            f"at the step size {settings.eps:g} a draw takes {settings.thin} steps or more, too many to try enough "
            "draws in a minute"
        )
    most = min(MOST * settings.thin, int(afforded))
    while True:
        # From where windows left them: chains in modes between which they do not pass stay in them, and R-hat shows it.
        kept = walker.walked(bulk.theta, settings, DRAWS + DRAWS // 4, seed)[:, DRAWS // 4 :]
        if not np.isfinite(kept).all():
            return None
        shares = effective_shares(kept)
        slowest = int(np.argmin(np.nan_to_num(shares, nan=0.0)))
        counts = float(np.nan_to_num(shares[slowest], nan=0.0))
        if counts >= LEAST or settings.thin >= most:
            break
        settings, seed = replace(settings, thin=apart(settings.thin, counts, MOST, most)), seed + 1
    r_hat = float(np.max(r_hats(kept)))
    if not r_hat <= AGREE:
        raise RunError(
            f"{CHAINS} chains of {DRAWS} draws of {settings.thin} steps each do not mix (R-hat {r_hat:.3g}; the "
            f"effective sample size of {names[slowest]} is {100.0 * counts:.2g} % of its draws)"
        )
    return _Pace(settings, spread, max(counts, 1.0 / DRAWS), moments_of(kept))


def _started(walker: Pilots, bulk: Bulk, settings: Settings, seed: int) -> float | None:
    """Return how wide chains may start around the mean of the bulk, in its sds; None where they are lost anyhow."""
    for spread in WIDENINGS:
        if np.isfinite(walker.walked(_starts(bulk, spread, STARTS, seed), settings, TRIED, seed)).all():
            return spread / 2.0
    return None


def _starts(bulk: Bulk, spread: float, chains: int, seed: int) -> Array:
    normals = np.random.default_rng(seed).standard_normal((chains, len(bulk.mean)))
    return bulk.mean + spread * normals @ np.linalg.cholesky(bulk.covariance).T


def _compared(
    walker: Pilots, bulk: Bulk, pace: _Pace, share: float, warmup: int, seed: int, exact: Moments | None
) -> tuple[PilotFigures | None, Moments]:
    """Return how far means and sds of one walk are from those of another with steps a quarter as long; and the first.

    Both are made longer until the error of sds is a part of the share, or the data were read as often as they may be.
    Nothing is compared of a walk that is not finite, or not what is exact.
    """
    aim = ERROR * share
    draws = (FACTOR / aim) ** 2 / (WANTED * CHAINS)
    most = max(
        DRAWS, min(READ / ((1.0 + SHORTER) * pace.settings.thin * CHAINS * walker.entries), MOST_DRAWS / len(bulk.mean))
    )
    asked, left = min(draws, most), ROUNDS
    while True:
        moments = _walked(walker, bulk, pace, pace.settings, warmup, int(asked), seed)
        if not (np.isfinite(moments.mean).all() and _agree(moments, exact, share)):
            return None, moments
        found = _beside_shorter(walker, bulk, pace, warmup, int(asked), seed + 1, moments)
        known, seed, left = max(found.sds_within), seed + 2, left - 1
        if not (known > aim and asked < most and left):
            return found, moments
        asked = min(most, asked * min(MORE, (1.1 * known / aim) ** 2))


def _walked(walker: Pilots, bulk: Bulk, pace: _Pace, settings: Settings, warmup: int, draws: int, seed: int) -> Moments:
    found = walker.walked(_starts(bulk, pace.spread, CHAINS, seed), settings, warmup + draws, seed)
    return moments_of(found[:, warmup:])


def _beside_shorter(
    walker: Pilots, bulk: Bulk, pace: _Pace, warmup: int, draws: int, seed: int, found: Moments
) -> PilotFigures:
    """Return how far a walk is from one with shorter steps."""
    settings = pace.settings
    shorter = replace(settings, eps=settings.eps / SHORTER, thin=int(SHORTER) * settings.thin)
    off = found.beside(_walked(walker, bulk, pace, shorter, warmup, draws, seed))
    biases = (FACTOR * part for part in (off.of_means, off.means_within, off.of_sds, off.sds_within))
    numbers = (tuple(map(float, array)) for array in (found.mean, found.sd, *biases))
    return PilotFigures(*numbers, steps=settings.thin / min(1.0, pace.counts), draws=CHAINS * draws)


def _agree(found: Moments, exact: Moments | None, share: float) -> bool:
    """Whether a walk is within the share of what is exact, if anything is, or within its error."""
    return exact is None or found.beside(exact).within(share, SEEN)


def _holds(found: PilotFigures, share: float) -> bool:
    """Whether no bias is shown to be larger than the share."""
    parts = (found.of_means, found.means_within, found.of_sds, found.sds_within)
    return Difference(*map(np.array, parts)).within(share, SEEN)
