"""Linear chains z' = m + F (z - m) + N(0, S) in closed form: stationary law, and errors of moments of their draws.

Numpy and the papers' equations alone: nothing of recipe_compiler is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_discrete_lyapunov

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LinearChain:
    """One step of a sampler on a Gaussian target."""

    names: tuple[str, ...]
    """One per coordinate of z."""
    mean: Array
    F: Array
    S: Array

    def covariance(self) -> Array:
        """Return the stationary covariance: the solution of Sigma_z = F Sigma_z F^T + S."""
        return solve_discrete_lyapunov(self.F, self.S)


def euler_step(
    blocks: Mapping[str, int], f: Array, mean: Array, two_D: Array, eps: float, order: tuple[str, ...] = ()
) -> LinearChain:
    """Return the chain of dz = f (z - mean) dt + N(0, 2D dt) at step eps.

    Without an order all blocks are updated at once, z' = z + eps f (z - mean) + N(0, 2 eps D). With an order each
    block takes its rows of that in turn, from the newest values of all blocks, its noise drawn as it moves; D is
    block diagonal then.
    """
    n_z = mean.size
    ends = np.cumsum(list(blocks.values()))
    rows = {name: slice(end - size, end) for (name, size), end in zip(blocks.items(), ends, strict=True)}
    F, S = np.eye(n_z), np.zeros((n_z, n_z))
    for moved in [(name,) for name in order] or [tuple(blocks)]:
        select = np.zeros(n_z)
        for name in moved:
            select[rows[name]] = 1.0
        move = np.eye(n_z) + eps * select[:, None] * f
        F = move @ F
        S = move @ S @ move.T + eps * select[:, None] * two_D * select
    names = tuple(f"{name}[{i}]" for name, size in blocks.items() for i in range(size))
    return LinearChain(names, mean, F, S)


def thinned(chain: LinearChain, thin: int) -> LinearChain:
    """Return the chain of every thin-th state."""
    F = np.linalg.matrix_power(chain.F, thin)
    covariance = chain.covariance()
    return replace(chain, F=F, S=covariance - F @ covariance @ F.T)


def stationary_starts(chain: LinearChain, chains: int, rng: np.random.Generator) -> Array:
    """Return independent draws of the stationary law, [chains, n_z]: chains from there need no warmup."""
    root = np.linalg.cholesky(chain.covariance())
    return chain.mean + rng.standard_normal((chains, chain.mean.size)) @ root.T


def z_scores(draws: Array, chain: LinearChain) -> dict[str, float]:
    """Return a z-score for every mean, every entry of the covariance, and every one between a draw and the next.

    Args:
        draws: [chains, draws, n_z], from independent chains that started from their stationary law; of a chain with
            more coordinates, the first n_z.
        chain: what they should be, thinned as they are.
    """
    m, n, n_z = draws.shape
    Gamma = [full[:n_z, :n_z] for full in autocovariances(chain, n)]
    weights = np.array([(1.0 if k == 0 else 2.0) * (1.0 - k / n) for k in range(len(Gamma))])
    centred = draws - chain.mean[:n_z]
    variance = sum(w * np.diag(g) for w, g in zip(weights, Gamma, strict=True)) / (m * n)
    z_mean = centred.mean(axis=(0, 1)) / np.sqrt(variance)
    scores = {f"mean of {name}": z for name, z in zip(chain.names[:n_z], z_mean, strict=True)}
    for lag, what in ((0, "covariance of {} and {}"), (1, "covariance of {} and, a draw before, {}")):
        later, sooner = centred[:, lag:].reshape(-1, n_z), centred[:, : n - lag].reshape(-1, n_z)
        error = np.sqrt(variance_of_products(Gamma, weights, lag) / (m * (n - lag)))
        z = (later.T @ sooner / later.shape[0] - Gamma[lag]) / error
        for i in range(n_z):
            for j in range(n_z if lag else i + 1):
                scores[what.format(chain.names[i], chain.names[j])] = z[i, j]
    return {what: float(z) for what, z in scores.items()}


def autocovariances(chain: LinearChain, most: int) -> list[Array]:
    """Return Gamma_k = Cov(z(t + k), z(t)) = F^k Sigma_z, k = 0, 1, ... until it is 1e-9 of Sigma_z, 2 at least."""
    Gamma = [chain.covariance()]
    while len(Gamma) < most and (len(Gamma) < 2 or np.abs(Gamma[-1]).max() > 1e-9 * np.abs(Gamma[0]).max()):
        Gamma.append(chain.F @ Gamma[-1])
    return Gamma


def variance_of_products(Gamma: list[Array], weights: Array, lag: int) -> Array:
    """Return n times the variance of the average over n draws of z_i(t + lag) z_j(t), z centred: an n_z x n_z array.

    The products' autocovariance at k is that of a Gaussian's fourth moments,
    Gamma_k,ii Gamma_k,jj + Gamma_(k+lag),ij Gamma_(k-lag),ji with Gamma_-h = Gamma_h^T; it is summed with weights.
    """
    total = np.zeros_like(Gamma[0])
    for k in range(len(Gamma) - lag):
        diagonal = np.diag(Gamma[k])
        back = Gamma[k - lag] if k >= lag else Gamma[lag - k].T
        total += weights[k] * (np.outer(diagonal, diagonal) + Gamma[k + lag] * back.T)
    return total
