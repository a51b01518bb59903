"""Wrong steps, most of them published."""

import numpy as np


def sgld_noise(theta, grad_U, eps, rng):  # sgld refuted at d = 1: (eps^0)
    return theta - eps * grad_U(theta) + np.sqrt(eps) * rng.standard_normal(theta.shape)


def sgld_noise_of_eps(theta, grad_U, eps, rng):  # sgld refuted at d = 1: (eps^0)
    return theta - eps * grad_U(theta) + eps * rng.standard_normal(theta.shape)


def sgld_noise_without_step(theta, grad_U, eps, rng):  # sgld refuted at d = 1: Cov[dz] does not shrink with eps
    return theta - eps * grad_U(theta) + rng.standard_normal(theta.shape)


def sgld_drift_without_step(theta, grad_U, eps, rng):  # sgld refuted at d = 1: changes the law for U = theta[0]**2/2
    return theta - grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(theta.shape)


def sgld_fourth_root(theta, grad_U, eps, rng):  # sgld refuted at d = 1: the step is of order eps^(1/2), not eps
    return theta - eps * grad_U(theta) + eps**0.25 * rng.standard_normal(theta.shape)


def sgld_factor_transposed(theta, D, grad_U, eps, rng):  # sgld refuted at d = 2: it holds at d = 1 only
    L = np.linalg.cholesky(D)
    return theta - eps * D @ grad_U(theta) + np.sqrt(2 * eps) * L.T @ rng.standard_normal(theta.shape)


def sgld_same_noise(theta, grad_U, eps, rng):  # sgld refuted at d = 2: it holds at d = 1 only
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal()


def sgld_other_gradient(theta, eps, rng):  # sgld refuted at d = 1: (eps^0)
    return theta - eps * gradient(theta) + np.sqrt(2 * eps) * rng.standard_normal(theta.shape)


def gradient(theta):
    return theta**3


def sghmc_without_friction(theta, r, grad_U, eps, rng, C, M):  # sghmc refuted at d = 1: (eps^0)
    noise = np.sqrt(2 * eps) * np.linalg.cholesky(C) @ rng.standard_normal(theta.shape)
    r = r - eps * grad_U(theta) + noise
    return theta + eps * np.linalg.solve(M, r), r


def sghmc_mass_forgotten(theta, r, grad_U, eps, rng, C, M):  # sghmc refuted at d = 1: (eps^0)
    noise = np.sqrt(2 * eps) * np.linalg.cholesky(C) @ rng.standard_normal(theta.shape)
    r = r - eps * grad_U(theta) - eps * C @ r + noise
    return theta + eps * np.linalg.solve(M, r), r


def sghmc_gradient_sign(theta, r, grad_U, eps, rng, C, M):  # sghmc refuted at d = 1: (eps^0)
    v = np.linalg.solve(M, r)
    r = r + eps * grad_U(theta) - eps * C @ v + rng.multivariate_normal(0 * r, 2 * eps * C)
    return theta + eps * np.linalg.solve(M, r), r


def sghmc_temperature_squared(theta, r, grad_U, eps, rng, C, M, T=2):  # sghmc refuted at d = 1: (eps^0)
    v = np.linalg.solve(M, r)
    r = r - eps * grad_U(theta) - eps * C @ v + T * rng.multivariate_normal(0 * r, 2 * eps * C)
    return theta + eps * v, r


def sghmc_decay(theta, r, grad_U, eps, rng, c=0.9):  # sghmc refuted at d = 1: changes the law of r[0]
    r = c * r - eps * grad_U(theta) + np.sqrt(2 * (1 - c)) * rng.standard_normal(len(r))
    return theta + eps * r, r


def sgnht_norm(theta, r, xi, A, grad_U, eps, rng):  # sgnht refuted at d = 1: (eps^0)
    r = r - eps * grad_U(theta) - eps * xi * r + np.sqrt(2 * A * eps) * rng.normal(size=r.shape)
    return theta + eps * r, r, xi + eps * (np.linalg.norm(r) / len(r) - 1)


def sgnht_not_divided(theta, r, xi, A, grad_U, eps, rng):  # sgnht refuted at d = 2: it holds at d = 1 only
    r = r - eps * grad_U(theta) - eps * xi * r + np.sqrt(2 * A * eps) * rng.normal(size=r.shape)
    return theta + eps * r, r, xi + eps * (r @ r - 1)


def sgrhmc_gamma_dropped(theta, r, K, grad_U, eps, rng):  # gsgrhmc refuted at d = 1: (eps^0)
    k = K(theta)
    r_new = r + eps * (-k @ grad_U(theta) - k @ k @ r) + np.sqrt(2 * eps) * k @ rng.standard_normal(r.shape)
    return theta + eps * k @ r, r_new


def sgrld_gamma_dropped(theta, G_inverse, grad_U, eps, rng):  # sgrld refuted at d = 1: (eps^0)
    G = G_inverse(theta)
    return rng.multivariate_normal(theta - eps * G @ grad_U(theta), 2 * eps * G)


def sgrld_gamma_sign(theta, G_inverse, div_G_inverse, grad_U, eps, rng):  # sgrld refuted at d = 1: (eps^0)
    G = G_inverse(theta)
    return rng.multivariate_normal(theta - eps * (div_G_inverse(theta) + G @ grad_U(theta)), 2 * eps * G)


def hmc_half_position(theta, r, M, grad_U, eps):  # hmc refuted at d = 1: (eps^0)
    r = r - eps * grad_U(theta)
    return theta + eps / 2 * np.linalg.solve(M, r), r


def refresh_half(theta, r, M, rng):  # hmc refuted at d = 1: changes the law of r[0]
    return theta, np.sqrt(0.5) * np.linalg.cholesky(M) @ rng.standard_normal(len(r))


def cir_noise(x, a, eps, rng):  # gamma refuted at all sizes: (eps^0)
    return abs(x + eps * (a - x) + np.sqrt(x * eps) * rng.standard_normal())


def langevin_adjusted_drift(theta, grad_U, h, rng):  # sgld_unit refuted at d = 1: (eps^0)
    return theta - h**2 * grad_U(theta) + h * rng.standard_normal(theta.shape)


def langevin_adjusted_order(theta, grad_U, h, rng):  # sgld_unit refuted at d = 1: (eps^0)
    return theta - h * grad_U(theta) + h * rng.standard_normal(theta.shape)


# sgld_unit refuted at d = 1: the step is of order eps^(3/2), not eps
def langevin_adjusted_between(theta, grad_U, h, rng):
    return theta - h**1.5 / 2 * grad_U(theta) + h * rng.standard_normal(theta.shape)


def langevin_adjusted_later(theta, grad_U, h, rng):  # sgld_unit refuted at d = 1: (eps^0)
    return theta - h**3 / 2 * grad_U(theta) + h * rng.standard_normal(theta.shape)


def sghmc_squared_transposed(theta, r, grad_U, C, M, h, rng):  # sghmc refuted at d = 2: it holds at d = 1 only
    noise = np.sqrt(2) * h * np.linalg.cholesky(C).T @ rng.standard_normal(len(r))
    r = r - h**2 * grad_U(theta) - h**2 * C @ np.linalg.solve(M, r) + noise
    return theta + h**2 * np.linalg.solve(M, r), r


def sghmc_squared_friction(theta, r, grad_U, C, M, h, rng):  # sghmc refuted at d = 1: (eps^0)
    r = r - h**2 * grad_U(theta) - h * C @ np.linalg.solve(M, r) + h * rng.multivariate_normal(0 * r, 2 * C)
    return theta + h**2 * np.linalg.solve(M, r), r
