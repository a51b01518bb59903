"""Formulas as NumPy arrays: shapes kept, functions right, and no value where there is none."""

import math
from fractions import Fraction

import numpy as np
import pytest

from recipe_compiler.errors import DataError
from recipe_compiler.formula.expression import (
    ELEMENTWISE,
    Add,
    Apply,
    Compare,
    Entry,
    Filled,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Normal,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)  # fmt: skip
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.run.evaluate import Point, evaluate

COLUMN, ROW, SQUARE = Shape("d"), Shape(None, "d"), Shape("d", "d")
v = Symbol("v", COLUMN, Role.BLOCK)
A = Symbol("A", SQUARE, Role.PARAMETER)
s = Symbol("s", SCALAR, Role.PARAMETER)
V, M = np.array([[1.0], [2.0], [4.0]]), np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 5]])
EULER, ZETA_2 = 0.5772156649015329, math.pi**2 / 6
AT = Point({"v": V, "A": M, "s": np.asarray(0.5), "U": np.asarray(7.0)}, {"d": 3})


def number(value: object) -> Number:
    return Number(Fraction(str(value)))


def value(formula: Formula) -> np.ndarray:
    found = evaluate(formula, AT)
    assert found.shape == {SCALAR: (), COLUMN: (3, 1), ROW: (1, 3), SQUARE: (3, 3)}[formula.shape]
    return found


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (number("0.1"), 0.1),
        (Pi(), math.pi),
        (Symbol("d", SCALAR, Role.SIZE), 3.0),
        (FunctionAt("U", ("v",), SCALAR), 7.0),
        (Identity("d"), np.eye(3)),
        (Filled(1, COLUMN), np.ones((3, 1))),
        (Add((v, v, Filled(1, COLUMN)), COLUMN), 2 * V + 1),
        (Multiply(s, A, SQUARE), 0.5 * M),
        (Multiply(v, v, COLUMN), V**2),
        (Power(v, number(-1), COLUMN), 1 / V),
        (MatMul(A, v, COLUMN), M @ V),
        (MatMul(Transpose(v, ROW), MatMul(A, v, COLUMN), SCALAR), float((V.T @ M @ V)[0, 0])),
        (MatMul(v, Transpose(v, ROW), SQUARE), V @ V.T),
        (Entry(v, (2,)), 4.0),
        (Entry(A, (1, 2)), 1.0),
        (Apply("inv", (A,), SQUARE), np.linalg.inv(M)),
        (Apply("logdet", (A,), SCALAR), math.log(np.linalg.det(M))),
        (Apply("det", (A,), SCALAR), np.linalg.det(M)),
        (Apply("trace", (A,), SCALAR), 10.0),
        (Apply("sum", (v,), SCALAR), 7.0),
        (Apply("diag", (v,), SQUARE), np.diag([1.0, 2, 4])),
        (Apply("outer", (v, v), SQUARE), V @ V.T),
        (Apply("maximum", (v, Multiply(number(2), Filled(1, COLUMN), COLUMN)), COLUMN), np.maximum(V, 2)),
        (Apply("loggamma", (v,), COLUMN), [[0.0], [0.0], [math.log(6)]]),
        (Apply("erf", (s,), SCALAR), math.erf(0.5)),
        (Apply("ndtr", (s,), SCALAR), 0.6914624612740131),
        (Apply("log_ndtr", (Multiply(number(-20), s, SCALAR),), SCALAR), -53.23128515051247),
        (Apply("inverse_mills", (Multiply(number(-20), s, SCALAR),), SCALAR), 10.098093233962512),
        (Apply("digamma", (v,), COLUMN), [[-EULER], [1 - EULER], [11 / 6 - EULER]]),
        (Apply("trigamma", (v,), COLUMN), [[ZETA_2], [ZETA_2 - 1], [ZETA_2 - 49 / 36]]),
    ],
)  # fmt: skip
def test_values(formula: Formula, expected: object) -> None:
    np.testing.assert_allclose(value(formula), expected, rtol=1e-14)


def test_where_takes_the_side_its_condition_says() -> None:
    condition = Compare(">", v, Multiply(number("1.5"), Filled(1, COLUMN), COLUMN), COLUMN)
    formula = Apply("where", (condition, v, Filled(0, COLUMN)), COLUMN)
    np.testing.assert_array_equal(value(formula), [[0.0], [2.0], [4.0]])


@pytest.mark.parametrize("fn", sorted(ELEMENTWISE))
def test_every_elementwise_function_keeps_the_shape(fn: str) -> None:
    assert np.isfinite(value(Apply(fn, (v,), COLUMN))).all()
    assert np.isfinite(value(Apply(fn, (s,), SCALAR)))


def test_stable_functions_do_not_overflow() -> None:
    at = Point({"v": np.array([[-1e4], [0.0], [1e4]])}, {"d": 3})
    np.testing.assert_array_equal(evaluate(Apply("sigmoid", (v,), COLUMN), at), [[0.0], [0.5], [1.0]])
    np.testing.assert_allclose(evaluate(Apply("softplus", (v,), COLUMN), at), [[0.0], [math.log(2)], [1e4]])


def test_draws_have_the_covariance_asked_for() -> None:
    draw = Normal(A, COLUMN)
    at = Point(AT.names, AT.sizes, np.random.default_rng(0))
    z = np.concatenate([evaluate(draw, at) for _ in range(20_000)], axis=1)
    assert np.abs(z @ z.T / 20_000 - M).max() <= 5 * 5 * math.sqrt(2 / 20_000)


def test_a_draw_needs_a_positive_semidefinite_covariance() -> None:
    at = Point(AT.names, AT.sizes, np.random.default_rng(0))
    with pytest.raises(DataError, match="not positive semidefinite"):
        evaluate(Normal(Multiply(number(-1), Identity("d"), SQUARE), COLUMN), at)
    with pytest.raises(DataError, match="found a variance of -1"):
        evaluate(Normal(number(-1), SCALAR), at)


def test_what_has_no_value_is_refused() -> None:
    for formula in (
        Symbol("unknown", SCALAR, Role.PARAMETER),
        Normal(number(1), SCALAR),
        Apply("grad", (s, v), COLUMN),
        Compare(">", s, s, SCALAR),
    ):
        with pytest.raises(DataError):
            evaluate(formula, AT)
    with pytest.raises(DataError, match="nothing fixes the size k"):
        evaluate(Identity("k"), AT)
