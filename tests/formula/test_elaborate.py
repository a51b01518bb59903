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


@pytest.mark.parametrize(
    ("text", "expected", "hint"),
    [
        ("Matrix([[1, 0], [0, 1]])", SQUARE, "declare a parameter of that shape, and give them as its `default`"),
        ("r.T @ Matrix([[1, 0], [0, 1]]) @ r", SCALAR, "declare a parameter of that shape"),
        ("kron(I, I)", SQUARE, "it fits a block whose size is a number"),
        ("kron(M, I)", SQUARE, "it fits a block whose size is a number"),
        ("C @ B", SQUARE, ""),
    ],
)
def test_sizes_that_differ_come_with_what_to_do(typed, text: str, expected: Shape, hint: str):
    (fault,) = faults(typed, text, expected)
    assert hint in fault.hint
    assert bool(hint) == bool(fault.hint)


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


def test_the_imaginary_unit_in_a_function_is_named(typed):
    (fault,) = faults(typed, "exp(I*xi)")
    assert "there is no imaginary unit" in fault.hint
    (fault,) = faults(typed, "exp(M)")
    assert "imaginary" not in fault.hint


def test_sizes_are_found_from_the_neighbours(typed):
    assert typed("I @ r", COLUMN) == ex.MatMul(ex.Identity("d"), R, COLUMN)
    assert typed("ones.T @ r") == ex.MatMul(ex.Transpose(ex.Filled(1, COLUMN), ROW), R, SCALAR)
    assert typed("trace(I + M)") == ex.Apply("trace", (ex.Add((ex.Identity("d"), M), SQUARE),), SCALAR)
    assert typed("maximum(0, r)", COLUMN) == ex.Apply("maximum", (ex.Filled(0, COLUMN), R), COLUMN)


def test_kronecker_products_fit_the_place_of_a_flattened_matrix(typed):
    place = Shape("K*d", "K*d")
    assert typed("kron(I, M)", place) == ex.Apply("kron", (ex.Identity("K"), M), place)
    assert typed("kron(R, I)", place).args[1] == ex.Identity("d")
    assert "expected" in faults(typed, "kron(M, I)", place)[0].problem


@pytest.mark.parametrize("text", ["trace(I)", "sum(ones)", "det(0)", "I[0, 0]"])
def test_a_size_that_nothing_determines_is_a_fault(typed, text: str):
    assert "nothing determines the size" in faults(typed, text)[0].problem


@pytest.mark.parametrize(
    ("text", "expected", "column", "hint"),
    [
        ("c", SQUARE, 4, "c*I"),
        ("M + 2", SQUARE, 8, "c*I"),
        ("r + 1", COLUMN, 8, "c*ones"),
        ("1 + r", None, 4, "c*ones"),
        ("r", ROW, 4, ".T"),
        ("r.T", COLUMN, 4, ".T"),
        ("M @ r.T", COLUMN, 8, ".T"),
        ("r @ theta", SCALAR, 8, "dot(u, v)"),
        ("c @ r", COLUMN, 8, "*"),
        ("M*C", SQUARE, 6, "@"),
        ("M*r", COLUMN, 6, "@"),
        ("I*r", COLUMN, 6, "@"),
        ("r/M", COLUMN, 6, "inv"),
        ("M**2", SQUARE, 4, "A @ A"),
        ("M**-1", SQUARE, 4, "inv"),
        ("exp(M)", SQUARE, 8, "entry by entry"),
        ("maximum(r, 1)", COLUMN, 15, "ones"),
        ("div(theta, theta)", SCALAR, 8, "div(v.T, b)"),
        ("norm2(c)", SCALAR, 10, "x**2"),
    ],
)
def test_a_shape_that_does_not_fit_is_named_at_its_smallest_part(typed, text, expected, column: int, hint: str):
    (found,) = faults(typed, text, expected)
    assert found.where == Place("spec.yaml", 7, column)
    assert hint in found.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C @ B", SQUARE),
        ("B @ B", SQUARE),
        ("r.T @ q", SCALAR),
        ("grad(r, theta)", COLUMN),
        ("inv(B)", SQUARE),
        ("hessian(U, W)", SQUARE),
        ("trace(B)", SCALAR),
        ("diag(M)", SQUARE),
        ("sum(c)", SCALAR),
        ("r**r", COLUMN),
        ("outer(c, r)", SQUARE),
        ("kron(r, M)", SQUARE),
        ("where(c > 0, r, theta)", COLUMN),
        ("c[0]", SCALAR),
    ],
)
def test_other_misfits_are_faults_that_name_both_sides(typed, text: str, expected: Shape):
    problem = faults(typed, text, expected)[0].problem
    assert "expected" in problem


def test_both_shapes_are_named(typed):
    assert faults(typed, "C @ B", SQUARE)[0].problem == "found a matrix [d, k], expected a matrix [d, d]"


def test_rows_and_columns_of_data_are_told_apart(typed):
    likelihood = typed("y*(x @ theta) - softplus(x @ theta)")
    assert likelihood.shape == SCALAR
    assert "transpose" in faults(typed, "x + theta", COLUMN)[0].hint


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
    assert "name of a block" in faults(typed, "grad(U, c)", COLUMN)[0].problem
    assert "did you mean `theta`" in faults(typed, "grad(U, thta)", COLUMN)[0].hint


def test_a_function_stands_at_its_declared_blocks_only(typed):
    assert typed("G(theta, xi)", SQUARE) == typed("G", SQUARE)
    for call in ("G(xi, theta)", "G(theta)", "U(2*theta)", "U(r)"):
        assert "as declared" in faults(typed, call, None)[0].problem


def test_positions_of_fixed_sizes_are_checked(typed):
    assert typed("q[2]") == ex.Entry(ex.Symbol("q", Shape(3), Role.BLOCK), (2,))
    assert typed("theta[7]").at == (7,)
    assert "0 to 2" in faults(typed, "q[3]")[0].problem
    assert "two positions" in faults(typed, "M[0]")[0].problem


@pytest.mark.parametrize(
    "name", ["gamma", "S", "N", "E", "I", "Q", "O", "beta", "zeta", "pi", "ones", "eps", "exp", "inv"]
)
def test_a_declared_name_wins_over_the_language(name: str):
    scope = Scope(Declarations(blocks=(Block(name),), parameters=(Parameter("a"),)), update=True)
    assert elaborate(parse(f"2*{name}", "H", WHERE), scope, SCALAR, "H", WHERE).right.role is Role.BLOCK
    with pytest.raises(ModelError, match=r"is a \* missing"):
        elaborate(parse(f"{name}(a)", "H", WHERE), scope, SCALAR, "H", WHERE)


def test_a_declared_name_called_like_a_function_misses_a_sign(typed):
    (found,) = faults(typed, "c(1 + c)")
    assert "is a * missing" in found.problem
    assert found.hint == "write c*(...)"


@pytest.mark.parametrize(
    ("text", "hint"),
    [("thta", "theta"), ("Theta", "theta"), ("softplu(c)", "softplus"), ("u(theta)", "U"), ("identity", "declare it")],
)
def test_the_nearest_name_is_offered(typed, text: str, hint: str):
    assert hint in faults(typed, text)[0].hint


@pytest.mark.parametrize("text", ["oo", "nan", "zoo*c", "inf", "-NaN"])
def test_what_is_no_number_is_refused(typed, text: str):
    assert "is not a number" in faults(typed, text)[0].problem


@pytest.mark.parametrize(
    "text", ["preview(c)", "factorial(10**8)", "integrate(exp(-c**2), c)", "eye(20000)", "exp", "exp(c, c)"]
)
def test_unknown_functions_and_wrong_arguments_are_faults(typed, text: str):
    assert faults(typed, text)


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
    assert "expected 0" in faults(typed, "N(r, I)", COLUMN, update=True)[0].problem
    assert "square covariance" in faults(typed, "N(0, B)", COLUMN, update=True)[0].problem


@pytest.mark.parametrize("text", ["N(0, M)", "next(r)", "grad_tilde(U, theta)", "eps*r"])
def test_outside_updates_their_forms_are_faults(typed, text: str):
    assert "update" in str(faults(typed, text, COLUMN)[0])


def test_declared_noise_is_a_symbol(declarations):
    scope = Scope(declarations, update=True, noise=(Block("w", COLUMN),))
    assert elaborate(parse("w", "H", WHERE), scope, COLUMN, "H", WHERE).role is Role.NOISE


def test_conditions_are_typed_and_values_are_no_conditions(declarations, typed):
    scope = Scope(declarations)
    condition = elaborate_condition(parse("c - xi**2 >= 0", "assume", WHERE), scope, "assume", WHERE)
    assert (condition.op, condition.right) == (">=", ex.Number(Fraction(0)))
    with pytest.raises(ModelError, match="expected a comparison"):
        elaborate_condition(parse("c", "assume", WHERE), scope, "assume", WHERE)
    assert "positive definite" in faults(typed, "M > 0", None)[0].hint
    assert "found a comparison" in faults(typed, "c > 0")[0].problem
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


@pytest.mark.parametrize("text", ["(r.T @ r)[0, 1]", "(r.T @ r)[1]", "norm2(r)[0]", "xi[0]", "(r.T @ r)[0, 0, 0, 0]"])
def test_other_positions_of_a_scalar_are_faults(typed, text: str):
    assert "a scalar has no entries" in faults(typed, text)[0].problem
