"""Targets from YAML."""

from fractions import Fraction

import pytest

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


@pytest.mark.parametrize(
    ("old", "new", "entry", "part"),
    [
        ("log_likelihood:", "loglik:", "loglik", "unknown key"),
        ("log_likelihood: bernoulli_logit(y, x @ theta)", "", "potential", "data and no log_likelihood"),
        ("normal(theta, 0,", "normal(theta, y,", "log_prior", "found the data `y`"),
        ("log_prior:", "potential:", "log_likelihood", "beside `potential`"),
        ("y: {shape: N", "y: {shape: n", "data.y.shape", "found the size `n` beside `N`"),
        ("y: {shape: N", "y: {shape: scalar", "data.y.shape", "number of data first"),
        ("in: [0, 1]", "in: [0, x]", "data.y.in[1]", "integer"),
        ("x @ theta)", "x * theta)", "log_likelihood", ""),
        ("default: 10", "default: x @ theta", "parameters.prior_variance.default", "numbers and sizes"),
        ("  theta: {shape: d}", "  theta: {shape: d, transform: log}", "state.theta.transform", "`log`"),
        ("log_prior:", "gradient: my_module:grad_U\nlog_prior:", "gradient", "Python file"),
    ],
)
def test_a_fault_names_its_entry(refused, old: str, new: str, entry: str, part: str) -> None:
    faults = refused("targets/logistic_regression", (old, new))
    assert any(part in fault.problem for fault in faults if fault.entry == entry), faults


@pytest.mark.parametrize(
    ("written", "entry", "hint"),
    [
        ("is: count", "is", "a count is `is: [integer, nonnegative]`"),
        ("is: Binary", "is", "a field of zeros and ones is `in: [0, 1]` in its place"),
        ("is: int", "is", "whole numbers are `is: integer`"),
        ("is: categorical", "is", "positions along an axis are `index_of: SIZE` in its place"),
        ("is: positiv", "is", "did you mean `positive`?"),
        ("domain: [0, 1]", "domain", "`in: [0, 1]` lists the values that data may have"),
        ("lower: 0", "lower", "`is:` says positive, nonnegative, nonzero or integer"),
        ("type: real", "type", "here it is called `is`"),
    ],
)
def test_what_is_said_of_data_elsewhere_is_told_how_to_be_written(refused, written: str, entry: str, hint: str) -> None:
    faults = refused("targets/logistic_regression", ("in: [0, 1]", written))
    assert any(hint in fault.hint for fault in faults if fault.entry == f"data.y.{entry}"), faults


def test_data_without_a_declaration_are_missed(refused) -> None:
    data = "data:\n  x: {shape: [N, d]}\n  y: {shape: N, in: [0, 1]}\n"
    entries = {fault.entry for fault in refused("targets/logistic_regression", (data, ""))}
    assert entries == {"log_likelihood"}
