"""After a run: how far the draws are from the target, by means that are 0 over it, whatever the sampler (Stein).

With g = grad U, and m and S the mean and the covariance of the draws, each chosen for its unit:

    E[(S g)_i]/sd_i                              0: else by how many sds the mean of theta_i is off
    E[(theta_i - m_i) (S g)_i]/S_ii - 1          0: else the relative error of the mean square of theta_i

Both are E[F . g - div F] for a vector field F, which integration by parts makes 0 over exp(-U) on all of R^d; what they
say in sds and mean squares is exact where exp(-U) is Gaussian (Gorham and Mackey 2015). A positive theta_j has the
field w_j F_j with w_j = theta_j/m_j, 0 at its face: no flux is left there for any integrable exp(-U), bounded or not,
for a marginal density h with theta_j h(theta_j) >= c > 0 near 0 would not be integrable. With w_j g_j - 1/m_j for g_j

    E[(theta_i - m_i) (S g)_i]/S_ii - w_i        0: exact, as is the mean, where theta_i are independent gammas.

The mean is then told in its own unit where that is smaller than the sd. R-hat and ESS compare chains
with each other and cannot see a law that is wrong; these means compare them with the target. Momenta are not in them,
nor are discrete blocks: by parts is over the others, at each value of these.

Both are linear in g, so that an unbiased estimate of it serves. Of much data, with c the mean of the draws and G the
gradient of a minibatch of rows drawn anew for each draw, g = grad U(c) + G(theta) - G(c).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.moments import BATCHES, errors_of
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.gradients import Gradients
from recipe_compiler.run.map_estimate import Slope
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.schedule import weights
from recipe_compiler.spec.discrete import discrete_blocks

Places = NDArray[np.intp]

FALSE_ALARM = 1e-3
"""How often a limit is passed by a run whose draws are those of exp(-U), all its means together (Bonferroni)."""

MOST_DRAWS, LEAST_DRAWS = 20_000, 200
"""Draws of all chains together that are looked at, evenly spaced."""

WORK = 2e9
"""Entries of the data that may be read for all of them, before there are fewer."""

READ, FEWEST = 2e8, 100
"""Entries of the data that minibatches read for all of them, where all data have more, and the least rows of one."""

SMALL = 0.1
"""The largest error of a mean (in sds) and of a mean square (of itself) that leaves a summary what it is."""

BLOWN_UP, OF_EXACT = 1.0, 10.0
"""The error beyond which nothing is right, however uncertain it is itself; of steps that are proved to keep exp(-U)."""

SPARSE = 5.0
"""The sd of a positive coordinate over its mean beyond which so few draws tell both that no |z| is a normal score."""

DENSE = 200
"""Most coordinates whose covariance is used; of more, their variances."""

MOST_ERROR, MOST_Z = 1e300, 1e6
"""The error and the |z| in the place of larger ones, and of what is not finite."""


@dataclass(frozen=True, slots=True)
class Departure:
    """How far the draws are from the target in one moment of one coordinate."""

    name: str
    """As the summary has it: `theta[2]`, `theta[age]`."""
    of: str
    """`mean` or `mean square`."""
    error: float
    z: float
    """The error in units of its own."""
    unit: str
    """Of the error: `sd`, or `itself`."""

    @property
    def says(self) -> str:
        """The error in words."""
        if self.unit == "sd":
            return f"the {self.of} of {self.name} by {self.error:+.2g} sd"
        return f"the {self.of} of {self.name} by {_percent(self.error)}"


@dataclass(frozen=True, slots=True)
class Departures:
    """How far the draws are from the target, coordinate by coordinate."""

    largest: Departure
    """The one that is flagged if any is, else the largest error."""
    count: int
    draws: int
    limit: float
    """|z| above which an error beyond `SMALL` is flagged."""
    flagged: bool
    known: float
    """The largest standard error of the errors."""
    surest: Departure
    """The one with the largest |z|, whatever its size."""

    @property
    def says(self) -> str:
        """The result in a sentence."""
        known = f"{self.known:.1g}" if self.known < MOST_ERROR else "nothing"
        chance = ", no more than by chance" if abs(self.largest.z) <= self.limit else ""
        return (
            f"target: by Stein's identity the draws miss {self.largest.says} at most "
            f"(|z| = {abs(self.largest.z):.2g}{chance}; {self.count} errors over {self.draws} draws, each known within "
            f"{known})"
        )

    @property
    def doubt(self) -> str | None:
        """What is wrong with the draws, if something is."""
        if not self.flagged:
            return None
        return (
            f"the draws are not those of the target: by Stein's identity they miss {self.largest.says} "
            f"(z = {self.largest.z:.2g}), which R-hat and ESS cannot see. The step size, the noise of the minibatch, "
            "too short a warmup or too few steps may be at fault: try a smaller step size, a larger batch or more "
            "thinning."
        )

    def contradicts(self, word: Sequence[str]) -> str | None:
        """Return that draws are surely not those of the target, though by someone's word they are; however close."""
        if not word or abs(self.surest.z) <= self.limit:
            return None
        return (
            f"the draws are not quite those of the target: by Stein's identity they miss {self.surest.says} (z = "
            f"{self.surest.z:.2g}), which happens in fewer than one correct run in 1000. Either it is not true that "
            f"{' or that '.join(word)}, or the chains are too short: try more warmup and more thinning."
        )

    @property
    def trust(self) -> str:
        """What speaks for draws that are not flagged; empty where too little is known to tell."""
        if not self.known <= SMALL:
            return ""
        return f"{self.count} moments that the target fixes, known within {self.known:.1g}"

    @property
    def attributes(self) -> dict[str, str | float]:
        """What the file of the draws keeps."""
        largest = self.largest
        return {"stein_error": largest.error, "stein_of": f"{largest.of} of {largest.name}", "stein_z": largest.z}


def departures(sampler: Sampler, draws: Draws, *, is_exact: bool = False) -> Departures | None:
    """Return how far the draws after warmup are from the target, by Stein's identity; None where that is not known.

    Not known where a block is neither real nor positive, there are too few draws, or the module has no gradient of all
    data. Chains that diverged are left out.
    """
    slope, names = sampler.slope, sampler.names
    by_batches = sampler.module.variant == "minibatch" and sampler.inputs.gradient is None
    domains = {block.name: block.domain.name for block in sampler.build.dynamics.declarations.blocks}
    positive = {name for name, domain in domains.items() if domain is DomainName.POSITIVE}
    known = slope is not None and positive.issuperset(sampler.bounded)
    chosen = chosen_draws(sampler.inputs, draws, by_batches=by_batches) if known else None
    discrete = {block.name for block in discrete_blocks(sampler.build.target.declarations)}
    real = [k for k, name in enumerate(names) if name.partition("[")[0] not in discrete]
    if slope is None or chosen is None or not real:
        return None
    theta = sampler.theta(draws)[np.ix_(*chosen)]
    at = slope
    if by_batches and sampler.inputs.rows * theta.size > 2.0 * READ:
        at = _estimated(sampler.gradients, slope, theta.mean(axis=(0, 1)), theta.size)
    with np.errstate(all="ignore"):
        gradients = np.array([[at(np.ascontiguousarray(one)) for one in chain] for chain in theta])
    step_sizes = weights(draws.settings, int(chosen[1][-1]) + 1)
    weight = np.ones(theta.shape[1]) if step_sizes is None else step_sizes[chosen[1]] / step_sizes[chosen[1]].mean()
    own = [names[k] for k in real]
    faced = np.array([name.partition("[")[0] in positive for name in own])
    return departed(theta[:, :, real], gradients[:, :, real], weight, own, is_exact=is_exact, positive=faced)


def _estimated(gradients: Gradients, slope: Slope, centre: Array, numbers: int) -> Slope:
    """Return an unbiased estimate of grad U by rows drawn anew in each call, exact at the centre.

    Args:
        gradients: of minibatches.
        slope: grad U of all data.
        centre: of the draws.
        numbers: of all of them.
    """
    level, rng = slope(centre), np.random.default_rng(0)
    size = max(FEWEST, int(READ / (2 * numbers)))

    def at(theta: Array) -> Array:
        batch = rng.integers(gradients.rows, size=size).astype(np.uint64)
        return level + gradients.of_batch(theta, batch) - gradients.of_batch(centre, batch)

    return at


def chosen_draws(inputs: Inputs, draws: Draws, *, by_batches: bool = False) -> tuple[Places, Places] | None:
    """Return the chains that did not diverge, and evenly spaced draws of them; None where there are too few."""
    whole = [k for k, diverging in enumerate(draws.diverging) if not diverging]
    length = min((draws.kept[k] for k in whole), default=0) - draws.warmup
    if length < 2 * BATCHES:
        return None
    width = sum(array.shape[2] for array in draws.arrays)
    most = MOST_DRAWS if by_batches else min(max(WORK / (1 + inputs.rows * width), LEAST_DRAWS), MOST_DRAWS)
    stride = max(1, int(np.ceil(length * len(whole) / most)))
    return np.array(whole), np.arange(draws.warmup, draws.warmup + length, stride)


def departed(
    theta: Array,
    gradients: Array,
    weight: Array,
    names: Sequence[str],
    *,
    is_exact: bool = False,
    positive: NDArray[np.bool_] | bool = False,
) -> Departures:
    """Return how far draws of theta are from exp(-U), by moments that are 0 over it whatever the sampler.

    With g = grad U, m and S the mean and covariance of the draws: E[(S g)_i]/sd_i says by how many sds the mean of
    theta_i is off, E[(theta_i - m_i) (S g)_i]/S_ii - 1 the relative error of its mean square. Both are E[F . g - div F]
    for a field F, which is 0 over exp(-U) by parts (Gorham and Mackey 2015); exact in these units where exp(-U) is
    Gaussian. Example: draws of N(1, 1) for U = theta**2/2 have E[S g]/sd = E[theta] = 1: the mean is off by one sd.

    Args:
        theta: `[chain, draw, coordinate]`.
        gradients: grad U at each, of the same shape.
        weight: of a draw, with the mean 1.
        names: of the coordinates.
        is_exact: whether the step is proved to keep exp(-U).
        positive: the coordinates that end at 0; those whose sd is above their mean are skewed, and so is z.
    """
    from scipy.stats import norm

    d = int(theta.shape[2])
    with np.errstate(all="ignore"):  # what is not finite is flagged
        mean = (weight[:, None] * theta).mean(axis=(0, 1))
        centred = theta - mean
        sd = np.sqrt((weight[:, None] * centred**2).mean(axis=(0, 1)))
        field, its_slope = np.where(positive, theta / mean, 1.0), np.where(positive, 1.0 / mean, 0.0)
        scaled, slopes = centred / sd, (field * gradients - its_slope) * sd  # in units of the sds
        flat = (scaled * np.sqrt(weight)[:, None]).reshape(-1, d)
        pulled = slopes @ (flat.T @ flat / flat.shape[0]) if d <= DENSE else slopes
        by_itself = np.logical_and(positive, sd > mean)
        unit = np.where(by_itself, sd / mean, 1.0)
        values = np.concatenate([pulled * unit, scaled * pulled - field], axis=2) * weight[None, :, None]
        errors = values.mean(axis=(0, 1))
        own = errors_of(values)
        skew = np.tile(by_itself, 2) * ((values - errors) ** 3).mean(axis=(0, 1)) / values.var(axis=(0, 1)) ** 2 * own
        z = np.where(errors == 0.0, 0.0, _of_skewed(errors / own, skew))
    still = np.tile(~(sd > 0.0), 2)  # a coordinate that has never moved: its mean square is missed whole
    known = np.isfinite(errors) & np.isfinite(own)
    errors = np.where(still, -1.0, np.where(known, np.clip(errors, -MOST_ERROR, MOST_ERROR), MOST_ERROR))
    z = np.where(known, np.clip(z, -MOST_Z, MOST_Z), MOST_Z)
    scarce = by_itself & (sd > SPARSE * mean)
    limit = float(norm.isf(FALSE_ALARM / (4 * d)))
    beyond = np.where(is_exact | np.tile(by_itself, 2), OF_EXACT, BLOWN_UP)
    flagged = (np.abs(errors) > beyond) | ((np.abs(errors) > SMALL) & (np.abs(z) > limit) & ~np.tile(scarce, 2))
    any_flagged = bool(flagged.any())

    def departure(of: Array) -> Departure:
        k = int(np.argmax(of))
        of_mean = k < d
        unit_of = "sd" if of_mean and not by_itself[k] else "itself"
        return Departure(names[k % d], "mean" if of_mean else "mean square", float(errors[k]), float(z[k]), unit_of)

    worst, surest = departure(np.abs(errors) * (flagged if any_flagged else 1.0)), departure(np.abs(z))
    within = float(np.max(own)) if np.isfinite(own).all() and not scarce.any() else MOST_ERROR
    drawn = theta.shape[0] * theta.shape[1]
    return Departures(worst, 2 * d, drawn, limit, any_flagged, within, surest)


def _of_skewed(z: Array, skew: Array) -> Array:
    """Return normal scores of means, in units of their errors, whose own skewness is given (Hall 1992, cubic)."""
    return z + skew * (z**2 / 3.0 + 1.0 / 6.0) + skew**2 * z**3 / 27.0


def _percent(error: float) -> str:
    return f"{100.0 * error:+.2g} %" if abs(error) < 2.0 else f"a factor of {1.0 + error:.2g}"
