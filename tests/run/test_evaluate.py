"""Formulas as NumPy arrays: shapes kept, functions right, and no value where there is none."""

import math
from fractions import Fraction
from pathlib import Path

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
from recipe_compiler.run.evaluate import Point, evaluate, evaluate_rows
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Target

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


@pytest.mark.slow
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


OF_A_DATUM = [
    "softmax(a)[g]",
    "logsumexp(a*h + x.T)",
    "softmax(a*h)[1] + dot([h, 2*h, 1]/3, a)",
    "minimum(h, a[0]) + maximum(x @ a, 0) + where(h > 0, a[1], x @ a)",
    "norm2(x) + dot(x.T, a) + sum(outer(x.T, a))",
    "x @ inv(M + diag(a**2)) @ x.T",
    "trace(M) + det(M + h*I) + logdet(M + x.T @ x)",
    "x @ diag(a) @ x.T + kron(M, M)[4, 7]",
    "exp(a)[g] + x[1]*a[0]",
]


@pytest.mark.parametrize("stated", OF_A_DATUM)
def test_a_formula_of_a_datum_has_its_value_in_every_row(stated: str, tmp_path: Path) -> None:
    """Those of all rows at once, beside those of each row alone."""
    file = tmp_path / "target.yaml"
    file.write_text(
        "format: 1\nname: rows\nstate: {a: {shape: 3}}\nparameters: {M: {shape: [3, 3], is: positive definite}}\n"
        "data: {y: {shape: N}, x: {shape: [N, 3]}, h: {shape: N}, g: {shape: N, index_of: 3}}\n"
        f'log_prior: normal(a, 0, 1)\nlog_likelihood: "normal(y, {stated}, 1)"\n'
    )
    target = load(file)
    assert isinstance(target, Target)
    ((_, mean, _),) = (one.arguments for one in target.stated.densities if one.entry == "log_likelihood")
    at = Point({"a": V, "M": M}, {"d": 3, "N": 4})
    rows = {"x": np.array([[1.0, -2, 3], [0, 1, 1], [-1, 0, 2], [2, 2, 0]]), "h": np.array([[1.0], [-1], [0.5], [2]])}
    rows["g"] = np.eye(3)[[2, 0, 0, 1]]
    found = np.broadcast_to(evaluate_rows(mean, at, {name: x[:, None, :] for name, x in rows.items()}), (4, 1, 1))
    for n in range(4):
        one = {name: x[n].reshape(() if name == "h" else (1, -1)) for name, x in rows.items()}
        assert found[n].item() == pytest.approx(evaluate(mean, Point({**at.names, **one}, at.sizes)).item(), rel=1e-12)


def test_what_overflows_or_divides_by_zero_warns_of_nothing() -> None:
    """Warnings are errors here, and a user would see them in the middle of a run."""
    x = Symbol("x", Shape(2), Role.BLOCK)
    at = Point({"x": np.array([[0.0], [800.0]])}, {})
    inverse = Power(x, Number(Fraction(-1)), Shape(2))
    assert evaluate(inverse, at)[0] == np.inf
    assert evaluate(Apply("exp", (x,), Shape(2)), at)[1] == np.inf
    rows = {"y": np.array([[[0.0]], [[-1.0]]])}
    y = Symbol("y", SCALAR, Role.DATUM)
    logs = evaluate_rows(Apply("log", (y,), SCALAR), at, rows).reshape(-1)
    assert logs[0] == -np.inf
    assert np.isnan(logs[1])
