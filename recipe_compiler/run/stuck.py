"""How long chains of moves that are accepted or refused stand still."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

STUCK = 50
"""Moves in a row none of which is accepted, after which a chain is called stuck."""


def longest_stay(draws: NDArray[Any]) -> int:
    """Return the longest run of draws of a chain that equal the one before; draws x coordinates."""
    moved = np.flatnonzero(np.any(draws[1:] != draws[:-1], axis=1))
    edges = np.concatenate(([-1], moved, [len(draws) - 1]))
    return max(0, int(np.diff(edges).max()) - 1)
