"""Modes beside the one that a plan is made around, of mixtures whose shares are known in closed form."""

from collections.abc import Callable

import numpy as np
import pytest

from recipe_compiler.advise.other_modes import READ, main_mode
from recipe_compiler.errors import RunError
from recipe_compiler.run.map_estimate import Mode, Start

Array = np.ndarray
MEANS = np.array([[1.0, -2.0], [90.0, 5.0]])
COVARIANCES = np.array([[[4.0, 0.3], [0.3, 0.1]], [[25.0, -1.0], [-1.0, 0.5]]])
STARTS = (Start("zero", np.zeros(2)),)


def mixture(share: float) -> Callable[[Array], Array]:
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
        main_mode(mixture(share), Mode(MEANS[0], "zero"), STARTS, 0)


@pytest.mark.slow
def test_the_plan_is_made_around_the_mode_that_holds_all() -> None:
    for near in (0, 1):
        found = main_mode(mixture(1e-6), Mode(MEANS[near], "zero"), STARTS, 0)
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
    slope = mixture(0.5)

    def counted(theta: Array) -> Array:
        nonlocal calls
        calls += 1
        return slope(theta)

    mode = Mode(MEANS[0], "zero")
    assert main_mode(counted, mode, STARTS, int(READ / 20.0)) is mode
    assert calls < 60
