"""The bulk of exp(-U), learnt from chains, where no Gaussian around a mode describes it.

Where U is flatter at its mode than any quadratic, has several modes close by, or bends, its Hessian at the mode says
little of where chains are. Windows of the build's own chains tell: each is walked with the mass (or preconditioner)
matched to the covariance S of the draws of the one before, and with a step that is stable at the largest curvature
that those met,

    lambda = max over the draws of the spectral norm of B^(1/2) Hess U B^(1/2)

B being what the step multiplies forces by: S for a matched mass or preconditioner. The steps are short, so that what
little of their bias is left in S does not matter: what is planned with S is measured by itself (`measure.py`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recipe_compiler.advise.moments import shrunk
from recipe_compiler.advise.pilots import CHAINS, Pilots, Settings
from recipe_compiler.advise.roles import Open
from recipe_compiler.advise.search import matched, slowest
from recipe_compiler.advise.spread import decimals, times
from recipe_compiler.advise.steepness import AWAY, TURNS, bent_at, extent
from recipe_compiler.advise.suggestions import rounded
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.differences import curvature
from recipe_compiler.run.map_estimate import Slope

WINDOWS = (100, 200, 400, 800)
"""Draws of a chain in each window, one time of the bulk apart; the first quarter is not looked at."""

STEEPEST, STEEPEST_EVEN = 1e3, 1e4
"""The most that the curvature may be of that of a Gaussian as wide as the bulk for one step size to serve: where it
varies, as chains are yet to meet more of it than pilots did; and where it is much the same everywhere, as on a ring."""

UNEVEN = 30.0
"""The largest curvature over the middle one where it varies."""

DOUBLINGS = 80
"""Doublings of the way on which U rises so far, from an eighth of what the largest curvature gives."""

BISECTIONS = 6
"""Bisections of the last of these."""

APART = 1e-3
"""Half of the difference that gives a curvature, in sds of the bulk."""

LOOKED_AT = 512
"""Draws of a window at which the curvature is looked at."""

HALVINGS = 8
"""How often a step size is halved at which chains leave the finite numbers."""

LOST = 1e3
"""Sds of the window before beyond which a chain has run off."""

LEAST = 40
"""Draws of a chain in a window at least."""

READ = 1e10
"""Entries of the data that windows may read: some seconds."""

MOST_STEPS = 1000
"""Steps of a draw in a window."""


@dataclass(frozen=True, slots=True, eq=False)
class Bulk:
    """Where exp(-U) has its mass, estimated from chains."""

    mean: Array
    covariance: Array
    steepest: float
    """lambda."""
    typical: float
    """The median of what it is the maximum of."""
    eps: float
    """A stable step size by it."""
    thin: int
    """Steps of it in one time of the bulk."""
    theta: Array
    """Where the chains are, chain by chain."""


def settings_of(open_ones: tuple[Open, ...], bulk: Bulk, eps: float, thin: int, damping: float) -> Settings:
    """Return the settings of a walk over a bulk: every open parameter is matched to its covariance."""
    K = np.asarray(np.linalg.inv(bulk.covariance), np.float64)
    gamma = damping * slowest(open_ones, K)
    return Settings(matched(open_ones, decimals((K + K.T) / 2.0), gamma), eps, thin)


def first_guess(slope: Slope, minima: tuple[Array, ...]) -> Bulk:
    """Return a first guess of the bulk, from how far U rises along rays from its known minima.

    Raises:
        RunError: along one of them it never rises.
    """
    covariance = _around(slope, minima[0], curvature(slope, minima[0]))
    apart = np.array(minima) - np.mean(minima, axis=0)
    covariance = covariance + apart.T @ apart / len(minima)
    theta = np.array([minima[k % len(minima)] for k in range(CHAINS)])
    beside = np.random.default_rng(0).standard_normal(theta.shape) @ (np.linalg.cholesky(covariance) / 4.0).T
    return Bulk(np.mean(minima, axis=0), covariance, math.nan, math.nan, math.nan, 1, theta + beside)


def scattered(theta: Array) -> Bulk:
    """Return a first guess of the bulk where nothing is known of U: as wide as chains begin, chain by chain."""
    return Bulk(theta.mean(axis=0), shrunk(theta, len(theta)), math.nan, math.nan, math.nan, 1, theta)


def of_draws(slope: Slope, open_ones: tuple[Open, ...], draws: Array, walker: Pilots) -> Bulk:
    """Return the bulk from draws that are known to be of exp(-U); chain x draw x coordinate.

    Raises:
        RunError: the curvature varies too much for one step size.
    """
    flat = draws.reshape(-1, draws.shape[2])
    before = Bulk(flat.mean(axis=0), shrunk(flat, len(flat)), math.nan, math.nan, math.nan, 1, draws[:, -1])
    found = _measured(slope, open_ones, before, draws, walker)
    if found is None:
        raise RunError("U has a non-finite curvature among them, so no step size follows")
    _demand_even(found)
    return found


def guessed(slope: Slope, theta: Array) -> Array:
    """Return a precision of the bulk around a minimum whose Hessian is no use, as `first_guess` does; d x d."""
    return np.asarray(np.linalg.inv(_around(slope, theta, curvature(slope, theta))), dtype=np.float64)


def _around(slope: Slope, theta: Array, hessian: Array) -> Array:
    """Return a covariance by how far U rises by AWAY^2/2 on the axes of a Hessian, both ways."""
    values, vectors = np.linalg.eigh(hessian)
    largest = float(np.abs(values).max())
    first = 1.0 / (8.0 * math.sqrt(largest)) if largest > 0.0 else 1.0
    ways = [[extent(slope, theta, sign * v, first, DOUBLINGS, BISECTIONS) for sign in (1.0, -1.0)] for v in vectors.T]
    if not np.isfinite(ways).all():
        raise RunError(
            "step_size: auto: state a step size and a value of every parameter, or a prior: U does not rise along "
            "a direction from its mode, so exp(-U) has no width there"
        )
    return (vectors * (np.mean(np.square(ways), axis=1) / AWAY**2)) @ vectors.T


def learnt(slope: Slope, walker: Pilots, open_ones: tuple[Open, ...], guess: Bulk) -> Bulk:
    """Return the bulk, learnt from windows of chains.

    Each window steps with the covariance S of the draws before it, and with a step stable at the largest curvature they
    met, max over draws of the spectral norm of B^(1/2) Hess U B^(1/2), B being what the step multiplies forces by.

    Raises:
        RunError: chains leave the finite numbers, or the curvature varies too much for one step size.
    """
    begun = _measured(slope, open_ones, guess, guess.theta[:, None], walker)
    if begun is None:
        raise RunError("U has a non-finite curvature where pilot chains begin, so no step size follows")
    bulk = begun
    for number, wanted in enumerate(WINDOWS):
        draws = int(min(wanted, max(LEAST, READ / (len(WINDOWS) * CHAINS * bulk.thin * walker.entries))))
        bulk = _window(slope, walker, open_ones, bulk, draws, number)
    _demand_even(bulk)
    return bulk


def _demand_even(bulk: Bulk) -> None:
    """Refuse a bulk whose curvature varies too much for one step size."""
    most = STEEPEST if bulk.steepest > UNEVEN * bulk.typical else STEEPEST_EVEN
    if not bulk.steepest <= most:
        raise RunError(
            f"among their draws the curvature of U is up to {bulk.steepest:.2g} times that of a Gaussian as wide as "
            f"the bulk, and {bulk.typical:.2g} times at the median draw: no constant step size suits both"
        )


def _window(slope: Slope, walker: Pilots, open_ones: tuple[Open, ...], bulk: Bulk, draws: int, number: int) -> Bulk:
    eps, thin = bulk.eps, bulk.thin
    for _ in range(HALVINGS):
        found = walker.walked(bulk.theta, settings_of(open_ones, bulk, eps, thin, walker.damping), draws, number)
        if not _ran_off(found, bulk):
            measured = _measured(slope, open_ones, bulk, found[:, draws // 4 :], walker)
            if measured is not None:
                return measured
        eps, thin = eps / 2.0, 2 * thin
    raise RunError(f"pilot chains diverge at every step size, at last {2.0 * eps:.2g}")


def _ran_off(found: Array, before: Bulk) -> bool:
    """Whether a chain left the finite numbers, or is on its way there."""
    with np.errstate(all="ignore"):
        near = np.abs(found - before.mean) <= LOST * np.sqrt(np.diag(before.covariance))
    return not near.all()


def _measured(slope: Slope, open_ones: tuple[Open, ...], before: Bulk, draws: Array, walker: Pilots) -> Bulk | None:
    """Return the bulk by the draws of a window; None where the curvature of U is not finite at one of them."""
    flat = draws.reshape(-1, draws.shape[2])
    covariance = before.covariance
    if len(flat) > CHAINS:
        covariance = shrunk(flat, len(flat))
    pace = walker.metric(open_ones)(flat, covariance)
    bent = curvatures(slope, pace.root, flat, walker.entries)
    steepest = float(max(bent))
    if not (np.isfinite(bent).all() and steepest > 0.0):
        return None
    eps = rounded(1.0 / (math.sqrt(steepest) if pace.by_root else steepest))
    thin = min(MOST_STEPS, max(1, math.ceil(pace.time / eps)))
    typical = float(np.median(bent))
    return Bulk(flat.mean(axis=0), covariance, pace.unit * steepest, pace.unit * typical, eps, thin, draws[:, -1])


def curvatures(slope: Slope, root: Callable[[Array], Array], draws: Array, entries: float) -> list[float]:
    """Return the spectral norm of A^T Hess U A at draws, spread over all that are given.

    Args:
        slope: theta to grad U.
        root: theta to A, a root of what the step multiplies forces by, d x d or its diagonal.
        draws: where, draws x coordinates.
        entries: of the data that one grad U reads.
    """
    rng = np.random.default_rng(0)
    looks = min(LOOKED_AT, max(CHAINS, READ / (10 * len(WINDOWS) * 2 * TURNS * entries)))
    looked = draws[:: max(1, len(draws) // int(looks))]

    def bent(at: Array) -> float:
        A = root(at)
        first = rng.standard_normal(len(A))
        return bent_at(lambda w: times(A.T, slope(at + times(A, w))), np.zeros(len(A)), first, APART)

    return [bent(at) for at in looked]
