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


def hmc_last_kick_forgotten(theta, eps, rng):  # sgld_unit refuted: wrong at every small step size
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


def stale_gradient(theta, U, grad_U, eps, rng):  # langevin_of_two refuted: a step changes a Gaussian distribution
    g = grad_U(theta)
    new = theta - eps * g + np.sqrt(2 * eps) * rng.standard_normal(2)
    back = theta - new + eps * g
    forth = new - theta + eps * g
    return new if np.log(rng.random()) < U(theta) - U(new) + (forth @ forth - back @ back) / (4 * eps) else theta


def half_the_ratio(theta, U, grad_U, eps, rng):  # langevin_of_two refuted: a step changes a Gaussian distribution
    new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    back = theta - new + eps * grad_U(new)
    forth = new - theta + eps * grad_U(theta)
    ratio = U(theta) - U(new) + (forth @ forth - back @ back) / (4 * eps)
    return new if np.log(rng.random()) < ratio / 2 else theta


def always_accepted(theta, r, M, eps, rng):  # hmc refuted: exp(-H) changes in a step
    r = np.linalg.cholesky(M) @ rng.standard_normal(len(theta))
    p = r - eps / 2 * grad_U(theta)
    q = theta + eps * np.linalg.solve(M, p)
    p = p - eps / 2 * grad_U(q)
    energy = U(q) + p @ np.linalg.solve(M, p) / 2
    return (q, -p) if np.log(rng.random()) < energy - energy else (theta, r)


# relativistic refuted: as eps -> 0 the step leaves p as it is drawn
def gaussian_refresh(q, p, grad_U, U, m, c, eps, rng):
    def kinetic(p):
        return m * c**2 * np.sqrt(1 + p**2 / (m * c) ** 2)

    p = np.sqrt(m) * rng.standard_normal()
    half = p - eps / 2 * grad_U(q)
    new = q + eps * half / (m * np.sqrt(1 + half**2 / (m * c) ** 2))
    turned = half - eps / 2 * grad_U(new)
    accepted = np.log(rng.random()) < U(q) + kinetic(p) - U(new) - kinetic(turned)
    return (new, -turned) if accepted else (q, p)


def _log_density(z):
    s = np.sum(z * z)
    return -(s / 2 + s**2 / 4)


def exchange_upside_down(x, y, b, rng):  # replicas refuted: exp(-H) changes in a step
    if np.log(rng.random()) < (1 - b) * (_log_density(x) - _log_density(y)):
        return y, x
    return x, y


def exchange_of_any_upside_down(x, y, U, b, rng):  # two_places refuted: exp(-H) changes in a step
    if np.log(rng.random()) < (1 - b) * (U(y) - U(x)):
        return y, x
    return x, y


def exchange_of_any_at_one_temperature(x, y, U, b, rng):  # two_places refuted: exp(-H) changes in a step
    if np.log(rng.random()) < U(x) - U(y):
        return y, x
    return x, y


def log_walk_without_its_jacobian(x, U, eps, rng):  # positive refuted: wrong at every small step size
    new = x * np.exp(eps * rng.standard_normal())
    return new if np.log(rng.random()) < U(x) - U(new) else x


def mala_without_its_correction(theta, U, grad_U, eps, rng):  # langevin_of_two refuted: wrong at every small step size
    new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    return new if np.log(rng.random()) < U(theta) - U(new) else theta


def mala_upside_down(theta, U, grad_U, eps, rng):  # langevin_of_two refuted: wrong at every small step size
    new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    back = theta - new + eps * grad_U(new)
    forth = new - theta + eps * grad_U(theta)
    return new if np.log(rng.random()) < U(theta) - U(new) - (forth @ forth - back @ back) / (4 * eps) else theta


def walk_reversed(theta, U, eps, rng):  # langevin_of_two refuted: wrong at every small step size
    new = theta + np.sqrt(2 * eps) * rng.standard_normal(2)
    return new if np.log(rng.random()) > U(theta) - U(new) else theta


def _log_normal(to, mean, variance):
    return -((to - mean) ** 2) / (2 * variance)


def metric_without_its_log(x, U, grad_U, G, grad_G, eps, rng):  # metric_of_line refuted: wrong at every small step size
    mean = x + eps * (grad_G(x) - G(x) * grad_U(x))
    new = mean + np.sqrt(2 * eps * G(x)) * rng.standard_normal()
    back = new + eps * (grad_G(new) - G(new) * grad_U(new))
    ratio = U(x) - U(new) + _log_normal(x, back, 2 * eps * G(new)) - _log_normal(new, mean, 2 * eps * G(x))
    return new if np.log(rng.random()) < ratio else x
