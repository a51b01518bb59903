"""Where moves of a chain are hardly ever accepted: it comes there seldom and stays long."""

import numpy as np

from recipe_compiler.formula.arrays import Array

STUCK = 50
"""Moves in a row of which not one was to be expected accepted, where a chain is called stuck.

Of a set of states that moves leave with probability a at most, chains take 1/a moves to forget whether they are in it;
by detailed balance they enter it as seldom as they leave it, so that what lies there, and beyond, is known from few
visits if from any.
"""


def least_accepted(rates: Array, moves: Array) -> tuple[float, int] | None:
    """Return the least mean probability that some moves in a row were accepted with, and how many these are.

    They are the moves of as few draws in a row as have `STUCK`; of a chain that has fewer moves nothing is said.

    Args:
        rates: for each draw of a chain, the mean probability that its moves were accepted with; no number without any.
        moves: how many these were.
    """
    until = np.concatenate(([0.0], np.cumsum(moves)))
    expected = np.concatenate(([0.0], np.cumsum(np.where(moves > 0.0, np.nan_to_num(rates) * moves, 0.0))))
    ends = np.searchsorted(until, until + STUCK)
    starts = np.flatnonzero(ends < len(until))
    if not starts.size:
        return None
    counts = until[ends[starts]] - until[starts]
    means = (expected[ends[starts]] - expected[starts]) / counts
    least = int(np.argmin(means))
    return float(means[least]), int(counts[least])
