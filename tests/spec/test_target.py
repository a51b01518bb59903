"""Targets from YAML."""

from fractions import Fraction

from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.spec.load import load


def test_a_datum_has_the_shape_of_one_row(specs) -> None:
    x, y = load(specs / "targets/logistic_regression.yaml").declarations.data
    assert (x.size, x.shape, y.size, y.shape) == ("N", Shape(None, "d"), "N", SCALAR)
    assert y.values == (0, 1)


def test_a_default_is_exact(specs) -> None:
    (variance,) = load(specs / "targets/logistic_regression.yaml").declarations.parameters
    assert variance.default == Number(Fraction(10))


def test_several_blocks_keep_their_order_and_shapes(load_text) -> None:
    text = "name: t\nstate: {W: {shape: [K, d]}, b: {shape: K}, s: {}}\npotential: trace(W @ W.T) + b.T @ b + s**2"
    assert [block.shape for block in load_text(text).declarations.blocks] == [Shape("K", "d"), Shape("K"), SCALAR]
