"""Matrices of linear flows against many digits: stiff, growing, backward in time, noise of a high order in it."""

import flint
import numpy as np
import pytest

from recipe_compiler.emit.support.propagator import _propagator

RNG = np.random.default_rng(11)
EPS = 2.0**-4


def exact(F: np.ndarray, two_D: np.ndarray, share: float, eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the three matrices by exponentials of block matrices (Van Loan 1978), to many digits."""
    n, t = len(F), share * eps
    whole = np.zeros((4 * n, 4 * n))
    whole[:n, :n], whole[:n, n : 2 * n] = -F, np.eye(n)  # d/dt of the flow and of its integral
    whole[2 * n : 3 * n, 2 * n : 3 * n], whole[3 * n :, 3 * n :], whole[2 * n : 3 * n, 3 * n :] = -F, F.T, two_D
    with flint.ctx.workdps(300):
        E = np.array((flint.arb_mat(whole.tolist()) * flint.arb(t)).exp().tolist())
        decay, integral = E[:n, :n], E[:n, n : 2 * n]
        covariance = E[2 * n : 3 * n, 3 * n :] @ E[2 * n : 3 * n, 2 * n : 3 * n].T
        found = ((decay - np.eye(n, dtype=int)) / eps, integral / eps, covariance / eps)
        return tuple(matrix.astype(float) for matrix in found)


def computed(F: np.ndarray, two_D: np.ndarray, share: float, eps: float) -> tuple[np.ndarray, ...]:
    return tuple(np.block(matrix) for matrix in _propagator([[F]], [[two_D]], share, eps))


def same(F: np.ndarray, two_D: np.ndarray, share: float, eps: float, tolerance: float) -> None:
    for found, expected in zip(computed(F, two_D, share, eps), exact(F, two_D, share, eps), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("share", [1.0, 0.5, -1.0])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 30.0])
def test_flows_that_are_not_normal_to_many_digits(size: int, share: float, scale: float) -> None:
    F = scale * RNG.normal(size=(size, size))
    B = RNG.normal(size=(size, size))
    same(F, B @ B.T, share, EPS, 1e-13)


def test_a_stiff_flow_has_reached_its_law() -> None:
    """Rates 4000 apart: the fast direction has the stationary covariance, the slow one has hardly moved."""
    T = RNG.normal(size=(3, 3))
    F = T @ np.diag([4e3, 1.0, 0.0]) @ np.linalg.inv(T)
    same(F, np.eye(3), 1.0, EPS, 1e-11)


def test_noise_that_reaches_a_coordinate_through_others_keeps_its_digits() -> None:
    """x' = v, dv = w, dw = noise: variances of order t**5, t**3, t, each to its own digits."""
    F = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [0.5, 0.1, 2.0]])
    two_D = np.diag([0.0, 0.0, 3.0])
    for eps in (1e-1, 1e-4):
        _, _, found = computed(F, two_D, 1.0, eps)
        _, _, expected = exact(F, two_D, 1.0, eps)
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_blocks_come_back_as_they_were_given() -> None:
    F, B = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))
    whole = computed(F, B @ B.T, 0.5, EPS)
    cut = [[[A[:2, :2], A[:2, 2:]], [A[2:, :2], A[2:, 2:]]] for A in (F, B @ B.T)]
    for matrix, blocks in zip(whole, _propagator(*cut, 0.5, EPS), strict=True):
        assert [[block.shape for block in row] for row in blocks] == [[(2, 2), (2, 1)], [(1, 2), (1, 1)]]
        np.testing.assert_array_equal(np.block(blocks), matrix)


@pytest.mark.parametrize("F", [-1e6 * np.eye(2), np.full((2, 2), np.nan)])
def test_a_flow_beyond_all_numbers_is_refused(F: np.ndarray) -> None:
    with pytest.raises(ValueError, match="grows beyond all numbers"):
        computed(F, np.eye(2), 1.0, 1.0)
