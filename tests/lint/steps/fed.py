"""Steps of a line and of a plane that are right when they are called with floats and arrays that were made for them.

Called with what they returned themselves, those whose names do not begin with `right` lose their noise, refuse by the
wrong state, or stand still.
"""

import numpy as np


def line_of_where(x, U, eps, rng):  # line undecided: {FED_ITSELF}, ... {OF_RETURNED}
    old = x
    x += eps * rng.standard_normal()
    return np.where(np.log(rng.random()) < U(old) - U(x), x, old)


def line_right_of_one_entry(x, grad_U, eps, rng):  # line proved
    return np.array([x]).reshape(()) - eps * grad_U(x) + np.sqrt(2 * eps) * rng.standard_normal()


def column_of_a_pair(theta, grad_U, eps, rng):  # plane undecided: {FED_ITSELF}, ... {OF_RETURNED}
    flat = theta.ravel()
    flat -= eps * grad_U(theta)
    flat += np.sqrt(2 * eps) * rng.standard_normal(2)
    return np.stack([theta, theta], axis=1)[:, 0]


def listed(theta, grad_U, eps, rng):  # plane undecided: {FED_ITSELF}, ... {OF_RETURNED}
    move = np.sqrt(2 * eps) * rng.standard_normal(2) - eps * grad_U(theta)
    return list((theta + list(move))[:2])


def length_of_twice(theta, grad_U, eps, rng):  # plane undecided: {FED_ITSELF}, ... {OF_RETURNED}
    scale = np.size(theta) / len(2 * theta)
    new = theta - eps * grad_U(theta) + scale * np.sqrt(2 * eps) * rng.standard_normal(2)
    return [new[0], new[1]]


def refused_as_a_list(theta, U, eps, rng):  # plane undecided: {FED_ITSELF}, ... {OF_RETURNED}
    new = (theta + list(eps * rng.standard_normal(2)))[:2]
    if np.log(rng.random()) < U(theta) - U(new):
        return new
    return list(theta)


def right_column(theta, grad_U, eps, rng):  # plane proved
    new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(2)
    return np.stack([new, theta], axis=1)[:, 0]
