"""Deltas, symmetries, sizes, names of what is summed."""

import pytest

from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.tensor.terms import Component, Coordinate, Delta, Index, Tensor

ROW, COL, K = (Index("d", label) for label in "ijk")
MATRIX = Shape("d", "d")


def same(c, left: Tensor, right: Tensor) -> bool:
    return c.subtract(left, right).is_zero


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("trace(I @ S)", "trace(S)"),
        ("trace(S @ S @ A)", "trace(A @ S @ S)"),
        ("trace(A @ A.T)", "trace(A.T @ A)"),
        ("theta.T @ A @ r", "r.T @ A.T @ theta"),
        ("theta.T @ S @ r", "r.T @ S @ theta"),
        ("theta.T @ W @ r", "-r.T @ W @ theta"),
        ("r.T @ W @ r", "0"),
        ("trace(W)", "0"),
        ("trace(W @ S)", "0"),
        ("trace(W @ W @ W)", "0"),
        ("theta.T @ W @ S @ W @ W @ r", "r.T @ W @ W @ S @ W @ theta*(-1)"),
        ("(r.T @ r)**3", "norm2(r)*norm2(r)**2"),
        ("trace(diag(theta) @ A)", "trace(A @ diag(theta))"),
        ("theta.T @ T @ r", "r.T @ T @ theta"),
        ("trace(T @ S @ T)", "trace(S @ T @ T)"),
        ("(theta.T @ L @ w)**2", "theta.T @ (L @ w) * (w.T @ (L.T @ theta))"),
        ("sum(theta*theta*r)", "theta.T @ diag(r) @ theta"),
        ("trace(A @ inv(A))*xi", "d*xi"),
    ],
)
def test_equal_expressions_have_one_form(c, read, left, right):
    assert same(c, read(left), read(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("theta.T @ A @ r", "r.T @ A @ theta"),
        ("trace(S @ S @ S)**2", "trace(S @ S @ S @ S @ S @ S)"),
        ("trace(A @ A)", "trace(A @ A.T)"),
        ("trace(A @ S @ M)", "trace(S @ A.T @ M) + trace(A @ M @ A)"),
        ("trace(W @ W)", "0"),
        ("trace(A @ inv(A))", "1"),
        ("sum(theta)**2", "theta.T @ theta"),
        ("trace(S @ M @ S @ M)", "trace(S @ S @ M @ M)"),
        ("theta.T @ W @ S @ r", "0"),
        ("r.T @ W @ S @ r", "0"),
    ],
)
def test_different_expressions_stay_different(c, read, left, right):
    assert not same(c, read(left), read(right))


def test_sum_of_a_diagonal_delta_is_the_size(c):
    assert c.total(c.delta(ROW, ROW), ROW) == c.size("d")


def test_total_of_a_tensor_that_lacks_the_index(c):
    one = Tensor((ROW,), c.constant(3).terms)
    assert c.total(one, ROW) == c.scale(c.size("d"), 3)


def test_total_over_an_index_that_is_not_free_is_a_bug(c):
    with pytest.raises(CompilerError):
        c.total(c.constant(1), ROW)


def test_delta_between_free_indices_identifies_them_elsewhere(c):
    left = c.multiply(c.delta(ROW, COL), c.coordinate("r", COL))
    right = c.multiply(c.delta(ROW, COL), c.coordinate("r", ROW))
    assert left == right


def test_delta_between_two_positions(c):
    assert c.delta(0, 1).is_zero
    assert c.delta(2, 2) == c.constant(1)


def test_delta_with_a_position_puts_it_in(c):
    assert c.total(c.multiply(c.delta(ROW, 0), c.coordinate("r", ROW)), ROW) == c.coordinate("r", 0)


def test_delta_chain(c):
    chain = c.total(c.multiply(c.delta(ROW, COL), c.delta(COL, K)), COL)
    assert chain == c.delta(ROW, K)


def test_dividing_by_a_delta_is_refused(c):
    with pytest.raises(ModelError, match="identity"):
        c.power(c.delta(ROW, COL), -1)


def test_index_over_one_value_is_that_value(c):
    one = Index(1, "i")
    assert c.total(c.coordinate("r", one), one) == c.coordinate("r", 0)


def test_skew_literal_diagonal_is_zero(c):
    assert c.component("W", 1, 1).is_zero
    assert c.component("W", 1, 0) == c.scale(c.component("W", 0, 1), -1)


def test_derivatives_commute(c):
    at = (Coordinate("theta", (ROW,)), Coordinate("theta", (COL,)))
    assert c.atom(Component("U", (), at)) == c.atom(Component("U", (), at[::-1]))


def test_rename_swaps_at_once(c):
    swapped = c.rename(c.component("A", ROW, COL), {ROW: COL, COL: ROW})
    assert swapped == c.component("A", COL, ROW)


def test_sums_inside_arguments_are_apart_from_those_outside(c):
    """sum_i exp(sum_j A_ij r_j) r_i: the argument's own sum must survive that i is named like it."""
    row = c.total(c.multiply(c.component("A", ROW, COL), c.coordinate("r", COL)), COL)
    total = c.total(c.multiply(c.applied("exp", row), c.coordinate("r", ROW)), ROW)
    other = c.rename(row, {ROW: K})
    assert total == c.total(c.multiply(c.coordinate("r", K), c.applied("exp", other)), K)
    squared = c.multiply(total, total)
    assert squared != c.total(c.multiply(c.applied("exp", c.scale(row, 2)), c.power(c.coordinate("r", ROW), 2)), ROW)


def test_identifying_two_free_indices_keeps_sums_apart(c):
    product = c.total(c.multiply(c.component("A", ROW, K), c.component("A", COL, K)), K)
    assert c.rename(product, {COL: ROW}) == c.total(c.power(c.component("A", ROW, K), 2), K)


def test_names_of_sums_in_factors_do_not_clash(c, read):
    assert same(c, read("(theta.T @ r)*(theta.T @ r)"), read("(r.T @ theta)**2"))
    assert not same(c, read("(theta.T @ r)**2"), read("sum(theta*theta*r*r)"))


def test_sums_over_many_alike_indices_stay_affordable(c, read):
    assert same(c, read("(theta.T @ S @ theta)**4"), read("((theta.T @ S @ theta)**2)**2"))


def test_delta_is_kept_for_a_free_row_and_column(c):
    (term,) = c.delta(ROW, COL).terms
    assert term.factors[0][0] == Delta(ROW, COL)
