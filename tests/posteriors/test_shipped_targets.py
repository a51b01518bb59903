"""Targets that ship, from ten lines of Python with nothing stated of the run: right at the first attempt, or refused.

Means and sds are held against closed forms, sums over a grid, or importance sampling around the mode. Those that no
Gaussian describes, bounded domains and cycles of draws are in `tests/planner/test_planned_targets.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import recipe_compiler as rc
from recipe_compiler.errors import RunError
from recipe_compiler.run.infinitesimal_means import errors_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("interruptible", "without_reading_back")]

DATA = Path(__file__).parents[2] / "specs" / "data"
SHARE, ERRORS = 0.02, 5.0
Moments = tuple[np.ndarray, np.ndarray]
"""Means and sds, block by block in the order of the target."""
S = np.array([[2.0, 1 / 2, 1 / 3], [1 / 2, 1.0, -1 / 4], [1 / 3, -1 / 4, 3 / 2]])


def table(name: str, *columns: str) -> np.ndarray:
    """Return columns of a table that ships, rows x columns, or one column alone."""
    whole = np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True)
    return np.stack([whole[column] for column in columns], axis=1) if len(columns) > 1 else whole[columns[0]]


def design(name: str, *columns: str) -> np.ndarray:
    """Return columns behind one of ones."""
    of_table = table(name, *columns)
    return np.column_stack([np.ones(len(of_table)), of_table])


def gaussian(precision: np.ndarray, linear: np.ndarray) -> Moments:
    covariance = np.linalg.inv(precision)
    return covariance @ linear, np.sqrt(np.diag(covariance))


def importance(log_density: Callable[[np.ndarray], np.ndarray], width: int) -> Moments:
    """Return moments by draws of Student's t around the mode, weighted; the density is of rows of an array."""
    rng, df = np.random.default_rng(0), 8
    with np.errstate(all="ignore"):  # a line search may begin far out
        best = optimize.minimize(lambda at: -float(log_density(at[None])[0]), np.zeros(width), method="BFGS")
    root = 1.1 * np.linalg.cholesky(best.hess_inv)
    z = rng.standard_normal((100_000, width)) / np.sqrt(rng.chisquare(df, (100_000, 1)) / df)
    at = best.x + z @ root.T
    found = np.concatenate([log_density(part) for part in np.array_split(at, 100)])
    found += (df + width) / 2.0 * np.log1p((z**2).sum(axis=1) / df)
    weight = np.exp(found - found.max())
    weight /= weight.sum()
    assert 1.0 / (weight**2).sum() > 20_000
    mean = weight @ at
    return mean, np.sqrt(weight @ (at - mean) ** 2)


def of_logistic() -> Moments:
    x, y = design("few_trials", "a", "b"), table("few_trials", "y")
    return importance(lambda t: (t @ x.T * y - np.logaddexp(0.0, t @ x.T)).sum(axis=1) - (t**2).sum(axis=1) / 20.0, 3)


def of_poisson() -> Moments:
    x, y = design("poisson_regression", "a", "b"), table("poisson_regression", "y")
    return importance(
        lambda t: (t @ x.T * y - np.exp(np.minimum(t @ x.T, 50.0))).sum(axis=1) - (t**2).sum(axis=1) / 20.0, 3
    )


def of_regression() -> Moments:
    """Given tau, beta is Gaussian: a sum over tau."""
    x, y = table("linear_regression", "a", "b", "c", "e"), table("linear_regression", "y")
    taus, parts = np.exp(np.linspace(-3.0, 4.0, 7001)), []
    for tau in taus:
        mean, sd = gaussian(precision := tau * x.T @ x + np.eye(4) / 10.0, tau * x.T @ y)
        log_weight = (len(y) + 1.0) / 2.0 * np.log(tau) - tau / 2.0 * (1.0 + y @ y) + mean @ precision @ mean / 2.0
        parts.append((log_weight - np.linalg.slogdet(precision)[1] / 2.0, mean, mean**2 + sd**2))
    log_weights, means, squares = (np.array(part) for part in zip(*parts, strict=True))
    weight = np.exp(log_weights - log_weights.max())
    weight /= weight.sum()
    mean = np.append(weight @ means, weight @ taus)
    return mean, np.sqrt(np.append(weight @ squares, weight @ taus**2) - mean**2)


def of_schools() -> Moments:
    """Sums over mu and tau, given which eta is Gaussian."""
    y, s = table("eight_schools", "effect"), table("eight_schools", "error")
    mu, tau = np.meshgrid(np.linspace(-25.0, 30.0, 551), np.linspace(1e-3, 40.0, 2001), indexing="ij")
    total = s[:, None, None] ** 2 + tau**2
    log_weight = -(mu**2 + tau**2) / 50.0 - (np.log(total) + (y[:, None, None] - mu) ** 2 / total).sum(axis=0) / 2.0
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    eta = tau * (y[:, None, None] - mu) / total
    first = np.array([mu, tau, *eta])
    second = np.array([mu**2, tau**2, *(eta**2 + s[:, None, None] ** 2 / total)])
    mean = (weight * first).sum(axis=(1, 2))
    return mean, np.sqrt((weight * second).sum(axis=(1, 2)) - mean**2)


def of_intercepts() -> Moments:
    g, x, y = (table("groups", name) for name in ("group", "x", "y"))
    A = np.column_stack([np.ones(len(y)), np.eye(12)[g.astype(int) - 1], x])
    return gaussian(2.0 * A.T @ A + np.diag([1 / 25, *np.ones(12), 1 / 25]), 2.0 * A.T @ y)


X = np.random.default_rng(7).multivariate_normal([1.0, -1.0, 0.5], S, size=200)
Z = np.eye(3)[np.repeat([0, 1, 2], [36, 18, 6])]


@dataclass(frozen=True)
class Case:
    """A target with its sampler."""

    moments: Callable[[], Moments]
    stated: Mapping[str, Any]
    data: Mapping[str, Any] | None = None
    dynamics: str = "sghmc"
    scheme: str = "baoab"
    variant: str = "full"
    derived: frozenset[str] = field(default_factory=lambda: frozenset({"omega"}))


CASES = {
    "standard_normal": Case(
        lambda: (np.zeros(3), np.ones(3)), {"sizes": {"d": 3}, "parameters": {"A": 1}}, None, "sgnht", "badodab"
    ),
    "gaussian": Case(
        lambda: (np.array([1.0, -2.0, 0.5]), np.sqrt(np.diag(S))),
        {"parameters": {"mu": [1, -2, 0.5], "Sigma": S.tolist()}}, None, "sgld", "euler",
    ),
    "gaussian_mean": Case(
        lambda: gaussian(200 * np.linalg.inv(S) + np.eye(3) / 10.0, np.linalg.solve(S, X.sum(axis=0))),
        {"parameters": {"Sigma": S.tolist()}}, {"x": X}, variant="minibatch",
    ),
    "varying_intercepts": Case(
        of_intercepts, {"sizes": {"J": 12, "p": 1}},
        {"g": table("groups", "group") - 1, "x": table("groups", "x")[:, None], "y": table("groups", "y")},
    ),
    "gamma_categories": Case(
        lambda: (np.array([36.5, 18.5, 6.5]), np.sqrt([36.5, 18.5, 6.5])),
        {"parameters": {"alpha": [0.5] * 3}}, {"z": Z},
    ),
    "logistic_regression": Case(
        of_logistic, {}, {"x": design("few_trials", "a", "b"), "y": table("few_trials", "y")}
    ),
    "poisson_regression": Case(
        of_poisson, {}, {"x": design("poisson_regression", "a", "b"), "y": table("poisson_regression", "y")}
    ),
    "regression_precision": Case(
        of_regression, {"sizes": {"p": 4}},
        {"x": table("linear_regression", "a", "b", "c", "e"), "y": table("linear_regression", "y")},
    ),
    "eight_schools": Case(
        of_schools, {"sizes": {"J": 8}},
        {"y": table("eight_schools", "effect"), "w": 1.0 / table("eight_schools", "error"), "z": np.eye(8)},
    ),
}  # fmt: skip


def model(name: str, case: Case) -> rc.Model:
    return rc.compile(
        case.dynamics, name, scheme=case.scheme, variant=case.variant, step_size="auto", **case.stated
    )  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_target_that_ships_is_sampled_at_the_first_attempt(name: str) -> None:
    """Each of some 70 numbers within the share and 5 Monte Carlo errors: one run in 10^4 fails by chance."""
    case = CASES[name]
    fit = model(name, case).sample(case.data, progress=False)
    assert fit.verdict.trust.startswith("trust: yes"), fit.verdict
    blocks = [a.to_numpy() for key, a in fit["posterior"].data_vars.items() if str(key) not in case.derived]
    draws = np.concatenate([block.reshape(*block.shape[:2], -1) for block in blocks], axis=2)
    mean, sd = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
    of_means, of_squares = np.split(errors_of(np.concatenate([draws, (draws - mean) ** 2], axis=2)), 2)
    means, sds = case.moments()
    assert (np.abs(mean - means) <= SHARE * sds + ERRORS * of_means).all(), (mean, means, of_means)
    assert (np.abs(sd - sds) <= SHARE * sds + ERRORS * of_squares / (2.0 * sd)).all(), (sd, sds)


REFUSED = {
    "gaussian_mixture": ({"sizes": {"K": 2}}, {"y": table("two_groups", "y")}, "constraint: ordered"),
    "funnel": ({"sizes": {"k": 3}}, None, "a metric that depends on the state"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_target_for_which_no_step_serves_is_refused_with_what_does(name: str) -> None:
    stated, data, serves = REFUSED[name]
    with pytest.raises(RunError, match=serves):
        model(name, Case(of_schools, stated)).plan(data)
