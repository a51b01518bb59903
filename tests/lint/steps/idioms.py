"""Ways to write NumPy: what is followed must be what NumPy computes."""

import math

import numpy as np
from numpy import linalg as la

HALF = 0.5
TABLE = {"scale": np.array([1.5, -2.0, 0.25]), "root": np.sqrt(3.0)}


def operators(theta, D, grad_U, eps, rng):
    a = (theta - 2) * 3 / 4 + theta**2 - 1 / theta + 2**theta + (-theta) - +theta
    return a @ D - D.T @ a + np.dot(theta, a) * theta


def slices(theta, D, grad_U, eps, rng):
    b = np.zeros_like(theta)
    b[1:] = theta[:-1]
    b[0] += theta[-1] * HALF
    b[::-1] *= 2
    b[[0, 2]] -= theta[np.array([1, 0])]
    return b + D[:, 1] - D[0] + D[1, 2] + np.diag(D) + D.diagonal() * D.trace()


def functions(theta, D, grad_U, eps, rng):
    a = np.exp(-theta) + np.log(1 + theta**2) + np.log1p(theta**2) + np.expm1(theta) + np.sqrt(2 + theta)
    b = np.sin(theta) * np.cos(theta) + np.tanh(theta) - np.sinh(theta) / np.cosh(theta) + np.arctan(theta)
    c = np.abs(theta) + np.fabs(-theta) * np.sign(theta) + np.square(theta) + np.reciprocal(theta + 3)
    return a + b + c + math.exp(theta[0]) + math.sqrt(theta[1] + 2) + np.power(theta + 2, 1.5) + abs(theta)


def reductions(theta, D, grad_U, eps, rng):
    a = np.sum(D, axis=0) + D.sum(1) + D.mean(axis=0) + np.mean(theta) + theta.sum() + sum(theta)
    return a + np.prod(theta) + np.cumsum(theta) + np.trace(D) + theta.var() + np.outer(theta, theta).sum(axis=1)


def shapes(theta, D, grad_U, eps, rng):
    column = theta.reshape(-1, 1)
    both = np.concatenate([theta, theta * 2])
    stacked = np.vstack([theta, theta + 1, theta - 1])
    return (column @ column.T)[0] + both[3:] + stacked[2] + np.hstack((theta, D[0]))[:3] + (D * column).T[1]


def made(theta, D, grad_U, eps, rng):
    identity = np.eye(3) + np.ones((3, 3)) / 7 - np.identity(3) * 0.1 + np.full((3, 3), 0.3)
    weights = np.array([0.1, 0.2, 0.3]) * TABLE["scale"] * TABLE["root"] + np.linspace(0, 1, 3) + np.arange(3)
    return identity @ theta * weights + np.diag([1.0, 2.0, 3.0]) @ theta + np.array([theta[2], 0.5, theta[0]]) + np.pi


def linear(theta, D, grad_U, eps, rng):
    a = la.inv(D) @ theta + la.solve(D, theta) + la.det(D) * theta + la.cholesky(D) @ theta
    return a + la.norm(theta) + np.linalg.norm(D) + np.linalg.multi_dot([D, D, theta])


def gradients(theta, D, grad_U, eps, rng):
    middle = theta + eps * grad_U(theta)
    return middle - HALF * eps * (grad_U(middle) + grad_U(theta))


def noise(theta, D, grad_U, eps, rng):
    a = rng.standard_normal(3) + rng.standard_normal() + rng.standard_normal((2, 3))[1]
    b = rng.normal(theta, 0.5) + rng.normal(size=3) + rng.normal(1.0, np.sqrt(eps), 3)
    return theta + eps * (a * b) + rng.multivariate_normal(theta, 2 * eps * D)


def control(theta, D, grad_U, eps, rng, steps=3, verbose=False):
    new = theta.copy()
    for k in range(steps):
        if k % 2 == 0 and not verbose:
            new += eps * grad_U(new)
        else:
            new = [x - eps * y for x, y in zip(new, theta, strict=True)]
            new = np.asarray(new)
    while steps > 0:
        steps -= 1
        new[steps] *= 1 + 1 / (steps + 1)
    return new if np.all(np.isfinite(new)) else theta


def formatted(theta, D, grad_U, eps, rng):
    name = f"{0.5:.3f} {HALF}"
    match 0.5:
        case 0.5:
            factor = 2.0 if name == "0.500 0.5" else 3.0
        case _:
            factor = 7.0
    return theta * factor * float(eps) / (1 if isinstance(theta, np.ndarray) and theta.ndim == 1 else 2)


def aliased(theta, D, grad_U, eps, rng):
    same = np.asarray(theta)
    other = np.array(theta)
    same *= 2
    view = theta[:2]
    view += 1
    np.multiply(other, 3, out=other)
    narrow = np.asarray(theta, dtype=np.longdouble)
    narrow += 5
    wide = theta.astype(theta.dtype, copy=False)
    wide -= 0.25
    every = np.ascontiguousarray(theta[::2])
    every += 7
    np.copyto(other[1:], theta[1:])
    filled = D.copy()
    np.fill_diagonal(filled, theta)
    return theta + other + filled[1]


def contracted(theta, D, grad_U, eps, rng):
    a = np.einsum("ij,j->i", D, theta) + np.inner(D, theta) + np.vdot(theta, theta) + np.kron(theta, np.ones(1))
    return a + np.tensordot(D, theta, axes=1) + np.matmul(theta, D) + np.apply_along_axis(np.sum, 0, D)
