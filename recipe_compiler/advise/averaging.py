"""Dual averaging of log eps towards a probability of acceptance (Hoffman and Gelman 2014, section 3.2).

After m updates, with the shortfalls H_k = delta - alpha_k of what is wanted, delta, and what was seen, alpha_k,

    Hbar_m = (1 - 1/(m + t0)) Hbar_{m-1} + H_m/(m + t0)
    log eps_{m+1} = mu - sqrt(m)/gamma Hbar_m
    log epsbar_m = m^-kappa log eps_m+1 + (1 - m^-kappa) log epsbar_{m-1}

eps_{m+1} is what the next moves step with, epsbar what is kept in the end.
"""

import math
from dataclasses import dataclass

T0, KAPPA, GAMMA = 10.0, 0.75, 0.05
"""From Hoffman and Gelman: how little the first updates count, how fast they are forgotten, how far each one moves."""

FIRST = 0.1
"""The part of a step size that is aimed at that the first moves are made with."""


@dataclass(frozen=True, slots=True)
class Averaging:
    """The state of dual averaging of log eps (Hoffman and Gelman 2014, section 3.2)."""

    mu: float
    """Towards which it is drawn."""
    log_eps: float
    log_mean: float = 0.0
    """log epsbar."""
    shortfall: float = 0.0
    """Hbar."""
    count: int = 0
    """m."""

    @classmethod
    def around(cls, aim: float) -> "Averaging":
        """Return the initial state: drawn towards a step size, starting at a tenth of it."""
        return cls(math.log(aim), math.log(FIRST * aim))

    @property
    def eps(self) -> float:
        """What the next moves step with."""
        return math.exp(self.log_eps)

    @property
    def settled(self) -> float:
        """What is kept."""
        return math.exp(self.log_mean)

    def after(self, acceptance: float, wanted: float) -> "Averaging":
        """Return the state after moves that were accepted with a mean probability."""
        m = self.count + 1
        shortfall = self.shortfall + (wanted - acceptance - self.shortfall) / (m + T0)
        log_eps = self.mu - math.sqrt(m) / GAMMA * shortfall
        weight = m**-KAPPA
        return Averaging(self.mu, log_eps, weight * log_eps + (1.0 - weight) * self.log_mean, shortfall, m)
