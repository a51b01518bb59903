from fractions import Fraction

import numpy as np
import pytest
import sympy

from recipe_compiler.errors import ModelError, Place, SpecError
from recipe_compiler.formula import functions as fn
from recipe_compiler.formula import tree
from recipe_compiler.formula.declaration import Block, Declarations, Function, Parameter
from recipe_compiler.formula.declaring import I, function, matrix, ones, pi, scalar, vector
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.symbolic import block_rows, declared_in, tree_of

WHERE = Place("spec.py")
COLUMN, SQUARE = Shape("d"), Shape("d", "d")
theta, r = vector("theta", "d"), vector("r", "d")
M = matrix("M", "d", "d", is_="positive definite")
c, xi = scalar("c", is_="positive"), scalar("xi")
U = function("U", of=theta, role="potential")

d = sympy.Symbol("d")
sr, stheta, sM = sympy.MatrixSymbol("r", d, 1), sympy.MatrixSymbol("theta", d, 1), sympy.MatrixSymbol("M", d, d)
sc, sxi, k = sympy.symbols("c xi k")


@pytest.fixture
def same(declarations, typed):
    """Whether an object means what a text means."""

    def check(obj: object, text: str, shape: Shape | None = SCALAR) -> bool:
        made = elaborate(tree_of(obj), Scope(declarations), shape, "H", WHERE)
        return made == typed(text, shape)

    return check


@pytest.mark.parametrize(
    ("obj", "text", "shape"),
    [
        (U + c, "U + c", SCALAR), (2 - c - (xi - c), "2 - c - (xi - c)", SCALAR), (2 / c / xi * 3, "2/c/xi*3", SCALAR),
        (-((c**2) ** 2), "-(c**2)**2", SCALAR), (2**c, "2**c", SCALAR), (0.1 * c, "0.1*c", SCALAR),
        (np.float64(0.5) * c + np.int64(2), "0.5*c + 2", SCALAR), (Fraction(1, 3) * c, "1/3*c", SCALAR),
        ("U(theta) + c", "U(theta) + c", SCALAR), (fn.where(c > 0, c, -c), "where(c > 0, c, -c)", SCALAR),
        (c * I + M, "c*I + M", SQUARE), (ones * pi, "ones*pi", COLUMN), (fn.div(M, theta), "div(M, theta)", COLUMN),
    ],
)  # fmt: skip
def test_operators_mean_what_the_text_means(same, obj, text: str, shape: Shape):
    """`tests/front/test_digests.py` runs the formulas of all shipped documents."""
    assert same(obj, text, shape)


@pytest.mark.parametrize(
    ("obj", "text", "shape"),
    [
        (sc**2 / 2 + sympy.exp(-sc * sxi), "c**2/2 + exp(-c*xi)", SCALAR),
        (sc / sxi**2, "c/xi**2", SCALAR),
        (-sc / 3, "-c/3", SCALAR),
        (sympy.Float(0.1) * sc, "0.1*c", SCALAR),
        (sympy.sqrt(sc), "sqrt(c)", SCALAR),
        (sympy.pi * sc, "pi*c", SCALAR),
        (sympy.Function("U")(stheta), "U(theta)", SCALAR),
        (sM.inv() * sr, "inv(M) @ r", COLUMN),
        (2 * sM * sr, "2*(M @ r)", COLUMN),
        (-sM * sr, "-(M @ r)", COLUMN),
        (sympy.Trace(sr.T * sM * sr), "r.T @ M @ r", SCALAR),
        (sympy.Trace(sM), "trace(M)", SCALAR),
        (sM + sM.T, "M + M.T", SQUARE),
        (sM**2, "M @ M", SQUARE),
        (sympy.Identity(d), "I", SQUARE),
        (sympy.ZeroMatrix(d, d), "0", SQUARE),
        (sympy.OneMatrix(d, 1), "ones", COLUMN),
        (sympy.HadamardProduct(sr, stheta), "r*theta", COLUMN),
        (sympy.DiagMatrix(sr), "diag(r)", SQUARE),
        (sympy.Determinant(sM), "det(M)", SCALAR),
        (sympy.Max(sc, sxi), "maximum(c, xi)", SCALAR),
        (sympy.Piecewise((sc, sc > 0), (-sc, True)), "where(c > 0, c, -c)", SCALAR),
        (sr[0, 0] * sM[0, 1], "M[0, 1]*r[0]", SCALAR),
        (sympy.Matrix([[sc]]), "c", SCALAR),
        (sympy.Abs(sxi), "abs(xi)", SCALAR),
        (fn.inv(M) @ sr, "inv(M) @ r", COLUMN),
        (sc * theta, "c*theta", COLUMN),
    ],
    ids=str,
)
def test_sympy_objects_mean_what_the_text_means(same, obj, text: str, shape: Shape):
    assert same(obj, text, shape)


def test_a_derivative_of_a_declared_function_is_a_gradient():
    scope = Scope(Declarations((Block("t"),), (), (Function("g", ("t",)),)))
    t = sympy.Symbol("t")
    second = elaborate(tree_of(sympy.Derivative(sympy.Function("g")(t), (t, 2))), scope, SCALAR, "H", WHERE)
    assert second == elaborate(tree_of("grad(grad(g, t), t)"), scope, SCALAR, "H", WHERE)


@pytest.mark.parametrize(
    ("obj", "named"),
    [
        (sympy.I * sc, "ImaginaryUnit"),
        (sympy.Sum(sc**k, (k, 1, 10**9)), "from 1 to 1000000000, expected 1 to 1000 terms"),
        (sympy.Sum(sr[k, 0], (k, 1, d - 1)), "expected the whole axis"),
        (sympy.Integral(sc, sc), "Integral"),
        (sympy.zeta(sc), "zeta"),
        (sympy.floor(sc), "floor"),
        (sympy.oo, "not a number"),
        (sympy.nan, "not a number"),
        (float("inf"), "not a number"),
        ([1, 2], "list"),
        (None, "NoneType"),
        (True, "bool"),
        (np.ones((2, 2, 2)), "an array of shape (2, 2, 2)"),
        (sympy.Symbol("x y"), "expected [A-Za-z]"),
        (sympy.Symbol("\u0445"), "u0445"),
        (sc**100000, "exponent"),
        (sympy.Function("f")(2 * sc), "whole blocks"),
        ("x^2", "**"),
    ],
)
def test_other_objects_are_refused_by_class(obj, named: str):
    with pytest.raises(SpecError) as error:
        tree_of(obj)
    assert named in str(error.value)


def test_names_carry_their_declarations():
    names = {item.name: item for item in declared_in(U + r.T @ M @ r / c)}
    assert list(names) == ["U", "theta", "r", "M", "c"]
    assert (names["U"].of, names["U"].role) == (("theta",), "potential")
    assert (names["M"].shape, names["M"].kinds) == (SQUARE, (Kind.PD,))
    assert declared_in("U + c") == ()


def test_domains_are_kept_as_they_are_written():
    (bounded,) = declared_in(scalar("p", domain="interval(0, 1)"))
    assert isinstance(bounded.domain, tree.Call)
    assert bounded.domain.name == "interval"


def test_names_of_sympy_objects_carry_shapes_and_assumptions():
    p = sympy.Symbol("p", positive=True)
    names = {item.name: item for item in declared_in(sympy.Trace(sr.T * sM * sr) * p / d + sympy.Function("U")(stheta))}
    assert set(names) == {"r", "M", "p", "U", "theta"}
    assert names["r"].shape == COLUMN
    assert names["p"].kinds == (Kind.POSITIVE,)
    assert names["U"].of == ("theta",)


def test_one_name_for_two_things_is_refused():
    with pytest.raises(SpecError, match="declare a name once"):
        scalar("theta") * theta


def test_constants_and_functions_from_python_stay_the_languages_when_a_name_is_declared():
    blocks = (Block("I"), Block("pi"), Block("t"))
    scope = Scope(Declarations(blocks, (Parameter("M", SQUARE),), (Function("gamma", ("t",)),)))
    assert elaborate(tree_of(sympy.pi), scope, SCALAR, "H", WHERE) != elaborate(
        tree_of("pi"), scope, SCALAR, "H", WHERE
    )
    assert elaborate(tree_of(I), scope, SQUARE, "H", WHERE).shape == SQUARE
    with pytest.raises(ModelError):
        elaborate(tree_of("I"), scope, SQUARE, "H", WHERE)
    t = sympy.Symbol("t")
    assert elaborate(tree_of(sympy.gamma(t)), scope, SCALAR, "H", WHERE).fn == "gamma"
    assert elaborate(tree_of(sympy.Function("gamma")(t)), scope, SCALAR, "H", WHERE).of == ("t",)


@pytest.mark.parametrize(
    "rows",
    [
        [[0, -I], [I, 0]],
        ((0, -I), (I, 0)),
        sympy.Matrix([[0, -sc], [sc, 0]]),
        sympy.BlockMatrix([[sympy.ZeroMatrix(d, d), -sympy.Identity(d)], [sympy.Identity(d), sympy.ZeroMatrix(d, d)]]),
    ],
    ids=["lists", "tuples", "Matrix", "BlockMatrix"],
)
def test_block_matrices_are_read_row_by_row(rows):
    found = block_rows(rows)
    assert [len(row) for row in found] == [2, 2]
    zero = Scope(Declarations((Block("c"),)))
    assert elaborate(tree_of(found[0][0]), zero, SCALAR, "Q", WHERE).value == 0


def test_what_is_no_block_matrix_is_refused():
    with pytest.raises(SpecError, match="expected rows"):
        block_rows(c)


@pytest.mark.parametrize(
    "make",
    [
        lambda: vector("2x", "d"), lambda: vector("x", 0), lambda: vector("x", "d d"),
        lambda: scalar("x", is_="postive"), lambda: function("f", of=theta + r), lambda: theta[-1],
        lambda: theta[0:1], lambda: c(theta),
    ],
)  # fmt: skip
def test_faulty_declarations_and_uses_are_refused(make):
    with pytest.raises(SpecError):
        make()


def test_a_condition_has_no_truth_value():
    with pytest.raises(TypeError, match="where"):
        bool(c > 0)


def test_formulas_are_not_sequences():
    with pytest.raises(TypeError):
        list(theta)
