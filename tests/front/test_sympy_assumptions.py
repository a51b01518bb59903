"""What SymPy knows, it has simplified by: nothing of it is lost when an object of SymPy's is read."""

import pytest
import sympy

import recipe_compiler as rc
from recipe_compiler.errors import ModelError, SpecError


@pytest.mark.parametrize(
    ("symbol", "says"),
    [
        (sympy.Symbol("x", extended_positive=True), "extended_nonnegative"),
        (sympy.Symbol("x", extended_negative=True), "extended_negative"),
        (sympy.Symbol("x", polar=True), "polar"),
        (sympy.Dummy("x"), "Dummy"),
        (sympy.Wild("x"), "Wild"),
    ],
)
def test_what_sympy_knows_of_a_symbol_and_a_declaration_does_not_is_a_fault(symbol: sympy.Symbol, says: str) -> None:
    x = rc.scalar("x")  # SymPy makes sqrt(x**2) of an extended positive x to x, which is false on the line
    with pytest.raises(SpecError, match=says):
        rc.Dynamics(name="t", state=[x], H=x**2 / 2, D=[[1]], Q=[[0]], claims={"drift": {x: -sympy.sqrt(symbol**2)}})


@pytest.mark.parametrize("known", ["negative", "integer", "zero", "extended_positive"])
def test_what_sympy_knows_of_a_function_and_a_declaration_does_not_is_a_fault(known: str) -> None:
    x, g = sympy.Symbol("x", real=True), sympy.Function("g", **{known: True})
    with pytest.raises((SpecError, ModelError), match="found a function that is"):
        rc.Dynamics(name="t", state=[x], H=x**2 / 2, D=[[1 / (1 + sympy.Abs(g(x)))]], Q=[[0]])


def test_a_state_without_an_order_is_a_fault() -> None:
    x, y = rc.scalar("x"), rc.scalar("y")
    with pytest.raises(SpecError, match="found a set, expected a list"):
        rc.Dynamics(name="t", state={x, y}, H=x**2 + y**2, D=[[1, 0], [0, 2]], Q=[[0, 0], [0, 0]])
