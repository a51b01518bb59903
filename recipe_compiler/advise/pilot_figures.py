"""What pilot chains of a plan made of the posterior, where no step made linear at a mode shows it."""

from dataclasses import dataclass

import numpy as np

KNOWN = 0.025
"""The largest error of how far an sd is off that leaves it known: half of what is called wrong (`suggestions.WIDE`)."""


@dataclass(frozen=True, slots=True)
class PilotFigures:
    """Figures from pilot chains, by coordinate of theta, with Monte Carlo standard errors (Vehtari et al. 2021)."""

    mean: tuple[float, ...]
    sds: tuple[float, ...]
    of_means: tuple[float, ...]
    """How far the step size puts a mean off, in sds."""
    means_within: tuple[float, ...]
    of_sds: tuple[float, ...]
    """The same of an sd, relative."""
    sds_within: tuple[float, ...]
    steps: float
    """Steps that are worth one independent draw."""
    draws: int
    """Draws of all pilot chains behind each figure."""

    @property
    def worst(self) -> int:
        """The coordinate whose sd is off most, in units of its Monte Carlo error."""
        return int(np.argmax(np.abs(self.of_sds)))

    @property
    def is_known(self) -> bool:
        """Whether the figures are precise enough to tell right sds from wrong ones."""
        return max(self.sds_within) <= KNOWN

    @property
    def off(self) -> str:
        """How far sds are off: `0.8 % +- 0.5 %`."""
        k = self.worst
        return f"{100.0 * self.of_sds[k]:+.2g} % +- {100.0 * self.sds_within[k]:.2g} %"

    @property
    def shift(self) -> str:
        """How far means are off, in sds."""
        k = int(np.argmax(np.abs(self.of_means)))
        return f"{self.of_means[k]:+.2g} +- {self.means_within[k]:.2g} sd"
