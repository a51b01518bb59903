"""The second engine against entries written by hand, at sizes where transposes and orders show."""

from collections.abc import Callable

import pytest
import sympy
from sympy import Function, Symbol

from recipe_compiler.algebra.dynamics.system import System, correction, drift, residual
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula

Reader = Callable[..., Formula]
AT_TWO = {"d": 2, "k": 3}


def symbol(name: str) -> Symbol:
    return Symbol(name, real=True)


@pytest.mark.parametrize(
    ("text", "sign"), [("S - S.T", 1), ("C - C.T", 1), ("K - K.T", 1), ("W + W.T", 1), ("M @ S - (S @ M).T", 1)]
)
def test_declared_symmetry_is_built_in(text: str, sign: int, formula: Reader, declarations: Declarations) -> None:
    assert sympy.ImmutableMatrix(rows(formula(text), Setting(declarations, {"d": 3, "k": 1}))) == sign * sympy.zeros(3)


def test_a_diagonal_parameter_has_nothing_off_the_diagonal(formula: Reader, declarations: Declarations) -> None:
    found = sympy.ImmutableMatrix(rows(formula("L"), Setting(declarations, AT_TWO)))
    assert found[0, 1] == 0
    assert found[0, 0] != 0


def test_a_function_is_of_its_declared_blocks_only(formula: Reader, declarations: Declarations) -> None:
    K = sympy.ImmutableMatrix(rows(formula("K"), Setting(declarations, AT_TWO)))[0, 0]
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
