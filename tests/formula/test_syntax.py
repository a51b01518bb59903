from fractions import Fraction

import pytest
from processor_time import ends

from recipe_compiler.errors import Place, SpecError
from recipe_compiler.formula import tree
from recipe_compiler.formula.syntax import parse

WHERE = Place("spec.yaml", 7, 4)


def strip(node: tree.Tree) -> str:
    """A tree as a fully parenthesised text, for reading precedence off."""
    match node:
        case tree.Literal(value):
            return str(value)
        case tree.Name(name):
            return name
        case tree.Call(name, args):
            return f"{name}({', '.join(strip(a) for a in args)})"
        case tree.Negate(arg):
            return f"(-{strip(arg)})"
        case tree.Sum(terms):
            return f"({' + '.join(strip(t) for t in terms)})"
        case tree.Product(factors, operators):
            rest = "".join(f" {o} {strip(f)}" for o, f in zip(operators, factors[1:], strict=True))
            return f"({strip(factors[0])}{rest})"
        case tree.Power(base, exponent):
            return f"({strip(base)} ** {strip(exponent)})"
        case tree.Transposed(arg):
            return f"{strip(arg)}.T"
        case tree.Subscript(arg, positions):
            return f"{strip(arg)}{list(positions)}"
        case tree.Comparison(op, left, right):
            return f"{strip(left)} {op} {strip(right)}"


def fault(text: str, where: Place = WHERE):
    with pytest.raises(SpecError) as error:
        parse(text, "H", where)
    (only,) = error.value.faults
    assert only.entry == "H"
    return only


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("-x**2", "(-(x ** 2))"), ("2**-x", "(2 ** (-x))"), ("x**y**z", "(x ** (y ** z))"), ("-x*y", "((-x) * y)"),
        ("a - b - c", "(a + (-b) + (-c))"), ("a - (b - c)", "(a + (-(b + (-c))))"), ("a*b/c@e", "(a * b / c @ e)"),
        ("a + b*c", "(a + (b * c))"), ("A.T[0, 1]**2", "(A.T[0, 1] ** 2)"), ("-r.T @ v", "((-r.T) @ v)"),
        ("f(a, b + 1)", "f(a, (b + 1))"), ("a*c - b**2 >= 0", "((a * c) + (-(b ** 2))) >= 0"),
        ("where(x < 0, a, b)", "where(x < 0, a, b)"), ("a +\n  b", "(a + b)"),
    ],
)  # fmt: skip
def test_precedence_is_that_of_python(text: str, read: str):
    assert strip(parse(text, "H", WHERE)) == read


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.1", Fraction(1, 10)), ("1e-3", Fraction(1, 1000)), (".5E2", Fraction(50)), ("010", Fraction(10))],
)
def test_decimals_are_exact_ratios(text: str, value: Fraction):
    assert parse(text, "H", WHERE) == tree.Literal(value, tree.Spot(0, 0))


@pytest.mark.parametrize(
    "text", ["x; y", "x # y", "{x: 1}", "lambda", "a if b else c", "a and b", "x\\\ny", "`x`", "x\x00"]
)
def test_what_is_not_in_the_grammar_is_refused(text: str):
    """What would be run as Python is in `tests/hostile`, as are large numbers and deep nestings in every field."""
    assert fault(text).where.column >= WHERE.column


@pytest.mark.parametrize(
    "text",
    [
        "x**(10**10)", "(x+1)**100000", "exp(exp(exp(10)))", "1e-401", "sqrt(1+" * 100 + "x" + ")" * 100,
        "(2**0.5)**(10**9)", "((x**1000)**1000)", "pi**pi**pi**pi**pi", "A" + ".T" * 3000, "A" + " @ A" * 3000,
        "norm2(" * 40 + "x" + ")" * 40, "*".join(["9e300"] * 100), "(" * 59 + "x*" * 8 + "x" + ")*x*x*x*x*x*x*x" * 59,
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_what_could_exhaust_the_machine_is_refused_at_once(text: str):
    with ends():
        assert fault(text).problem


@pytest.mark.parametrize("text", ["1/0", "x/(1/3 - 1/3)", "0**-1", "x/0.0"])
def test_division_by_a_constant_zero_is_refused(text: str):
    assert "division by zero" in fault(text).problem


@pytest.mark.parametrize(
    "text",
    [
        "+".join("x" * 4999), "*".join("x" * 4999), "x" + "-y/2" * 2400, "(" * 58 + "x" + ")" * 58, "exp(0.0001)",
        "1.7e308",
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_long_honest_formulas_are_read(text: str):
    parse(text, "H", WHERE)


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("x^2", 5, "**"), ("2x", 5, "2*x"), ("y + sin x", 12, "sin(x)"), ("(a)(b)", 7, "*"), ("a b", 6, "a*b"),
        ("[1, [2, 3]]", 4, "as many entries"), ("x = 1", 6, "=="), ("+x", 4, "sign"),
        ("x[-1]", 6, "theta[0]"), ("x.t", 6, "attribute"), ("1_000", 5, "_"),
    ],
)  # fmt: skip
def test_a_fault_points_to_its_character_and_says_what_to_write(text: str, column: int, hint: str):
    found = fault(text)
    assert found.where == Place("spec.yaml", 7, column)
    assert hint in found.hint


@pytest.mark.parametrize(
    ("text", "point"), [("x\u2060**2", "U+2060"), ("x\u00b2", "U+00B2"), ("\u2212x", "U+2212"), ("\uff58", "U+FF58")]
)
def test_characters_beyond_ascii_are_named_by_code_point(text: str, point: str):
    assert point in fault(text).problem


def test_a_fault_on_a_later_line_counts_from_the_start_of_that_line():
    assert fault("1 +\n 2x").where == Place("spec.yaml", 8, 3)


def test_without_a_line_in_the_document_the_problem_names_the_column_of_the_formula():
    found = fault("1 + 2x", Place("notebook"))
    assert found.where == Place("notebook")
    assert "column 6 of the formula" in found.problem


@pytest.mark.parametrize(
    "text", ["", "  ", "x +", "f(", "f()", "f(x,)", "x[0", "(x", "x)", "a < b < c", "1.", "x." + "y"]
)
def test_incomplete_formulas_are_refused(text: str):
    assert fault(text).problem


def test_a_name_of_sixty_three_characters_is_the_longest():
    parse("a" * 63, "H", WHERE)
    assert "64" in fault("a" * 64).problem


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("(p.T*M.I*p)[0,0]", "inv(M) and matrix products @"),
        ("p.dot(p)", "u.T @ v"),
        ("sum(p[i]**2 for i in range(d))", "positions are numbers; over all of them write sum(v)"),
    ],
)
def test_what_numpy_and_sympy_write_is_answered_with_what_formulas_write(text: str, hint: str):
    with pytest.raises(SpecError) as caught:
        parse(text, "H", Place("spec.yaml", 1, 1))
    assert hint in caught.value.faults[0].hint
