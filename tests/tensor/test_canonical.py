"""Deltas, symmetries, sizes, names of what is summed."""

from collections.abc import Callable

import pytest

from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import Component, Coordinate, Index, Tensor

ROW, COL, K = (Index("d", label) for label in "ijk")
ONE = Index(1, "i")
AT = (Coordinate("theta", (ROW,)), Coordinate("theta", (COL,)))


def product_of_rows(c: Calculus) -> Tensor:
    return c.total(c.multiply(c.component("A", ROW, K), c.component("A", COL, K)), K)


EQUAL: dict[str, Callable[[Calculus], tuple[Tensor, Tensor]]] = {
    "the sum of a diagonal": lambda c: (c.total(c.delta(ROW, ROW), ROW), c.size("d")),
    "the sum of a constant": lambda c: (
        c.total(Tensor((ROW,), c.constant(3).terms), ROW), c.scale(c.size("d"), 3)
    ),
    "free indices that are one": lambda c: (
        c.multiply(c.delta(ROW, COL), c.coordinate("r", COL)), c.multiply(c.delta(ROW, COL), c.coordinate("r", ROW))
    ),
    "other places": lambda c: (c.delta(0, 1), c.constant(0)),
    "one place": lambda c: (c.delta(2, 2), c.constant(1)),
    "a place put in": lambda c: (
        c.total(c.multiply(c.delta(ROW, 0), c.coordinate("r", ROW)), ROW), c.coordinate("r", 0)
    ),
    "a chain": lambda c: (c.total(c.multiply(c.delta(ROW, COL), c.delta(COL, K)), COL), c.delta(ROW, K)),
    "one value": lambda c: (c.total(c.coordinate("r", ONE), ONE), c.coordinate("r", 0)),
    "the diagonal of a skew matrix": lambda c: (c.component("W", 1, 1), c.constant(0)),
    "a skew matrix": lambda c: (c.component("W", 1, 0), c.scale(c.component("W", 0, 1), -1)),
    "derivatives": lambda c: (c.atom(Component("U", (), AT)), c.atom(Component("U", (), AT[::-1]))),
    "a swap": lambda c: (c.rename(c.component("A", ROW, COL), {ROW: COL, COL: ROW}), c.component("A", COL, ROW)),
    "rows of which one is renamed": lambda c: (
        c.rename(product_of_rows(c), {COL: ROW}), c.total(c.power(c.component("A", ROW, K), 2), K)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_what_is_equal_has_one_form(c: Calculus, name: str):
    one, other = EQUAL[name](c)
    assert one == other


@pytest.mark.parametrize(
    ("attempt", "error"),
    [(lambda c: c.total(c.constant(1), ROW), CompilerError), (lambda c: c.power(c.delta(ROW, COL), -1), ModelError)],
)
def test_what_makes_no_sense_is_refused(c: Calculus, attempt: Callable[[Calculus], Tensor], error: type[Exception]):
    with pytest.raises(error):
        attempt(c)


def test_sums_inside_arguments_are_apart_from_those_outside(c):
    """sum_i exp(sum_j A_ij r_j) r_i: the argument's own sum must survive that i is named like it."""
    row = c.total(c.multiply(c.component("A", ROW, COL), c.coordinate("r", COL)), COL)
    total = c.total(c.multiply(c.applied("exp", row), c.coordinate("r", ROW)), ROW)
    other = c.rename(row, {ROW: K})
    assert total == c.total(c.multiply(c.coordinate("r", K), c.applied("exp", other)), K)
    squared = c.multiply(total, total)
    assert squared != c.total(c.multiply(c.applied("exp", c.scale(row, 2)), c.power(c.coordinate("r", ROW), 2)), ROW)
