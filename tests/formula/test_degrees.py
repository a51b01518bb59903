"""Functions scale as their rows say: the unit of a call follows from those of its arguments."""

from fractions import Fraction

import pytest

from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.orders import orders
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.formula.units import FormulaUnits, base

SCOPE = Scope(Declarations((Block("x", Shape("d")),), (Parameter("A", Shape("d", "d")), Parameter("c"))), update=True)
UNITS = {"x": base("length"), "A": base("length"), "c": base("length")}


@pytest.mark.parametrize(
    ("formula", "power"),
    [
        ("abs(c)", 1), ("sign(c)", 0), ("sqrt(c)", Fraction(1, 2)), ("inv(A)", -1), ("cholesky(A)", Fraction(1, 2)),
        ("solve_triangular(cholesky(A), x)", Fraction(1, 2)), ("trace(A)", 1), ("sum(x)", 1),
        ("diag(x)", 1), ("outer(x, x)", 2), ("kron(A, A)", 2), ("grad(sum(x**3), x)", 2), ("div(diag(x**3), x)", 2),
        ("hessian(sum(x**3), x)", 1), ("minimum(c, 2*c)", 1),
    ],
)  # fmt: skip
def test_a_call_has_the_unit_that_degrees_say(formula: str, power: Fraction | int) -> None:
    typed = elaborate(parse(formula, "H", Place("")), SCOPE, None, "H", Place(""))
    found = FormulaUnits(UNITS)
    assert found.settled(found.of(typed)) == base("length") ** Fraction(power)


@pytest.mark.parametrize(
    ("formula", "powers"),
    [("trace(eps**2*A)", {2}), ("outer(eps*x, sqrt(eps)*x)", {Fraction(3, 2)}), ("grad(eps*sum(x), x)", {1})],
)
def test_powers_of_the_step_follow_from_degrees(formula: str, powers: set[Fraction | int]) -> None:
    assert orders(elaborate(parse(formula, "H", Place("")), SCOPE, None, "H", Place(""))) == powers


@pytest.mark.parametrize("formula", ["sign(eps*c)", "inv(eps*A)"])
def test_nothing_is_said_of_a_step_in_what_does_not_vanish_with_it(formula: str) -> None:
    assert orders(elaborate(parse(formula, "H", Place("")), SCOPE, None, "H", Place(""))) is None
