"""Minimisation without derivatives from many starts at once (Nelder, Mead 1965), on floats: it only ever proposes."""

from collections.abc import Callable

import numpy as np

ROUNDS = 160

Values = Callable[[np.ndarray], np.ndarray]
"""Takes points (k, n), returns values (k,); what is outside is infinite."""


def descended(f: Values, starts: np.ndarray, rounds: int = ROUNDS) -> np.ndarray:
    """Return the best point found from each start.

    Args:
        f: The function.
        starts: Shape (k, n).
        rounds: Each one evaluates every candidate move of every simplex, 4 k points, and a shrink where none helps.
    """
    count, n = starts.shape
    simplex = np.repeat(starts[:, None, :], n + 1, axis=1)
    for i in range(n):
        simplex[:, i + 1, i] += np.where(starts[:, i] != 0, 0.05 * starts[:, i], 0.01)
    values = f(simplex.reshape(-1, n)).reshape(count, n + 1)
    rows = np.arange(count)
    for _ in range(rounds):
        order = np.argsort(values, axis=1, kind="stable")
        simplex, values = simplex[rows[:, None], order], values[rows[:, None], order]
        centre, worst = simplex[:, :-1].mean(axis=1), simplex[:, -1]
        moves = np.stack([centre + t * (worst - centre) for t in (-1.0, -2.0, -0.5, 0.5)])
        found = f(moves.reshape(-1, n)).reshape(4, count)
        best = found.argmin(axis=0)
        better = found[best, rows] < values[:, -1]
        simplex[better, -1] = moves[best, rows][better]
        values[better, -1] = found[best, rows][better]
        if not better.all():
            small = ~better
            shrunk = simplex[small, :1] + 0.5 * (simplex[small, 1:] - simplex[small, :1])
            simplex[small, 1:] = shrunk
            values[small, 1:] = f(shrunk.reshape(-1, n)).reshape(-1, n)
    at = values.argmin(axis=1)
    return simplex[rows, at]
