"""Modes of U beside one that is known: those that a plan around it leaves out, and those that draws of a run miss.

Searches begin far out around the mode theta*, and where chains would start. In coordinates w with theta = theta* + A w,
A^T K A = 1, K = Hess U(theta*), a quadratic U falls straight to w = 0 from everywhere. That no other minimum is found
proves nothing: one that is narrow beside the way to it is passed by.

What a minimum holds of exp(-U) is compared with another by Laplace's method before a run. After it, the mass around a
mode is a mean over draws of N(theta*, K^-1), Z_B = |2 pi K^-1|^(1/2) E[exp(-(U - w^T K w/2)) 1_B], with B where
w^T K w, w = theta - theta*, is what it is for most of them; and of draws of exp(-U) on any set R, of mean energy E U
and covariance S,

    Z_R <= exp(-E U) |2 pi e S|^(1/2),

as no law of covariance S has a larger entropy than the Gaussian. Among draws of exp(-U) at least the part
Z_B / (Z_B + Z_R) is in B: where there are few, or none, chains miss the mode. R-hat, ESS and Stein's identity say
nothing of it: they ask of draws what they are where they are.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from recipe_compiler.advise.moments import least_share
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.steepness import NotGaussianError
from recipe_compiler.advise.stein import chosen_draws
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.differences import curvature, is_definite
from recipe_compiler.run.map_estimate import DENSE, Mode, PotentialOnLine, Slope, Start, find_mode, minimum
from recipe_compiler.run.sample import Draws

Potential = Callable[[Array], float]

RADII = (4.0, 12.0, 40.0)
"""Where searches begin: as many posterior sds from the mode, times a normal number in each coordinate."""

DIRECTIONS = 4
"""Random ones, each both ways, for each radius."""

APART = 1.0
"""The distance, in posterior sds, from which two minima count as different."""

FLATTEST = 1e-6
"""The least curvature of another mode, in units of that at the mode; less is a plateau."""

NEAR = 1e-2
"""The slope of U over a posterior sd at which a search ends."""

ITERATIONS = 60
"""Most iterations of one search."""

NEGLIGIBLE = 1e-3
"""What a mode may hold of exp(-U), over what another does, to be left out of a plan."""

ROUNDS = 4
"""How often the plan moves on to a mode that holds more."""

PLANNED = 3e9
"""Entries of the data that searches of a plan may read: some seconds."""

SHOWN = 4
"""Coordinates of a mode that are shown."""

DRAWS = 256
"""Draws of the Gaussian around the mode: they give the mass around it within a few per cent."""

SDS = 3.0
"""How far B reaches: the squared distance is so many sds above its mean d."""

READ = 1e6
"""The most entries of data with which missed modes are looked for: of more a posterior is all but Gaussian, and a
search takes minutes."""

SEARCHES = 1e8
"""Entries of the data that searches after a run may read, a call of a function from outside being worth `CALL`."""

CALL = 1000.0

ENERGIES = 1e8
"""Entries of the data that may be read for U at the draws."""

LEAST = 0.1
"""What a mode has to hold: of 100 draws that count 10 are around it then, and that none is, is no chance."""

MISSED = 0.2
"""The part of the draws that should be around a mode, below which it is missed."""


def minima(
    slope: Slope, mode: Array, K: Array, starts: Sequence[Start], calls: float, potential: Potential | None = None
) -> tuple[Array, ...]:
    """Return a minimum of U and others that are apart from it, in the metric of the precision K (d x d) around it.

    Args:
        slope: theta to grad U.
        mode: the minimum.
        K: d x d.
        starts: where searches begin before they do so far out.
        calls: the most gradients that they may take.
        potential: theta to U; None: its differences are integrals of the slope.
    """
    return mode, *(theta for theta, _ in _others(slope, mode, K, starts, calls, potential))


class _SpentError(Exception):
    """A search took as many gradients as it may."""


def _others(
    slope: Slope, mode: Array, K: Array, starts: Sequence[Start], calls: float, potential: Potential | None = None
) -> Iterator[tuple[Array, str]]:
    """Yield minima of U that are apart from the mode and each other, and where the searches that found them began."""
    values, vectors = np.linalg.eigh(K)
    A, back = vectors / np.sqrt(values), (vectors * np.sqrt(values)).T
    rng = np.random.default_rng(0)
    far = [radius * rng.standard_normal(mode.size) for radius in RADII for _ in range(DIRECTIONS)]
    began = [(back @ (start.theta - mode), start.says) for start in starts]
    began += [(sign * w, "far from another mode") for w in far for sign in (1.0, -1.0)]
    known, left = [mode], [calls]

    def counted(theta: Array) -> Array:
        left[0] -= 1.0
        if left[0] < 0.0:
            raise _SpentError
        return slope(np.ascontiguousarray(theta))

    def is_near(theta: Array) -> bool:
        return any(np.linalg.norm(back @ (theta - one)) <= APART for one in known)

    def value(at: Array) -> float:
        return potential(np.ascontiguousarray(mode + A @ at)) if potential is not None else math.nan

    for w, says in began:
        try:
            ended = _fallen(lambda at: A.T @ counted(mode + A @ at), w, None if potential is None else value)
            if not np.isfinite(ended).all() or np.linalg.norm(ended) <= APART:
                continue
            theta, trouble = minimum(counted, mode + A @ ended)
            bent = A.T @ curvature(counted, theta) @ A
        except _SpentError:
            return
        if not trouble and not is_near(theta) and np.isfinite(bent).all() and np.linalg.eigvalsh(bent)[0] > FLATTEST:
            known.append(theta)
            yield theta, says


def _fallen(slope: Slope, start: Array, potential: Potential | None) -> Array:
    """Return where a search ends (L-BFGS, `ITERATIONS` steps at most)."""
    from scipy import optimize

    with np.errstate(all="ignore"):
        if not np.isfinite(slope(start)).all():
            return np.full_like(start, np.nan)
        line = PotentialOnLine(slope)
        value, accept = (line.value, line.accept) if potential is None else (potential, None)
        found = cast("Any", optimize).minimize(
            value, start, jac=slope if potential is not None else line.gradient, callback=accept, method="L-BFGS-B",
            options={"gtol": NEAR, "maxiter": ITERATIONS, "maxfun": 4 * ITERATIONS},
        )  # fmt: skip
    return np.asarray(found.x, dtype=np.float64)


def main_mode(slope: Slope, mode: Mode, starts: Sequence[Start], entries: int) -> Mode:
    """Return the mode that holds exp(-U): the one given, or another that holds all but `NEGLIGIBLE` of the mass.

    Masses are compared by Laplace's method: log ratio = -(U(other) - U(mode)) - (log det Hess U(other) - log det K)/2.

    Args:
        slope: theta to grad U.
        mode: found already, with a positive definite Hessian of U.
        starts: where chains would start without a plan.
        entries: of the data, each of which one grad U reads.

    Raises:
        NotGaussianError: several hold more; says where they are, and what to do.
    """
    for _ in range(ROUNDS):
        K, heavier = curvature(slope, mode.theta), None
        held: list[tuple[Array, float]] = []
        for theta, began in _others(slope, mode.theta, K, starts, PLANNED / max(1, entries)):
            log_ratio = _log_ratio(slope, mode.theta, K, theta)
            if log_ratio > -math.log(NEGLIGIBLE):
                heavier = Mode(theta, began)
                break
            if not log_ratio < math.log(NEGLIGIBLE):
                held.append((theta, log_ratio))
        if heavier is None and held:
            raise _several(mode.theta, *held[0], tuple(theta for theta, _ in held))
        if heavier is None:
            break
        mode = heavier
    return mode


def _several(mode: Array, other: Array, log_ratio: float, others: tuple[Array, ...]) -> NotGaussianError:
    share = 1.0 / (1.0 + math.exp(-log_ratio))
    held = f", which holds about {100.0 * share:.2g} % of exp(-U) beside it" if math.isfinite(log_ratio) else ""
    return NotGaussianError(
        f"U has several modes: {_shown(mode)}, and {_shown(other)}{held}. Chains started around one do not show "
        "the mass of the others",
        "state a step size, a value of every parameter, and an `init` from which chains reach all of them: R-hat then "
        "shows whether they mix. For exchangeable components, break the symmetry in the target: `mu: {shape: K, "
        "constraint: ordered}` orders means",
        (mode, *others),
    )


def _shown(theta: Array) -> str:
    return f"({', '.join(f'{value:.4g}' for value in theta[:SHOWN])}{', ...' if theta.size > SHOWN else ''})"


def _log_ratio(slope: Slope, mode: Array, K: Array, other: Array) -> float:
    """Return the log of what another mode holds over what the mode does; not a number where that is not known."""
    from scipy import integrate

    way = other - mode

    def rising(t: float) -> float:
        return float(slope(mode + t * way) @ way)

    with np.errstate(all="ignore"):
        risen = cast("Any", integrate).quad(rising, 0.0, 1.0, limit=200, full_output=True)[0]
        return float(-risen - (np.linalg.slogdet(curvature(slope, other))[1] - np.linalg.slogdet(K)[1]) / 2.0)


def mode_of(sampler: Sampler) -> Mode | None:
    """Return the mode of U that a search finds; None where that is none."""
    slope = sampler.slope
    try:
        return None if slope is None else find_mode(slope, sampler.starts, sampler.names)
    except RunError:
        return None


@dataclass(frozen=True, slots=True)
class Visits:
    """What part of draws there should be around a mode, at least, and what there is."""

    expected: float
    found: float
    began: str
    """Where the search for the mode began."""

    @property
    def doubt(self) -> str:
        """That chains have missed the mode; empty where they have not."""
        if not (self.expected >= LEAST and self.found < MISSED * self.expected):
            return ""
        return (
            f"the draws miss a mode of U, found by a search from {self.began}: at least {100.0 * self.expected:.2g} % "
            f"of exp(-U) is around it, and {100.0 * self.found:.2g} % of the draws. Chains from elsewhere do not find "
            "it, even if R-hat is near 1. Try `init` on both sides, to see whether chains pass between them, or "
            "another parameterisation."
        )


def missed_mode_of_run(sampler: Sampler, draws: Draws, mode: Mode | None = None, lp: Array | None = None) -> str:
    """Return the doubt that draws of a run miss a mode of U; empty where they do not, or none can be looked for.

    That is so of bounded states, of discrete blocks, which have no mode, of a gradient that is code, of more than
    `DENSE` coordinates and of much data.

    Args:
        sampler: that was run.
        draws: what was drawn.
        mode: of U, where it is known.
        lp: -U of the draws after warmup, chains x draws; None where it is not known.
    """
    chosen = chosen_draws(sampler.inputs, draws)
    if chosen is None or sampler.bounded or sampler.is_discrete or sampler.inputs.gradient:
        return ""
    theta = sampler.theta(draws)[np.ix_(*chosen)]
    entries = sampler.inputs.rows * theta.shape[2]
    if theta.shape[2] > DENSE or entries > READ or not np.isfinite(theta).all():
        return ""
    energies = None if lp is None else -lp[np.ix_(chosen[0], chosen[1] - draws.warmup)].ravel()
    return missed_mode(sampler, mode or mode_of(sampler), theta, entries, energies)


def missed_mode(
    sampler: Sampler, mode: Mode | None, theta: Array, entries: float, energies: Array | None = None
) -> str:
    """Return the doubt that draws miss a mode of U; empty where they do not, or none is known.

    Args:
        sampler: gives U, its gradient, and where chains would start.
        mode: of U, None where none was found.
        theta: draws, chains x draws x coordinates.
        entries: of the data, each of which one U reads.
        energies: U at the draws, where it is known.
    """
    slope, potential = sampler.slope, sampler.potential
    if mode is None or slope is None or potential is None or not is_definite(K := curvature(slope, mode.theta)):
        return ""
    draws = np.ascontiguousarray(theta.reshape(-1, theta.shape[2]))
    if energies is None:
        energies = np.array([potential(one) for one in draws[:: max(1, math.ceil(len(draws) * entries / ENERGIES))]])
    with np.errstate(all="ignore"):
        effective = max(1.0, len(draws) * least_share(theta))
    log_most = log_visited(draws, energies, effective)
    for k, at in enumerate(minima(slope, mode.theta, K, sampler.starts, SEARCHES / (entries + CALL), potential)):
        says = "far away from another" if k else mode.says
        found = around_mode(potential, at, curvature(slope, at), draws, log_most, says)
        if found is not None and found.doubt:
            return found.doubt
    return ""


def log_visited(draws: Array, energies: Array, effective: float) -> float:
    """Return log(exp(-E U) |2 pi e S|^(1/2)), the most that exp(-U) can hold where draws are; infinite if not known.

    Args:
        draws: of theta, draws x coordinates.
        energies: U at each of them, or at evenly spaced ones.
        effective: how many independent draws they are worth. From n draws |S|^(1/2) is too small by the factor
            exp(-d (d + 1)/(4 n)), about; twice that exponent is put right.
    """
    d = draws.shape[1]
    S = np.atleast_2d(np.cov(draws, rowvar=False))
    if not is_definite(S):
        return math.inf
    entropy = d / 2.0 * math.log(2.0 * math.pi * math.e) + float(np.linalg.slogdet(S)[1]) / 2.0
    return entropy + d * (d + 1.0) / (2.0 * effective) - float(np.mean(energies))


def around_mode(
    potential: Potential, mode: Array, K: Array, draws: Array, log_most: float, began: str
) -> Visits | None:
    """Return what part of the draws is around a mode, beside what part has to be there; None where it is no mode.

    Args:
        potential: theta to U.
        mode: a minimum of it, d numbers.
        K: the Hessian of U there, d x d.
        draws: of theta, draws x coordinates.
        log_most: the log of the most that exp(-U) can hold where they are.
        began: where the search for the mode began.
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
        inside = (((draws - mode) @ root) ** 2).sum(axis=1) <= reach
        share = 1.0 / (1.0 + np.exp(log_most - log_held))
    return Visits(float(share), float(inside.mean()), began) if math.isfinite(log_held) else None
