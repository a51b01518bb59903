"""Derivatives against differences of the same expression to many digits, at fixed sizes."""

import pytest
import sympy

from recipe_compiler.formula.shapes import Shape
from recipe_compiler.tensor.scalars import scalarise
from recipe_compiler.tensor.terms import Component, Coordinate, Index, Tensor

SIZES = {"d": 3, "k": 2, "N": 4}
K = Index("d", "k")

EXPRESSIONS = [
    "norm2(theta)**2 + theta.T @ A @ theta",
    "exp(v.T @ theta) + sum(exp(theta))",
    "log(1 + norm2(theta)) + log1p(norm2(theta)) + expm1(a*theta[1])",
    "sqrt(1 + theta.T @ theta)*theta[0]",
    "(c + norm2(theta))**(-3/2)",
    "sum(sin(theta)*cos(A @ theta)) + tan(theta[2]/9)",
    "sum(tanh(S @ theta)) + atan(theta[1])",
    "sum(cosh(theta) + sinh(theta)*theta)",
    "sum(softplus(A @ theta)*sigmoid(theta))",
    "erf(a*theta[0])/theta[1]",
    "gamma(c + theta[0]**2) + loggamma(c + theta[1]**2)",
    "digamma(c + theta[0]**2)*theta[1]",
    "theta.T @ inv(S + theta @ theta.T) @ v",
    "logdet(M + theta @ theta.T) + det(A + diag(theta))",
    "v.T @ inv(diag(theta) + A) @ inv(S + theta @ v.T) @ theta",
    "c**(theta[0] + a)",
    "v.T @ inv(sigmoid(theta[1])*A) @ theta",
    "v.T @ cholesky(40*I + S + theta @ theta.T) @ A @ theta",
    "theta.T @ inv(cholesky(40*diag(exp(theta)) + S)).T @ v + logdet(cholesky(M + 40*exp(theta[0])*I))",
    "cholesky(40*I + theta @ theta.T + c*S)[2, 1]*theta[1]",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_gradient_is_that_of_differences(c, read, world, text):
    values, step = world(5, SIZES), sympy.Rational(1, 10**25)
    tensor = read(text)
    gradient = c.diff(tensor, Coordinate("theta", (K,)))

    def at(moved: int, by: sympy.Rational, of=tensor, places=()) -> sympy.Expr:
        def leaf(atom):
            if isinstance(atom, Coordinate) and atom.block == "theta":
                return sympy.Rational(atom.at[0] + 1, 7) + by * int(atom.at[0] == moved)
            return values.leaf(atom)

        return sympy.N(scalarise(of, SIZES, dict(places), leaf), 90)

    for place in range(3):
        expected = (at(place, step) - at(place, -step)) / (2 * step)
        assert abs(expected - at(0, 0 * step, gradient, {K: place})) < sympy.Float(10) ** -30


def test_derivatives_of_names_and_sums(c, read):
    """By another block, of a function of two, inside a sum, by a coordinate whose index is free already."""
    assert c.diff(read("theta.T @ A @ theta + U"), Coordinate("r", (K,))).is_zero
    field = c.component("F", 0, K)
    assert c.diff(field, Coordinate("xi")).terms[0].factors[0][0] == Component("F", (0, K), (Coordinate("xi"),))
    assert c.diff(field, Coordinate("r", (K,))).is_zero
    assert c.diff(read("sum(theta)"), Coordinate("theta", (K,))) == Tensor((K,), c.constant(1).terms)
    row = read("A @ theta", K, shape=Shape("d"))
    assert c.diff(row, Coordinate("theta", (K,))) == c.component("A", K, K)


def test_derivative_of_an_inverse_is_not_confused_by_its_own_indices(c, read):
    """Grids call their indices i and j, and so may the coordinate."""
    i, j = Index("d", "i"), Index("d", "j")
    inverse = read("inv(G)", i, j, shape=Shape("d", "d"))
    one = c.diff(inverse, Coordinate("theta", (K,)))
    other = c.rename(c.diff(read("inv(G)", K, j, shape=Shape("d", "d")), Coordinate("theta", (i,))), {K: i, i: K})
    assert one == other


def test_second_derivative_is_symmetric(c, read):
    i = Index("d", "i")
    tensor = read("logdet(G) + exp(U) + sqrt(1 + U**2)")
    one = c.diff(c.diff(tensor, Coordinate("theta", (i,))), Coordinate("theta", (K,)))
    other = c.diff(c.diff(tensor, Coordinate("theta", (K,))), Coordinate("theta", (i,)))
    assert c.is_zero(c.subtract(one, other))
