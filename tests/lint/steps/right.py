"""Right steps in several styles of programming."""

# ruff: noqa: NPY002

import math

import numpy as np
from numba import njit
from numpy.linalg import cholesky, inv

RNG = np.random.default_rng(7)


def sgld(theta, grad_U, eps, rng):  # sgld holds
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(theta.shape)


def sgld_module_generator(theta, grad_U, eps):  # sgld holds
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * RNG.standard_normal(theta.shape)


def sgld_half(theta, grad_U, lr, rng):  # sgld holds
    """The step size of others: -grad U/2 and noise of variance eps."""
    assert lr > 0
    return theta - 0.5 * lr * grad_U(theta) + rng.normal(0.0, math.sqrt(lr), size=len(theta))


def sgld_loops(theta, D, U_grad, eps):  # sgld holds
    d = len(theta)
    new = np.zeros(d, dtype=theta.dtype)
    L = cholesky(2 * eps * D)
    w = np.random.randn(d)
    for i in range(d):
        change = 0.0
        for j in range(d):
            change += -eps * D[i, j] * U_grad(theta)[j] + L[i, j] * w[j]
        new[i] = theta[i] + change
    return new


def sgld_own_gradient(theta, eps, rng):  # sgld holds
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(theta.shape)


def grad_U(theta):
    return theta**3


def sghmc(theta, r, grad_U, eps, rng, C, M):  # sghmc holds
    v = np.linalg.solve(M, r)
    noise = np.sqrt(2 * eps) * cholesky(C) @ rng.standard_normal(theta.shape)
    r_new = r - eps * grad_U(theta) - eps * C @ v + noise
    return theta + eps * inv(M) @ r_new, r_new


@njit(cache=True)
def sghmc_loops(theta, r, grad_U, eps, rng, C, M):  # sghmc holds
    d = theta.size
    Minv = np.linalg.inv(M)
    noise = np.linalg.cholesky(C) @ np.random.standard_normal(d)
    r_new = np.empty_like(r)
    g = grad_U(theta)
    for i in range(d):
        r_new[i] = r[i] - eps * g[i] + np.sqrt(2.0 * eps) * noise[i]
        for j in range(d):
            for k in range(d):
                r_new[i] -= eps * C[i, j] * Minv[j, k] * r[k]
    for i in range(d):
        for j in range(d):
            theta[i] += eps * Minv[i, j] * r_new[j]
    return theta, r_new


def sgnht(theta, r, xi, A, grad_U, eps, rng):  # sgnht holds
    r = r - eps * grad_U(theta) - eps * xi * r + np.sqrt(2 * A * eps) * rng.normal(size=r.shape)
    theta = theta + eps * r
    return theta, r, xi + eps * (r @ r / len(r) - 1)


def sgnht_dict(theta, r, xi, A, grad_U, eps, rng):  # sgnht holds
    new = {"r": r - eps * (grad_U(theta) + xi * r) + np.sqrt(2 * A * eps) * rng.standard_normal(r.size)}
    new["theta"] = theta + eps * r
    new["xi"] = xi + eps * ((r**2).mean() - 1)
    return new


def sgrhmc(theta, r, K, div_K, grad_U, eps, rng):  # gsgrhmc holds
    k = K(theta)
    drift = -k.dot(grad_U(theta)) + div_K(theta) - np.dot(k @ k, r)
    r_new = r + eps * drift + np.sqrt(2 * eps) * k @ rng.standard_normal(r.shape)
    return theta + eps * k @ r, r_new


def sgrld(theta, G_inverse, div_G_inverse, grad_U, eps, rng):  # sgrld holds
    G = G_inverse(theta)
    return rng.multivariate_normal(theta + eps * (div_G_inverse(theta) - G @ grad_U(theta)), 2 * eps * G)


def leapfrog(theta, r, M, grad_U, eps, steps=2):  # hmc holds
    r = r - eps / 2 * grad_U(theta)
    for n in range(steps):
        theta = theta + eps * np.linalg.inv(M) @ r
        r = r - (eps if n < steps - 1 else eps / 2) * grad_U(theta)
    return theta, r


def refresh(theta, r, M, rng):  # hmc holds
    return theta, np.linalg.cholesky(M) @ rng.standard_normal(len(r))


def langevin(x, p, gamma, eps, rng):  # double_well proved
    """BAOAB of a double well."""
    c = np.exp(-gamma * eps)
    p = p - eps / 2 * (x**3 - x)
    x = x + eps / 2 * p
    p = c * p + np.sqrt(1 - c**2) * rng.normal()
    x = x + eps / 2 * p
    return x, p - eps / 2 * (x**3 - x)


def langevin_state(z, gamma, eps, rng):  # double_well proved with z = state
    x, p = z
    p_new = p + eps * (x - x**3 - gamma * p) + np.sqrt(2 * gamma * eps) * rng.standard_normal()
    return np.array([x + eps * p, p_new])


def langevin_noise(x, p, gamma, eps, w):  # double_well proved with w = normal(p)
    return x + eps * p, p + eps * (x - x**3 - gamma * p) + np.sqrt(2 * gamma * eps) * w


def cir(x, a, eps, rng):  # gamma proved
    return abs(x + eps * (a - x) + np.sqrt(2 * x * eps) * rng.standard_normal())


def autoregression(theta, S, rng, rho=0.5):  # gaussian proved
    return rho * theta + np.sqrt(1 - rho**2) * np.linalg.cholesky(S) @ rng.standard_normal(2)


def gaussian(theta, S, eps, rng):  # gaussian proved
    return rng.multivariate_normal(theta - eps * theta, 2 * eps * S)


def langevin_adjusted(theta, grad_U, h, rng):  # sgld_unit holds: step size read as h**2
    """A proposal of Metropolis-adjusted papers: time passes as h**2/2."""
    return theta - h**2 / 2 * grad_U(theta) + h * rng.standard_normal(theta.shape)


def sghmc_squared(theta, r, grad_U, C, M, h, rng):  # sghmc holds: step size read as h**2
    r = r - h**2 * grad_U(theta) - h**2 * C @ np.linalg.solve(M, r) + h * rng.multivariate_normal(0 * r, 2 * C)
    return theta + h**2 * np.linalg.solve(M, r), r


def langevin_of_two(x, y, grad_U, b, A, K, eps, rng):  # two_places proved
    f, g = grad_U(x), b * grad_U(y)
    w, v = rng.standard_normal(2), rng.standard_normal(2)
    return (
        x - eps * (A @ f + K @ g) + np.sqrt(2 * eps) * cholesky(A) @ w,
        y - eps * (A @ A @ g - K.T @ f) + np.sqrt(2 * eps) * A @ v,
    )
