"""Chains of moves that are accepted or refused, and what they made of some draws."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """What chains drew."""

    theta: Array
    """Chain x draw x coordinate of the potential's block."""
    kinds: tuple[Array, ...]
    """The mean probability that moves of a draw were accepted with, of each kind that a cycle has: chain x draw; 0
    where it is no number."""

    @property
    def mean(self) -> float:
        """The mean probability of all, of several kinds that of the one that is accepted least."""
        return min(float(kind.mean()) for kind in self.kinds)

    @property
    def typical(self) -> float:
        """The same of the median chain: a chain that is stuck where it begins says nothing of a step size."""
        return min(float(np.median(kind.mean(axis=1))) for kind in self.kinds)

    @property
    def acceptance(self) -> Array:
        """The mean over the kinds: chain x draw."""
        return sum(self.kinds[1:], self.kinds[0]) / len(self.kinds)


class Moving(Protocol):
    """Chains side by side, each where its last moves left it."""

    @property
    def width(self) -> int:
        """Coordinates of the potential's block."""
        ...

    def moved(self, values: Mapping[str, Array], eps: float, thin: int, draws: int) -> Moved:
        """Return what the chains draw from where they are, and leave them there."""
        ...

    def restart(self, chain: int, other: int) -> None:
        """Let a chain go on from where another one is."""
        ...
