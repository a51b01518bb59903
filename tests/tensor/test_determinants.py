"""Determinants: those of products, and logarithms and exponentials of them."""

import pytest

from recipe_compiler.tensor.calculus import Calculus

EQUAL = [
    ("det(A @ S)", "det(A)*det(S)"),
    ("logdet(M @ M)", "2*logdet(M)"),
    ("logdet(G @ M)", "logdet(G) + logdet(M)"),
    ("log(det(G))", "logdet(G)"),
    ("exp(logdet(G)/2)", "det(G)**(1/2)"),
    ("exp(xi - logdet(G)/2)", "exp(xi)/sqrt(det(G))"),
    ("det(A)**2", "det(A.T @ A)"),
]

DIFFERENT = [
    ("log(det(A)**2)", "2*logdet(A)"),
    ("logdet(A.T @ A)", "2*logdet(A)"),
    ("det(L @ L.T)", "det(L.T @ L)"),
    ("logdet(M @ M)", "logdet(M)"),
]
"""A determinant that may be negative keeps its square inside; the factors of what is not square have none."""


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_two_ways_to_write_a_determinant_are_one(c: Calculus, read, one: str, other: str) -> None:
    assert c.is_zero(c.subtract(read(one), read(other)))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_stays_apart(c: Calculus, read, one: str, other: str) -> None:
    assert not c.is_zero(c.subtract(read(one), read(other)))


def test_the_gradient_of_the_determinant_of_a_product(c: Calculus, read) -> None:
    """log det(K K) = 2 log det K, whatever the sign of det K: its gradient is that of 2 log|det K|."""
    assert c.is_zero(read("norm2(grad(logdet(G @ G) - 2*logdet(G), theta))"))
    assert c.is_zero(read("norm2(grad(logdet(F.T @ F) - log(det(F)**2), theta))"))
