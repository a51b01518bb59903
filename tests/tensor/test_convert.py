"""Formulas to tensors, and to entries of the second engine: every node against its direct meaning at fixed sizes."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import sympy
from sympy import Matrix, diag, eye, matrix_multiply_elementwise

from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.errors import ModelError, Place
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Normal, Number, Symbol
from recipe_compiler.formula.expression import Role as SymbolRole
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.scalars import scalarise
from recipe_compiler.tensor.terms import Component, Coordinate, Index, MatrixFunction

SIZES = {"d": 3, "k": 2, "N": 4}
ROW, COL, N = Index("d", "i"), Index("d", "j"), Index("N", "n")
MATRIX, VECTOR, SCALAR = Shape("d", "d"), Shape("d"), Shape()


class Matrices:
    """The values of a world as SymPy matrices, by name; scalars as numbers."""

    def __init__(self, values: Any, declarations: Declarations) -> None:
        self.values, self.declarations = values, declarations

    def __getattr__(self, name: str) -> Any:
        item = self.declarations.find(name)
        sizes = [SIZES.get(str(size), size) for size in item.shape.sizes]
        if not sizes:
            return self.at(name)
        return Matrix(*sizes, *[1] * (2 - len(sizes)), lambda i, j: self.at(name, *(int(i), int(j))[: len(sizes)]))

    def at(self, name: str, *place: int) -> sympy.Rational:
        value = self.values.component(name, place)
        return sympy.Rational(value.numerator, value.denominator)


MEANINGS: dict[str, Callable[[Any], Any]] = {
    "A @ r": lambda m: m.A * m.r,
    "A.T @ r": lambda m: m.A.T * m.r,
    "L @ w": lambda m: m.L * m.w,
    "A @ A.T @ r": lambda m: m.A * m.A.T * m.r,
    "L @ L.T @ r": lambda m: m.L * m.L.T * m.r,
    "(S @ M - M @ S) @ r": lambda m: (m.S * m.M - m.M * m.S) * m.r,
    "theta*r": lambda m: matrix_multiply_elementwise(m.theta, m.r),
    "xi*A @ inv(M) @ r - theta/a": lambda m: m.xi * m.A * m.M.inv() * m.r - m.theta / m.a,
    "theta**3": lambda m: m.theta.applyfunc(lambda x: x**3),
    "exp(A @ r)": lambda m: (m.A * m.r).applyfunc(sympy.exp),
    "softplus(theta) + sigmoid(r)": lambda m: (
        m.theta.applyfunc(lambda x: sympy.log(1 + sympy.exp(x))) + m.r.applyfunc(lambda x: 1 / (1 + sympy.exp(-x)))
    ),
    "where(theta > r, theta, r)": lambda m: Matrix([max(pair) for pair in zip(m.theta, m.r, strict=True)]),
    "minimum(theta, r)": lambda m: Matrix([min(pair) for pair in zip(m.theta, m.r, strict=True)]),
    "abs(theta)": lambda m: m.theta.applyfunc(abs),
    "(theta @ r.T) @ r": lambda m: m.theta * m.r.T * m.r,
    "outer(r, theta) @ theta": lambda m: m.r * m.theta.T * m.theta,
    "diag(r) @ A @ theta": lambda m: diag(*m.r) * m.A * m.theta,
    "inv(I + theta @ theta.T) @ r": lambda m: (eye(3) + m.theta * m.theta.T).inv() * m.r,
    "inv(A @ M) @ r": lambda m: (m.A * m.M).inv() * m.r,
    "inv(A.T) @ r": lambda m: m.A.T.inv() * m.r,
    "inv(inv(A)) @ r": lambda m: m.A * m.r,
    "inv(c*A) @ r": lambda m: (m.c * m.A).inv() * m.r,
    "inv(diag(theta)) @ r": lambda m: diag(*m.theta).inv() * m.r,
    "inv(W + M) @ r": lambda m: (m.W + m.M).inv() * m.r,
    "inv(A) @ A.T @ r": lambda m: m.A.inv() * m.A.T * m.r,
    "inv(M) @ diag(theta) @ M @ r": lambda m: m.M.inv() * diag(*m.theta) * m.M * m.r,
    "grad(r.T @ A @ r, r)": lambda m: (m.A + m.A.T) * m.r,
    "grad(theta.T @ inv(M) @ r, theta)": lambda m: m.M.inv() * m.r,
    "div(theta @ r.T, r)": lambda m: 3 * m.theta,
    "div(r @ theta.T, r)": lambda m: m.theta,
    "div(diag(r*r), r)": lambda m: 2 * m.r,
    "hessian((r.T @ r)**2/4, r) @ theta": lambda m: (2 * m.r * m.r.T + (m.r.T * m.r)[0] * eye(3)) * m.theta,
    "hessian(r.T @ A @ r, r) @ theta": lambda m: (m.A + m.A.T) * m.theta,
    "T @ r": lambda m: m.T * m.r,
    "r.T @ S @ theta": lambda m: m.r.T * m.S * m.theta,
    "trace(A @ S)": lambda m: (m.A * m.S).trace(),
    "trace(A) + A[0, 1]": lambda m: m.A.trace() + m.A[0, 1],
    "sum(theta)": lambda m: sum(m.theta),
    "norm2(L @ w)": lambda m: (m.L * m.w).T * (m.L * m.w),
    "dot(theta, r)/d": lambda m: m.theta.T * m.r / 3,
    "theta[2]*A[0, 1] - r[0]": lambda m: m.theta[2] * m.A[0, 1] - m.r[0],
    "d*r[1] - sum(theta)": lambda m: 3 * m.r[1] - sum(m.theta),
    "det(A)": lambda m: m.A.det(),
    "det(A.T) - exp(logdet(S @ S))": lambda m: m.A.det() - m.S.det() ** 2,
    "logdet(diag(q))": lambda m: sum(sympy.log(x) for x in m.q),
    "pi*a": lambda m: sympy.pi * m.a,
    "c**a": lambda m: m.c**m.a,
    "maximum(a, b)": lambda m: max(m.a, m.b),
    "div(r.T @ A, r)": lambda m: m.A.trace(),
    "grad(a*xi**3, xi)": lambda m: 3 * m.a * m.xi**2,
    "trace(outer(theta, r) @ A)": lambda m: (m.theta * m.r.T * m.A).trace(),
    "sqrt(1 + xi**2)*log(c)": lambda m: sympy.sqrt(1 + m.xi**2) * sympy.log(m.c),
}


def close(left: sympy.Expr, right: sympy.Expr) -> bool:
    difference = left - right
    return difference == 0 or abs(sympy.N(difference, 60)) < sympy.Float(10) ** -50


@pytest.mark.parametrize("text", MEANINGS)
def test_a_formula_means_in_both_engines_what_it_says(read, typed, declarations, world, text: str) -> None:
    values = world(11, SIZES)
    meaning = MEANINGS[text](Matrices(values, declarations))
    expected = [*meaning] if isinstance(meaning, Matrix) else [meaning]
    tensor = read(text, *[ROW] * (len(expected) > 1), shape=VECTOR if len(expected) > 1 else SCALAR)
    found = [scalarise(tensor, SIZES, {ROW: n} if tensor.free else {}, values.leaf) for n in range(len(expected))]
    assert all(map(close, found, expected))
    second = sympy.ImmutableMatrix(
        rows(typed(text, VECTOR if len(expected) > 1 else SCALAR), Setting(declarations, SIZES))
    )
    names = {s: s.name.rstrip("]").partition("[") for s in second.free_symbols}
    numbers = {
        s: Matrices(values, declarations).at(n, *map(int, filter(None, at.split(","))))
        for s, (n, _, at) in names.items()
    }
    assert all(map(close, second.xreplace(numbers), expected))


def test_slots_are_those_of_the_shape(read):
    assert read("r.T", COL, shape=Shape(None, "d")) == read("r", COL, shape=VECTOR)
    assert read("0", ROW, COL, shape=MATRIX).free == (ROW, COL)
    assert read("ones", ROW, shape=VECTOR).free == (ROW,)


def test_data_field_has_the_datum_first(read):
    tensor = read("y*(x @ theta) - softplus(x @ theta)", datum=N)
    assert tensor.free == (N,)
    assert Component("y", (N,)) in {atom for term in tensor.terms for atom, _ in term.factors}
    with pytest.raises(ModelError, match="where no datum is meant"):
        read("y")


def test_functions_and_inverses_are_atoms(read):
    assert read("grad(U, r)", ROW, shape=VECTOR).is_zero
    gradient = read("grad(U, theta)", ROW, shape=VECTOR)
    assert gradient.terms[0].factors[0][0] == Component("U", (), (Coordinate("theta", (ROW,)),))
    (term,) = read("inv(M)", ROW, COL, shape=MATRIX).terms
    assert isinstance(term.factors[0][0], MatrixFunction)


@pytest.mark.parametrize(
    "text", ["inv(A) @ A", "A @ inv(A)", "inv(A).T @ A.T", "M @ inv(M)", "inv(A @ S) @ A @ S", "inv(2*M) @ M*2"]
)
def test_inverse_cancels_its_matrix(c, read, text: str):
    assert read(text, ROW, COL, shape=MATRIX) == c.delta(ROW, COL)


@pytest.mark.parametrize(
    ("text", "is_symmetric"),
    [("inv(S)", True), ("inv(S + theta @ theta.T)", True), ("inv(hessian(U, theta))", True), ("inv(A)", False)],
)
def test_inverse_of_a_symmetric_matrix_is_symmetric(read, text: str, is_symmetric: bool):
    one, other = read(text, ROW, COL, shape=MATRIX), read(text, COL, ROW, shape=MATRIX)
    assert (one == other) is is_symmetric


@pytest.mark.parametrize("slots", [(0, 0), (1, 0), (3, 2)])
def test_kron_at_positions_of_fixed_sizes(c, read, slots):
    factors = (c.component("square", slots[0] // 2, slots[1] // 2), c.component("square", slots[0] % 2, slots[1] % 2))
    assert read("kron(square, square)", *slots, shape=Shape(4, 4)) == c.multiply(*factors)
    with pytest.raises(ModelError, match="kron"):
        read("kron(square, square)", Index(4, "i"), Index(4, "j"), shape=Shape(4, 4))


@pytest.mark.parametrize("text", ["grad(sign(xi), xi)", "grad(where(xi > 0, 1, 2), xi)", "grad(grad(abs(xi), xi), xi)"])
def test_derivative_across_a_jump_is_refused(read, text):
    with pytest.raises(ModelError, match="jump"):
        read(text)


def test_derivative_across_a_jump_almost_everywhere(c, read):
    slope = c.diff(read("where(xi < a, xi**2/2, a*xi)"), Coordinate("xi"), almost_everywhere=True)
    assert c.is_zero(c.subtract(slope, read("where(xi < a, xi, a)")))


@pytest.mark.parametrize(
    ("formula", "says"),
    [(Normal(Number(Fraction(1)), Shape()), "update"), (Symbol("eps", Shape(), SymbolRole.STEP), "eps")],
)
def test_what_only_updates_hold_is_refused_at_its_entry(formula, says: str):
    place = Place("spec.yaml", 3, 4)
    with pytest.raises(ModelError, match=says) as caught:
        convert(formula, Declarations(), entry="claims.update.r", where=place)
    (fault,) = caught.value.faults
    assert (fault.entry, fault.where) == ("claims.update.r", place)
