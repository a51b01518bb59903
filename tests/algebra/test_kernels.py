"""Covariances of Gaussian processes: their value, and which matrices of that kind are positive semidefinite."""

import numpy as np
import pytest

from recipe_compiler.errors import DocumentError, Place
from recipe_compiler.facts.semidefinite import semidefinite
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.declaration import Block, Declarations, Domain, Parameter
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, DomainName, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.run.evaluate import Point, evaluate
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.definite import definiteness
from recipe_compiler.tensor.terms import Index

POSITIVE = Domain(DomainName.POSITIVE)
DECLARED = Declarations(
    (Block("a", SCALAR, POSITIVE), Block("r", SCALAR, POSITIVE), Block("s", SCALAR, POSITIVE), Block("c", SCALAR)),
    (Parameter("x", Shape("n")), Parameter("w", Shape("n"))),
)
X, W = np.array([-1.0, 0.5, 2.0, 2.2]), np.array([0.3, -1.0, 0.1, 0.7])
KERNEL = "gp_exp_quad_cov(x, a, r)"


def typed(text: str) -> Formula:
    where = Place("t")
    return elaborate(parse(text, "D", where), Scope(DECLARED), Shape("n", "n"), "D", where)


def value(formula: str | Formula, c: float) -> np.ndarray:
    columns = {"x": X[:, None], "w": W[:, None], "a": 1.3, "r": 0.7, "s": 0.2, "c": c}
    at = Point({k: np.asarray(v) for k, v in columns.items()}, {"n": 4})
    return np.asarray(evaluate(typed(formula) if isinstance(formula, str) else formula, at))


def test_the_covariance_is_that_of_its_formula() -> None:
    wanted = 1.3**2 * np.exp(-((X[:, None] - X) ** 2) / (2 * 0.7**2)) + 0.2 * np.eye(4)
    np.testing.assert_allclose(value(f"{KERNEL} + s*I", 0), wanted, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        (KERNEL, False), ("gp_exp_quad_cov(x, c, r)", False), ("gp_exp_quad_cov(x, a, c)", False),
        (f"{KERNEL} + s*I", True), (f"{KERNEL} + gp_exp_quad_cov(w, a, s)", False),
        (f"{KERNEL} + gp_exp_quad_cov(x + 2*w, s, r) + s**2*I", True), (f"x @ x.T + {KERNEL} + diag(exp(w))", True),
    ],
)  # fmt: skip
def test_covariances_are_semidefinite_for_every_size(text: str, strict: bool) -> None:
    found = semidefinite(typed(text), DECLARED)
    assert found is not None
    assert found.strict is strict


@pytest.mark.parametrize(
    "text",
    [
        f"{KERNEL} + c*I",
        f"s*I - {KERNEL}",
        f"c*{KERNEL}",
        f"{KERNEL} @ gp_exp_quad_cov(w, a, r) + c*I",
        f"{KERNEL} - gp_exp_quad_cov(x, s, r) + c*I",
    ],
)
def test_what_is_not_semidefinite_at_some_state_is_not_shown(text: str) -> None:
    """At c = -3 each is far from it; so a rule that took one would be wrong."""
    assert np.linalg.eigvals(value(text, -3.0)).real.min() < -0.1
    assert semidefinite(typed(text), DECLARED) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gp_exp_quad_cov(x, a)", "found 2 arguments"),
        ("gp_exp_quad_cov(a, a, r)", "expected a vector in gp_exp_quad_cov()"),
        ("gp_exp_quad_cov(x, w, r)", "expected a scalar"),
    ],
)
def test_arguments_that_do_not_fit_are_named(text: str, found: str) -> None:
    with pytest.raises(DocumentError) as told:
        typed(text)
    assert found in str(told.value)


APART = "x @ ones.T - ones @ x.T"


def exponential(of: str, times: str = "") -> Formula:
    """Return exp(-A*A), entry by entry, of a matrix A, which no text says of square ones; times a matrix."""
    A = typed(of)
    found = ex.Apply("exp", (build.negate(build.multiply(A, A, A.shape)),), A.shape)
    return build.multiply(typed(times), found, A.shape) if times else found


def test_differences_of_a_column_alone_make_a_kernel() -> None:
    assert semidefinite(exponential(APART), DECLARED) is not None


@pytest.mark.parametrize(
    ("of", "times"),
    [
        (f"{APART} + ones @ ones.T", ""), (f"{APART} + c*ones @ ones.T", ""), ("x @ ones.T + ones @ x.T", ""),
        ("x @ ones.T - ones @ w.T", ""), ("2*x @ ones.T - ones @ x.T", ""), (f"{APART} + x @ w.T", ""),
        (APART, "exp(w) @ ones.T"), (APART, "ones @ exp(x).T"), (APART, "w @ w.T - x @ x.T"),
    ],
)  # fmt: skip
def test_exponentials_that_are_not_symmetric_or_not_of_differences_are_not_shown(of: str, times: str) -> None:
    """Each has an eigenvalue below 0, or is not symmetric, at the points here."""
    formula = exponential(of, times)
    matrix = value(formula, -3.0)
    assert abs(matrix - matrix.T).max() > 1e-3 or np.linalg.eigvalsh(matrix).min() < -1e-9
    assert semidefinite(formula, DECLARED) is None
    sizes = Index("n", "i"), Index("n", "j")
    for stated in (False, True):
        entries = convert(formula, DECLARED, *sizes, stated=stated)
        assert not definiteness(calculus(DECLARED, stated=stated), entries)
