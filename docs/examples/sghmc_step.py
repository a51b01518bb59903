"""A step of SGHMC as one may find it: is its noise right?"""

import numpy as np


def step(theta, r, eps, rng, grad_U, M, C):
    """Return theta and r after a step of size eps."""
    noise = np.linalg.cholesky(C) @ rng.standard_normal(r.shape)
    r = r - eps * (grad_U(theta) + C @ np.linalg.solve(M, r)) + np.sqrt(eps) * noise
    return theta + eps * np.linalg.solve(M, r), r
