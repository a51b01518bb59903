import pytest

from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute

COLUMN, SQUARE = Shape("d"), Shape("d", "d")


@pytest.mark.parametrize(
    ("formula", "shape", "name", "new", "result"),
    [
        ("r.T @ inv(M) @ r / 2", SCALAR, "M", "I", "r.T @ r / 2"),
        ("C @ inv(M) @ r", COLUMN, "M", "c*I", "c**-1*C @ r"),
        ("C @ r", COLUMN, "C", "c*I", "c*r"),
        ("M @ C @ r", COLUMN, "C", "0", "0"),
        ("M @ C @ r + theta", COLUMN, "C", "0", "theta"),
        ("M.T @ r", COLUMN, "M", "I", "r"),
        ("det(M)*c", SCALAR, "M", "I", "c"),
        ("logdet(M) + c", SCALAR, "M", "I", "c"),
        ("c*xi + 1", SCALAR, "c", "0", "1"),
        ("c*log(xi)", SCALAR, "c", "0", "0*log(xi)"),
        ("U(theta) + c", SCALAR, "U", "theta.T @ theta / 2", "theta.T @ theta / 2 + c"),
        ("grad(U, theta)", COLUMN, "U", "norm2(theta)", "grad(theta.T @ theta, theta)"),
        ("r.T @ v", SCALAR, "v", "2*theta", "r.T @ (2*theta)"),
        ("c**2", SCALAR, "c", "c + 1", "(c + 1)**2"),
    ],
)
def test_a_name_is_replaced_and_the_node_tidied(typed, formula: str, shape, name: str, new: str, result: str):
    before = typed(formula, shape)
    place = {"M": SQUARE, "C": SQUARE, "v": COLUMN}.get(name, SCALAR)
    after = substitute(before, {name: typed(new, place)})
    assert text(after) == result
    assert after.shape == before.shape


def test_untouched_formulas_are_returned_as_they_are(typed):
    formula = typed("0 + r + 0*c*r", COLUMN)
    assert substitute(formula, {"M": typed("I", SQUARE)}) is formula


def test_replacements_are_made_all_at_once(typed):
    swapped = substitute(typed("c - xi"), {"c": typed("xi"), "xi": typed("c")})
    assert text(swapped) == "xi - c"


def test_a_size_is_replaced_in_formulas_shapes_and_replacements(typed):
    size = ex.Number(typed("3").value)
    fixed = substitute(typed("M @ r / d", COLUMN), {"d": size, "M": typed("c/d*I", SQUARE)})
    assert fixed.shape == Shape(3)
    assert text(fixed) == "(c/3*r)/3".replace("(c/3*r)", "c/3*r")
    assert ex.Symbol("r", Shape(3), ex.Role.BLOCK) in (fixed.left.left, fixed.left.right)


def test_a_size_is_replaced_by_another_one_also_within_products(typed):
    formula = substitute(typed("kron(R, M)", Shape("K*d", "K*d")), {"d": ex.Symbol("p", SCALAR, ex.Role.SIZE)})
    assert formula.shape == Shape("K*p", "K*p")


@pytest.mark.parametrize("formula", ["U(theta)", "grad(c*norm2(theta), theta)"])
def test_a_block_that_the_formula_depends_on_as_a_block_is_not_replaced(typed, formula: str):
    with pytest.raises(ModelError, match="cannot be replaced"):
        substitute(typed(formula, None), {"theta": typed("2*r", COLUMN)})
    other = substitute(typed(formula, None), {"theta": typed("r", COLUMN)})
    assert text(other) in ("U(r)", "grad(c*(r.T @ r), r)")


def test_a_replacement_of_another_shape_is_a_bug(typed):
    with pytest.raises(CompilerError):
        substitute(typed("M @ r", COLUMN), {"M": typed("c")})


@pytest.mark.slow
def test_growth_is_bounded(typed):
    large = typed("+".join("c" * 4999))
    with pytest.raises(ModelError, match="grows beyond"):
        substitute(typed("+".join(["c*xi"] * 900)), {"c": large})
