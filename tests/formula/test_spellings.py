"""What SymPy prints reads as the language's own formula, and means SymPy's function wherever it has a value."""

from contextlib import suppress
from fractions import Fraction

import mpmath
import pytest
import sympy
from processor_time import ends

from recipe_compiler.algebra.scalars.entries import scalar
from recipe_compiler.algebra.structure.definedness import definedness
from recipe_compiler.errors import DocumentError, ModelError, Place
from recipe_compiler.formula.declaration import Block, Declarations, Function, Parameter
from recipe_compiler.formula.elaborate import Scope, elaborate, elaborate_condition
from recipe_compiler.formula.names import LANGUAGE
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.formula.spelled import value_of
from recipe_compiler.formula.spellings import SPELLINGS
from recipe_compiler.formula.symbolic import tree_of
from recipe_compiler.formula.syntax import parse
from recipe_compiler.kernel import pages

WHERE = Place("spec.yaml", 1, 1)
COLUMN, SQUARE = Shape("d"), Shape("d", "d")
DECLARED = Declarations(
    blocks=(Block("x"), Block("y"), Block("q", Shape(2)), Block("theta", COLUMN)),
    parameters=(Parameter("a", kinds=(Kind.POSITIVE,)), Parameter("M", SQUARE), Parameter("K", Shape(2, 2))),
    functions=(Function("U", ("theta",)), Function("f", ("x",))),
)


def read(formula: object, shape: Shape = SCALAR, declared: Declarations = DECLARED):
    return elaborate(tree_of(formula, "H", WHERE), Scope(declared), shape, "H", WHERE)


MEANINGS = [
    ("E*x", "exp(1)*x", SCALAR),
    ("S(1)/2*x", "1/2*x", SCALAR),
    ("Rational(1, 2)*x", "1/2*x", SCALAR),
    ("Rational(-3)*x + Rational(0.25)", "-3*x + 1/4", SCALAR),
    ("Float(0.1)*x", "0.1*x", SCALAR),
    ("Pow(y, 3)", "y**3", SCALAR),
    ("Abs(x)", "abs(x)", SCALAR),
    ("Max(2, x, y)", "maximum(2, maximum(x, y))", SCALAR),
    ("Min(x, y)", "minimum(x, y)", SCALAR),
    ("Max(x)", "x", SCALAR),
    ("Heaviside(x)", "(1 + sign(x))/2", SCALAR),
    ("Heaviside(x, 1)", "where(x == 0, 1, (1 + sign(x))/2)", SCALAR),
    ("Piecewise((x, x > 0), (y, True))", "where(x > 0, x, y)", SCALAR),
    ("Piecewise((x, Eq(x, 0)), (y, x <= 1), (2, True))", "where(x == 0, x, where(x <= 1, y, 2))", SCALAR),
    ("Piecewise((x, (x > 0) & (y < 1)), (2, True))", "where(x > 0, where(y < 1, x, 2), 2)", SCALAR),
    ("Piecewise((x, (x > 0) | ~(y < 1)), (2, True))", "where(x > 0, x, where(y < 1, 2, x))", SCALAR),
    ("Piecewise((x, Ne(x, 1)), (2, True))", "where(x == 1, 2, x)", SCALAR),
    ("where(And(x > 0, Or(y > 0, x > 1), Not(x > y)), 1, x)",
     "where(x > 0, where(y > 0, where(x > y, x, 1), where(x > 1, where(x > y, x, 1), x)), x)", SCALAR),
    ("Piecewise(((x + 1)*y, (x + 1)*y > 0), (0, True))", "where((x + 1)*y > 0, (x + 1)*y, 0)", SCALAR),
    ("ln(a) + log(a, 10)", "log(a) + log(a)/log(10)", SCALAR),
    ("erfc(x)", "2*ndtr(-sqrt(2)*x)", SCALAR),
    ("cbrt(a) + root(a, 5)", "a**(1/3) + a**(1/5)", SCALAR),
    ("sec(x)", "1/cos(x)", SCALAR),
    ("atanh(x)", "(log1p(x) - log1p(-x))/2", SCALAR),
    ("beta(a, 2)", "exp(loggamma(a) + loggamma(2) - loggamma(a + 2))", SCALAR),
    ("polygamma(0, a) + polygamma(1, a)", "digamma(a) + trigamma(a)", SCALAR),
    ("EulerGamma", "-digamma(1)", SCALAR),
    ("factorial(3)*x + factorial(a)", "6*x + gamma(a + 1)", SCALAR),
    ("binomial(5, 2)*x + binomial(x, 2)", "10*x + 1*x*(x - 1)/2", SCALAR),
    ("binomial(a, x)", "exp(loggamma(a + 1) - loggamma(x + 1) - loggamma(a - x + 1))", SCALAR),
    ("logsumexp(theta)", "log(sum(exp(theta)))", SCALAR),
    ("diff(x**2, x)", "grad(x**2, x)", SCALAR),
    ("Derivative(x**4*y, (x, 2), y)", "grad(grad(grad(x**4*y, x), x), y)", SCALAR),
    ("Derivative(q[0]**2, q[0])", "grad(q[0]**2, q)[0]", SCALAR),
    ("diff(U(theta), theta)", "grad(U, theta)", COLUMN),
    ("Matrix([[a, 0], [x, 2]])[1, 0]", "Matrix([[a, 0], [x, 2]])[1, 0]", SCALAR),
    ("Matrix([x, y])", "Matrix([[x], [y]])", Shape(2)),
    ("Matrix([[x, y]])", "Matrix([x, y]).T + 0*Matrix([[x, y]])", None),
    ("diag(theta)", "diag(theta)", SQUARE),
    ("q[0, 0] + theta.T[0, 1]", "q[0] + theta.T[1]", SCALAR),
    ("Trace(M) + Determinant(M)", "trace(M) + det(M)", SCALAR),
    ("Inverse(M) + Transpose(M) + DiagMatrix(theta)", "inv(M) + M.T + diag(theta)", SQUARE),
    ("HadamardProduct(theta, theta) + HadamardPower(theta, 2)", "theta*theta + theta**2", COLUMN),
    ("DotProduct(theta, theta)", "dot(theta, theta)", SCALAR),
    ("KroneckerProduct(K, K)", "kron(K, K)", Shape(4, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("spelling", "means", "shape"), [row for row in MEANINGS if row[2] is not None])
def test_a_spelling_is_the_formula_that_it_means(spelling: str, means: str, shape: Shape):
    assert read(spelling, shape) == read(means, shape)


OPEN = pages.Documents(
    {
        "dynamics": {
            "state": {"x": {}, "y": {}, "q": {"shape": 2}, "theta": {"shape": "d"}},
            "parameters": {"a": {"is": "positive"}, "M": {"shape": ["d", "d"]}, "K": {"shape": [2, 2]}},
            "functions": {"U": {"of": "theta"}, "f": {"of": "x"}},
        }
    }
)


@pytest.mark.parametrize(("spelling", "means", "shape"), MEANINGS)
def test_the_checker_of_certificates_reads_the_same(spelling: str, means: str, shape: Shape | None):
    page = pages.Page(OPEN, {"d": "2", "x": "1/3", "y": "1/7"}, "spelled")
    shape = shape or Shape(None if "Matrix" in spelling else 2, 2)
    rows, cols = (size if isinstance(size, int) else 2 if size else 1 for size in (shape.rows, shape.cols))
    one, other = (page.fit(text, rows, cols) for text in (spelling, means))
    assert page.vanish(one - other)


def test_a_matrix_of_one_row_is_a_row():
    assert read("Matrix([[x, y]]) @ q").left.shape == Shape(None, 2)


@pytest.mark.parametrize(
    ("stated", "value"), [("3/4*2 - 1", Fraction(1, 2)), ("-(2/3)", Fraction(-2, 3)), ("x*2", None)]
)
def test_constants_have_their_values(stated: str, value: Fraction | None):
    assert value_of(parse(stated, "H", WHERE)) == value


def test_every_spelling_has_an_example():
    examples = " ".join(row[0] for row in MEANINGS)
    functions = {spelling.name for spelling in SPELLINGS} - set(REAL) - set(WITH_TWO)
    assert [name for name in sorted(functions) if f"{name}(" not in examples and name not in examples] == [
        "Ge", "GoldenRatio", "Gt", "Le", "Lt", "gaussian_process",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("spelling", "means"),
    [
        ("Eq(a, 2*x)", "a == 2*x"),
        ("Gt(x, 0)", "x > 0"),
        ("Ge(x, 0)", "x >= 0"),
        ("Lt(x, y)", "x < y"),
        ("Le(x, 1)", "x <= 1"),
    ],
)
def test_conditions_of_sympy_are_assumptions(spelling: str, means: str):
    def condition(formula: str):
        return elaborate_condition(parse(formula, "assume", WHERE), Scope(DECLARED), "assume", WHERE)

    assert condition(spelling) == condition(means)


REAL = {
    "sec": sympy.sec, "csc": sympy.csc, "cot": sympy.cot, "asin": sympy.asin, "acos": sympy.acos, "acot": sympy.acot,
    "sech": sympy.sech, "csch": sympy.csch, "coth": sympy.coth, "asinh": sympy.asinh, "acosh": sympy.acosh,
    "atanh": sympy.atanh, "acoth": sympy.acoth, "acsch": sympy.acsch, "asech": sympy.asech, "cbrt": sympy.cbrt,
    "ln": sympy.log,
    "Abs": sympy.Abs, "factorial": sympy.factorial, "Heaviside": sympy.Heaviside,
}  # fmt: skip
WITH_TWO = {"beta": sympy.beta, "binomial": sympy.binomial, "root": sympy.root, "log": sympy.log}
POINTS = [sympy.Rational(n, 7) for n in (-24, -15, -7, -5, -1, 0, 2, 4, 7, 9, 17, 30)]


def _value(formula: str, at: dict[str, sympy.Rational]) -> mpmath.mpf | None:
    """The value of a formula at a point, None where what it needs to have one does not hold there."""
    exact = Declarations(tuple(Block(name) for name in at))
    typed = read(formula, declared=exact)
    written = scalar(typed, exact, {})
    there = {symbol: value for name, value in at.items() for symbol in written.free_symbols if symbol.name == name}
    if not all(_holds(needed, exact, at) for needed in definedness((typed,), exact).open):
        return None
    return sympy.N(written.subs(there), 40)


def _holds(needed: str, declared: Declarations, at: dict[str, sympy.Rational]) -> bool:
    """Whether `x > 0`, `x >= 0` or `x is not zero` holds at a point; what has no real value there does not."""
    side = needed.replace(" is not zero", " == 0")
    compared = elaborate_condition(parse(side, "assume", WHERE), Scope(declared), "assume", WHERE)
    left = scalar(compared.left, declared, {})
    value = sympy.N(left.subs({s: at[s.name] for s in left.free_symbols}), 40, chop=True)
    if not (value.is_real and value.is_finite):
        return False
    return {">": value > 0, ">=": value >= 0, "==": value != 0}[compared.op]


@pytest.mark.parametrize("name", sorted(REAL))
def test_a_function_is_sympys_where_it_is_real_and_has_no_value_elsewhere(name: str):
    found = 0
    for point in POINTS:
        expected = sympy.N(REAL[name](point), 40)
        value = _value(f"{name}(x)", {"x": point})
        if value is not None:
            assert expected.is_real, (point, value, expected)
            assert abs(value - expected) < mpmath.mpf(10) ** -30, (point, value, expected)
            found += 1
    assert found >= 3


@pytest.mark.parametrize("name", sorted(WITH_TWO))
def test_a_function_of_two_is_sympys_where_it_has_a_value(name: str):
    second = [sympy.Rational(n, 3) for n in (-2, 1, 6, 8)] if name != "root" else [sympy.Integer(n) for n in (-3, 2, 3)]
    found = 0
    for point in POINTS:
        for other in second:
            expected = sympy.N(WITH_TWO[name](point, other), 40) if (name, point) != ("root", 0) else None
            value = None if expected is None else _value(f"{name}(x, y)", {"x": point, "y": other})
            if value is not None and value.is_real:
                assert abs(value - expected) < mpmath.mpf(10) ** -30, (point, other, value, expected)
                found += 1
    assert found >= 6


def test_roots_of_negative_numbers_have_no_value():
    """SymPy's cbrt(-8) is 1 + sqrt(3) I, and NumPy's is -2: neither is said silently."""
    for formula in ("cbrt(x)", "root(x, 3)", "x**(1/3)"):
        assert definedness((read(formula),), DECLARED).open == ("x >= 0",)
    assert definedness((read("cbrt(a) + acosh(1 + a) + atanh(a/(1 + a)) + sech(x) + asinh(x)"),), DECLARED).open == ()


WRONG = [
    ("sec(x, 2)", 1, "found 2 arguments of sec(), expected sec(x)"),
    ("1 + Heaviside(x, 1, 2)", 5, "expected Heaviside(x) or Heaviside(x, h)"),
    ("Rational(1, 0)", 13, "division by zero"),
    ("Rational(1, 2, 3)", 1, "found 3 arguments of Rational(), expected Rational(p, q) or Rational(p)"),
    ("Eq(x, 1, 2)", 1, "found 3 arguments of Eq(), expected Eq(a, b)"),
    ("factorial(-1)", 1, "not a number"),
    ("polygamma(2, a)", 1, "expected polygamma(0, x) or polygamma(1, x)"),
    ("Piecewise((x, x > 0))", 1, "without a last case"),
    ("Piecewise((x, x > 0), (y, True), (1, True))", 1, "behind (value, True)"),
    ("Piecewise((x, x > 0), (1, y), (2, True))", 27, "expected a condition"),
    ("Piecewise(x, y)", 1, "not a pair"),
    ("Piecewise((True, x > 0), (1, True))", 12, "which is not a number"),
    ("And(x > 0, y > 0)", 1, "a condition"),
    ("x + (x > 0 & y > 0)", 6, "found a condition, And(...), expected a number"),
    ("(x > 0) + y", 2, "first argument of where()"),
    ("Derivative(x**2)", 1, "no variable"),
    ("Derivative(x**2, (x, 9))", 1, "expected 1 to 4"),
    ("Derivative(x**2, (x, a))", 1, "expected 1 to 4"),
    ("Derivative(x**2, a)", 18, "expected the name of a block"),
    ("Matrix([[1, theta], [3, 4]])[0, 0]", 13, "found a column [d], expected a scalar"),
    ("(1, 2)", 1, "found a list, expected a formula"),
    ("q[0, 1]", 1, "found 2 positions"),
    ("diag(a, 2)", 1, "found 2 arguments of diag(), expected 1"),
    ("eye(2)", 1, "neither declared nor a function"),
    ("floor(x)", 1, "'floor' is neither declared nor a function"),
    ("real_root(x, 3)", 1, "neither declared"),
    ("Sum(x, (x, 1, 10))", 1, "neither declared"),
    ("M*theta", 3, "'*' or '/' between"),
    ("beta", 1, "'beta' is a function of the language, expected its arguments"),
    ("theta[x]", 1, "found x, expected a position 0, 1, 2, ..."),
]


@pytest.mark.parametrize(("formula", "column", "says"), WRONG)
def test_what_is_wrong_in_a_spelling_is_said_where_it_stands(formula: str, column: int, says: str):
    with pytest.raises(DocumentError) as error:
        read(formula)
    fault = error.value.faults[0]
    assert says in fault.problem
    assert fault.where.column == column


FUNCTIONS = sorted(LANGUAGE | {spelling.name for spelling in SPELLINGS if "(" in spelling.written})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_without_its_arguments_is_a_fault_of_the_formula_inside_every_spelling(name: str):
    for spelling in SPELLINGS:
        for arguments in (name, f"{name}, 1", f"1, {name}", f"{name}, 1, {name}"):
            formula = f"{spelling.name}({arguments})"
            with pytest.raises(DocumentError) as error:
                read(formula)
            assert error.value.faults, formula
            assert {fault.entry for fault in error.value.faults} == {"H"}, formula


def test_a_declared_name_wins_over_a_spelling():
    declared = Declarations(
        (Block("beta"), Block("S"), Block("E"), Block("w", Shape("cbrt"))), functions=(Function("root", ("E",)),)
    )
    assert text(read("beta*S + E**2 + root(E)", declared=declared)) == "beta*S + E**2 + root(E)"
    with pytest.raises(ModelError, match="is a"):
        read("beta(E, S)", declared=declared)


@pytest.mark.parametrize(
    "formula",
    [
        "factorial(10**9)",
        "factorial(1000)",
        "factorial(factorial(factorial(9)))",
        "binomial(10**9, 10**8)",
        "binomial(10**300, 20)**9",
        "Pow(Pow(Pow(9, 9), 99), 99)",
        "Pow(9, Pow(9, Pow(9, 9)))",
        "E**E**E**E**E**E",
        "asinh(" * 15 + "x" + ")" * 15,
        "Heaviside(" * 40 + "x" + ", 1)" * 40,
        "binomial(" * 18 + "x" + ", 20)" * 18,
        "Piecewise((x, " + " & ".join(["((x > 0) | (y > 0))"] * 40) + "), (asinh(x), True))",
        "Max(" + ", ".join(["x"] * 3000) + ")",
        "Matrix([" + ", ".join(["[" + ", ".join("1" * 60) + "]"] * 60) + "])[0, 0]" * 1,
        "(" * 59 + "x" + ")" * 59 + "&",
        "Piecewise(" + "((x, " * 30,
        "root(x, 10**9)**(10**9)",
    ],
    ids=lambda formula: formula[:24],
)
def test_what_could_exhaust_the_machine_is_refused_or_read_at_once(formula: str):
    with ends(), suppress(DocumentError):
        read(formula)
