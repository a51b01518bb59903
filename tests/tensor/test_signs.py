"""Scalars that are squares by their form: a product of two equal sums, summed with weights that are not negative."""

import pytest

from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.tensor.signs import is_nonnegative
from recipe_compiler.tensor.terms import Index

SQUARES = [
    "norm2(A @ theta)", "theta.T @ K @ K @ theta", "norm2(A.T @ S @ theta)", "theta.T @ A.T @ diag(p) @ A @ theta",
    "(theta.T @ A @ r)**2", "sum(theta)**2", "2*norm2(A @ theta) + theta.T @ S @ S @ theta", "trace(A @ A.T)",
    "norm2(cholesky(M) @ theta)", "norm2(cholesky(outer(theta, theta) + M) @ theta)", "norm2(inv(A) @ theta)",
    "p.T @ (A @ theta)**2", "exp(xi)*norm2(A @ theta)",
]  # fmt: skip
OTHERS = [
    "theta.T @ A @ theta", "theta.T @ A @ A @ theta", "trace(A @ A)", "theta.T @ A.T @ diag(e) @ A @ theta",
    "theta.T @ A @ r", "-norm2(A @ theta)", "theta.T @ W @ W @ theta", "trace(A @ S)", "xi*norm2(A @ theta)",
    "theta.T @ A @ A.T @ r", "norm2(A @ theta) - norm2(S @ theta)", "theta.T @ A.T @ A @ A.T @ A @ r",
    "sum(theta)*sum(r)", "theta.T @ A.T @ S @ A @ theta", "trace(A)*trace(S)",
]  # fmt: skip


@pytest.mark.parametrize("text", [*SQUARES, *OTHERS])
def test_squares_are_never_negative(c, read, text: str) -> None:
    assert is_nonnegative(c.rules, read(text, shape=SCALAR)) is (text in SQUARES)


def test_entries_of_a_matrix_are_no_sum(c, read) -> None:
    """theta_i theta_j: i and j are free, and what changes places is none that is summed over."""
    entry = read("outer(theta, theta)", Index("d", "i"), Index("d", "j"), shape=Shape("d", "d"))
    assert not is_nonnegative(c.rules, entry)
