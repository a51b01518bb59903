"""Formulas as NumPy arrays: shapes kept, functions right, and no value where there is none."""

import math
from fractions import Fraction

import numpy as np
import pytest
from answers import document

from recipe_compiler.errors import DataError
from recipe_compiler.formula.expression import (
    ELEMENTWISE,
    Apply,
    Formula,
    FunctionAt,
    Identity,
    Multiply,
    Normal,
    Number,
    Power,
    Role,
    Symbol,
)  # fmt: skip
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.run.evaluate import Point, evaluate, evaluate_rows

COLUMN, ROW, SQUARE = Shape("d"), Shape(None, "d"), Shape("d", "d")
v = Symbol("v", COLUMN, Role.BLOCK)
A = Symbol("A", SQUARE, Role.PARAMETER)
s = Symbol("s", SCALAR, Role.PARAMETER)
V, M = np.array([[1.0], [2.0], [4.0]]), np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 5]])
EULER, ZETA_2 = 0.5772156649015329, math.pi**2 / 6
MINUS = Number(Fraction(-1))
AT = Point({"v": V, "A": M, "s": np.asarray(0.5), "U": np.asarray(7.0)}, {"d": 3})


def stated(formula: str) -> Formula:
    """Return a formula of v, A and s as a document states it."""
    text = "state: {v: {shape: d}}\nparameters: {A: {shape: [d, d]}, s: {}}\npotential: norm2(v)\n"
    return dict(document(f"{text}derived: {{f: '{formula}'}}\n").derived)["f"]


def value(formula: Formula) -> np.ndarray:
    found = evaluate(formula, AT)
    assert found.shape == {SCALAR: (), COLUMN: (3, 1), ROW: (1, 3), SQUARE: (3, 3)}[formula.shape]
    return found


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("0.1", 0.1), ("pi", math.pi), ("d", 3.0), ("A + I", M + np.eye(3)), ("v + v + ones", 2 * V + 1),
        ("s*A", 0.5 * M), ("v*v", V**2), ("v**-1", 1 / V), ("A @ v", M @ V), ("v.T @ A @ v", (V.T @ M @ V)[0, 0]),
        ("v @ v.T", V @ V.T), ("v[2]", 4.0), ("A[1, 2]", 1.0),
        ("outer(v, v*v)[2, 0]", 4.0), ("inv(A)", np.linalg.inv(M)), ("cholesky(A)", np.linalg.cholesky(M)),
        ("logdet(A)", math.log(np.linalg.det(M))), ("det(A)", np.linalg.det(M)), ("trace(A)", 10.0), ("sum(v)", 7.0),
        ("diag(v)", np.diag([1.0, 2, 4])), ("outer(v, v)", V @ V.T), ("maximum(v, 2*ones)", np.maximum(V, 2)),
        ("where(v > 3/2*ones, v, 0*ones)", [[0.0], [2.0], [4.0]]), ("loggamma(v)", [[0.0], [0.0], [math.log(6)]]),
        ("erf(s)", math.erf(0.5)), ("ndtr(s)", 0.6914624612740131), ("log_ndtr(-20*s)", -53.23128515051247),
        ("digamma(v)", [[-EULER], [1 - EULER], [11 / 6 - EULER]]),
        ("trigamma(v)", [[ZETA_2], [ZETA_2 - 1], [ZETA_2 - 49 / 36]]),
    ],
)  # fmt: skip
def test_values(formula: str, expected: object) -> None:
    np.testing.assert_allclose(value(stated(formula)), expected, rtol=1e-14)


def test_values_of_what_no_document_states() -> None:
    far = Multiply(Number(Fraction(-20)), s, SCALAR)
    assert value(Apply("inverse_mills", (far,), SCALAR)) == pytest.approx(10.098093233962512, rel=1e-14)
    assert value(FunctionAt("U", ("v",), SCALAR)) == 7.0


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
        evaluate(Normal(Multiply(MINUS, Identity("d"), SQUARE), COLUMN), at)
    with pytest.raises(DataError, match="found a variance of -1"):
        evaluate(Normal(MINUS, SCALAR), at)


def test_what_has_no_value_is_refused() -> None:
    for formula in (
        Symbol("unknown", SCALAR, Role.PARAMETER),
        Normal(Number(Fraction(1)), SCALAR),
        Apply("grad", (s, v), COLUMN),
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
    "(h**2 + 1)**h",
]


@pytest.mark.parametrize("stated", OF_A_DATUM)
def test_a_formula_of_a_datum_has_its_value_in_every_row(stated: str) -> None:
    """Those of all rows at once, beside those of each row alone."""
    target = document(
        "state: {a: {shape: 3}}\nparameters: {M: {shape: [3, 3], is: positive definite}}\n"
        "data: {y: {shape: N}, x: {shape: [N, 3]}, h: {shape: N}, g: {shape: N, index_of: 3}}\n"
        f'log_prior: normal(a, 0, 1)\nlog_likelihood: "normal(y, {stated}, 1)"\n'
    )
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
