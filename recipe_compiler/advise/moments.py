"""What draws of several chains tell of each coordinate: moments with their errors, effective draws, R-hat."""

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.differences import is_definite
from recipe_compiler.run.posterior_numbers import effective_size

BATCHES = 20
"""Stretches of a chain whose means give one of the two estimates of the error."""

TAILS = 0.9
"""The part of the draws between the quantiles that tell the tails."""

WANTED, LEAST = 0.5, 0.25
"""Effective draws a draw: what a plan is made for, and what is taken for it without another word."""

AGREE = 1.05
"""The largest R-hat of walks that pass from one end of the bulk to the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """The difference of two sets of moments, by coordinate, with Monte Carlo standard errors."""

    of_means: Array
    """In sds."""
    means_within: Array
    of_sds: Array
    """Errors of their logarithms."""
    sds_within: Array

    def within(self, share: float, errors: float) -> bool:
        """Whether none is beyond a share and beyond as many of its errors."""
        found = np.abs(np.concatenate([self.of_means, self.of_sds]))
        known = np.concatenate([self.means_within, self.sds_within])
        return bool((found <= np.maximum(share, errors * known)).all())


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Means and sds by coordinate, with their Monte Carlo standard errors."""

    mean: Array
    sd: Array
    mean_error: Array
    sd_error: Array

    def beside(self, other: "Moments") -> Difference:
        """Return how far these are from others, in units of the others' sds."""
        return Difference(
            (self.mean - other.mean) / other.sd,
            np.hypot(self.mean_error, other.mean_error) / other.sd,
            np.log(self.sd / other.sd),
            np.hypot(self.sd_error / self.sd, other.sd_error / other.sd),
        )


def errors_of(values: Array) -> Array:
    """Return standard errors of means over all draws `[chain, draw, value]`: the larger of two estimates.

    sd/sqrt(ESS), and the error from the means of stretches of the chains (batch means).
    """
    from arviz_stats.base.array import array_stats

    count = min(BATCHES, values.shape[1])  # of many chains few draws each are looked at
    length = values.shape[1] // count
    stretches = values[:, : length * count].reshape(values.shape[0] * count, length, -1).mean(axis=1)
    by_stretches = stretches.std(axis=0, ddof=1) / np.sqrt(len(stretches))
    return np.maximum(cast("Any", array_stats).mcse(values, chain_axis=0, draw_axis=1, method="mean"), by_stretches)


def moments_of(draws: Array) -> Moments:
    """Return the moments of draws; chains x draws x coordinates.

    The error of an sd is that of the mean square over 2 sd.
    """
    mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
    with np.errstate(all="ignore"):
        errors = errors_of(np.concatenate([draws, (draws - mean) ** 2], axis=2))
    return Moments(mean, sd, errors[: mean.size], errors[mean.size :] / (2.0 * sd))


def effective_shares(draws: Array) -> Array:
    """Return effective draws per draw by coordinate, the least of bulk, tail and sd; chains x draws x coordinates.

    ESS as in Vehtari et al. (2021). Ranks do not see how seldom chains go far out, which means and sds depend on.
    """
    ways: tuple[dict[str, object], ...] = ({}, {"method": "tail", "prob": TAILS}, {"method": "sd"})
    return np.min([effective_size(draws, relative=True, **way) for way in ways], axis=0)


def least_share(draws: Array) -> float:
    """Return effective draws per draw of the coordinate that has fewest, 0 where that is no number."""
    return float(np.nan_to_num(effective_shares(draws), nan=0.0).min())


def apart(thin: int, counts: float, most: int, longest: int) -> int:
    """Return how far apart draws shall lie of which a part counts, for `WANTED` of them to: times a power of two.

    Args:
        thin: steps or moves between two of them.
        counts: the part.
        most: times as far at most.
        longest: steps or moves at most.
    """
    return min(longest, thin * 2 ** math.ceil(math.log2(WANTED / max(counts, WANTED / most))))


def r_hats(draws: Array) -> Array:
    """Return rank-normalised split R-hat by coordinate (Vehtari et al. 2021); chains x draws x coordinates."""
    from arviz_stats.base.array import array_stats

    return np.atleast_1d(cast("Any", array_stats).rhat(draws, chain_axis=0, draw_axis=1))


def shrunk(draws: Array, effective: float) -> Array:
    """Return the covariance of draws with its correlations r_ij multiplied by 1 - rho, d x d.

    rho = sum (1 - r_ij^2)^2 / n over sum r_ij^2, at most 1, is the part of all r_ij^2 that is their noise (Schaefer and
    Strimmer 2005), n the effective draws: of 100 draws of 90 independent coordinates else some directions look 25 times
    as wide as others.
    """
    variances = draws.var(axis=0)
    if not is_definite(variances):
        return np.diag(variances)
    correlations = np.corrcoef(draws, rowvar=False) if len(variances) > 1 else np.ones((1, 1))
    apart = correlations - np.diag(np.diag(correlations))
    noise = ((1.0 - apart**2) ** 2).sum() - len(variances)
    rho = min(1.0, noise / (effective * max(float((apart**2).sum()), np.finfo(float).tiny)))
    sds = np.sqrt(variances)
    return np.outer(sds, sds) * ((1.0 - rho) * apart + np.eye(len(variances)))
