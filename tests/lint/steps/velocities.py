"""SGHMC with a velocity, as it was published and as libraries have it: v is eps times the momentum."""

import numpy as np


def published(theta, v, grad_U, eta, alpha, rng):
    theta = theta + v
    v = (1 - alpha) * v - eta * grad_U(theta) + np.sqrt(2 * alpha * eta) * rng.standard_normal(v.shape)
    return theta, v


def momentum(v, theta, grad_U, lr, mu, rng):
    v = mu * v - lr * grad_U(theta) + np.sqrt(2 * (1 - mu) * lr) * rng.standard_normal(v.shape)
    return v, theta + v


def massive(theta, v, M, grad_U, eta, alpha, rng):
    noise = rng.multivariate_normal(np.zeros(2), 2 * eta * alpha * np.linalg.inv(M))
    v = (1 - alpha) * v - eta * np.linalg.solve(M, grad_U(theta)) + noise
    return theta + v, v


def doubled_noise(theta, v, grad_U, eta, alpha, rng):
    v = (1 - alpha) * v - eta * grad_U(theta) + 2 * np.sqrt(alpha * eta) * rng.standard_normal(v.shape)
    return theta + v, v


def without_friction(theta, v, grad_U, eta, alpha, rng):
    v = v - eta * grad_U(theta) + np.sqrt(2 * alpha * eta) * rng.standard_normal(v.shape)
    return theta + v, v


def noise_without_rate(theta, v, grad_U, eta, alpha, rng):
    v = (1 - alpha) * v - eta * grad_U(theta) + np.sqrt(2 * alpha) * rng.standard_normal(v.shape)
    return theta + v, v


def noise_without_root(theta, v, grad_U, eta, alpha, rng):
    v = (1 - alpha) * v - eta * grad_U(theta) + 2 * alpha * eta * rng.standard_normal(v.shape)
    return theta + v, v


def massless(theta, v, M, grad_U, eta, alpha, rng):
    noise = rng.multivariate_normal(np.zeros(2), 2 * eta * alpha * np.eye(2))
    v = (1 - alpha) * v - eta * np.linalg.solve(M, grad_U(theta)) + noise
    return theta + v, v
