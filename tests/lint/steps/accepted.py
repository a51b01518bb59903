"""Steps that are accepted or refused, and preserve exp(-H)."""

import math
import random

import numpy as np
from numba import njit


def grad_U(theta):
    raise NotImplementedError


def U(theta):
    raise NotImplementedError


def walk(theta, U, rng):  # sgld_unit holds
    new = theta + 0.3 * rng.standard_normal(theta.shape[0])
    if np.log(rng.random()) < U(theta) - U(new):
        return new
    return theta


def walk_by_the_ratio(theta, U, rng):  # sgld_unit holds
    new = theta + rng.normal(0.0, 0.5, size=len(theta))
    ratio = np.exp(-U(new)) / np.exp(-U(theta))
    return np.where(rng.uniform() < np.minimum(1.0, ratio), new, theta)


def walk_by_an_exponential_and_a_minimum(theta, U, rng):  # sgld_unit holds
    new = theta + rng.standard_normal(theta.shape)
    return np.where(-rng.standard_exponential() < np.minimum(0, U(theta) - U(new)), new, theta)


def walk_refused_first(theta, U):  # sgld_unit holds
    new = [x + random.gauss(0, 1) for x in theta]
    if math.log(random.random()) > min(0, U(theta) - U(np.array(new))):
        return theta
    return np.array(new)


@njit
def mala(theta, eps):  # sgld_unit holds
    g = grad_U(theta)
    new = theta - eps * g + np.sqrt(2 * eps) * np.random.randn(len(theta))  # noqa: NPY002
    forth = new - theta + eps * g
    back = theta - new + eps * grad_U(new)
    ratio = U(theta) - U(new) + (np.sum(forth**2) - np.sum(back**2)) / (4 * eps)
    if np.random.rand() < np.exp(ratio):  # noqa: NPY002
        return new
    return theta


def leapfrog(q, p, eps, steps):
    p = p - eps / 2 * grad_U(q)
    for _ in range(steps - 1):
        q = q + eps * p
        p = p - eps * grad_U(q)
    q = q + eps * p
    return q, p - eps / 2 * grad_U(q)


def hmc(theta, eps, rng):  # sgld_unit holds
    r = rng.standard_normal(len(theta))
    q, p = leapfrog(theta, r, eps, 3)
    if rng.uniform() < min(1, np.exp(U(theta) + r @ r / 2 - U(q) - p @ p / 2)):
        theta = q
    return theta


def hmc_by_positions(theta, eps, rng):  # sgld_unit holds
    r = rng.standard_normal(len(theta))
    q, p = theta + eps / 2 * r, r
    p = p - eps * grad_U(q)
    q = q + eps * p
    p = p - eps * grad_U(q)
    q = q + eps / 2 * p
    if np.log(rng.random()) < U(theta) - U(q) + (r @ r - p @ p) / 2:
        return q
    return theta


def hmc_with_mass(theta, r, M, eps, rng):  # hmc holds
    r = np.linalg.cholesky(M) @ rng.standard_normal(len(theta))
    W = np.linalg.inv(M)
    q = theta.copy()
    p = r - eps / 2 * grad_U(q)
    q = q + eps * (W @ p)
    p = p - eps / 2 * grad_U(q)
    if np.log(rng.random()) < U(theta) + r @ W @ r / 2 - U(q) - p @ W @ p / 2:
        return q, p
    return theta, -r


def hmc_with_a_covariance(theta, r, M, eps, rng):  # hmc holds
    r = rng.multivariate_normal(np.zeros(len(theta)), M)
    q = theta + eps * np.linalg.solve(M, r - eps / 2 * grad_U(theta))
    p = r - eps / 2 * grad_U(theta) - eps / 2 * grad_U(q)
    before = U(theta) + r @ np.linalg.solve(M, r) / 2
    after = U(q) + p @ np.linalg.solve(M, p) / 2
    return (q, p) if np.log(rng.random()) < before - after else (theta, -r)


def walk_with_a_covariance(theta, D, rng):  # sgld holds
    new = rng.multivariate_normal(theta, D)
    return new if np.log(rng.random()) < U(theta) - U(new) else theta


def preconditioned_mala(theta, D, eps, rng):  # sgld holds
    new = theta - eps * D @ grad_U(theta) + np.sqrt(2 * eps) * rng.multivariate_normal(np.zeros(len(theta)), D)
    forth = new - theta + eps * D @ grad_U(theta)
    back = theta - new + eps * D @ grad_U(new)
    correction = (forth @ np.linalg.solve(D, forth) - back @ np.linalg.solve(D, back)) / (4 * eps)
    return new if np.log(rng.random()) < U(theta) - U(new) + correction else theta


def ghmc(theta, r, eps, rng):  # hmc_unit holds
    r = 0.6 * r + 0.8 * rng.standard_normal(len(r))
    q, p = leapfrog(theta, r, eps, 2)
    if np.log(rng.random()) < U(theta) + r @ r / 2 - U(q) - p @ p / 2:
        return q, p
    return theta, -r


def persistent(theta, r, eps, rng):  # hmc_unit holds
    q, p = leapfrog(theta, r, eps, 2)
    accept = np.log(rng.random()) < U(theta) + r @ r / 2 - U(q) - p @ p / 2
    return (q, p) if accept else (theta, -r)


def turned_where_accepted(theta, r, eps, rng):  # hmc_unit holds
    q, p = leapfrog(theta, r, eps, 1)
    if np.log(rng.random()) < U(theta) + r @ r / 2 - U(q) - p @ p / 2:
        return q, -p
    return theta, r


def lognormal_walk(x, rng):  # positive proved
    new = x * np.exp(rng.standard_normal())
    if np.log(rng.random()) < U(x) - U(new) + np.log(new / x):
        return new
    return x


def double_well(x, p, eps, rng):  # double_well proved
    force = x**3 - x
    half = p - eps / 2 * force
    new = x + eps * half
    turned = half - eps / 2 * (new**3 - new)
    before = x**4 / 4 - x**2 / 2 + p**2 / 2
    after = new**4 / 4 - new**2 / 2 + turned**2 / 2
    if np.log(rng.random()) < before - after:
        return new, turned
    return x, -p


def gaussian_mala(theta, S, rng):  # gaussian proved
    P = np.linalg.inv(S)
    new = theta - P @ theta / 4 + rng.standard_normal(2) / np.sqrt(2)
    forth = new - theta + P @ theta / 4
    back = theta - new + P @ new / 4
    ratio = (theta @ P @ theta - new @ P @ new) / 2 + forth @ forth - back @ back
    return new if rng.random() < np.exp(ratio) else theta


def _log_normal(to, mean, variance):
    return -((to - mean) ** 2) / (2 * variance) - np.log(variance) / 2


def mala_with_a_metric(x, U, grad_U, G, grad_G, eps, rng):  # metric_of_line proved
    mean = x + eps * (grad_G(x) - G(x) * grad_U(x))
    new = mean + np.sqrt(2 * eps * G(x)) * rng.standard_normal()
    back = new + eps * (grad_G(new) - G(new) * grad_U(new))
    ratio = U(x) - U(new) + _log_normal(x, back, 2 * eps * G(new)) - _log_normal(new, mean, 2 * eps * G(x))
    return new if np.log(rng.random()) < ratio else x


def _log_density(z):
    s = np.sum(z * z)
    return -(s / 2 + s**2 / 4)


def exchange(x, y, b, rng):  # replicas holds
    if np.log(rng.random()) < (1 - b) * (_log_density(y) - _log_density(x)):
        return y, x
    return x, y


def exchange_of_any(x, y, U, b, rng):  # two_places proved
    if np.log(rng.random()) < (1 - b) * (U(x) - U(y)):
        return y, x
    return x, y


def walk_of_both(x, y, U, b, eps, rng):  # two_places proved
    new, other = x + eps * rng.standard_normal(2), y + 2 * eps * rng.standard_normal(2)
    if np.log(rng.random()) < U(x) - U(new) + b * (U(y) - U(other)):
        return new, other
    return x, y
