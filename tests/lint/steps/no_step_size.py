"""Steps whose step size is a number: right as a step of that size or not, nothing follows."""

import numpy as np

EPS = 0.01


def autoregression(theta, S, rng, rho=0.5):  # gaussian undecided: no argument of the step function is a step size
    return rho * theta + np.sqrt(2 * (1 - rho)) * np.linalg.cholesky(S) @ rng.standard_normal(2)


def sgld(theta, grad_U, rng):  # sgld undecided: no argument of the step function is a step size
    return theta - EPS * grad_U(theta) + np.sqrt(2 * EPS) * rng.standard_normal(theta.shape)


def leapfrog(theta, r, M, grad_U):  # hmc undecided: no argument of the step function is a step size
    r = r - 0.05 * grad_U(theta)
    theta = theta + 0.1 * np.linalg.solve(M, r)
    return theta, r - 0.05 * grad_U(theta)


def sghmc_unused(theta, r, C, M, grad_U, rng, eps=0.01):  # sghmc undecided: the step does not use its step size eps
    h = 0.01
    r = r - h * grad_U(theta) - h * C @ np.linalg.solve(M, r) + rng.multivariate_normal(0 * r, 2 * h * C)
    return theta + h * np.linalg.solve(M, r), r
