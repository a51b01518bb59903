"""V_hat: the covariance of the minibatch gradient at a point, estimated from the data.

With G_i the estimate from datum i alone, and n data in a batch,

    with replacement         V = Cov(G)/n
    without                  V = Cov(G)/n (N - n)/(N - 1)        the factor of a finite population
    contiguous blocks        V = Cov over the N blocks of their estimates

where Cov is over the N data (divided by N). These are exact where all data are used; of more than `SAMPLED` data (or
blocks) as many are drawn, and the estimate is unbiased.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.run.gradients import Gradients

Array = NDArray[np.float64]
Batches = Literal["with replacement", "without replacement", "contiguous"]

SAMPLED = 1 << 14
"""The most gradients that an estimate is made of."""


def gradient_noise(
    gradients: Gradients, theta: Array, batch_size: int, batches: Batches, *, diagonal: bool = False, seed: int = 0
) -> Array:
    """Return V at a point: a matrix, positive semidefinite, or its diagonal.

    Args:
        gradients: of the target.
        theta: where.
        batch_size: n.
        batches: how they are drawn.
        diagonal: whether the diagonal alone is wanted, which takes no matrix.
        seed: of the choice of data, where there are too many to take all.
    """
    N = gradients.rows
    chosen = np.arange(N) if N <= SAMPLED else np.random.default_rng(seed).choice(N, SAMPLED, replace=False)
    size = batch_size if batches == "contiguous" else 1
    offsets = np.arange(size)
    each = np.stack([gradients.of_batch(theta, ((first + offsets) % N).astype(np.uint64)) for first in chosen])
    centred = each - each.mean(axis=0)
    # Over N where all are there. Of a sample, over one less: unbiased for the sum over all divided by N - 1.
    divisor = N if len(chosen) == N else (len(chosen) - 1) * N / (N - 1)
    covariance = np.einsum("ka,ka->a", centred, centred) if diagonal else centred.T @ centred
    return covariance / divisor * _share(N, batch_size, batches)


def _share(N: int, n: int, batches: Batches) -> float:
    """Return the variance of the mean of a batch over that of one datum."""
    match batches:
        case "with replacement":
            return 1.0 / n
        case "without replacement":
            return (N - n) / (n * (N - 1)) if N > 1 else 0.0
        case "contiguous":
            return 1.0
