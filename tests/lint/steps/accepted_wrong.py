"""Steps that are accepted or refused, and do not keep exp(-H)."""

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


def walk_sign(theta, rng):  # sgld_unit refuted: the law of a Gaussian changes in a step
    new = theta + rng.standard_normal(len(theta))
    if np.log(rng.random()) < U(new) - U(theta):
        return new
    return theta


def walk_above(theta, rng):  # sgld_unit refuted: the law of a Gaussian changes in a step
    new = theta + rng.standard_normal(len(theta))
    if np.log(rng.random()) > U(theta) - U(new):
        return new
    return theta


def walk_with_a_drift(theta, rng):  # sgld_unit refuted: the law of a Gaussian changes in a step
    new = 0.9 * theta + rng.standard_normal(len(theta))
    if np.log(rng.random()) < U(theta) - U(new):
        return new
    return theta


def mala_without_correction(theta, eps, rng):  # sgld_unit refuted: the law of a Gaussian changes in a step
    new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))
    if np.log(rng.random()) < U(theta) - U(new):
        return new
    return theta


def mala_correction_turned(theta, eps, rng):  # sgld_unit refuted: the law of a Gaussian changes in a step
    g = grad_U(theta)
    new = theta - eps * g + np.sqrt(2 * eps) * rng.standard_normal(len(theta))
    forth = new - theta + eps * g
    back = theta - new + eps * grad_U(new)
    if np.log(rng.random()) < U(theta) - U(new) - (forth @ forth - back @ back) / (4 * eps):
        return new
    return theta


def mala_correction_doubled(theta, eps, rng):  # sgld_unit refuted: the law of a Gaussian changes in a step
    g = grad_U(theta)
    new = theta - eps * g + np.sqrt(2 * eps) * rng.standard_normal(len(theta))
    forth = new - theta + eps * g
    back = theta - new + eps * grad_U(new)
    if np.log(rng.random()) < U(theta) - U(new) + (forth @ forth - back @ back) / (2 * eps):
        return new
    return theta


def hmc_sign(theta, eps, rng):  # sgld_unit refuted: the law of a Gaussian changes in a step
    r = rng.standard_normal(len(theta))
    q, p = leapfrog(theta, r, eps, 3)
    if rng.random() < np.exp(U(q) + p @ p / 2 - U(theta) - r @ r / 2):
        return q
    return theta


def hmc_momentum_forgotten(theta, eps, rng):  # sgld_unit refuted: the law of a Gaussian changes in a step
    r = rng.standard_normal(len(theta))
    q, _ = leapfrog(theta, r, eps, 3)
    if rng.random() < np.exp(U(theta) - U(q)):
        return q
    return theta


def hmc_last_kick_forgotten(theta, eps, rng):  # sgld_unit refuted: the law of a Gaussian changes in a step
    r = rng.standard_normal(len(theta))
    q = theta.copy()
    p = r - eps / 2 * grad_U(q)
    q = q + eps * p
    p = p - eps * grad_U(q)
    q = q + eps * p
    if np.log(rng.random()) < U(theta) + r @ r / 2 - U(q) - p @ p / 2:
        return q
    return theta


def hmc_of_a_mass_forgotten(theta, r, M, eps, rng):  # hmc refuted: exp(-H) changes in a step
    r = np.linalg.cholesky(M) @ rng.standard_normal(len(theta))
    W = np.linalg.inv(M)
    q = theta.copy()
    p = r - eps / 2 * grad_U(q)
    q = q + eps * (W @ p)
    p = p - eps / 2 * grad_U(q)
    if np.log(rng.random()) < U(theta) + r @ r / 2 - U(q) - p @ p / 2:
        return q, p
    return theta, -r


def hmc_of_the_inverse_covariance(theta, r, M, eps, rng):  # hmc refuted: exp(-H) changes in a step
    r = rng.multivariate_normal(np.zeros(len(theta)), M)
    q = theta + eps * M @ (r - eps / 2 * grad_U(theta))
    p = r - eps / 2 * grad_U(theta) - eps / 2 * grad_U(q)
    before = U(theta) + r @ M @ r / 2
    after = U(q) + p @ M @ p / 2
    return (q, p) if np.log(rng.random()) < before - after else (theta, -r)


# sgld refuted: the law of a Gaussian changes in a step
def preconditioned_mala_correction_forgotten(theta, D, eps, rng):
    new = theta - eps * D @ grad_U(theta) + np.sqrt(2 * eps) * rng.multivariate_normal(np.zeros(len(theta)), D)
    forth = new - theta + eps * D @ grad_U(theta)
    back = theta - new + eps * D @ grad_U(new)
    correction = (forth @ forth - back @ back) / (4 * eps)
    return new if np.log(rng.random()) < U(theta) - U(new) + correction else theta


def ghmc_without_flip(theta, r, eps, rng):  # hmc_unit refuted: exp(-H) changes in a step
    r = 0.6 * r + 0.8 * rng.standard_normal(len(r))
    q, p = leapfrog(theta, r, eps, 1)
    if np.log(rng.random()) < U(theta) + r @ r / 2 - U(q) - p @ p / 2:
        return q, p
    return theta, r


def persistent_without_flip(theta, r, eps, rng):  # hmc_unit refuted: exp(-H) changes in a step
    q, p = leapfrog(theta, r, eps, 2)
    if np.log(rng.random()) < U(theta) + r @ r / 2 - U(q) - p @ p / 2:
        return q, p
    return theta, r


def persistent_sign(theta, r, eps, rng):  # hmc_unit refuted: exp(-H) changes in a step
    q, p = leapfrog(theta, r, eps, 1)
    if np.log(rng.random()) < U(q) + p @ p / 2 - U(theta) - r @ r / 2:
        return q, p
    return theta, -r


def persistent_without_momenta(theta, r, eps, rng):  # hmc_unit refuted: exp(-H) changes in a step
    q, p = leapfrog(theta, r, eps, 1)
    if np.log(rng.random()) < U(theta) - U(q):
        return q, p
    return theta, -r


def double_well_kick(x, p, eps, rng):  # double_well refuted: exp(-H) changes in a step
    half = p - eps / 2 * (x**3 - x)
    new = x + eps * half
    turned = half - eps * (new**3 - new)
    before = x**4 / 4 - x**2 / 2 + p**2 / 2
    after = new**4 / 4 - new**2 / 2 + turned**2 / 2
    if np.log(rng.random()) < before - after:
        return new, turned
    return x, -p
