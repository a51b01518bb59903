"""A scheme of weak order 2 for underdamped dynamics (Vanden-Eijnden and Ciccotti 2006), and what is one no more."""

import numpy as np


def second_order(theta, r, grad_U, C, eps, rng):
    xi = rng.standard_normal(theta.shape)
    eta = rng.standard_normal(theta.shape) / np.sqrt(3)
    force = -grad_U(theta)
    middle = eps**2 / 2 * (force - C * r) + np.sqrt(2 * C) * eps**1.5 * (xi + eta) / 2
    theta = theta + eps * r + middle
    kick = eps / 2 * (force - grad_U(theta)) - eps * C * r
    return theta, r + kick + np.sqrt(2 * C * eps) * xi - C * middle


def without_the_middle(theta, r, grad_U, C, eps, rng):
    xi = rng.standard_normal(theta.shape)
    force = -grad_U(theta)
    theta = theta + eps * r + eps**2 / 2 * (force - C * r)
    kick = eps / 2 * (force - grad_U(theta)) - eps * C * r
    return theta, r + kick + np.sqrt(2 * C * eps) * xi


def with_noise_of_a_gradient(theta, r, grad_U, C, eps, rng):
    xi = rng.standard_normal(theta.shape)
    estimate = grad_U(theta) + 3 * rng.standard_normal(theta.shape)
    return theta + eps * r, r - eps * estimate - eps * C * r + np.sqrt(2 * C * eps) * xi


def without_noise(theta, r, grad_U, C, eps, rng):
    theta = theta + eps * r
    return theta, r - eps * grad_U(theta)
