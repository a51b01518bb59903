"""The bulk of exp(-U) where no minimum of U leads to it, by chains that have its law at every step size.

A density that grows without limit, as that of a hierarchy does where a scale goes to zero, has its mass elsewhere, and
a search for a mode runs away from it. Hamiltonian Monte Carlo (Duane and others 1987) goes where the mass is at every
step size: from theta with momenta r ~ N(0, K), L leapfrog steps of

    dtheta/dt = K^-1 r,   dr/dt = -grad U(theta)

are accepted with probability min(1, exp(-(H' - H))), H = U + r^T K^-1 r / 2, L uniform in 1, ..., `MOST_STEPS`. U and
grad U are those of all data that the build's module has. No draw is kept.

The moves warm up as those of any build do (`acceptance.py`), then draw with everything standing until the mean and the
sd of each coordinate are known. Pilot chains of the build begin where they end, and what these find is held against
what they found: a step size that stays the same may not come into a neck of exp(-U) at all, and then two of them agree
with each other, not with chains that do.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.acceptance import tuned
from recipe_compiler.advise.budget import Budget
from recipe_compiler.advise.moments import AGREE, Moments, least_share, moments_of, r_hats
from recipe_compiler.advise.pilots import CHAINS, Moved
from recipe_compiler.advise.roles import Open, ParameterRole
from recipe_compiler.errors import RunError
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.shapes import Kind, Shape
from recipe_compiler.run.map_estimate import Slope, Start

Array = NDArray[np.float64]

ACCEPT = 0.95
"""The mean probability of acceptance: shorter steps than a run's, which come further into a neck."""

DRAWS, MOST_DRAWS = 500, 8000
"""Draws of a chain, at first and at most."""

WANTED = 2000.0
"""Effective draws of each coordinate: an sd is then known within 1.6 %."""

READ = 3e10
"""Entries of the data that may be read: some tens of seconds."""

CALL = 1000.0
"""What a call of an emitted function takes from outside, in entries of the data."""

LOST = 1e-3
"""The part of the moves that may diverge, H rising by more than 700: if more do, chains miss some of the bulk."""

MOST_STEPS = 20
"""Steps of one move, as where a build leaves its trajectories open."""

MASS = Open(Parameter("M", Shape("d", "d"), (Kind.PD,)), ParameterRole.MASS)
"""K, which warm-up chooses."""


@dataclass(frozen=True, slots=True, eq=False)
class LeapfrogMoves:
    """Chains of Hamiltonian Monte Carlo side by side (Duane, Kennedy, Pendleton, Roweth 1987)."""

    potential: Callable[[Array], float]
    """U."""
    slope: Slope
    """grad U."""
    theta: Array
    """Where the chains are: chain x coordinate. Moves write to it."""
    rng: np.random.Generator
    entries: int
    """What a gradient costs, in entries of the data that are read."""
    budget: Budget
    """What they may take."""

    @property
    def width(self) -> int:
        """Coordinates."""
        return self.theta.shape[1]

    def moved(self, values: Mapping[str, Array], eps: float, thin: int, draws: int) -> Moved:
        """Draw from where the chains are, and leave them at the end.

        L leapfrog steps, L uniform in 1, ..., `MOST_STEPS`, with r ~ N(0, K), accepted with probability min(1, exp(-(H'
        - H))), H = U + r.T inv(K) r/2.

        Args:
            values: K, d x d, by the name of `MASS`.
            eps: the step size.
            thin: moves of a draw.
            draws: of each chain.
        """
        upper = np.linalg.cholesky(values[MASS.name]).T
        root = np.asarray(
            np.linalg.inv(upper), dtype=np.float64
        )  # root root^T = K^-1, and r = upper^T p with p ~ N(0, 1)
        found = np.empty((len(self.theta), draws, self.width))
        acceptance = np.zeros((len(self.theta), draws))
        with np.errstate(all="ignore"):
            for k, at in enumerate(self.theta):
                level = self.potential(at)
                for draw in range(draws):
                    self.budget.demand()
                    for _ in range(thin):
                        proposed, risen, probability = self._proposed(at, level, root, eps)
                        acceptance[k, draw] += probability / thin
                        if self.rng.random() < probability:
                            at, level = proposed, risen
                    found[k, draw] = at
                self.theta[k] = at
        self.budget.keep(found, thin * MOST_STEPS / 2.0)
        return Moved(found, (acceptance,))

    def restart(self, chain: int, other: int) -> None:
        """Let a chain go on from where another one is."""
        self.theta[chain] = self.theta[other]

    def _proposed(self, at: Array, level: float, root: Array, eps: float) -> tuple[Array, float, float]:
        """Return where a trajectory ends, U there, and the probability that it is accepted with.

        In w with theta = root w, momenta p have the mass 1.
        """
        p = self.rng.standard_normal(self.width)
        energy, theta = level + float(p @ p) / 2.0, at
        p = p - eps / 2.0 * (root.T @ self.slope(theta))
        steps = int(self.rng.integers(1, MOST_STEPS + 1))
        for step in range(steps):
            theta = theta + eps * (root @ p)
            p = p - (eps if step < steps - 1 else eps / 2.0) * (root.T @ self.slope(theta))
        risen = self.potential(theta)
        difference = risen + float(p @ p) / 2.0 - energy
        return theta, risen, float(np.exp(min(0.0, -difference))) if np.isfinite(difference) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class ExactDraws:
    """Draws of chains whose law is exp(-U) at every step size."""

    theta: Array
    """Chain x draw x coordinate."""
    moments: Moments

    def agreement(self, walk: Moments, names: tuple[str, ...]) -> Iterator[str]:
        """Yield what they are, and how far the moments of a walk of the build are from theirs."""
        off = walk.beside(self.moments)
        mean, sd = (int(np.argmax(np.abs(of))) for of in (off.of_means, off.of_sds))
        yield (
            f"  begun by {len(self.theta)} chains of {self.theta.shape[1]} Hamiltonian moves, accepted or rejected: "
            f"from theirs sds are off by {100.0 * off.of_sds[sd]:+.2g} % +- {100.0 * off.sds_within[sd]:.2g} % at most "
            f"({names[sd]}), means by {off.of_means[mean]:+.2g} +- {off.means_within[mean]:.2g} sd ({names[mean]})"
        )


def exact_draws(
    potential: Callable[[Array], float],
    slope: Slope,
    starts: tuple[Start, ...],
    entries: int,
    names: tuple[str, ...],
    budget: Budget,
) -> ExactDraws:
    """Return draws of exp(-U) by Hamiltonian Monte Carlo moves, until mean and sd of every coordinate are known.

    Args:
        potential: U.
        slope: grad U.
        starts: where chains begin.
        entries: of the data, each of which one grad U reads.
        names: of the coordinates.
        budget: the processor time that the chains may take.

    Raises:
        OverBudgetError: they took more.
        RunError: the chains do not agree, or steps small enough for all of the bulk would take too long.
    """
    theta = np.array([starts[k % len(starts)].theta for k in range(CHAINS)])
    moves = LeapfrogMoves(potential, slope, theta, np.random.default_rng(0), entries, budget)
    cost = CHAINS * MOST_STEPS / 2.0 * (entries + CALL)
    most = min(MOST_DRAWS, int(READ / cost))
    if most < DRAWS:
        raise RunError("there are too many data for Metropolis chains to search for it")
    values, eps = tuned(moves, (MASS,), None, ACCEPT, 1, budget.say)
    draws = DRAWS
    parts = list[Moved]()
    while True:
        budget.say(f"warm-up: {draws} draws of {CHAINS} chains")
        parts.append(moves.moved(values, eps, 1, draws))
        found = np.concatenate([part.theta for part in parts], axis=1)
        counts = least_share(found) * CHAINS * found.shape[1]
        draws = int(min(most - found.shape[1], found.shape[1] * min(8.0, 1.1 * WANTED / max(counts, 1.0) - 1.0)))
        if counts >= WANTED or draws < 1:
            break
    apart = r_hats(found)
    if not float(np.max(apart)) <= AGREE:
        worst = int(np.argmax(np.nan_to_num(apart, nan=np.inf)))
        raise RunError(
            f"{CHAINS} chains of {found.shape[1]} Metropolis moves do not agree (R-hat of "
            f"{names[worst]} {apart[worst]:.3g})"
        )
    diverged = float(np.mean(np.concatenate([part.acceptance for part in parts], axis=1) == 0.0))
    if not diverged <= LOST:
        raise RunError(f"{100.0 * diverged:.2g} % of Metropolis moves diverge, so chains do not reach all of the bulk")
    return ExactDraws(found, moments_of(found))
