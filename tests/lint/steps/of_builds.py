"""Steps with the gradient of one target written out, of builds that ship: right ones, and `wrong_...` ones."""

import numpy as np

MU = np.array([1, -2, 1 / 2])
SIGMA = np.array([[2, 1 / 2, 1 / 3], [1 / 2, 1, -1 / 4], [1 / 3, -1 / 4, 3 / 2]])
M = np.array([[2, 1 / 2, 0], [1 / 2, 1, 1 / 4], [0, 1 / 4, 3 / 2]])


def gaussian(theta, r, C, eps, rng):  # sghmc_gaussian proved
    P, W = np.linalg.inv(SIGMA), np.linalg.inv(M)
    r = r - eps * P @ (theta - MU) - eps * C @ W @ r + np.sqrt(2 * eps) * np.linalg.cholesky(C) @ rng.standard_normal(3)
    return theta + eps * W @ r, r


def gaussian_given(theta, r, mu, Sigma, C, M, eps, rng):  # sghmc_gaussian proved
    P, W = np.linalg.inv(Sigma), np.linalg.inv(M)
    d = len(theta)
    r = r - eps * P @ (theta - mu) - eps * C @ W @ r + np.sqrt(2 * eps) * np.linalg.cholesky(C) @ rng.standard_normal(d)
    return theta + eps * W @ r, r


def gaussian_any(theta, r, grad_U, M, C, eps, rng):  # sghmc_gaussian proved
    W = np.linalg.inv(M)
    r = r - eps * grad_U(theta) - eps * C @ W @ r + np.sqrt(2 * eps) * np.linalg.cholesky(C) @ rng.standard_normal(3)
    return theta + eps * W @ r, r


def thermostat(theta, r, xi, eps, rng):  # sgnht_gaussian proved
    r = r - eps * np.linalg.inv(SIGMA) @ (theta - MU) - eps * xi * r + np.sqrt(2 * eps) * rng.standard_normal(3)
    theta = theta + eps * r
    return theta, r, xi + eps * (r @ r / 3 - 1)


def funnel(theta, r, eps, rng):  # sghmc_funnel proved
    v, x = theta[0], theta[1:]
    grad = np.concatenate([[v + 1 - np.exp(-v) * (x @ x) / 2], np.exp(-v) * x])
    r = r - eps * grad - eps * r + np.sqrt(2 * eps) * rng.standard_normal(3)
    return theta + eps * r, r


def banana(theta, r, eps, rng):
    def U(x):
        return x[0] ** 2 / 8 + (x[1] - (x[0] ** 2 - 4) / 4) ** 2 / 2

    def slope(x):
        left = x[1] - (x[0] ** 2 - 4) / 4
        return np.array([x[0] / 4 - left * x[0] / 2, left])

    p = rng.standard_normal(2)
    q = p - eps / 2 * slope(theta)
    new = theta + eps * q
    q = q - eps / 2 * slope(new)
    if np.log(rng.random()) < U(theta) + p @ p / 2 - U(new) - q @ q / 2:
        return new, q
    return theta, -p


def logistic(theta, x, y, N, prior_variance, eps, rng):  # sgld_logistic holds at d = 2: {AT_FIXED_SIZES}
    p = 1 / (1 + np.exp(-x @ theta))
    grad = theta / prior_variance + N / len(x) * x.T @ (p - y)
    return theta - eps * grad + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


def logistic_of_number(theta, x, y, eps, rng):  # sgld_logistic holds at d = 2: {AT_FIXED_SIZES}
    p = 1 / (1 + np.exp(-x @ theta))
    grad = theta + 569 / len(x) * x.T @ (p - y)
    return theta - eps * grad + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


# sgld_logistic undecided: it computes with the build's batch_size = 128 as a number
def logistic_of_batch_size(theta, x, y, N, eps, rng):
    p = 1 / (1 + np.exp(-x @ theta))
    grad = theta + N / 128 * x.T @ (p - y)
    return theta - eps * grad + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


def logistic_of_one_row(theta, x, y, N, eps, rng):  # sgld_logistic undecided: {OF_SOME_ROWS}
    p = 1 / (1 + np.exp(-x[0] @ theta))
    grad = theta + N * x[0] * (p - y[0])
    return theta - eps * grad + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


# sgld_logistic undecided: the step does not name its data x: take x as an argument, or say what holds them
def logistic_without_data(theta, eps, rng):
    return theta - eps * theta + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


def logistic_accepted(theta, x, y, N, eps, rng):  # sgld_logistic undecided: {OF_BATCHES}
    def U(t):
        return t @ t / 2 + N / len(x) * np.sum(np.log(1 + np.exp(x @ t)) - y * (x @ t))

    new = theta + eps * rng.standard_normal(len(theta))
    return new if np.log(rng.random()) < U(theta) - U(new) else theta


def poisson(theta, x, y, eps, rng):  # sgld_poisson_regression holds at N = 2: {AT_FIXED_SIZES}
    grad = theta / 10 + x.T @ (np.exp(x @ theta) - y)
    return theta - eps * grad + np.sqrt(2 * eps) * rng.standard_normal(3)


# sghmc_linear_regression holds at the rows that the step is given: {AT_FIXED_SIZES}
def linear(theta, r, x, y, N, eps, rng):
    grad = theta / 10 + N / len(x) * x.T @ (x @ theta - y)
    r = r - eps * grad - 8 * eps * r + np.sqrt(16 * eps) * rng.standard_normal(5)
    return theta + eps * r, r


def softmax(theta, r, x, y, N, eps, rng):  # sghmc_softmax_regression holds at K = 2, p = 2, d = 4: {AT_FIXED_SIZES}
    W = theta.reshape(y.shape[1], x.shape[1])
    e = np.exp(x @ W.T)
    p = e / np.sum(e, axis=1)[:, None]
    grad = theta + N / len(x) * ((p - y).T @ x).reshape(-1)
    r = r - eps * grad - 2 * eps * r + np.sqrt(4 * eps) * rng.standard_normal(len(theta))
    return theta + eps * r, r


def schools(theta, r, y, w, z, eps, rng):  # sghmc_eight_schools holds at J = 2, d = 4, N = 2: {AT_FIXED_SIZES}
    mu, tau, eta = theta[0], np.exp(theta[1]), theta[2:]
    left = w * w * (y - mu - tau * z @ eta)
    grad = np.concatenate(
        [[mu / 25 - np.sum(left)], [tau**2 / 25 - 1 - tau * (left @ (z @ eta))], eta - tau * z.T @ left]
    )
    r = r - eps * grad - eps * r + np.sqrt(2 * eps) * rng.standard_normal(len(theta))
    return theta + eps * r, r


def intercepts(theta, r, g, x, y, eps, rng):  # sghmc_varying_intercepts undecided: its data g are positions
    return theta + eps * r, r - eps * theta


def accepted(theta, r, x, y, prior_variance, m, eps, rng):  # hmc_logistic holds at d = 2, N = 2: {AT_FIXED_SIZES}
    def U(t):
        return t @ t / (2 * prior_variance) + np.sum(np.log(1 + np.exp(x @ t)) - y * (x @ t))

    new = theta + eps * rng.standard_normal(len(theta))
    if np.log(rng.random()) < U(theta) - U(new):
        return new, r
    return theta, r


def logistic_of_squares(theta, x, y, N, eps, rng):  # sgld_logistic undecided: {OF_SOME_ROWS}
    """Right, for y is 0 or 1."""
    p = 1 / (1 + np.exp(-x @ theta))
    grad = theta + N / len(x) * x.T @ (p - y**2)
    return theta - eps * grad + np.sqrt(2 * eps) * rng.standard_normal(len(theta))


# sghmc_gaussian refuted
def own_gradient(theta, r, C, eps, rng):
    """It is no gradient of the target, whatever it is called."""
    noise = np.linalg.cholesky(2 * eps * C) @ rng.standard_normal(len(r))
    return theta + eps * np.linalg.solve(M, r), r - eps * grad_U(theta) - eps * C @ np.linalg.solve(M, r) + noise


def grad_U(theta):
    return 7 * theta**3
