"""Formulas to tensors: every node against its direct meaning at fixed sizes."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
import sympy

from recipe_compiler.errors import ModelError, Place
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Normal, Number, Symbol
from recipe_compiler.formula.expression import Role as SymbolRole
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.scalars import scalarise
from recipe_compiler.tensor.terms import Component, Coordinate, Index, Inverse

SIZES = {"d": 3, "k": 2, "N": 4}
ROW, COL, N = Index("d", "i"), Index("d", "j"), Index("N", "n")
MATRIX, VECTOR = Shape("d", "d"), Shape("d")
Direct = Callable[[Callable[[str], sympy.Matrix]], sympy.Matrix]


class Arrays:
    """The values of a world as SymPy matrices."""

    def __init__(self, values) -> None:
        self.values = values

    def __call__(self, name: str, rows: int, cols: int) -> sympy.Matrix:
        def entry(i: int, j: int) -> sympy.Rational:
            at = (int(i), int(j)) if cols > 1 else (int(i),) if rows > 1 else ()
            value = self.values.component(name, at)
            return sympy.Rational(value.numerator, value.denominator)

        return sympy.Matrix(rows, cols, entry)


@pytest.fixture
def arrays(world) -> tuple:
    values = world(11, SIZES)
    return values, Arrays(values)


def elementwise(matrix: sympy.Matrix, fn) -> sympy.Matrix:
    return matrix.applyfunc(fn)


def pairwise(left: sympy.Matrix, right: sympy.Matrix, fn) -> sympy.Matrix:
    return sympy.Matrix([fn(x, y) for x, y in zip(left, right, strict=True)])


VECTORS: dict[str, Callable] = {
    "A @ r": lambda m: m("A", 3, 3) * m("r", 3, 1),
    "A.T @ r": lambda m: m("A", 3, 3).T * m("r", 3, 1),
    "L @ w": lambda m: m("L", 3, 2) * m("w", 2, 1),
    "theta*r": lambda m: sympy.matrix_multiply_elementwise(m("theta", 3, 1), m("r", 3, 1)),
    "xi*A @ inv(M) @ r - theta/a": lambda m: (
        m("xi", 1, 1)[0] * m("A", 3, 3) * m("M", 3, 3).inv() * m("r", 3, 1) - m("theta", 3, 1) / m("a", 1, 1)[0]
    ),
    "theta**3": lambda m: elementwise(m("theta", 3, 1), lambda x: x**3),
    "exp(A @ r)": lambda m: elementwise(m("A", 3, 3) * m("r", 3, 1), sympy.exp),
    "softplus(theta) + sigmoid(r)": lambda m: (
        elementwise(m("theta", 3, 1), lambda x: sympy.log(1 + sympy.exp(x)))
        + elementwise(m("r", 3, 1), lambda x: 1 / (1 + sympy.exp(-x)))
    ),
    "where(theta > r, theta, r)": lambda m: pairwise(m("theta", 3, 1), m("r", 3, 1), max),
    "minimum(theta, r)": lambda m: pairwise(m("theta", 3, 1), m("r", 3, 1), min),
    "abs(theta)": lambda m: elementwise(m("theta", 3, 1), abs),
    "(theta @ r.T) @ r": lambda m: m("theta", 3, 1) * m("r", 3, 1).T * m("r", 3, 1),
    "inv(I + theta @ theta.T) @ r": lambda m: (
        (sympy.eye(3) + m("theta", 3, 1) * m("theta", 3, 1).T).inv() * m("r", 3, 1)
    ),
    "inv(A @ M) @ r": lambda m: (m("A", 3, 3) * m("M", 3, 3)).inv() * m("r", 3, 1),
    "inv(A.T) @ r": lambda m: m("A", 3, 3).T.inv() * m("r", 3, 1),
    "inv(inv(A)) @ r": lambda m: m("A", 3, 3) * m("r", 3, 1),
    "inv(c*A) @ r": lambda m: (m("c", 1, 1)[0] * m("A", 3, 3)).inv() * m("r", 3, 1),
    "inv(diag(theta)) @ r": lambda m: sympy.diag(*m("theta", 3, 1)).inv() * m("r", 3, 1),
    "inv(W + M) @ r": lambda m: (m("W", 3, 3) + m("M", 3, 3)).inv() * m("r", 3, 1),
    "grad(r.T @ A @ r, r)": lambda m: (m("A", 3, 3) + m("A", 3, 3).T) * m("r", 3, 1),
    "grad(theta.T @ inv(M) @ r, theta)": lambda m: m("M", 3, 3).inv() * m("r", 3, 1),
    "div(theta @ r.T, r)": lambda m: 3 * m("theta", 3, 1),
    "div(r @ theta.T, r)": lambda m: m("theta", 3, 1),
    "div(diag(r*r), r)": lambda m: 2 * m("r", 3, 1),
    "hessian((r.T @ r)**2/4, r) @ theta": lambda m: (
        (2 * m("r", 3, 1) * m("r", 3, 1).T + (m("r", 3, 1).T * m("r", 3, 1))[0] * sympy.eye(3)) * m("theta", 3, 1)
    ),
    "T @ r": lambda m: m("T", 3, 3) * m("r", 3, 1),
}

SCALARS: dict[str, Callable] = {
    "r.T @ S @ theta": lambda m: (m("r", 3, 1).T * m("S", 3, 3) * m("theta", 3, 1))[0],
    "trace(A @ S)": lambda m: (m("A", 3, 3) * m("S", 3, 3)).trace(),
    "sum(theta)": lambda m: sum(m("theta", 3, 1)),
    "norm2(L @ w)": lambda m: ((m("L", 3, 2) * m("w", 2, 1)).T * (m("L", 3, 2) * m("w", 2, 1)))[0],
    "dot(theta, r)/d": lambda m: (m("theta", 3, 1).T * m("r", 3, 1))[0] / 3,
    "theta[2]*A[0, 1] - r[0]": lambda m: m("theta", 3, 1)[2] * m("A", 3, 3)[0, 1] - m("r", 3, 1)[0],
    "det(A)": lambda m: m("A", 3, 3).det(),
    "det(A.T) - logdet(M)": lambda m: m("A", 3, 3).det() - sympy.log(m("M", 3, 3).det()),
    "logdet(diag(q))": lambda m: sum(sympy.log(x) for x in m("q", 3, 1)),
    "pi*a": lambda m: sympy.pi * m("a", 1, 1)[0],
    "c**a": lambda m: m("c", 1, 1)[0] ** m("a", 1, 1)[0],
    "maximum(a, b)": lambda m: max(m("a", 1, 1)[0], m("b", 1, 1)[0]),
    "div(r.T @ A, r)": lambda m: m("A", 3, 3).trace(),
    "grad(a*xi**3, xi)": lambda m: 3 * m("a", 1, 1)[0] * m("xi", 1, 1)[0] ** 2,
    "trace(outer(theta, r) @ A)": lambda m: (m("theta", 3, 1) * m("r", 3, 1).T * m("A", 3, 3)).trace(),
    "sqrt(1 + xi**2)*log(c)": lambda m: sympy.sqrt(1 + m("xi", 1, 1)[0] ** 2) * sympy.log(m("c", 1, 1)[0]),
}  # fmt: skip


def close(left: sympy.Expr, right: sympy.Expr) -> bool:
    difference = left - right
    return difference == 0 or abs(sympy.N(difference, 60)) < sympy.Float(10) ** -50


@pytest.mark.parametrize("text", VECTORS)
def test_vector_means_what_it_says(read, arrays, text):
    values, matrices = arrays
    tensor = read(text, ROW, shape=VECTOR)
    expected = VECTORS[text](matrices)
    for place in range(3):
        assert close(scalarise(tensor, SIZES, {ROW: place}, values.leaf), expected[place])


@pytest.mark.parametrize("text", SCALARS)
def test_scalar_means_what_it_says(read, arrays, text):
    values, matrices = arrays
    assert close(scalarise(read(text), SIZES, {}, values.leaf), SCALARS[text](matrices))


def test_planted_fault_is_noticed(read, arrays):
    values, matrices = arrays
    transposed = read("A.T @ r", ROW, shape=VECTOR)
    expected = VECTORS["A @ r"](matrices)
    assert not all(close(scalarise(transposed, SIZES, {ROW: n}, values.leaf), expected[n]) for n in range(3))


def test_row_has_one_slot(read):
    assert read("r.T", COL, shape=Shape(None, "d")) == read("r", COL, shape=VECTOR)


def test_zero_and_ones_have_all_their_indices(read):
    assert read("0", ROW, COL, shape=MATRIX).free == (ROW, COL)
    assert read("ones", ROW, shape=VECTOR).free == (ROW,)


def test_data_field_has_the_datum_first(read):
    tensor = read("y*(x @ theta) - softplus(x @ theta)", datum=N)
    assert tensor.free == (N,)
    names = {atom for term in tensor.terms for atom, _ in term.factors}
    assert Component("y", (N,)) in names


def test_data_field_without_a_datum_is_refused(read):
    with pytest.raises(ModelError, match="where no datum is meant"):
        read("y")


def test_function_depends_on_its_blocks_only(read):
    assert read("grad(U, r)", ROW, shape=VECTOR).is_zero
    gradient = read("grad(U, theta)", ROW, shape=VECTOR)
    assert gradient.terms[0].factors[0][0] == Component("U", (), (Coordinate("theta", (ROW,)),))


def test_inverse_of_a_declared_matrix_is_one_atom(read):
    (term,) = read("inv(M)", ROW, COL, shape=MATRIX).terms
    assert isinstance(term.factors[0][0], Inverse)


def test_inverse_cancels_its_matrix(c, read):
    identity = c.delta(ROW, COL)
    for text in ("inv(A) @ A", "A @ inv(A)", "inv(A).T @ A.T", "M @ inv(M)", "inv(A @ S) @ A @ S", "inv(2*M) @ M*2"):
        assert read(text, ROW, COL, shape=MATRIX) == identity, text


def test_inverse_does_not_cancel_the_transpose(c, read):
    assert read("inv(A) @ A.T", ROW, COL, shape=MATRIX) != c.delta(ROW, COL)
    assert read("inv(A) @ S", ROW, COL, shape=MATRIX) != c.delta(ROW, COL)


def test_inverse_does_not_cancel_where_the_shared_index_is_elsewhere(c, read):
    """sum_j inv(M)_ij M_jk theta_j is not theta."""
    diagonal = c.multiply(c.delta(ROW, COL), c.coordinate("theta", ROW))
    assert read("inv(M) @ diag(theta) @ M", ROW, COL, shape=MATRIX) != diagonal


def test_inverse_of_a_symmetric_matrix_is_symmetric(c, read):
    def both(text: str) -> tuple:
        return read(text, ROW, COL, shape=MATRIX), read(text, COL, ROW, shape=MATRIX)

    for text in ("inv(S)", "inv(S + theta @ theta.T)", "inv(hessian(U, theta))"):
        one, other = both(text)
        assert one == other
    one, other = both("inv(A)")
    assert one != other


@pytest.mark.parametrize("slots", [(0, 0), (1, 0), (3, 2)])
def test_kron_at_positions_of_fixed_sizes(c, read, slots):
    rows = c.multiply(
        c.component("square", slots[0] // 2, slots[1] // 2), c.component("square", slots[0] % 2, slots[1] % 2)
    )
    assert read("kron(square, square)", *slots, shape=Shape(4, 4)) == rows


def test_kron_of_symbolic_sizes_is_refused_by_name(read):
    with pytest.raises(ModelError, match="kron"):
        read("kron(square, square)", Index(4, "i"), Index(4, "j"), shape=Shape(4, 4))


@pytest.mark.parametrize("text", ["grad(sign(xi), xi)", "grad(where(xi > 0, 1, 2), xi)", "grad(grad(abs(xi), xi), xi)"])
def test_derivative_across_a_jump_is_refused(read, text):
    with pytest.raises(ModelError, match="jump"):
        read(text)


def test_derivative_across_a_jump_almost_everywhere(c, read):
    huber = read("where(xi < a, xi**2/2, a*xi)")
    slope = c.diff(huber, Coordinate("xi"), almost_everywhere=True)
    assert c.is_zero(c.subtract(slope, read("where(xi < a, xi, a)")))


def test_branches_are_differentiated_where_the_condition_does_not_move(c, read):
    assert c.is_zero(c.subtract(read("grad(where(a > b, xi**2, xi), xi)"), read("where(a > b, 2*xi, 1)")))


def test_derivative_of_lipschitz_functions(c, read):
    assert c.is_zero(c.subtract(read("grad(abs(xi), xi)"), read("sign(xi)")))
    assert c.is_zero(c.subtract(read("grad(minimum(xi, a*xi), xi)"), read("where(xi <= a*xi, 1, a)")))


def refused(formula, match: str, entry: str = "claims.update.r", shape: Sequence = ()) -> None:
    place = Place("spec.yaml", 3, 4)
    with pytest.raises(ModelError, match=match) as caught:
        convert(formula, Declarations(), *shape, entry=entry, where=place)
    (fault,) = caught.value.faults
    assert fault.entry == entry
    assert fault.where == place


def test_what_only_updates_hold_is_refused_at_its_entry():
    refused(Normal(Number(Fraction(1)), Shape()), "update")
    refused(Symbol("eps", Shape(), SymbolRole.STEP), "eps")
