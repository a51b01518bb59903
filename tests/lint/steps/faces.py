"""Steps whose limit preserves exp(-H) inside: what leaves through a face, or through infinity, is another matter."""

import numpy as np


def reflected(x, eps, rng):  # half_line proved
    return abs(x - eps + np.sqrt(2 * eps) * rng.standard_normal())


def walks_off(x, eps, rng):  # half_line undecided: it keeps exp(-H) if chains are reflected at x = 0
    return x - eps + np.sqrt(2 * eps) * rng.standard_normal()


def never_gets_there(x, eps, rng):  # gamma_of_three proved
    return x + eps * (3 - x) + np.sqrt(2 * eps * x) * rng.standard_normal()


def out_of_order(x, y, eps, rng):  # ordered undecided: the face of the domain on which x > y ends is not decided
    noise = np.sqrt(2 * eps) * rng.standard_normal(2)
    return x - eps * x + noise[0], y - eps * y + noise[1]


def through_infinity(x, eps, rng):  # normal undecided: exp(x**2/2), is not shown to be integrable
    return x - eps * x + eps * np.exp(x**2 / 2) + np.sqrt(2 * eps) * rng.standard_normal()


def of_another_noise(x, eps, rng):  # normal proved
    return x - eps * x * (1 + x**2) + 2 * eps * x + np.sqrt(2 * eps * (1 + x**2)) * rng.standard_normal()


def explodes(x, eps, rng):  # cauchy undecided: may carry solutions to infinity
    s = 1 + x**2
    return x + 2 * eps * s * x + np.sqrt(2 * eps) * s * rng.standard_normal()


def explodes_beside_any(theta, xi, eps, rng, grad_U):  # cauchy_beside_any undecided: is not shown to be integrable
    s = 1 + xi**2
    noise = np.sqrt(2 * eps) * rng.standard_normal(2)
    return theta - eps * grad_U(theta) + noise[0], xi + 2 * eps * s * xi + s * noise[1]
