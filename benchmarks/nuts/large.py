"""The data of the large logistic regression, the same for both: correlated columns, coefficients of size 1/3."""

import numpy as np

D = 20


def large_data(rows: int) -> dict[str, np.ndarray]:
    """Return `rows` rows of x and y."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((rows, D)) @ (np.eye(D) + 0.3 * np.tril(np.ones((D, D)), -1) / np.sqrt(D))
    theta = rng.standard_normal(D) / 3.0
    return {"x": x, "y": (rng.random(rows) < 1.0 / (1.0 + np.exp(-x @ theta))).astype(float)}


def gaussian_sds(x: np.ndarray, y: np.ndarray, prior_variance: float = 10.0) -> np.ndarray:
    """Return posterior sds by the Hessian at the mode, which are right up to 1/sqrt(rows) of themselves."""
    theta = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1.0 / (1.0 + np.exp(-x @ theta))
        K = (x * (p * (1.0 - p))[:, None]).T @ x + np.eye(theta.size) / prior_variance
        theta = theta - np.linalg.solve(K, x.T @ (p - y) + theta / prior_variance)
    return np.sqrt(np.diag(np.linalg.inv(K)))
