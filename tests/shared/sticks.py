"""Allocations of six users to four sticks, by enumeration."""

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import gammaln, logsumexp

ROOT = Path(__file__).parents[2]
STICKS = 4
CHOICES = np.loadtxt(ROOT / "specs/data/few_choices.csv", delimiter=",", skiprows=1)


@cache
def stick_allocations() -> tuple[np.ndarray, np.ndarray]:
    """Return all 4**6 allocations with their probabilities: sticks and shares integrated out, alpha by quadrature."""
    every = np.array(list(product(range(STICKS), repeat=6)))
    one = every[:, :, None] == np.arange(STICKS)
    m, x = one.sum(axis=1), np.einsum("anj,nw->ajw", one, CHOICES)
    counts, of_counts = np.unique(m, axis=0, return_inverse=True)  # all that sticks know of an allocation
    beyond = 6 - np.cumsum(counts, axis=1)
    log_alpha = np.linspace(-14, 5, 2001)
    alpha = np.exp(log_alpha)[:, None, None]
    sticks = np.log(alpha) + gammaln(1 + counts) + gammaln(alpha + beyond) - gammaln(1 + counts + alpha + beyond)
    prior = 2 * log_alpha - 2 * alpha[:, 0, 0]  # Gamma(2, 2), in log alpha
    shares = (gammaln(0.5 + x).sum(axis=2) - gammaln(1 + x.sum(axis=2))).sum(axis=1)
    logs = logsumexp(sticks.sum(axis=2) + prior[:, None], axis=0)[of_counts.ravel()] + shares
    return every, np.exp(logs - logsumexp(logs))
