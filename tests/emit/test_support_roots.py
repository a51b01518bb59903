"""Factors of covariances in every step: L L^T is the matrix, or the nearest positive semidefinite one, counted."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from emitted_draws import support

RELATIVE = 1e-12
RNG = np.random.default_rng(5)


S = support(("_noise_root", "_noise_root_2"))


def two(S_: np.ndarray) -> tuple[np.ndarray, int]:
    clipped = np.zeros(1, np.int64)
    with np.errstate(all="ignore"):
        a, b, c = S._noise_root_2(S_[0, 0], S_[1, 0], S_[1, 1], clipped)
    return np.array([[a, 0.0], [b, c]]), int(clipped[0])


def many(S_: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the factor; the upper triangle of what is given is never read."""
    clipped, L = np.zeros(1, np.int64), np.full_like(S_, np.nan)
    with np.errstate(all="ignore"):
        S._noise_root(np.tril(S_) + np.triu(np.full_like(S_, np.nan), 1), L, clipped)
    return L, int(clipped[0])


def nearest(S: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(S)
    return vectors * np.maximum(values, 0.0) @ vectors.T


def turned(values: np.ndarray) -> np.ndarray:
    """Return a symmetric matrix with these eigenvalues, in directions drawn at random."""
    Q, _ = np.linalg.qr(RNG.normal(size=(len(values), len(values))))
    S = Q * values @ Q.T
    return (S + S.T) / 2


def semidefinite(size: int) -> Iterator[np.ndarray]:
    """Yield matrices of every rank, well and badly conditioned, and some whose zeros are exact."""
    for rank in range(size + 1):
        for spread in (0, 3, 8):
            values = np.zeros(size)
            values[:rank] = 10.0 ** -RNG.uniform(0, spread, rank) if spread else 1.0
            yield turned(values)
            B = RNG.integers(-3, 4, (size, rank)).astype(float)
            yield B @ B.T
            yield 1e-200 * (B @ B.T)
            yield 1e150 * (B @ B.T)
    theta = RNG.dirichlet(np.ones(size))
    yield np.diag(theta) - np.outer(theta, theta)  # of the simplex: all rows add up to 0
    for place in range(size):
        only = np.zeros((size, size))
        only[place, place] = 2.0
        yield only


def indefinite(size: int) -> Iterator[np.ndarray]:
    for _ in range(40):
        values = RNG.normal(size=size) * 10.0 ** -RNG.uniform(0, 3, size)
        values[0] = -0.1
        yield turned(values)


@pytest.mark.parametrize("size", [2, 3, 5, 9])
@pytest.mark.parametrize(("matrices", "clipped"), [(semidefinite, 0), (indefinite, 1)])
def test_a_factor_is_that_of_the_nearest_semidefinite_matrix_and_counted_where_it_is_another(
    size: int, matrices: Callable[[int], Iterator[np.ndarray]], clipped: int
) -> None:
    for S in matrices(size):
        for root in (two, many) if size == 2 else (many,):
            L, counted = root(S)
            assert np.abs(L @ L.T - nearest(S)).max() <= RELATIVE * np.abs(S).max()
            assert counted == clipped


@pytest.mark.parametrize("S", [-np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[-1.0, 0.0], [0.0, 2.0]])])
def test_indefinite_ones_with_zeros(S: np.ndarray) -> None:
    for root in (two, many):
        L, counted = root(S)
        np.testing.assert_allclose(L @ L.T, nearest(S), atol=1e-15)
        assert counted == 1


def test_the_common_case_is_lower_triangular() -> None:
    S = turned(np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_allclose(many(S)[0], np.linalg.cholesky(S), atol=1e-14)
    np.testing.assert_allclose(two(S[:2, :2])[0], np.linalg.cholesky(S[:2, :2]), atol=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_gives_what_is_not_finite_and_no_error(bad: float) -> None:
    for size, root in ((2, two), (2, many), (3, many)):
        for at in [(0, 0), (1, 0), (size - 1, size - 1)]:
            S = np.eye(size)
            S[at] = S[at[::-1]] = bad
            L, _ = root(S)
            assert not np.isfinite(L @ np.ones(size)).all(), (size, at)
