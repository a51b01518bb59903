"""What part of the draws is in a region, beside what part exp(-U) says is there at least.

Of draws of exp(-U) on any set R, of mean energy E U and covariance S,

    Z_R <= exp(-E U) |2 pi e S|^(1/2),

as no law of covariance S has a larger entropy than the Gaussian. Among draws of exp(-U) at least the part
Z_B / (Z_B + Z_R) is in a region B that holds Z_B: where there are few, or none, chains stay out of what they should be
in. R-hat, ESS and Stein's identity say nothing of it: they ask of draws what they are where they are.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.run.differences import is_definite

Array = NDArray[np.float64]

LEAST = 0.1
"""What a region has to hold: of 100 draws that count 10 are in it then, and that none is, is no chance."""

MISSED = 0.2
"""The part of the draws that should be in a region, below which it is missed."""


@dataclass(frozen=True, slots=True)
class Visits:
    """What there should be of draws in a region, at least, and what there is."""

    expected: float
    found: float
    region: str
    """What it is, in words: `a mode of U, found by a search from zero`."""
    where: str
    """The same in short: `around it`."""
    cure: str

    @property
    def doubts(self) -> tuple[str, ...]:
        """That chains have missed the region, if they have."""
        if not (self.expected >= LEAST and self.found < MISSED * self.expected):
            return ()
        return (
            f"the draws miss {self.region}: at least {100.0 * self.expected:.2g} % of exp(-U) is {self.where}, and "
            f"{100.0 * self.found:.2g} % of the draws. Chains from elsewhere do not find it, even if R-hat is near 1. "
            f"{self.cure}",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Visited:
    """What chains came to: the ellipsoids of their mean and covariance, and the most that exp(-U) can hold there."""

    draws: Array
    """Draws of theta x coordinates."""
    mean: Array
    root: Array
    """L with L L^T = S, the covariance."""
    log_most: float
    """log(exp(-E U) |2 pi e S|^(1/2))."""

    @classmethod
    def of(cls, draws: Array, energies: Array, effective: float) -> "Visited | None":
        """Return it; None where the draws are all the same in some direction.

        Args:
            draws: of theta, draws x coordinates.
            energies: U at each of them, or at evenly spaced ones.
            effective: how many independent draws they are worth. From n draws |S|^(1/2) is too small by the factor
                exp(-d (d + 1)/(4 n)), about; twice that exponent is put right.
        """
        d = draws.shape[1]
        S = np.atleast_2d(np.cov(draws, rowvar=False))
        if not is_definite(S):
            return None
        root = np.asarray(np.linalg.cholesky(S), dtype=np.float64)
        entropy = d / 2.0 * math.log(2.0 * math.pi * math.e) + float(np.log(np.diag(root)).sum())
        log_most = entropy + d * (d + 1.0) / (2.0 * effective) - float(np.mean(energies))
        return cls(draws, draws.mean(axis=0), root, log_most) if math.isfinite(log_most) else None

    def share(self, log_held: float) -> float:
        """Return Z_B / (Z_B + Z_R) at least, for log Z_B."""
        return 1.0 / (1.0 + math.exp(min(max(self.log_most - log_held, -700.0), 700.0)))

    def distances(self, theta: Array) -> Array:
        """Return how many sds of the draws points (points x coordinates) are from their mean."""
        return np.linalg.norm(np.linalg.solve(self.root, (theta - self.mean).T), axis=0)
