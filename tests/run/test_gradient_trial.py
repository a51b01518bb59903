"""A gradient that is code, tried before a chain trusts it: right ones pass, wrong ones are refused with numbers.

The target is Student regression, whose Hessian is nowhere constant, with columns of unlike scales.
"""

import re
from collections.abc import Callable

import numpy as np
import pytest

from recipe_compiler.errors import RunError
from recipe_compiler.run.user_code import CodeGradient, doubt_gradient, try_gradient

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
    return CodeGradient(function, "code.py: grad_U(out, theta, x, y)", {"x": X.copy(), "y": Y.copy()}, 4, N, batch_size)


def single(out: np.ndarray) -> None:
    out[:] = out.astype(np.float32)


def after(change: Callable[[np.ndarray, np.ndarray], object]) -> Grad:
    """Return the right gradient with something done to `out`, given theta."""

    def changed(out: np.ndarray, theta: np.ndarray, *given: np.ndarray) -> None:
        right(out, theta, *given)
        change(out, theta)

    return changed


def laplace(out: np.ndarray, theta: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """One with kinks."""
    left = y - x @ theta[:3]
    out[:3] = -x.T @ np.sign(left) * np.exp(-theta[3])
    out[3] = N - np.abs(left).sum() * np.exp(-theta[3]) + theta[3]


@pytest.mark.parametrize(
    ("gradient", "batch_size", "starts"),
    [(right, None, STARTS), (right, n, STARTS), (right, None, [np.zeros(4)]), (right, n, [np.zeros(4)]),
     (after(lambda out, _: single(out)), None, STARTS), (laplace, None, STARTS)],
)  # fmt: skip
def test_a_right_gradient_passes(gradient: Grad, batch_size: int | None, starts: list[np.ndarray]) -> None:
    try_gradient(code(gradient, batch_size), starts)


def scaled(data: float, prior: float = 1.0) -> Grad:
    """Return a sum over a batch that is scaled by another factor than N/n, or so is the prior."""

    def wrong(out: np.ndarray, theta: np.ndarray, x: np.ndarray, y: np.ndarray, batch: np.ndarray) -> None:
        out[:] = prior * theta / [1.0, 1e-4, 1e4, 1.0] + data * terms(theta, x[batch], y[batch]).sum(axis=0)

    return wrong


def too_large(out: np.ndarray, theta: np.ndarray) -> None:
    out[1] *= 1.004


def with_a_term_of_another(out: np.ndarray, theta: np.ndarray) -> None:
    out[3] += 0.05 * theta[0]


def hidden(out: np.ndarray, theta: np.ndarray) -> None:
    out[1] *= 1.1
    single(out)


def no_number(out: np.ndarray, theta: np.ndarray) -> None:
    out[2] = np.log(theta[3])


def noisy(out: np.ndarray, theta: np.ndarray) -> None:
    out[0] += rng.normal()


def writing(place: int) -> Grad:
    def writes(out: np.ndarray, theta: np.ndarray, *given: np.ndarray) -> None:
        right(out, theta, *given)
        (out, theta, *given)[place].reshape(-1)[0] += 1.0

    return writes


ASYMMETRIC, BIASED = r"code.py: grad_U.*its Jacobian is not symmetric.*d grad_U\[", "is no unbiased estimate"


@pytest.mark.parametrize(
    ("gradient", "batch_size", "says"),
    [
        *((after(fault), size, ASYMMETRIC) for fault in (too_large, with_a_term_of_another) for size in (None, n)),
        (after(hidden), None, ASYMMETRIC),
        *((scaled(factor), n, BIASED) for factor in (1.0, n / N, 1.001 * N / n)),
        (scaled(N / n, prior=N / n), n, BIASED),
        (after(no_number), None, r"gives out\[2\] = nan where chain [1-4] starts"),
        (after(noisy), None, r"out\[0\] = .* at one call and .* at the next"),
        (writing(1), None, "writes to theta"),
        (writing(2), None, "writes to x"),
        (writing(3), None, "writes to y"),
    ],
)
def test_what_is_no_gradient_is_refused(gradient: Grad, batch_size: int | None, says: str) -> None:
    with pytest.raises(RunError, match=f"(?s){says}"):
        try_gradient(code(gradient, batch_size), [np.ones(4), -np.ones(4)] if "nan" in says else STARTS)


def bent_far_out(out: np.ndarray, theta: np.ndarray) -> None:
    out[1] += 5.0 * theta[0] if theta[0] > 5.0 else 0.0


LEFT = [
    (right, None, ""),
    (right, n, ""),
    (after(bent_far_out), None, "Jacobian is not symmetric .* Chains went there"),
]


@pytest.mark.parametrize(("gradient", "batch_size", "says"), LEFT)
def test_a_gradient_is_tried_where_chains_went(gradient: Grad, batch_size: int | None, says: str) -> None:
    draws = np.random.default_rng(1).normal(size=(4, 100, 4)) * [2.0, 1e-3, 100.0, 0.2]
    draws[2, 40, 0] = 9.0
    try_gradient(code(gradient, batch_size), [*draws[:, 0]])
    said = doubt_gradient(code(gradient, batch_size), "theta", draws)
    assert re.search(says, said) if says else not said, said
