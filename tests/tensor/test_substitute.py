"""A value in the place of a coordinate, also inside sums over indices within sums."""

import pytest

from recipe_compiler.tensor.substitute import substituted
from recipe_compiler.tensor.terms import Coordinate, Index

ROW = Index("d", "i")


@pytest.mark.parametrize(
    ("text", "with_value"),
    [
        ("xi**2 + a", "(a + b)**2 + a"),
        ("sum(log(2*ones + (xi*ones + A @ r)**2))", "sum(log(2*ones + ((a + b)*ones + A @ r)**2))"),
        ("sum(exp(xi*(A @ exp(xi*theta))))", "sum(exp((a + b)*(A @ exp((a + b)*theta))))"),
        ("theta.T @ A @ r/xi", "theta.T @ A @ r/(a + b)"),
    ],
)
def test_a_value_is_put_in(c, read, text: str, with_value: str) -> None:
    found = substituted(c, read(text), Coordinate("xi", ()), read("a + b"))
    assert c.is_zero(c.subtract(found, read(with_value)))


@pytest.mark.parametrize(
    ("text", "with_value"),
    [("log(1 + sum(theta))*sum(theta)**2", "log(2 - xi)*(1 - xi)**2"), ("sum(theta*r)", "sum(theta*r)")],
)
def test_a_value_is_put_in_the_place_of_the_sum_of_a_block(c, read, text: str, with_value: str) -> None:
    found = substituted(c, read(text), "theta", read("1 - xi"))
    assert c.is_zero(c.subtract(found, read(with_value)))


def test_one_entry_of_a_vector_is_not_another(c, read) -> None:
    """Of theta_i sum_k theta_k the first is put in alone."""
    theta = Coordinate("theta", (ROW,))
    found = substituted(c, read("sum(theta)*theta", ROW), theta, read("r", ROW))
    assert c.is_zero(c.subtract(found, read("sum(theta)*r", ROW)))
