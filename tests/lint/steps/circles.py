"""Steps on a torus: the current of `piles_up` has no divergence, but jumps where x or y comes round."""

import numpy as np


def goes_round(x, y, eps, rng):  # torus proved
    x_new = x + eps * np.sin(x) + np.sqrt(2 * eps) * rng.standard_normal()
    return x_new, y + eps * np.exp(np.cos(x)) + np.sqrt(2 * eps) * rng.standard_normal()


def piles_up(x, y, eps, rng):  # torus undecided: periodic in x
    x_new = x + eps * (np.sin(x) + x * np.exp(np.cos(x))) + np.sqrt(2 * eps) * rng.standard_normal()
    return x_new, y - eps * y * np.exp(np.cos(x)) + np.sqrt(2 * eps) * rng.standard_normal()
