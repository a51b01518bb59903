"""Modes beside one that is known: what they hold, and whether draws miss them, of mixtures whose shares are known.

Draws are independent ones: what a run adds is that they are not, and that is `effective`.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from recipe_compiler.advise.missed_modes import (
    LEAST,
    PLANNED,
    Visits,
    around_mode,
    log_visited,
    main_mode,
    missed_mode,
)
from recipe_compiler.errors import RunError
from recipe_compiler.run.map_estimate import Mode, Start

Array = np.ndarray
Function = Callable[[Array], float]
DRAWS = 1000


def around(potential: Function, mode: Array, K: Array, draws: Array) -> Visits:
    """Return what is said of independent draws around a mode."""
    log_most = log_visited(draws, np.array([potential(theta) for theta in draws]), len(draws))
    found = around_mode(potential, mode, K, draws, log_most, "zero")
    assert found is not None
    return found


class Mixture:
    """A narrow Gaussian with a share, within a wide one whose axes are as wide as 1 to 10 and not those of theta."""

    def __init__(self, d: int, variance: float, share: float, condition: float = 100.0) -> None:
        rng = np.random.default_rng(d)
        turn, _ = np.linalg.qr(rng.standard_normal((d, d)))
        self.wide = (turn * np.logspace(0.0, -np.log10(condition), d)) @ turn.T
        self.narrow = np.eye(d) / variance
        self.at = 0.3 * np.sqrt(variance) * rng.standard_normal(d)
        self.logs = np.log([1.0 - share, share])
        self.logs += [np.linalg.slogdet(K)[1] / 2.0 for K in (self.wide, self.narrow)]
        self.within = self.at + np.sqrt(variance) * rng.standard_normal((DRAWS, d))
        spread = np.linalg.cholesky(np.linalg.inv(self.wide))
        visits = rng.random((DRAWS, 1)) < share
        self.beyond = rng.standard_normal((DRAWS, d)) @ spread.T
        self.draws = np.where(visits, self.within, self.beyond)

    def parts(self, theta: Array) -> Array:
        off = theta - self.at
        return self.logs - np.array([theta @ self.wide @ theta, off @ self.narrow @ off]) / 2.0

    def potential(self, theta: Array) -> float:
        return -float(np.logaddexp(*self.parts(theta)))

    def slope(self, theta: Array) -> Array:
        parts = self.parts(theta)
        shares = np.exp(parts - np.logaddexp(*parts))
        return shares[0] * (self.wide @ theta) + shares[1] * (self.narrow @ (theta - self.at))


@pytest.mark.parametrize("share", [0.15, 0.5, 0.9])
def test_a_mode_that_no_chain_visits_is_told_and_one_that_is_visited_is_not(share: float) -> None:
    mixture = Mixture(3, 0.0025, share)
    missed = around(mixture.potential, mixture.at, mixture.narrow, mixture.beyond)
    assert missed.expected == pytest.approx(share, rel=0.1)
    assert missed.found < 0.01
    assert "at least" in missed.doubt
    seen = around(mixture.potential, mixture.at, mixture.narrow, mixture.draws)
    assert seen.found == pytest.approx(share, rel=0.2)
    assert seen.expected <= 1.1 * seen.found  # the entropy of both together is less than that of a Gaussian
    assert seen.doubt == ""


def test_a_mode_that_holds_little_is_left_out() -> None:
    mixture = Mixture(3, 0.0025, LEAST / 2.0)
    assert around(mixture.potential, mixture.at, mixture.narrow, mixture.beyond).doubt == ""


def test_draws_of_a_bent_law_are_not_doubted() -> None:
    """Of a banana a third is near its mode as the Hessian there says; the bound does not ask for more."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(4000)
    draws = np.column_stack([x, 3.0 * x**2 + 0.5 * rng.standard_normal(4000)])
    found = around(
        lambda z: float(z[0] ** 2 / 2.0 + 2.0 * (z[1] - 3.0 * z[0] ** 2) ** 2), np.zeros(2), np.diag([1.0, 4.0]), draws
    )
    assert found.expected <= found.found
    assert found.found < 0.5


def test_nothing_is_said_around_what_is_no_mode() -> None:
    draws = np.random.default_rng(4).standard_normal((100, 2))
    for K in (np.diag([1.0, 0.0]), np.diag([1.0, -1.0]), np.full((2, 2), np.nan)):
        assert around_mode(lambda theta: float(theta @ theta), np.zeros(2), K, draws, 0.0, "") is None


@pytest.mark.parametrize(("both", "says"), [(False, "the draws miss a mode of U"), (True, "")])
def test_draws_of_one_of_two_modes_far_apart_are_doubted(both: bool, says: str) -> None:
    """N(-c, 1) and N(c, 1) in three coordinates, 20 sds apart, half and half; a search from one finds the other."""
    rng, c = np.random.default_rng(5), np.array([10.0, 0.0, 0.0])
    theta = c + rng.standard_normal((4, 250, 3))
    theta[::2] -= 2.0 * c if both else 0.0

    def potential(at: Array) -> float:
        return -float(np.logaddexp(-((at - c) @ (at - c)) / 2.0, -((at + c) @ (at + c)) / 2.0))

    def slope(at: Array) -> Array:
        return at - c * np.tanh(c @ at)

    energies = np.array([potential(at) for at in theta.reshape(-1, 3)])
    sampler: Any = SimpleNamespace(potential=potential, slope=slope, starts=())
    for known in (None, energies):
        found = missed_mode(sampler, Mode(c, "zero"), theta, 1.0, known)
        assert found.startswith(says)
        assert bool(found) is not both


MEANS = np.array([[1.0, -2.0], [90.0, 5.0]])
COVARIANCES = np.array([[[4.0, 0.3], [0.3, 0.1]], [[25.0, -1.0], [-1.0, 0.5]]])
STARTS = (Start("zero", np.zeros(2)),)


def two_modes(share: float) -> Callable[[Array], Array]:
    """Return grad U of (1 - share) N(m_0, S_0) + share N(m_1, S_1)."""
    inverse = np.linalg.inv(COVARIANCES)
    level = np.log([1.0 - share, share]) - np.linalg.slogdet(COVARIANCES)[1] / 2.0

    def slope(theta: Array) -> Array:
        pulls = np.einsum("kij,kj->ki", inverse, theta - MEANS)
        logs = level - np.einsum("ki,ki->k", theta - MEANS, pulls) / 2.0
        weights = np.exp(logs - logs.max())
        return weights @ pulls / weights.sum()

    return slope


@pytest.mark.parametrize(("share", "says"), [(0.3, "30 %"), (0.99, "99 %"), (0.01, "1 %")])
def test_another_mode_is_told_with_what_it_holds(share: float, says: str) -> None:
    with pytest.raises(RunError, match=rf"several modes: \(1, -2\), and \(90, 5\), which holds about {says} of"):
        main_mode(two_modes(share), Mode(MEANS[0], "zero"), STARTS, 0)


@pytest.mark.slow
def test_the_plan_is_made_around_the_mode_that_holds_all() -> None:
    for near in (0, 1):
        found = main_mode(two_modes(1e-6), Mode(MEANS[near], "zero"), STARTS, 0)
        np.testing.assert_allclose(found.theta, MEANS[0], atol=1e-6)


@pytest.mark.slow
def test_one_mode_stays_however_it_bends() -> None:
    def banana(theta: Array) -> Array:
        rest = theta[1] - theta[0] ** 2 / 2.0
        return np.array([theta[0] - rest * theta[0], rest])

    def heavy(theta: Array) -> Array:
        return 4.0 * theta / (3.0 + theta**2) + np.array([0.1, 0.0]) * theta[1]

    for slope in (banana, heavy):
        mode = Mode(np.zeros(2), "zero")
        assert main_mode(slope, mode, STARTS, 0) is mode


def test_large_data_are_read_so_often_and_no_more() -> None:
    calls = 0
    slope = two_modes(0.5)

    def counted(theta: Array) -> Array:
        nonlocal calls
        calls += 1
        return slope(theta)

    mode = Mode(MEANS[0], "zero")
    assert main_mode(counted, mode, STARTS, int(PLANNED / 20.0)) is mode
    assert calls < 60
