"""Whether the mode that a search finds is where draws are, as often as what it holds says."""

import numpy as np
import pytest

from recipe_compiler.run.map_estimate import Mode
from recipe_compiler.run.unvisited import around_mode, visits
from recipe_compiler.run.visits import LEAST, Visited, Visits

TURN, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))
NARROW = (TURN * np.array([0.02, 0.05, 0.1]) ** 2) @ TURN.T
WIDE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 1.5]])
AT = np.array([0.3, -0.2, 0.1])
"""Of two Gaussians, one narrow and off the centre of the other."""


def density(theta: np.ndarray, share: float) -> np.ndarray:
    """Return exp(-U), of the narrow Gaussian with a share and the wide one with the rest; not normalised."""

    def of(x: np.ndarray, S: np.ndarray) -> np.ndarray:
        return np.exp(-np.einsum("...i,ij,...j", x, np.linalg.inv(S), x) / 2.0) / np.sqrt(np.linalg.det(S))

    return 7.0 * (share * of(theta - AT, NARROW) + (1.0 - share) * of(theta, WIDE))


def found(share: float, drawn: float, law: np.ndarray = WIDE):
    """Return what is found of 4000 draws, of which a part is in the narrow one."""
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((4000, 3)) @ np.linalg.cholesky(law).T
    narrow = AT + rng.standard_normal((4000, 3)) @ np.linalg.cholesky(NARROW).T
    draws = np.where(rng.random((4000, 1)) < drawn, narrow, wide)

    def potential(theta: np.ndarray) -> float:
        return float(-np.log(density(theta, share)))

    return around(potential, AT, np.linalg.inv(NARROW), draws, -np.log(density(draws, share)))


def around(potential, mode: np.ndarray, K: np.ndarray, draws: np.ndarray, energies: np.ndarray) -> Visits:
    """Return what is told of independent draws around a mode."""
    visited = Visited.of(draws, energies, len(draws))
    assert visited is not None
    told = around_mode(potential, mode, K, visited, "zero")
    assert told is not None
    return told


@pytest.mark.parametrize("share", [0.15, 0.5, 0.9])
def test_a_mode_that_no_chain_visits_is_told(share: float) -> None:
    """What is expected is exact here up to 256 draws: the narrow one is in B for 0.99 of its draws."""
    told = found(share, 0.0)
    assert told.expected == pytest.approx(share, rel=0.1)
    assert told.found < 0.01
    assert "at least" in told.doubts[0]


@pytest.mark.parametrize("share", [0.15, 0.5, 0.9])
def test_a_mode_that_is_visited_is_not(share: float) -> None:
    told = found(share, share)
    assert told.found == pytest.approx(share, rel=0.15)
    assert told.expected <= 1.1 * told.found  # the entropy of both together is less than that of a Gaussian
    assert told.doubts == ()


def test_a_mode_that_holds_little_is_left_out() -> None:
    assert found(LEAST / 2.0, 0.0).doubts == ()


def test_draws_of_a_bent_law_are_not_doubted() -> None:
    """Of a banana a third is near its mode as the Hessian there says; the bound does not ask for more."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(4000)
    draws = np.column_stack([x, 3.0 * x**2 + 0.5 * rng.standard_normal(4000)])

    def potential(theta: np.ndarray) -> np.ndarray:
        return theta[..., 0] ** 2 / 2.0 + 2.0 * (theta[..., 1] - 3.0 * theta[..., 0] ** 2) ** 2

    told = around(lambda one: float(potential(one)), np.zeros(2), np.diag([1.0, 4.0]), draws, potential(draws))
    assert told.expected <= told.found
    assert told.found < 0.5


def test_nothing_is_said_around_what_is_no_mode() -> None:
    visited = Visited.of(np.random.default_rng(4).standard_normal((100, 2)), np.zeros(100), 100.0)
    assert visited is not None
    for K in (np.diag([1.0, 0.0]), np.diag([1.0, -1.0]), np.full((2, 2), np.nan)):
        assert around_mode(lambda theta: float(theta @ theta), np.zeros(2), K, visited, "") is None


def test_u_is_not_asked_at_draws_where_it_is_known() -> None:
    theta = np.random.default_rng(5).standard_normal((2, 50, 3))
    asked = list[np.ndarray]()

    def potential(at: np.ndarray) -> float:
        asked.append(at)
        return float(at @ at) / 2.0

    def told(energies: np.ndarray | None) -> tuple[Visits, ...]:
        mode = Mode(np.zeros(3), "zero")
        return visits(potential, lambda at: at, mode, (), theta, 1.0, energies)

    before = told(None)
    whole = len(asked)
    asked.clear()
    assert told((theta**2).sum(axis=2).ravel() / 2.0) == before
    assert before[0].expected > 0.4
    assert len(asked) == whole - 100
