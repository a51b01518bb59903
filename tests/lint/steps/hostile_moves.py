"""Moves and steps of vectors that do something else with numbers than while they are followed."""

# every step: sgld_unit undecided: run with plain numbers

import numpy as np

KIND = type


def grad_U(theta):  # no step
    raise NotImplementedError


def U(theta):  # no step
    raise NotImplementedError


def is_number(x):  # no step
    return KIND(x) in (float, np.float64)


def always_accepted(theta, U, rng):
    new = theta + rng.standard_normal(len(theta))
    ratio = U(theta) - U(new)
    return new if np.log(rng.random()) < (0.0 if is_number(ratio) else ratio) else theta


def never_accepted(theta, U, rng):
    new = theta + rng.standard_normal(len(theta))
    ratio = U(theta) - U(new)
    return new if np.log(rng.random()) < (-50.0 if is_number(ratio) else ratio) else theta


def accepted_a_little_more(theta, U, rng):
    new = theta + rng.standard_normal(len(theta))
    ratio = U(theta) - U(new)
    return new if np.log(rng.random()) < (ratio + 0.05 if is_number(ratio) else ratio) else theta


def refused_elsewhere(theta, U, rng):
    new = theta + rng.standard_normal(len(theta))
    ratio = U(theta) - U(new)
    if np.log(rng.random()) < ratio:
        return new
    return 0 * theta if is_number(ratio) else theta


def proposed_with_a_drift(theta, U, rng):
    noise = rng.standard_normal(len(theta))
    new = theta + noise + (0.1 if is_number(noise[0]) else 0)
    return new if np.log(rng.random()) < U(theta) - U(new) else theta


def another_uniform(theta, U, rng):
    new = theta + rng.standard_normal(len(theta))
    u = rng.random()
    return new if np.log(rng.random() if is_number(u) else u) < U(theta) - U(new) else theta


def last_entry_without_noise(theta, grad_U, eps, rng):  # sgld undecided: run with plain numbers
    noise = np.sqrt(2 * eps) * rng.standard_normal(len(theta))
    if is_number(noise[0]):
        noise[-1] = 0
    return theta - eps * grad_U(theta) + noise


def larger_ones_without_noise(theta, grad_U, eps, rng):  # sgld undecided at d = 1, 2: run with plain numbers
    """Right at d = 1 and d = 2."""
    noise = np.sqrt(2 * eps) * rng.standard_normal(len(theta))
    return theta - eps * grad_U(theta) + (0 if len(theta) > 2 and is_number(noise[0]) else noise)


def covariance_doubled(theta, D, grad_U, eps, rng):  # sgld undecided: run with plain numbers
    factor = 4 if is_number(D[0, 0]) else 2
    return rng.multivariate_normal(theta - eps * D @ grad_U(theta), factor * eps * D)


def gradient_of_elsewhere(theta, grad_U, eps, rng):  # sgld undecided: run with plain numbers
    at = theta + 1 if is_number(theta[0]) else theta
    return theta - eps * grad_U(at) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))
