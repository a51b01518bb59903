"""Exact posterior moments of hierarchies that are linear once their scales are known, by sums over a grid of these.

Given its scales s, of which sigma is that of the data, a model here is y ~ N(X beta, sigma^2 V) with beta = T(s) z and
z ~ N(0, 1). With G = X^T V^-1 X, q = X^T V^-1 y and A = 1 + T^T G T/sigma^2, z given y is N(m, A^-1) with
A m = T^T q/sigma^2, and

    2 log p(y | s) = -log det A - N log sigma^2 - (y^T V^-1 y)/sigma^2 + m^T A m + a constant

The moments of beta are those of a mixture over s, whose weights are p(y | s) p(s). Scales are summed over an even grid
of their logarithms, where sums converge faster than any power of the spacing; what half of the points change is
printed.
"""

from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Moments = dict[str, dict[str, float]]
CHUNK = 4096


def moments(
    axes: Mapping[str, Array], log_prior: Callable[[Array], Array], transform: Callable[[Array], Array], x: Array,
    y: Array, variances: Array | None, names: tuple[str, ...],
) -> Moments:  # fmt: skip
    """Return the moments of all scales and of beta, by name.

    Args:
        axes: the logarithms of each scale, `sigma` among them unless it is 1.
        log_prior: of rows of scales.
        transform: T at rows of scales.
        x: X.
        y: the data.
        variances: V, None for 1.
        names: of beta.
    """
    weighted = x / (np.ones(len(y)) if variances is None else variances)[:, None]
    G, q, total = weighted.T @ x, weighted.T @ y, float(y @ (y if variances is None else y / variances))
    every = np.array(list(product(*axes.values())))
    place = list(axes).index("sigma") if "sigma" in axes else None
    weights, means, squares = list[Array](), list[Array](), list[Array]()
    for logs in np.array_split(every, max(1, len(every) // CHUNK)):
        scales = np.exp(logs)
        noise = np.ones(len(scales)) if place is None else scales[:, place] ** 2
        T = transform(scales)
        A = np.eye(T.shape[2]) + np.einsum("sai,ab,sbj->sij", T, G, T, optimize=True) / noise[:, None, None]
        inverse = np.linalg.inv(A)
        m = np.einsum("sij,saj,a->si", inverse, T, q, optimize=True) / noise[:, None]
        evidence = -np.linalg.slogdet(A)[1] - len(y) * np.log(noise) - total / noise
        evidence += np.einsum("si,sij,sj->s", m, A, m, optimize=True)
        weights.append(evidence / 2.0 + log_prior(scales) + logs.sum(axis=1))
        means.append(np.concatenate([np.einsum("sai,si->sa", T, m), scales], axis=1))
        spread = np.einsum("sai,sij,saj->sa", T, inverse, T, optimize=True)
        squares.append(np.concatenate([spread, np.zeros_like(scales)], axis=1) + means[-1] ** 2)
    shape = tuple(len(axis) for axis in axes.values())
    weight = np.concatenate(weights).reshape(shape)
    weight = np.exp(weight - weight.max())
    ends = max(float(np.take(weight, end, axis=k).max()) for k in range(len(shape)) for end in (0, -1))
    coarse = np.zeros(shape)
    coarse[tuple(slice(None, None, 2) for _ in shape)] = 1.0
    found, again = (
        _mixture(w.ravel(), np.concatenate(means), np.concatenate(squares)) for w in (weight, weight * coarse)
    )
    off = float(np.max(np.abs(found - again) / found[1]))
    print(f"half of the points change moments by {off:.1e} sds at most; the ends hold {ends:.1e} of the top")
    return {
        name: {"mean": float(mean), "sd": float(sd), "mcse_mean": 0.0, "r_hat": 1.0}
        for name, mean, sd in zip((*names, *axes), *found, strict=True)
    }


def _mixture(weight: Array, means: Array, squares: Array) -> Array:
    mass = weight / weight.sum()
    mean = mass @ means
    return np.array([mean, np.sqrt(mass @ squares - mean**2)])


def half_normal(scales: Array) -> Array:
    """Return the log densities of scales that are half-normal of scale 2, without constants."""
    return -(scales**2).sum(axis=1) / 8.0


def schools(effect: Array, error: Array) -> Moments:
    """Return the moments of eight schools: theta, mu, tau, and eta = (theta - mu)/tau."""
    J = len(effect)

    def transform(scales: Array) -> Array:  # (theta, mu, eta) by (eta, mu/5)
        T = np.zeros((len(scales), 2 * J + 1, J + 1))
        T[:, range(J), range(J)] = scales
        T[:, : J + 1, J] = 5.0
        T[:, range(J + 1, 2 * J + 1), range(J)] = 1.0
        return T

    names = (*(f"theta[{j}]" for j in range(J)), "mu", *(f"eta[{j}]" for j in range(J)))
    x = np.eye(J, 2 * J + 1)
    axes = {"tau": np.linspace(-30.0, 12.0, 8001)}
    return moments(axes, lambda s: -np.log1p((s[:, 0] / 5.0) ** 2), transform, x, effect, error**2, names)


def varying_intercepts(g: Array, a: Array, y: Array, log_sigma: Array, log_tau: Array) -> Moments:
    """Return the moments of alpha, mu, b, sigma and tau, by sums over the logarithms of the last two."""
    own = np.eye(int(g.max()) + 1)[g.astype(int)]
    J = own.shape[1]

    def transform(scales: Array) -> Array:  # (alpha, mu, b) by (eta, mu/5, b/5)
        T = np.zeros((len(scales), J + 2, J + 2))
        T[:, range(J), range(J)] = scales[:, 1:]
        T[:, : J + 1, J] = 5.0
        T[:, J + 1, J + 1] = 5.0
        return T

    names = (*(f"alpha[{j}]" for j in range(J)), "mu", "b")
    x = np.column_stack([own, np.zeros(len(y)), a])
    return moments({"sigma": log_sigma, "tau": log_tau}, half_normal, transform, x, y, None, names)


def varying_slopes(g: Array, a: Array, y: Array) -> Moments:
    """Return the moments of alpha, beta, their means, and the three scales."""
    own = np.eye(int(g.max()) + 1)[g.astype(int)]
    J = own.shape[1]

    def transform(scales: Array) -> Array:  # (alpha, beta, mu_alpha, mu_beta) by (eta, zeta, both means over 5)
        T = np.zeros((len(scales), 2 * J + 2, 2 * J + 2))
        T[:, range(J), range(J)] = scales[:, 1:2]
        T[:, range(J, 2 * J), range(J, 2 * J)] = scales[:, 2:]
        T[:, :J, 2 * J] = T[:, 2 * J, 2 * J] = 5.0
        T[:, J : 2 * J, 2 * J + 1] = T[:, 2 * J + 1, 2 * J + 1] = 5.0
        return T

    names = (*(f"{name}[{j}]" for name in ("alpha", "beta") for j in range(J)), "mu_alpha", "mu_beta")
    x = np.column_stack([own, own * a[:, None], np.zeros((len(y), 2))])
    axes = {
        "sigma": np.linspace(-1.2, -0.1, 41), "tau_alpha": np.linspace(-2.2, 1.8, 61),
        "tau_beta": np.linspace(-12.0, 1.5, 271),
    }  # fmt: skip
    return moments(axes, half_normal, transform, x, y, None, names)
