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
    acceptance: Array
    """The mean probability that moves of a draw were accepted with: chain x draw, or chain x draw x kind of a cycle
    that has several kinds; 0 where it is no number."""

    @property
    def mean(self) -> float:
        """The mean probability of all, of several kinds that of the one that is accepted least."""
        return float(self.acceptance.mean(axis=(0, 1)).min())

    @property
    def kinds(self) -> tuple[Array, ...]:
        """`acceptance` of each kind: chain x draw."""
        return tuple(np.moveaxis(self.acceptance, 2, 0)) if self.acceptance.ndim == 3 else (self.acceptance,)


class Moving(Protocol):
    """Chains side by side, each where its last moves left it."""

    @property
    def width(self) -> int:
        """Coordinates of the potential's block."""
        ...

    def moved(self, values: Mapping[str, Array], eps: float, thin: int, draws: int) -> Moved:
        """Return what the chains draw from where they are, and leave them there."""
        ...
