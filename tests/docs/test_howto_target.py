"""The page that adds a target adds it: documents alone, whose draws have the posterior of the formula it is about."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

PAGE = (Path(__file__).parents[2] / "docs" / "howto_target.md").read_text(encoding="utf-8")
COPIED = ("specs",)
TARGET = "specs/targets/robust_regression.yaml"
BUILD = "specs/builds/sgld_robust_regression.yaml"

pytestmark = pytest.mark.filterwarnings("error")


def posterior(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of intercept and slope by quadrature, of the density as cosh."""
    axis = np.linspace(-8.0, 8.0, 641)
    a, b = np.meshgrid(axis, axis, indexing="ij")
    log_p = -(a**2 + b**2) / 20
    for dose, amount in rows:
        log_p -= 2 * np.log(2 * np.cosh((amount - a - b * dose) / 2))
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    means = np.array([(p * a).sum(), (p * b).sum()])
    return means, np.sqrt([(p * (a - means[0]) ** 2).sum(), (p * (b - means[1]) ** 2).sum()])


def test_the_page_adds_a_target(house: Any) -> None:
    assert not house.added
    assert len(house.typed) == 5
    house.prints_what_the_page_says()
    rows = np.loadtxt(house.at / "specs/data/yields.csv", delimiter=",", skiprows=1)
    with xarray.open_datatree(house.at / "draws/sgld_robust_regression.nc") as tree:
        draws = tree["posterior"]["theta"].to_numpy()
    means, sds = posterior(rows)
    found = draws.reshape(-1, 2)
    # 4,000 draws of some 1,000 that count: 0.03 sd is one standard error, 0.15 sd five; the step biases sd by some 2 %
    assert np.all(np.abs(found.mean(0) - means) < 0.15 * sds)
    assert np.all(np.abs(found.std(0) / sds - 1) < 0.15)


def test_without_a_prior_the_page_says_undecided(house: Any) -> None:
    path = house.at / TARGET
    text = path.read_text()
    prior = "log_prior: -theta.T @ theta / (2*prior_variance)"
    assert text.count(prior) == 1
    path.write_text(text.replace(prior, "log_prior: 0*prior_variance"))
    said = house.run(f"recipe check {TARGET}")
    assert "robust_regression: undecided" in said, said
