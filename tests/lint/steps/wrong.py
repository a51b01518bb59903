"""Wrong steps, most of them published."""

import numpy as np


def sgld_noise(theta, grad_U, eps, rng):
    return theta - eps * grad_U(theta) + np.sqrt(eps) * rng.standard_normal(theta.shape)


def sgld_noise_of_eps(theta, grad_U, eps, rng):
    return theta - eps * grad_U(theta) + eps * rng.standard_normal(theta.shape)


def sgld_noise_without_step(theta, grad_U, eps, rng):
    return theta - eps * grad_U(theta) + rng.standard_normal(theta.shape)


def sgld_drift_without_step(theta, grad_U, eps, rng):
    return theta - grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal(theta.shape)


def sgld_fourth_root(theta, grad_U, eps, rng):
    return theta - eps * grad_U(theta) + eps**0.25 * rng.standard_normal(theta.shape)


def sgld_factor_transposed(theta, D, grad_U, eps, rng):
    L = np.linalg.cholesky(D)
    return theta - eps * D @ grad_U(theta) + np.sqrt(2 * eps) * L.T @ rng.standard_normal(theta.shape)


def sgld_same_noise(theta, grad_U, eps, rng):
    return theta - eps * grad_U(theta) + np.sqrt(2 * eps) * rng.standard_normal()


def sgld_other_gradient(theta, eps, rng):
    return theta - eps * gradient(theta) + np.sqrt(2 * eps) * rng.standard_normal(theta.shape)


def gradient(theta):
    return theta**3


def sghmc_without_friction(theta, r, grad_U, eps, rng, C, M):
    noise = np.sqrt(2 * eps) * np.linalg.cholesky(C) @ rng.standard_normal(theta.shape)
    r = r - eps * grad_U(theta) + noise
    return theta + eps * np.linalg.solve(M, r), r


def sghmc_mass_forgotten(theta, r, grad_U, eps, rng, C, M):
    noise = np.sqrt(2 * eps) * np.linalg.cholesky(C) @ rng.standard_normal(theta.shape)
    r = r - eps * grad_U(theta) - eps * C @ r + noise
    return theta + eps * np.linalg.solve(M, r), r


def sghmc_gradient_sign(theta, r, grad_U, eps, rng, C, M):
    v = np.linalg.solve(M, r)
    r = r + eps * grad_U(theta) - eps * C @ v + rng.multivariate_normal(0 * r, 2 * eps * C)
    return theta + eps * np.linalg.solve(M, r), r


def sghmc_temperature_squared(theta, r, grad_U, eps, rng, C, M, T=2):
    v = np.linalg.solve(M, r)
    r = r - eps * grad_U(theta) - eps * C @ v + T * rng.multivariate_normal(0 * r, 2 * eps * C)
    return theta + eps * v, r


def sghmc_decay(theta, r, grad_U, eps, rng, c=0.9):
    r = c * r - eps * grad_U(theta) + np.sqrt(2 * (1 - c)) * rng.standard_normal(len(r))
    return theta + eps * r, r


def sgnht_norm(theta, r, xi, A, grad_U, eps, rng):
    r = r - eps * grad_U(theta) - eps * xi * r + np.sqrt(2 * A * eps) * rng.normal(size=r.shape)
    return theta + eps * r, r, xi + eps * (np.linalg.norm(r) / len(r) - 1)


def sgnht_not_divided(theta, r, xi, A, grad_U, eps, rng):
    r = r - eps * grad_U(theta) - eps * xi * r + np.sqrt(2 * A * eps) * rng.normal(size=r.shape)
    return theta + eps * r, r, xi + eps * (r @ r - 1)


def sgrhmc_gamma_dropped(theta, r, K, grad_U, eps, rng):
    k = K(theta)
    r_new = r + eps * (-k @ grad_U(theta) - k @ k @ r) + np.sqrt(2 * eps) * k @ rng.standard_normal(r.shape)
    return theta + eps * k @ r, r_new


def sgrld_gamma_dropped(theta, G_inverse, grad_U, eps, rng):
    G = G_inverse(theta)
    return rng.multivariate_normal(theta - eps * G @ grad_U(theta), 2 * eps * G)


def sgrld_gamma_sign(theta, G_inverse, div_G_inverse, grad_U, eps, rng):
    G = G_inverse(theta)
    return rng.multivariate_normal(theta - eps * (div_G_inverse(theta) + G @ grad_U(theta)), 2 * eps * G)


def hmc_half_position(theta, r, M, grad_U, eps):
    r = r - eps * grad_U(theta)
    return theta + eps / 2 * np.linalg.solve(M, r), r


def refresh_half(theta, r, M, rng):
    return theta, np.sqrt(0.5) * np.linalg.cholesky(M) @ rng.standard_normal(len(r))


def cir_noise(x, a, eps, rng):
    return abs(x + eps * (a - x) + np.sqrt(x * eps) * rng.standard_normal())


def langevin_adjusted_drift(theta, grad_U, h, rng):
    return theta - h**2 * grad_U(theta) + h * rng.standard_normal(theta.shape)


def langevin_adjusted_order(theta, grad_U, h, rng):
    return theta - h * grad_U(theta) + h * rng.standard_normal(theta.shape)


def langevin_adjusted_between(theta, grad_U, h, rng):
    return theta - h**1.5 / 2 * grad_U(theta) + h * rng.standard_normal(theta.shape)


def langevin_adjusted_later(theta, grad_U, h, rng):
    return theta - h**3 / 2 * grad_U(theta) + h * rng.standard_normal(theta.shape)


def sghmc_squared_transposed(theta, r, grad_U, C, M, h, rng):
    noise = np.sqrt(2) * h * np.linalg.cholesky(C).T @ rng.standard_normal(len(r))
    r = r - h**2 * grad_U(theta) - h**2 * C @ np.linalg.solve(M, r) + noise
    return theta + h**2 * np.linalg.solve(M, r), r


def sghmc_squared_friction(theta, r, grad_U, C, M, h, rng):
    r = r - h**2 * grad_U(theta) - h * C @ np.linalg.solve(M, r) + h * rng.multivariate_normal(0 * r, 2 * C)
    return theta + h**2 * np.linalg.solve(M, r), r
