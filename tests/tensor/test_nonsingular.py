"""Matrices of index notation that are invertible at every state, and those of which it is not known."""

import pytest

from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.tensor.definite import Definiteness, definiteness, is_invertible, never_zero
from recipe_compiler.tensor.terms import Index

SQUARE, ROW, COL = Shape("d", "d"), Index("d", "i"), Index("d", "j")
NONZERO = frozenset({"n"})
INVERTIBLE = [
    "I", "-2*I", "n*I", "I/n**2", "c*M", "inv(M)", "inv(A)", "M @ P", "P @ inv(A) @ M", "G", "inv(G) @ M", "n*M @ P",
    "M + P", "M + c*I", "-M - inv(P)", "diag(p)", "diag(ones + theta**2)", "diag(exp(theta))", "M @ M", "I/d",
    "M + C", "A @ C @ A.T + I",
]  # fmt: skip
NOT_KNOWN = [
    "0", "A", "S", "C", "K", "a*I", "xi*I", "A @ M", "M - P", "M + S", "M + A", "diag(theta)", "diag(e - p)", "C @ M",
    "outer(p, p)", "M @ C @ M", "theta.T @ theta*I", "M + outer(theta, p)", "ones @ ones.T", "trace(A)*M", "sum(e)*I",
    "sum(e)*M",
]  # fmt: skip
DEFINITE = ["I", "M", "M + P", "M/d", "c*G + inv(M)", "diag(p)", "inv(inv(M))"]
NOT_DEFINITE = ["-M", "A", "S", "C", "M @ P", "M - P", "inv(A)", "n*M", "K", "diag(theta)", "0"]
VANISHES = {
    **dict.fromkeys(("2", "n", "-n**3", "1/n", "d", "sum(p)", "1 + xi**2", "exp(xi)", "c*n"), False),
    **dict.fromkeys((
        "a", "xi", "sum(e)", "sum(e**2)", "sum(e**-1)", "xi**2", "c - n", "trace(A)", "sum(theta**2)",
    ), True),
}  # fmt: skip


@pytest.mark.parametrize("text", [*INVERTIBLE, *NOT_KNOWN])
def test_a_matrix_is_known_to_be_invertible_where_it_is_everywhere(c, read, text: str) -> None:
    tensor = read(text, ROW, COL, shape=SQUARE)
    assert is_invertible(c, tensor, ROW, COL, NONZERO) is (text in INVERTIBLE)


@pytest.mark.parametrize("text", [*DEFINITE, *NOT_DEFINITE])
def test_a_matrix_is_known_to_be_definite(c, read, text: str) -> None:
    found = definiteness(c, read(text, ROW, COL, shape=SQUARE))
    assert (found is Definiteness.DEFINITE) is (text in DEFINITE)


@pytest.mark.parametrize("text", VANISHES)
def test_scalars_that_vanish_nowhere(c, read, text: str) -> None:
    assert never_zero(c, read(text, shape=SCALAR), NONZERO) is not VANISHES[text]
