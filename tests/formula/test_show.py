from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.show import latex, text

COLUMN, ROW, SQUARE = Shape("d"), Shape(None, "d"), Shape("d", "d")


def test_text_looks_like_the_page(typed):
    for written in (
        "U(theta) + r.T @ inv(M) @ r / 2",
        "-grad(U, theta) - C @ inv(M) @ r",
        "theta[0]**4/10 + (4*(theta[1] + 6/5) - theta[0]**2)**2/2",
        "y*(x @ theta) - softplus(x @ theta)",
        "(r.T @ r / d - 1)*xi",
        "-(c + xi)**2/(2*c)",
        "where(c > 0, c, -c)",
        "trace(B @ B.T)*pi - 2**(1/2)",
        "1/(1 + exp(-c))",
        "M[0, 1]",
    ):
        assert text(typed(written, None)) == written


def test_updates_are_written_as_they_are_read(typed):
    written = "next(r) - eps*grad_tilde(U, theta) + N(0, 2*eps*I)"
    assert text(typed(written, COLUMN, update=True)) == written


def leaves(shape: Shape) -> st.SearchStrategy[Formula]:
    if shape == SCALAR:
        numbers = st.fractions(-5, 5, max_denominator=7).map(ex.Number)
        names = [ex.Symbol("c", SCALAR, Role.PARAMETER), ex.Symbol("xi", SCALAR, Role.BLOCK), ex.Pi()]
        return st.one_of(numbers, st.sampled_from([*names, ex.FunctionAt("U", ("theta",), SCALAR)]))
    if shape == COLUMN:
        return st.sampled_from([ex.Symbol(name, COLUMN, Role.BLOCK) for name in ("theta", "r")])
    if shape == ROW:
        return leaves(COLUMN).map(build.transpose)
    return st.sampled_from([ex.Symbol(name, SQUARE, Role.PARAMETER) for name in ("M", "C")])


def formulas(shape: Shape, depth: int) -> st.SearchStrategy[Formula]:
    """Typed formulas of a shape, with every kind of node that a formula without updates can have."""
    if depth == 0:
        return leaves(shape)

    def of(other: Shape) -> st.SearchStrategy[Formula]:
        return formulas(other, depth - 1)

    options = [
        leaves(shape),
        st.lists(of(shape), min_size=2, max_size=3).map(lambda terms: build.add(terms, shape)),
        st.builds(lambda a, b: build.multiply(a, b, shape), of(SCALAR), of(shape)),
        st.builds(lambda a, b: build.multiply(a, b, shape), of(shape), of(SCALAR)),
        of(shape).map(build.negate),
    ]
    if shape != SQUARE:
        options.append(of(shape).map(lambda a: build.power(a, ex.Number(Fraction(-1)), shape)).filter(_no_pole))
        options.append(of(shape).map(lambda a: build.power(a, ex.Number(Fraction(3, 2)), shape)))
        options.append(st.builds(lambda a, b: build.multiply(a, b, shape), of(shape), of(shape)))
        options.append(of(shape).map(lambda a: ex.Apply("tanh", (a,), shape)))
    if shape == SCALAR:
        options.append(st.builds(lambda a, b: ex.MatMul(a, b, SCALAR), of(ROW), of(COLUMN)))
        options.append(of(COLUMN).map(lambda a: ex.Entry(a, (1,))))
        options.append(st.builds(_where, of(SCALAR), of(SCALAR), of(SCALAR)))
        options.append(of(SQUARE).map(lambda a: ex.Apply("trace", (a,), SCALAR)))
    if shape == COLUMN:
        options.append(st.builds(lambda a, b: ex.MatMul(a, b, COLUMN), of(SQUARE), of(COLUMN)))
        options.append(of(SCALAR).map(lambda a: ex.Apply("grad", (a, ex.Symbol("r", COLUMN, Role.BLOCK)), COLUMN)))
    if shape == SQUARE:
        options.append(of(SQUARE).map(lambda a: ex.Apply("inv", (a,), SQUARE)))
        options.append(of(SQUARE).map(build.transpose))
        options.append(st.builds(lambda a, b: ex.MatMul(a, b, SQUARE), of(SQUARE), of(SQUARE)))
        options.append(st.builds(lambda a, b: ex.MatMul(a, b, SQUARE), of(COLUMN), of(ROW)))
        options.append(of(COLUMN).map(lambda a: ex.Apply("diag", (a,), SQUARE)))
        options.append(of(SQUARE).map(lambda a: ex.Add((a, ex.Identity("d")), SQUARE)))
    return st.one_of(options)


def _no_pole(formula: Formula) -> bool:
    return not (isinstance(formula, ex.Power) and formula.base == ex.Number(Fraction(0)))


def _where(a: Formula, b: Formula, c: Formula) -> Formula:
    return ex.Apply("where", (ex.Compare("<=", a, b, SCALAR), b, c), SCALAR)


def signed(formula: Formula) -> tuple[Fraction, Formula]:
    """The number in front of a formula, and the rest: products up to association."""
    match formula:
        case ex.Number(value):
            return value, build.ONE
        case ex.Multiply(left, right, shape):
            (a, left), (b, right) = signed(left), signed(right)
            if build.ONE in (left, right):
                return a * b, right if left == build.ONE else left
            if isinstance(right, ex.Multiply) and SCALAR in (left.shape, right.left.shape):
                shape = left.shape if right.left.shape == SCALAR else right.left.shape
                return signed_times(a * b, ex.Multiply(left, right.left, shape), right.right, right.shape)
            return a * b, ex.Multiply(left, right, shape)
        case ex.MatMul(left, right, shape):
            (a, left), (b, right) = signed(left), signed(right)
            return a * b, ex.MatMul(left, right, shape)
        case ex.Transpose(arg):
            a, arg = signed(arg)
            return a, build.transpose(arg)
        case _:
            new = [normal(part) for part in build.parts(formula)]
            return Fraction(1), build.rebuild(formula, new, lambda shape: shape)


def signed_times(number: Fraction, left: Formula, right: Formula, shape: Shape) -> tuple[Fraction, Formula]:
    a, product = signed(ex.Multiply(left, right, shape))
    return number * a, product


def normal(formula: Formula) -> Formula:
    number, rest = signed(formula)
    return ex.Multiply(ex.Number(number), rest, rest.shape)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [SCALAR, COLUMN, ROW, SQUARE], ids=str)
def test_reading_a_text_again_gives_the_same_formula(typed, shape: Shape):
    @settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(formulas(shape, 3))
    def check(formula: Formula):
        again = typed(text(formula), shape)
        assert again.shape == formula.shape
        assert text(again) == text(typed(text(again), shape))
        assert normal(again) == normal(formula)

    check()


def test_the_comparison_of_the_round_trip_sees_a_changed_formula(typed):
    for one, other in (("c*xi", "-c*xi"), ("M @ r", "M.T @ r"), ("c - xi", "c + xi"), ("c/xi", "c*xi")):
        assert normal(typed(one, None)) != normal(typed(other, None))


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("theta", r"\theta"),
        ("C @ inv(M) @ r", r"C {M}^{-1} r"),
        ("-grad(U, theta)", r"-\nabla_{\theta} U(\theta)"),
        ("r.T @ r / 2", r"\frac{1}{2} {r}^\top r"),
        ("c/(2*xi)", r"\frac{c}{2 \xi}"),
        ("(c + xi)**2", r"{\left(c + \xi\right)}^{2}"),
        ("c - (c + xi)", r"c - \left(c + \xi\right)"),
        ("r*theta", r"r \odot \theta"),
        ("theta[0]", r"{\theta}_{0}"),
        ("softplus(c)", r"\operatorname{softplus}\left(c\right)"),
        ("sqrt(c)*abs(xi)", r"\sqrt{c} \left|\xi\right|"),
        ("c*I + M", r"c I_{d} + M"),
        ("where(c > 0, c, 0)", r"\begin{cases} c & \text{if } c > 0 \\ 0 & \text{otherwise} \end{cases}"),
        ("kron(R, M) ", r"R \otimes M"),
        ("2*3**c", r"2 {3}^{c}"),
    ],
)
def test_latex(typed, written: str, printed: str):
    assert latex(typed(written, None)) == printed


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("friction", r"\mathrm{friction}"),
        ("prior_variance", r"\mathrm{prior}_{\mathrm{variance}}"),
        ("theta_1", r"\theta_{1}"),
        ("beta2", r"\beta_{2}"),
        ("Lambda", r"\Lambda"),
        ("eps", r"\epsilon"),
        ("a_b_c", r"a_{\mathrm{b\_c}}"),
    ],
)
def test_names_in_latex(name: str, printed: str):
    assert latex(ex.Symbol(name, SCALAR, Role.PARAMETER)) == printed
