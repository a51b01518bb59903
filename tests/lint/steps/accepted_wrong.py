"""Steps that are accepted or rejected, and do not preserve exp(-H)."""

import numpy as np


def grad_U(theta):
    raise NotImplementedError


def U(theta):
    raise NotImplementedError


def leapfrog(q, p, eps, steps):
    p = p - eps / 2 * grad_U(q)
    for _ in range(steps - 1):
        q = q + eps * p
        p = p - eps * grad_U(q)
    q = q + eps * p
    return q, p - eps / 2 * grad_U(q)


def hmc_sign(theta, eps, rng):  # sgld_unit refuted: a step changes a Gaussian distribution
    r = rng.standard_normal(len(theta))
    q, p = leapfrog(theta, r, eps, 3)
    if rng.random() < np.exp(U(q) + p @ p / 2 - U(theta) - r @ r / 2):
        return q
    return theta


def hmc_last_kick_forgotten(theta, eps, rng):  # sgld_unit refuted: a step changes a Gaussian distribution
    r = rng.standard_normal(len(theta))
    q = theta.copy()
    p = r - eps / 2 * grad_U(q)
    q = q + eps * p
    p = p - eps * grad_U(q)
    q = q + eps * p
    if np.log(rng.random()) < U(theta) + r @ r / 2 - U(q) - p @ p / 2:
        return q
    return theta


def hmc_of_the_inverse_covariance(theta, r, M, eps, rng):  # hmc refuted: exp(-H) changes in a step
    r = rng.multivariate_normal(np.zeros(len(theta)), M)
    q = theta + eps * M @ (r - eps / 2 * grad_U(theta))
    p = r - eps / 2 * grad_U(theta) - eps / 2 * grad_U(q)
    before = U(theta) + r @ M @ r / 2
    after = U(q) + p @ M @ p / 2
    return (q, p) if np.log(rng.random()) < before - after else (theta, -r)
