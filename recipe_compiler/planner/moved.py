"""What chains of moves that are accepted or refused made of some draws."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """What chains made of some draws."""

    theta: Array
    """Chain x draw x coordinate of the potential's block."""
    acceptance: Array
    """The mean probability that the moves of a draw were accepted with: chain x draw; 0 where it is no number."""

    @property
    def mean(self) -> float:
        """The mean probability of all."""
        return float(self.acceptance.mean())
