"""SGHMC with a velocity, as it was published and as libraries have it: v is eps times the momentum."""

import numpy as np


# friction holds with v = eps*r with eta = eps**2 with alpha = C*eps: v is eps*r
def published(theta, v, grad_U, eta, alpha, rng):
    theta = theta + v
    v = (1 - alpha) * v - eta * grad_U(theta) + np.sqrt(2 * alpha * eta) * rng.standard_normal(v.shape)
    return theta, v


# friction holds with v = eps*r with lr = eps**2 with mu = 1 - C*eps: v is eps*r
def momentum(v, theta, grad_U, lr, mu, rng):
    v = mu * v - lr * grad_U(theta) + np.sqrt(2 * (1 - mu) * lr) * rng.standard_normal(v.shape)
    return v, theta + v


# friction_of_two proved with v = eps*inv(M) @ r with eta = eps**2 with alpha = C*eps: M is positive definite
def massive(theta, v, M, grad_U, eta, alpha, rng):
    noise = rng.multivariate_normal(np.zeros(2), 2 * eta * alpha * np.linalg.inv(M))
    v = (1 - alpha) * v - eta * np.linalg.solve(M, grad_U(theta)) + noise
    return theta + v, v
