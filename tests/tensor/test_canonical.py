"""Deltas, symmetries, sizes, names of what is summed."""

import pytest

from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.tensor.terms import Component, Coordinate, Delta, Index, Tensor

ROW, COL, K = (Index("d", label) for label in "ijk")
MATRIX = Shape("d", "d")


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


def test_delta_is_kept_for_a_free_row_and_column(c):
    (term,) = c.delta(ROW, COL).terms
    assert term.factors[0][0] == Delta(ROW, COL)
