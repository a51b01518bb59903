"""The second engine against entries written by hand, at sizes where transposes and orders show."""

from collections.abc import Callable

import pytest
import sympy
from sympy import Function, Symbol

from recipe_compiler.algebra.dynamics.system import System, correction, drift, residual
from recipe_compiler.algebra.scalars.entries import entries
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula

Reader = Callable[..., Formula]
AT_TWO = {"d": 2, "k": 3}


def symbol(name: str) -> Symbol:
    return Symbol(name, real=True)


def general(name: str, rows: int, cols: int) -> sympy.Matrix:
    return sympy.Matrix([[symbol(f"{name}[{i},{j}]") for j in range(cols)] for i in range(rows)])


def column(name: str, n: int) -> sympy.Matrix:
    return sympy.Matrix([symbol(f"{name}[{i}]") for i in range(n)])


THETA, R = column("theta", 2), column("r", 2)
A, B = general("A", 2, 2), general("B", 2, 3)

BY_HAND = {
    "A @ A.T @ r": A * A.T * R,
    "A.T @ r": A.T * R,
    "r.T @ A @ theta": R.T * A * THETA,
    "outer(r, theta)": R * THETA.T,
    "B @ B.T": B * B.T,
    "inv(A) @ r": A.inv() * R,
    "det(A)*A": A.det() * A,
    "trace(A) + A[0, 1]": sympy.Matrix([[A.trace() + A[0, 1]]]),
    "diag(r) @ A": sympy.diag(*R) * A,
    "d*r[1] - sum(theta)": sympy.Matrix([[2 * R[1] - sum(THETA)]]),
    "kron(A, A)": sympy.kronecker_product(A, A),
    "grad(r.T @ A @ r, r)": (A + A.T) * R,
    "hessian(r.T @ A @ r, r)": A + A.T,
    "div(outer(r, theta), theta)": 2 * R,
    "div(outer(theta, r), theta)": R,
    "theta*r - exp(r)": sympy.Matrix([THETA[i] * R[i] - sympy.exp(R[i]) for i in range(2)]),
    "minimum(a, xi)": sympy.Matrix([[(symbol("a") + symbol("xi") - sympy.Abs(symbol("a") - symbol("xi"))) / 2]]),
}


@pytest.mark.parametrize("text", BY_HAND)
def test_entries_are_those_by_hand(text: str, formula: Reader, declarations: Declarations) -> None:
    found = entries(formula(text), declarations, AT_TWO)
    difference = found - sympy.ImmutableMatrix(BY_HAND[text])
    assert found.shape == BY_HAND[text].shape
    assert all(is_zero(entry) for entry in difference)


def test_a_three_by_three_inverse_is_one(formula: Reader, declarations: Declarations) -> None:
    product = entries(formula("A @ inv(A)"), declarations, {"d": 3, "k": 1}) - sympy.eye(3)
    assert all(is_zero(entry) for entry in product)


@pytest.mark.parametrize(
    ("text", "sign"), [("S - S.T", 1), ("C - C.T", 1), ("K - K.T", 1), ("W + W.T", 1), ("M @ S - (S @ M).T", 1)]
)
def test_declared_symmetry_is_built_in(text: str, sign: int, formula: Reader, declarations: Declarations) -> None:
    assert entries(formula(text), declarations, {"d": 3, "k": 1}) == sign * sympy.zeros(3)


def test_a_diagonal_parameter_has_nothing_off_the_diagonal(formula: Reader, declarations: Declarations) -> None:
    found = entries(formula("L"), declarations, AT_TWO)
    assert found[0, 1] == 0
    assert found[0, 0] != 0


def test_matrices_do_not_commute(formula: Reader, declarations: Declarations) -> None:
    found = entries(formula("S @ M - M @ S"), declarations, AT_TWO)
    assert not all(is_zero(entry) for entry in found)


def test_a_function_is_of_its_declared_blocks_only(formula: Reader, declarations: Declarations) -> None:
    K = entries(formula("K"), declarations, AT_TWO)[0, 0]
    assert sympy.diff(K, symbol("r[0]")) == 0
    assert sympy.diff(K, symbol("xi")) != 0


def test_the_residual_of_the_ornstein_uhlenbeck_process() -> None:
    x, y = symbol("x"), symbol("y")
    one, zero = sympy.Integer(1), sympy.Integer(0)
    ou = System((x, y), (x**2 + y**2) / 2, ((one, zero), (zero, one)), ((zero, one), (-one, zero)))
    assert sympy.expand(residual(ou, (-x - y, x - y))) == 0
    # twice the friction: -div f + f.g + lap p / p = 4 - 2 r**2 + r**2 - 2
    assert sympy.expand(residual(ou, (-2 * x, -2 * y))) == 2 - x**2 - y**2


def test_gamma_sums_over_columns() -> None:
    x, y = symbol("x"), symbol("y")
    assert correction(((x * y, y**2), (x**2, x)), (x, y)) == (3 * y, 2 * x)


def test_the_recipe_is_stationary_for_abstract_fields() -> None:
    x, y = symbol("x"), symbol("y")
    H, a, b, c, q = (Function(name, real=True)(x, y) for name in "Habcq")
    zero = sympy.Integer(0)
    general_system = System((x, y), H, ((a, b), (b, c)), ((zero, q), (-q, zero)))
    assert is_zero(residual(general_system, drift(general_system)))
