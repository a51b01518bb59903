"""Chains on recursions beside sums over a grid of the posterior, in NumPy alone.

Of every coordinate mean and sd lie within 5 Monte Carlo errors of what the grid gives: a false alarm in some 100,000
runs.
"""

from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from arviz_stats.base.array import array_stats as numbers_of

import recipe_compiler as rc

array_stats = cast("Any", numbers_of)

SPECS = Path(__file__).parents[2] / "specs"
ERRORS = 5
POINTS, WIDTH = 25, 6.0
"""Of each axis of a grid, and how many standard deviations it goes to either side."""
MA = """
name: ma
state: {mu: {}, theta: {}, log_sigma: {}}
data: {y: {shape: N}}
recursion: {e: {start: 0, next: y - mu - sigmoid(theta)*e}}
log_prior: normal(mu, 0, 2) + normal(theta, 0, 1) + normal(log_sigma, 0, 1)
log_likelihood: normal(y, mu + sigmoid(theta)*e, exp(log_sigma))
"""
GARCH = """
name: garch
state: {mu: {}, log_omega: {}, a: {}}
data: {y: {shape: N}}
recursion: {s: {is: positive, start: exp(log_omega), next: exp(log_omega) + (y - mu)**2*exp(a) + s/3}}
log_prior: normal(mu, 0, 1) + normal(log_omega, 0, 1) + normal(a, -1, 1)
log_likelihood: normal(y, mu, sqrt(s))
assume: [normalisable]
"""
BUILD = f"""
name: NAME_hmc
dynamics: {SPECS}/dynamics/hmc.yaml
target: target.yaml
bind: {{M: I}}
scheme: {{cycle: [{{refresh: r}}, {{metropolis: {{split: [B/2, A, B/2], steps: "uniform(1, 15)", flip: {{r: -r}}}}}}]}}
variant: full
data: {{file: data.csv, y: y}}
run: {{step_size: 0.08, draws: 3000, warmup: 500, chains: 4, seed: 3}}
"""


def drawn(name: str) -> np.ndarray:
    rng, y, e, s = np.random.default_rng(11), [], 0.0, 1.0
    for z in rng.standard_normal(50):
        if name == "ma":
            y.append(0.5 + 0.6 * e + 0.8 * z)
            e = 0.8 * z
        else:
            y.append(0.3 + np.sqrt(s) * z)
            s = 0.5 + 0.4 * (y[-1] - 0.3) ** 2 + s / 3
    return np.round(y, 4)


def log_density(name: str, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the log posterior at every row of z, up to a constant."""
    a, b, c = z.T
    if name == "ma":
        found, e = -(a**2) / 8 - b**2 / 2 - c**2 / 2, np.zeros(len(z))
        for value in y:
            error = value - a - e / (1 + np.exp(-b))
            found += -((error / np.exp(c)) ** 2) / 2 - c
            e = error
        return found
    found, s = -(a**2) / 2 - b**2 / 2 - (c + 1) ** 2 / 2, np.exp(b)
    for value in y:
        found += -((value - a) ** 2) / (2 * s) - np.log(s) / 2
        s = np.exp(b) + (value - a) ** 2 * np.exp(c) + s / 3
    return found


def moments(name: str, y: np.ndarray, centre: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and sds by a sum over a grid, whose axes are those of an ellipse that is given."""
    axis = np.linspace(-WIDTH, WIDTH, POINTS)
    places = np.array(list(product(axis, repeat=3)))
    z = centre + places @ np.linalg.cholesky(covariance).T
    log = log_density(name, z, y)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    assert weight[np.abs(places).max(axis=1) == WIDTH].sum() < 1e-4  # beyond the grid there is next to nothing
    mean = weight @ z
    return mean, np.sqrt(weight @ (z - mean) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), [("ma", MA), ("garch", GARCH)], ids=["ma", "garch"])
def test_moments_are_those_of_a_grid(tmp_path: Path, name: str, target: str) -> None:
    y = drawn(name)
    (tmp_path / "target.yaml").write_text(target)
    (tmp_path / "data.csv").write_text("\n".join(["y", *map(str, y), ""]))
    (tmp_path / "build.yaml").write_text(BUILD.replace("NAME", name))
    tree = rc.compile(tmp_path / "build.yaml").sample(progress=False)
    chains = np.stack([tree["posterior"][one].to_numpy() for one in tree["posterior"].data_vars], axis=-1)
    draws = chains.reshape(-1, 3)
    means, sds = moments(name, y, draws.mean(axis=0), np.cov(draws.T))
    for k, (mean, sd) in enumerate(zip(means, sds, strict=True)):
        own = chains[:, :, k]
        squares = (own - own.mean()) ** 2
        assert array_stats.rhat(own) < 1.01
        assert abs(own.mean() - mean) < ERRORS * sd / np.sqrt(float(array_stats.ess(own)))
        of_sd = squares.std() / np.sqrt(float(array_stats.ess(squares))) / (2 * sd**2)
        assert abs(own.std() / sd - 1) < ERRORS * of_sd
    rows = tree["log_likelihood"]["y"].to_numpy()
    assert rows.shape == (*chains.shape[:2], len(y))
    lp = tree["sample_stats"]["lp"].to_numpy().ravel()[:9]
    np.testing.assert_allclose(np.diff(lp), np.diff(log_density(name, draws[:9], y)), rtol=1e-9, atol=1e-9)
