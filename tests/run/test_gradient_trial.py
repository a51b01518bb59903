"""A gradient that is code, tried before a chain trusts it: right ones pass, wrong ones are refused with numbers.

The target is Student regression, whose Hessian is nowhere constant, with columns of unlike scales.
"""

from collections.abc import Callable

import numpy as np
import pytest

from recipe_compiler.errors import RunError
from recipe_compiler.run.code_gradient import CodeGradient
from recipe_compiler.run.gradient_trial import try_gradient

rng = np.random.default_rng(0)
N, n = 90, 7
X = np.column_stack([np.ones(N), 1e3 * rng.normal(size=N), 1e-2 * rng.normal(size=N)])
Y = X @ [1.0, 2e-3, 50.0] + rng.standard_t(4, N)
STARTS = [rng.uniform(-2.0, 2.0, 4) * [1.0, 1e-3, 100.0, 0.5] for _ in range(4)]

Grad = Callable[..., object]


def terms(theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the gradients of -log likelihood row by row; theta is (b, log s)."""
    left = (y - x @ theta[:3]) * np.exp(-theta[3])
    weight = 5.0 * left / (4.0 + left**2)
    return np.column_stack([-x * (weight * np.exp(-theta[3]))[:, None], 1.0 - weight * left])


def right(out: np.ndarray, theta: np.ndarray, x: np.ndarray, y: np.ndarray, batch: np.ndarray | None = None) -> None:
    rows = np.arange(N) if batch is None else batch
    out[:] = theta / [1.0, 1e-4, 1e4, 1.0] + N / len(rows) * terms(theta, x[rows], y[rows]).sum(axis=0)


def code(function: Grad, batch_size: int | None = None) -> CodeGradient:
    return CodeGradient(function, "code.py: grad_U(out, theta, x, y)", (X.copy(), Y.copy()), 4, N, batch_size)


@pytest.mark.parametrize("batch_size", [None, n])
def test_a_right_gradient_passes(batch_size: int | None) -> None:
    try_gradient(code(right, batch_size), STARTS)
    try_gradient(code(right, batch_size), [np.zeros(4)])


def test_a_gradient_in_single_precision_passes() -> None:
    def single(out: np.ndarray, theta: np.ndarray, *given: np.ndarray) -> None:
        right(out, theta, *given)
        out[:] = out.astype(np.float32)

    try_gradient(code(single), STARTS)


def test_a_gradient_with_kinks_passes() -> None:
    def laplace(out: np.ndarray, theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        left = y - x @ theta[:3]
        out[:3] = -x.T @ np.sign(left) * np.exp(-theta[3])
        out[3] = N - np.abs(left).sum() * np.exp(-theta[3]) + theta[3]

    try_gradient(code(laplace), STARTS)


def with_factor(out: np.ndarray, theta: np.ndarray, *given: np.ndarray) -> None:
    """One entry 0.4 % too large."""
    right(out, theta, *given)
    out[1] *= 1.004


def with_a_term_of_another(out: np.ndarray, theta: np.ndarray, *given: np.ndarray) -> None:
    """The entry of log s without its dependence on b_0."""
    right(out, theta, *given)
    out[3] += 0.05 * theta[0]


@pytest.mark.parametrize("wrong", [with_factor, with_a_term_of_another])
@pytest.mark.parametrize("batch_size", [None, n])
def test_what_is_no_gradient_of_a_function_is_refused(wrong: Grad, batch_size: int | None) -> None:
    with pytest.raises(RunError, match="its Jacobian is not symmetric") as caught:
        try_gradient(code(wrong, batch_size), STARTS)
    assert "d out[" in str(caught.value)
    assert "code.py: grad_U" in str(caught.value)


def test_single_precision_hides_no_fault() -> None:
    def wrong(out: np.ndarray, theta: np.ndarray, *given: np.ndarray) -> None:
        right(out, theta, *given)
        out[1] *= 1.1
        out[:] = out.astype(np.float32)

    with pytest.raises(RunError, match="not symmetric"):
        try_gradient(code(wrong), STARTS)


@pytest.mark.parametrize("scale", [1.0, n / N, 1.001 * N / n])
def test_a_minibatch_that_is_scaled_wrongly_is_refused(scale: float) -> None:
    """The sum over a batch without N/n, times N/n again, and with the wrong N."""

    def wrong(out: np.ndarray, theta: np.ndarray, x: np.ndarray, y: np.ndarray, batch: np.ndarray) -> None:
        out[:] = theta / [1.0, 1e-4, 1e4, 1.0] + scale * terms(theta, x[batch], y[batch]).sum(axis=0)

    with pytest.raises(RunError, match="is no unbiased estimate"):
        try_gradient(code(wrong, n), STARTS)


def test_a_prior_that_is_scaled_like_the_data_is_refused() -> None:
    def wrong(out: np.ndarray, theta: np.ndarray, x: np.ndarray, y: np.ndarray, batch: np.ndarray) -> None:
        prior = theta / [1.0, 1e-4, 1e4, 1.0]
        out[:] = N / len(batch) * (prior + terms(theta, x[batch], y[batch]).sum(axis=0))

    with pytest.raises(RunError, match="is no unbiased estimate"):
        try_gradient(code(wrong, n), STARTS)


def test_a_start_where_it_is_not_finite_is_named() -> None:
    def nowhere(out: np.ndarray, theta: np.ndarray, *given: np.ndarray) -> None:
        right(out, theta, *given)
        out[2] = np.log(theta[3])

    with pytest.raises(RunError, match=r"gives out\[2\] = nan where chain [1-4] starts"):
        try_gradient(code(nowhere), [np.ones(4), -np.ones(4)])


def test_a_gradient_that_draws_is_refused() -> None:
    noise = np.random.default_rng(1)

    def drawn(out: np.ndarray, theta: np.ndarray, *given: np.ndarray) -> None:
        right(out, theta, *given)
        out[0] += noise.normal()

    with pytest.raises(RunError, match=r"out\[0\] = .* at one call and .* at the next"):
        try_gradient(code(drawn), STARTS)


@pytest.mark.parametrize(("place", "name"), [(1, "theta"), (2, "argument 3"), (3, "argument 4")])
def test_a_gradient_that_writes_to_what_it_is_given_is_refused(place: int, name: str) -> None:
    def writes(out: np.ndarray, theta: np.ndarray, *given: np.ndarray) -> None:
        right(out, theta, *given)
        (out, theta, *given)[place].reshape(-1)[0] += 1.0

    with pytest.raises(RunError, match=f"writes to {name}"):
        try_gradient(code(writes), STARTS)
