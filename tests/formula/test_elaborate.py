from fractions import Fraction

import pytest

from recipe_compiler.errors import ModelError, Place
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.elaborate import Scope, elaborate, elaborate_condition
from recipe_compiler.formula.expression import Role
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.syntax import parse

WHERE = Place("spec.yaml", 7, 4)
COLUMN, ROW, SQUARE = Shape("d"), Shape(None, "d"), Shape("d", "d")
THETA = ex.Symbol("theta", COLUMN, Role.BLOCK)
R = ex.Symbol("r", COLUMN, Role.BLOCK)
M = ex.Symbol("M", SQUARE, Role.PARAMETER)
C = ex.Symbol("c", SCALAR, Role.PARAMETER)


def faults(typed, text: str, expected: Shape | None = SCALAR, *, update: bool = False):
    with pytest.raises(ModelError) as error:
        typed(text, expected, update=update)
    assert all(fault.entry == "H" for fault in error.value.faults)
    return error.value.faults


FAULTS: list[tuple[Shape | None, str, int | None, str]] = [
    # at the smallest part that does not fit, which column is given
    *((SQUARE, *row) for row in (
        ("c", 4, "c*I"), ("M + 2", 8, "c*I"), ("M*C", 6, "@"), ("M**2", 4, "A @ A"), ("M**-1", 4, "inv"),
        ("exp(M)", 8, "entry by entry"), ("kron(I, I)", 4, "it fits a block whose size is a number"),
        ("kron(M, I)", 4, "it fits a block whose size is a number"),
        ("C @ B", 4, "found a matrix [d, k], expected a matrix [d, d]"),
        ("Matrix([[1, 0], [0, 1]])", 11, "declare a parameter of that shape, and give them as its `default`"),
        ("B @ B", None, "expected"), ("inv(B)", None, "expected"), ("hessian(U, W)", None, "expected"),
        ("outer(c, r)", None, "expected"), ("kron(r, M)", None, "expected"),
    )),
    *((COLUMN, *row) for row in (
        ("r + 1", 8, "c*ones"), ("r.T", 4, ".T"), ("M @ r.T", 8, ".T"), ("c @ r", 8, "*"), ("M*r", 6, "@"),
        ("I*r", 6, "@"), ("r/M", 6, "inv"), ("maximum(r, 1)", 15, "ones"), ("grad(r, theta)", None, "expected"),
        ("diag(M)", None, "expected"), ("r**r", None, "expected"), ("where(c > 0, r, theta)", None, "expected"),
        ("x + theta", None, "transpose"), ("grad(U, c)", None, "name of a block"),
        ("grad(U, thta)", None, "did you mean `theta`"), ("N(0, M)", None, "update"), ("next(r)", None, "update"),
        ("grad_tilde(U, theta)", None, "update"), ("eps*r", None, "update"),
    )),
    *((SCALAR, *row) for row in (
        ("r @ theta", 8, "dot(u, v)"), ("div(theta, theta)", 8, "div(v.T, b)"), ("norm2(c)", 10, "x**2"),
        ("r.T @ Matrix([[1, 0], [0, 1]]) @ r", None, "declare a parameter of that shape"),
        ("r.T @ q", None, "expected"), ("trace(B)", None, "expected"), ("sum(c)", None, "expected"),
        ("c[0]", None, "expected"), ("exp(I*xi)", None, "there is no imaginary unit"),
        ("q[3]", None, "0 to 2"), ("M[0]", None, "two positions"), ("c > 0", None, "found a comparison"),
        ("c(1 + c)", None, "is a * missing"), ("c(1 + c)", None, "write c*(...)"),
        ("thta", None, "theta"), ("Theta", None, "theta"), ("softplu(c)", None, "softplus"), ("u(theta)", None, "U"),
        ("identity", None, "declare it"),
    )),
    *((SCALAR, text, None, "nothing determines the size") for text in ("trace(I)", "sum(ones)", "det(0)", "I[0, 0]")),
    *((SCALAR, text, None, "is not a number") for text in ("oo", "nan", "zoo*c", "inf", "-NaN")),
    *((SCALAR, text, None, "") for text in ("preview(c)", "factorial(10**8)", "eye(20000)", "exp", "exp(c, c)")),
    *((SCALAR, text, None, "a scalar has no entries") for text in (
        "(r.T @ r)[0, 1]", "(r.T @ r)[1]", "norm2(r)[0]", "xi[0]", "(r.T @ r)[0, 0, 0, 0]",
    )),
    *((None, text, None, "as declared") for text in ("G(xi, theta)", "G(theta)", "U(2*theta)", "U(r)")),
    (None, "1 + r", 4, "c*ones"), (None, "M > 0", None, "positive definite"), (ROW, "r", 4, ".T"),
    (Shape("K*d", "K*d"), "kron(M, I)", None, "expected"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "text", "column", "says"), FAULTS)
def test_what_does_not_fit_is_told(typed, expected: Shape | None, text: str, column: int | None, says: str):
    first, *_ = faults(typed, text, expected)
    assert says in f"{first.problem}\n{first.hint}"
    assert column in (None, first.where.column)


def test_what_does_not_fit_in_an_update_is_told(typed):
    for text, says in (("N(r, I)", "expected 0"), ("N(0, B)", "square covariance")):
        assert says in faults(typed, text, COLUMN, update=True)[0].problem


def test_hints_are_of_what_is_wrong_alone(typed):
    assert not faults(typed, "C @ B", SQUARE)[0].hint
    assert "imaginary" not in faults(typed, "exp(M)")[0].hint


def test_the_energy_of_sghmc_is_typed(typed):
    kinetic = ex.MatMul(ex.MatMul(ex.Transpose(R, ROW), ex.Apply("inv", (M,), SQUARE), ROW), R, SCALAR)
    half = ex.Number(Fraction(1, 2))
    expected = ex.Add((ex.FunctionAt("U", ("theta",), SCALAR), ex.Multiply(kinetic, half, SCALAR)), SCALAR)
    assert typed("U(theta) + r.T @ inv(M) @ r / 2") == expected
    assert typed("U + r.T @ inv(M) @ r / 2") == expected


@pytest.mark.parametrize(
    ("place", "zero"),
    [
        (SCALAR, ex.Number(Fraction(0))),
        (COLUMN, ex.Filled(0, COLUMN)),
        (Shape("d", "k"), ex.Filled(0, Shape("d", "k"))),
    ],
)
def test_zero_fits_any_place(typed, place: Shape, zero):
    assert typed("0", place) == zero


def test_identity_takes_the_size_of_its_place_and_is_one_at_a_scalar_place(typed):
    assert typed("I", SQUARE) == ex.Identity("d")
    assert typed("c*I", SCALAR, square=True) == ex.Multiply(C, ex.Number(Fraction(1)), SCALAR)
    assert typed("inv(I)") == ex.Number(Fraction(1))
    assert typed("xi + N(0, c*I)", update=True).shape == SCALAR


@pytest.mark.parametrize("text", ["1.0*I*xi", "c + I", "xi**I", "-I", "where(xi > I, 1, 0)", "I*norm2(r)", "2*I + c"])
def test_an_identity_where_a_scalar_stands_is_not_the_number_one(typed, text: str):
    (fault,) = faults(typed, text)
    assert fault.problem.startswith("found I, expected a scalar: I is the identity matrix; there is no imaginary unit")
    assert fault.where.column == WHERE.column + text.index("I")


def test_sizes_are_found_from_the_neighbours(typed):
    assert typed("I @ r", COLUMN) == ex.MatMul(ex.Identity("d"), R, COLUMN)
    assert typed("ones.T @ r") == ex.MatMul(ex.Transpose(ex.Filled(1, COLUMN), ROW), R, SCALAR)
    assert typed("trace(I + M)") == ex.Apply("trace", (ex.Add((ex.Identity("d"), M), SQUARE),), SCALAR)
    assert typed("maximum(0, r)", COLUMN) == ex.Apply("maximum", (ex.Filled(0, COLUMN), R), COLUMN)


def test_kronecker_products_fit_the_place_of_a_flattened_matrix(typed):
    place = Shape("K*d", "K*d")
    assert typed("kron(I, M)", place) == ex.Apply("kron", (ex.Identity("K"), M), place)
    assert typed("kron(R, I)", place).args[1] == ex.Identity("d")


def test_rows_and_columns_of_data_are_told_apart(typed):
    likelihood = typed("y*(x @ theta) - softplus(x @ theta)")
    assert likelihood.shape == SCALAR


def test_sizes_are_numbers(typed):
    d = ex.Symbol("d", SCALAR, Role.SIZE)
    assert typed("r/d", COLUMN) == ex.Multiply(R, ex.Power(d, ex.Number(Fraction(-1)), SCALAR), COLUMN)


def test_squared_norm_is_the_inner_product_with_itself(typed):
    assert typed("norm2(r)") == typed("r.T @ r")
    assert typed("dot(r, theta)") == typed("r.T @ theta")
    assert typed("dot(x, theta)") == ex.MatMul(
        ex.Transpose(ex.Transpose(ex.Symbol("x", ROW, Role.DATUM), COLUMN), ROW), THETA, SCALAR
    )


def test_calculus_takes_the_name_of_a_block(typed):
    U = ex.FunctionAt("U", ("theta",), SCALAR)
    assert typed("grad(U, theta)", COLUMN) == ex.Apply("grad", (U, THETA), COLUMN)
    assert typed("hessian(U, theta)", SQUARE).shape == SQUARE
    assert typed("div(G, theta)", COLUMN).shape == COLUMN
    assert typed("div(r.T, theta)", SCALAR).shape == SCALAR
    assert typed("div(r, xi)", COLUMN).shape == COLUMN


def test_a_function_stands_at_its_declared_blocks_only(typed):
    assert typed("G(theta, xi)", SQUARE) == typed("G", SQUARE)


def test_positions_of_fixed_sizes_are_checked(typed):
    assert typed("q[2]") == ex.Entry(ex.Symbol("q", Shape(3), Role.BLOCK), (2,))
    assert typed("theta[7]").at == (7,)


@pytest.mark.parametrize(
    "name", ["gamma", "S", "N", "E", "I", "Q", "O", "beta", "zeta", "pi", "ones", "eps", "exp", "inv"]
)
def test_a_declared_name_wins_over_the_language(name: str):
    scope = Scope(Declarations(blocks=(Block(name),), parameters=(Parameter("a"),)), update=True)
    assert elaborate(parse(f"2*{name}", "H", WHERE), scope, SCALAR, "H", WHERE).right.role is Role.BLOCK
    with pytest.raises(ModelError, match=r"is a \* missing"):
        elaborate(parse(f"{name}(a)", "H", WHERE), scope, SCALAR, "H", WHERE)


def test_all_faults_of_a_formula_are_gathered_in_order(typed):
    found = faults(typed, "thta + gamme(c) + c(2) + q[5]")
    assert [fault.where.column for fault in found] == [4, 11, 22, 29]


def test_constants_are_folded_exactly(typed):
    assert typed("0.1 + 0.2 - 0.3") == ex.Number(Fraction(0))
    assert typed("1/2*c**2") == typed("0.5*c**2")
    assert typed("2**-2") == ex.Number(Fraction(1, 4))


def test_powers_and_products_of_matrices_that_cannot_be_mistaken_are_entrywise(typed):
    assert typed("sum(W**2)").args[0].shape == Shape("K", "d")
    assert typed("sum(W*W)").shape == SCALAR
    assert typed("norm2(W)") == typed("trace(W.T @ W)")


def test_updates_have_their_own_forms(typed):
    draw = typed("N(0, 2*eps*I)", COLUMN, update=True)
    assert draw.shape == COLUMN
    assert draw.cov.right == ex.Identity("d")
    assert typed("N(0, 2*eps)", SCALAR, update=True).shape == SCALAR
    assert typed("next(r)", COLUMN, update=True) == ex.Next("r", COLUMN)
    assert typed("grad_tilde(U, theta)", COLUMN, update=True) == ex.GradTilde("U", "theta", COLUMN)


def test_declared_noise_is_a_symbol(declarations):
    scope = Scope(declarations, update=True, noise=(Block("w", COLUMN),))
    assert elaborate(parse("w", "H", WHERE), scope, COLUMN, "H", WHERE).role is Role.NOISE


def test_conditions_are_typed_and_values_are_no_conditions(declarations, typed):
    scope = Scope(declarations)
    condition = elaborate_condition(parse("c - xi**2 >= 0", "assume", WHERE), scope, "assume", WHERE)
    assert (condition.op, condition.right) == (">=", ex.Number(Fraction(0)))
    with pytest.raises(ModelError, match="expected a comparison"):
        elaborate_condition(parse("c", "assume", WHERE), scope, "assume", WHERE)
    assert typed("where(r > 0, r, 0)", COLUMN).args[0].right == ex.Filled(0, COLUMN)


@pytest.mark.parametrize(
    "text", ["+".join("c" * 4999), "*".join("c" * 4999), "(" * 57 + "c" + ")" * 57], ids=["+", "*", "("]
)
def test_long_honest_formulas_are_typed(typed, text: str):
    assert typed(text).shape == SCALAR


def test_scalar_places_make_transposes_and_matrix_products_plain():
    scope = Scope(Declarations(blocks=(Block("x"),)))
    x = ex.Symbol("x", SCALAR, Role.BLOCK)
    assert elaborate(parse("x.T", "H", WHERE), scope, SCALAR, "H", WHERE) == x
    assert elaborate(parse("inv(x)", "H", WHERE), scope, SCALAR, "H", WHERE) == ex.Power(
        x, ex.Number(Fraction(-1)), SCALAR
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("(r.T @ inv(M) @ r)[0, 0]/2", "r.T @ inv(M) @ r/2"),
        ("(r.T @ theta)[0]", "r.T @ theta"),
        ("(M @ r)[1, 0]", "(M @ r)[1]"),
    ],
)
def test_a_product_of_one_entry_may_be_written_with_its_place(typed, text: str, plain: str):
    assert typed(text) == typed(plain)
