"""Moves that are accepted or refused: their law is exp(-U) at every step size, with a mode of U or without."""

import math

import numpy as np
import pytest

from recipe_compiler.advise.budget import Budget
from recipe_compiler.advise.exact_chains import MASS, LeapfrogMoves, exact_draws
from recipe_compiler.advise.moments import moments_of
from recipe_compiler.errors import RunError
from recipe_compiler.run.map_estimate import Start

J, Y = 6, np.array([1.4, -0.3, 0.9, 2.2, 0.1, 1.2])
NAMES = ("mu", "log_tau", *(f"theta[{j}]" for j in range(J)))
STARTS = tuple(Start(f"{k}", np.random.default_rng(k).uniform(-2.0, 2.0, J + 2)) for k in range(4))


def hierarchy(z: np.ndarray) -> float:
    """y_j is N(theta_j, 0.2^2), theta_j N(mu, tau^2), mu N(0, 1), log tau N(0, 1/4): no mode, but a narrow prior."""
    mu, log_tau, theta = z[0], z[1], z[2:]
    of_theta = ((theta - mu) ** 2).sum() * np.exp(-2.0 * log_tau) / 2.0 + J * log_tau
    return float(of_theta + ((Y - theta) ** 2).sum() / 0.08 + mu**2 / 2.0 + 2.0 * log_tau**2)


def slope(z: np.ndarray) -> np.ndarray:
    mu, log_tau, theta = z[0], z[1], z[2:]
    away = (theta - mu) * np.exp(-2.0 * log_tau)
    of_tau = J - away @ (theta - mu) + 4.0 * log_tau
    return np.concatenate([[mu - away.sum(), of_tau], away - (Y - theta) / 0.04])


def exact() -> tuple[np.ndarray, np.ndarray]:
    """Means and sds: given tau all is normal, and tau is summed over."""
    total, first, second = 0.0, np.zeros(J + 2), np.zeros(J + 2)
    for log_tau in np.linspace(-3.0, 3.0, 601):
        weight, own = np.exp(-2.0 * log_tau), np.zeros((J + 1, J + 1))
        own[1:, 1:] = np.eye(J) * weight
        own[0, 1:] = own[1:, 0] = -weight
        own[0, 0] = J * weight + 1.0
        A = own + np.diag([0.0, *[25.0] * J])
        inverse = np.linalg.inv(A)
        m = inverse @ np.array([0.0, *(25.0 * Y)])
        level = (np.linalg.slogdet(own)[1] - np.linalg.slogdet(A)[1] + m @ A @ m) / 2.0 - 2.0 * log_tau**2
        p = np.exp(level)
        mean = np.array([m[0], log_tau, *m[1:]])
        total, first = total + p, first + p * mean
        second += p * (mean**2 + np.array([inverse[0, 0], 0.0, *np.diag(inverse)[1:]]))
    mean = first / total
    return mean, np.sqrt(second / total - mean**2)


@pytest.mark.slow
def test_they_find_a_bulk_that_no_mode_leads_to() -> None:
    """Within 5 Monte Carlo errors in each of 16 moments: a false alarm in 10^5."""
    at, way = np.full(J + 2, 0.5), np.linspace(-1.0, 1.0, J + 2)
    rise = (hierarchy(at + 1e-6 * way) - hierarchy(at - 1e-6 * way)) / 2e-6
    assert rise == pytest.approx(slope(at) @ way, rel=1e-6)
    found = exact_draws(hierarchy, slope, STARTS, 30, NAMES, Budget(math.inf)).moments
    mean, sd = exact()
    assert (np.abs(found.mean - mean) < 5.0 * found.mean_error).all()
    assert (np.abs(found.sd - sd) < 5.0 * found.sd_error).all()
    assert (found.sd_error < 0.05 * sd).all()


@pytest.mark.slow
def test_what_is_accepted_is_of_u_whatever_slope_proposed_it() -> None:
    """A slope that is not that of U: more moves are refused, and the draws are those of U all the same."""
    S = np.array([[2.0, 0.6], [0.6, 0.5]])
    K = np.linalg.inv(S)
    theta = np.random.default_rng(3).standard_normal((8, 2))
    moves = LeapfrogMoves(
        lambda z: float(z @ K @ z) / 2.0, lambda z: 1.3 * K @ z, theta, np.random.default_rng(5), 30, Budget(math.inf)
    )
    found = moves.moved({MASS.name: np.eye(2)}, 0.4, 3, 1500)
    assert 0.3 < found.mean < 0.97
    moments = moments_of(found.theta)
    assert (np.abs(moments.sd - np.sqrt(np.diag(S))) < 5.0 * moments.sd_error).all()
    assert (moments.sd_error < 0.05 * moments.sd).all()


@pytest.mark.slow
def test_chains_that_do_not_agree_are_refused() -> None:
    """Two modes, 40 sds apart."""
    centre = np.array([20.0, 0.0])

    def far(z: np.ndarray) -> np.ndarray:
        return z - np.sign(z[0]) * centre

    starts = (Start("left", -centre), Start("right", centre))
    with pytest.raises(RunError, match=r"8 chains of \d+ Metropolis moves do not agree \(R-hat of a "):
        exact_draws(lambda z: float(far(z) @ far(z)) / 2.0, far, starts, 30, ("a", "b"), Budget(math.inf))


def test_a_law_without_an_end_is_refused() -> None:
    with pytest.raises(RunError, match=r"accepted at every one tried|do not agree"):
        exact_draws(lambda _: 0.0, np.zeros_like, (Start("zero", np.zeros(2)),), 30, ("a", "b"), Budget(math.inf))
    with pytest.raises(RunError, match="there are too many data"):
        exact_draws(hierarchy, slope, STARTS, 10**9, NAMES, Budget(math.inf))
