"""Derivatives with shared parts agree with SymPy's, and stay small where SymPy's trees do not."""

import pytest
import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars import matrices
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.sign_cells import Cell
from recipe_compiler.algebra.scalars.transcendentals import contains, subexpressions
from recipe_compiler.algebra.zero.zero import is_zero

X, Y = sympy.symbols("x y", real=True)
P = sympy.Symbol("p", positive=True)
F = sympy.Function("f", real=True)(X, Y)
G = sympy.Function("g", positive=True)(Y)

SMOOTH = (
    X**2 * Y - 3,
    sympy.exp(X * Y) / F,
    sympy.sqrt(1 + X**2) * sympy.log(G),
    P ** (X * Y),
    (1 + X**2) ** Y,
    F**2 * sympy.Derivative(F, Y),
    sympy.sin(X * F) + sympy.cos(Y**2),
    sympy.tanh(X * Y) + sympy.atan(F) + sympy.erf(X),
    sympy.tan(X) + sympy.sinh(Y) * sympy.cosh(X * Y),
    sympy.gamma(P * X) + sympy.loggamma(1 + X**2),
    sympy.polygamma(0, P * X) * sympy.polygamma(1, 1 + X**2),
    sympy.polygamma(1, 1 + X**2),
    2**X * sympy.pi,
)


@pytest.mark.parametrize("e", SMOOTH, ids=str)
@pytest.mark.parametrize("x", [X, Y, P], ids=str)
def test_a_slope_is_the_derivative(e: Expr, x: sympy.Symbol) -> None:
    difference = slope(e, x) - sympy.diff(e, x)
    assert difference == 0 or is_zero(difference)


@pytest.mark.parametrize("e", [F, G, F * G], ids=str)
def test_derivatives_of_unknown_functions_commute_and_are_those_of_sympy(e: Expr) -> None:
    assert slope(slope(e, X), Y) == slope(slope(e, Y), X)
    assert slope(slope(slope(F, Y), X), Y) == sympy.diff(F, X, Y, Y)
    assert slope(G, X) == 0


def test_unknown_functions_of_more_than_names_are_left_to_sympy() -> None:
    f = sympy.Function("f")
    assert slope(f(X**2, Y), X) == sympy.diff(f(X**2, Y), X)
    assert slope(f(X, X), X) == sympy.diff(f(X, X), X)


def test_a_cell_is_constant_off_its_kink() -> None:
    assert slope(Cell(X) * X**2, X) == 2 * X * Cell(X)


def test_the_slope_of_an_inverse_differentiates_its_determinant_once() -> None:
    names = [[sympy.Function(f"a{min(i, j)}{max(i, j)}", real=True)(X, Y) for j in range(4)] for i in range(4)]
    a = tuple(map(tuple, names))
    inverse = matrices.inverse(a)
    trace = matrices.total([inverse[i][i] for i in range(4)])
    slope.cache_clear()
    slope(trace, X)
    assert slope.cache_info().misses <= sum(1 for _ in subexpressions(trace))
    jacobi = matrices.product(matrices.product(inverse, tuple(tuple(slope(x, X) for x in row) for row in a)), inverse)
    assert is_zero(slope(trace, X) + matrices.total([jacobi[i][i] for i in range(4)]))


def test_every_subexpression_comes_once_and_after_its_arguments() -> None:
    shared = sympy.exp(X + Y)
    e = shared**2 + sympy.log(1 + shared) * shared
    found = list(subexpressions(e))
    assert len(found) == len(set(found)) == len(set(sympy.preorder_traversal(e)))
    assert all(found.index(arg) < found.index(node) for node in found for arg in node.args)
    assert contains(e, sympy.log)
    assert not contains(e, sympy.sin, sympy.Abs)
