"""Chains of exp(-U) alone, by moves that are accepted or refused: they find a bulk that no minimum of U leads to.

A density that grows without limit, as that of a hierarchy does where a scale goes to zero, has its mass elsewhere, and
a search for a mode runs away from it. Hamiltonian Monte Carlo (Duane and others 1987) goes where the mass is at every
step size: from theta with momenta r ~ N(0, K), L leapfrog steps of

    dtheta/dt = K^-1 r,   dr/dt = -grad U(theta)

are accepted with probability min(1, exp(-(H' - H))), H = U + r^T K^-1 r / 2, L uniform in 1, ..., `MOST_STEPS`. U and
grad U are those of all data that the build's module has. No draw of them is kept: they say where pilot chains of the
build begin, and what these have to agree with.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.shapes import Kind, Shape
from recipe_compiler.planner.moved import Moved
from recipe_compiler.planner.roles import Open, ParameterRole
from recipe_compiler.run.map_estimate import Slope

Array = NDArray[np.float64]

MOST_STEPS = 20
"""Of one move, as where a build leaves its trajectories to be chosen."""

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
                    for _ in range(thin):
                        proposed, risen, probability = self._proposed(at, level, root, eps)
                        acceptance[k, draw] += probability / thin
                        if self.rng.random() < probability:
                            at, level = proposed, risen
                    found[k, draw] = at
                self.theta[k] = at
        return Moved(found, (acceptance,))

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
