"""Steps that return their blocks in another order than the document's, right and wrong ones."""

import numpy as np


def momentum_first(theta, r, M, C, grad_U, eps, rng):  # sghmc holds: (r, theta), not (theta, r)
    v = np.linalg.solve(M, r)
    L = np.linalg.cholesky(2 * eps * C)
    return r - eps * grad_U(theta) - eps * C @ v + L @ rng.standard_normal(len(r)), theta + eps * v


def thermostat(theta, r, xi, A, grad_U, eps, rng):  # sgnht holds: (xi, theta, r), not (theta, r, xi)
    """Three blocks, one of them a number: xi, theta, r."""
    d = len(theta)
    new = r - eps * grad_U(theta) - eps * xi * r + np.sqrt(2 * A * eps) * rng.standard_normal(d)
    return xi + eps * (r @ r / d - 1), theta + eps * r, new


def refreshed(theta, r, M, grad_U, eps, rng):  # hmc holds: (r, theta), not (theta, r)
    """A momentum that is drawn anew is nobody's old value; the other block tells."""
    return np.linalg.cholesky(M) @ rng.standard_normal(len(r)), theta


def twice_the_same(theta, r, M, C, grad_U, eps, rng):
    """No order of these is right."""
    return theta, theta
