"""The page that samples a density of one's own does: moments within Monte Carlo errors, a wrong gradient refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "howto_any_density.md").read_text(encoding="utf-8")
COPIED = ("specs",)

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.slow]


def logistic() -> tuple[np.ndarray, np.ndarray]:
    """Return means and sds of the page's logistic regression, by quadrature."""
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(200), rng.standard_normal((200, 2))])
    y = (rng.random(200) < 1 / (1 + np.exp(-x @ [0.5, 1.0, -1.5]))).astype(float)
    axes = [np.linspace(low, low + 2.4, 49) for low in (-0.8, 0.0, -2.9)]
    theta = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    t = theta @ x.T
    log_p = t @ y - np.logaddexp(0.0, t).sum(axis=1) - (theta**2).sum(axis=1) / 20.0
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    mean = p @ theta
    return mean, np.sqrt(p @ (theta - mean) ** 2)


def within_errors(draws: np.ndarray, mean: np.ndarray, sd: np.ndarray, bias: float) -> None:
    """Hold means and sds to five Monte Carlo errors, by batches of draws, and the bias of the step."""
    pieces = draws.reshape(-1, draws.shape[1] // 10, draws.shape[2])
    for found, wanted in ((pieces.mean(axis=1), mean), (pieces.var(axis=1), sd**2)):
        error = found.std(axis=0) / np.sqrt(len(found))
        slack = bias * (sd if wanted is mean else sd**2)
        assert np.all(np.abs(found.mean(axis=0) - wanted) < 5 * error + slack), (found.mean(axis=0), wanted, error)


def test_the_page_samples_both_densities(house: Any) -> None:
    assert len(house.typed) == 3
    house.prints_what_the_page_says()
    draws = np.load(house.at / "draws.npz")
    mean, sd = np.array([1.0, -2.0, 0.5]), np.sqrt([2.0, 1.0, 0.5])
    both = np.concatenate((draws["gaussian"], draws["more"]), axis=1)
    within_errors(both, mean, sd, 0.02)
    assert np.allclose(np.cov(both.reshape(-1, 3).T), [[2.0, 0.9, 0.3], [0.9, 1.0, -0.2], [0.3, -0.2, 0.5]], atol=0.2)
    within_errors(draws["logistic"], *logistic(), 0.02)
    within_errors(draws["few"], *logistic(), 0.15)  # the noise of the minibatches widens
