"""Witnesses are exact, admissible and re-checkable; values are enclosed where they are not rational."""

from fractions import Fraction

import pytest
import sympy
from sympy import exp, log, sqrt, symbols

from recipe_compiler.algebra.points.admissible_point import Point, point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points, recheck, witness
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate, is_certainly
from recipe_compiler.algebra.scalars.rational_matrices import negative_direction
from recipe_compiler.algebra.scalars.sign_cells import chosen
from recipe_compiler.algebra.scalars.symbols import component, coordinates
from recipe_compiler.formula.declaration import Block, Declarations, Domain, Function, Parameter
from recipe_compiler.formula.expression import Compare, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape

SQUARE = Shape("d", "d")
AT_TWO = {"d": 2}
DECLARED = Declarations(
    blocks=(
        Block("theta", Shape("d")),
        Block("u", SCALAR, Domain(DomainName.POSITIVE)),
        Block("w", Shape("d"), Domain(DomainName.SIMPLEX)),
        Block("v", SCALAR, Domain(DomainName.INTERVAL, (Number(Fraction(-2)), Number(Fraction(-1))))),
    ),
    parameters=(
        Parameter("s", SCALAR, (Kind.POSITIVE,)),
        Parameter("n", SCALAR, (Kind.NONZERO,)),
        Parameter("C", SQUARE, (Kind.PSD,)),
        Parameter("M", SQUARE, (Kind.PD,)),
        Parameter("W", SQUARE, (Kind.SKEW,)),
        Parameter("L", SQUARE, (Kind.DIAGONAL, Kind.POSITIVE)),
    ),
    functions=(
        Function("U", ("theta",), role="potential"),
        Function("G", ("theta", "u"), SQUARE, (Kind.PD,)),
        Function("g", ("theta",), SCALAR, (Kind.POSITIVE,)),
    ),
)


def matrix_at(name: str, at: Point) -> tuple[tuple[Fraction, ...], ...]:
    item = DECLARED.find(name)
    assert isinstance(item, (Parameter, Function))
    entries = [[component(item, (i, j), DECLARED, AT_TWO) for j in range(2)] for i in range(2)]
    values = [[evaluate(e, at.leaf) for e in row] for row in entries]
    return tuple(tuple(x for x in row if isinstance(x, Fraction)) for row in values)


def test_points_are_the_same_however_they_are_asked_for() -> None:
    first = [at.text for at in points(DECLARED, AT_TWO, 9)]
    one, other = points(DECLARED, AT_TWO, 7), points(DECLARED, AT_TWO, 9)
    next(one)
    assert [at.text for at in other] == first
    assert next(points(DECLARED, AT_TWO, 9)).text == first[0]
    assert next(points(DECLARED, {"d": 3}, 9)).text != first[0]


def test_every_point_satisfies_every_declared_kind() -> None:
    less = Fraction(1, 10**9)
    for at in points(DECLARED, AT_TWO):
        value = {s.name: x for s, x in at.numbers.items() if isinstance(s, sympy.Symbol)}
        assert value["s"] > 0
        assert value["n"] != 0
        assert value["u"] > 0
        assert -2 < value["v"] < -1
        assert value["w[0]"] > 0
        assert value["w[1]"] > 0
        assert value["w[0]"] + value["w[1]"] < 1
        assert negative_direction(matrix_at("C", at)) is None
        for name in ("M", "G"):
            below = tuple(
                tuple(x - less * (i == j) for j, x in enumerate(row)) for i, row in enumerate(matrix_at(name, at))
            )
            assert negative_direction(below) is None
        W, L = matrix_at("W", at), matrix_at("L", at)
        assert W[0][1] == -W[1][0]
        assert W[0][0] == W[1][1] == 0
        assert L[0][1] == 0
        assert min(L[0][0], L[1][1]) > 0
        g = DECLARED.find("g")
        assert isinstance(g, Function)
        assert evaluate(component(g, (), DECLARED, AT_TWO), at.leaf) > 0


def test_assumptions_hold_at_every_point() -> None:
    a, b = Symbol("a", SCALAR, Role.PARAMETER), Symbol("b", SCALAR, Role.PARAMETER)
    declared = Declarations((Block("theta"),), (Parameter("a"), Parameter("b")), assume=(Compare(">", a, b, SCALAR),))
    found = list(points(declared, {}))
    assert found
    for at in found:
        value = {s.name: x for s, x in at.numbers.items() if isinstance(s, sympy.Symbol)}
        assert value["a"] > value["b"]


def test_contradicting_kinds_have_no_instance() -> None:
    from random import Random

    declared = Declarations(parameters=(Parameter("X", SQUARE, (Kind.SKEW, Kind.PD)),))
    with pytest.raises(NoInstanceError, match="skew"):
        point(declared, AT_TWO, 0, Random(1))


def test_a_witness_is_found_only_at_the_size_that_has_one() -> None:
    theta = coordinates(DECLARED.blocks[0], AT_TWO)
    W = DECLARED.find("W")
    assert isinstance(W, Parameter)
    e = component(W, (0, 1), DECLARED, AT_TWO) * theta[0] - component(W, (1, 0), DECLARED, AT_TWO) * theta[1]
    found = witness(e, DECLARED, AT_TWO)
    assert found is not None
    assert recheck(e, found.at, found.value)
    assert witness(e - e, DECLARED, AT_TWO) is None


def test_a_recheck_sees_a_wrong_value() -> None:
    theta = coordinates(DECLARED.blocks[0], AT_TWO)[0]
    U = DECLARED.find("U")
    assert isinstance(U, Function)
    e = sympy.diff(component(U, (), DECLARED, AT_TWO), theta) + 1
    found = witness(e, DECLARED, AT_TWO)
    assert found is not None
    assert isinstance(found.value, Fraction)
    assert not recheck(e, found.at, found.value + 1)


x, y = symbols("x y", real=True)
AT = {x: Fraction(1, 4), y: Fraction(-2)}


@pytest.mark.parametrize(
    ("e", "value"),
    [(sqrt(x) * y, Fraction(-1)), (x**-2, Fraction(16)), (exp(y + 2), Fraction(1)), (sympy.Abs(y) ** 3, Fraction(8))],
    ids=str,
)
def test_rational_values_are_exact(e: sympy.Expr, value: Fraction) -> None:
    assert evaluate(e, AT.__getitem__) == value


@pytest.mark.parametrize(
    "e",
    [
        sympy.Max(sqrt(3 * x), x, y + 2),
        sympy.Min(exp(x), log(7), sqrt(x) * 3),
        chosen(">", x, y, exp(x), log(x)),
        (-y) ** (x + Fraction(1, 3)),
        y**3 * sympy.sign(y - sqrt(2)) * sympy.Abs(sympy.sin(y)),
        sympy.polygamma(0, x) + sympy.polygamma(2, x + 1),
    ],
    ids=str,
)
def test_balls_are_narrow_about_the_value(e: sympy.Expr) -> None:
    near = sympy.N(e.subs(AT), 60)
    distance = sympy.Abs(e - sympy.Rational(str(near)), evaluate=False)
    assert is_certainly(evaluate(distance - sympy.Rational(1, 10**50), AT.__getitem__), -1)


def test_other_values_are_enclosed() -> None:
    assert is_certainly(evaluate(exp(x) - 1 - x, AT.__getitem__), 1)
    assert not is_certainly(evaluate(exp(x) ** 2 - exp(2 * x), AT.__getitem__), 0)


@pytest.mark.parametrize("e", [log(y), 1 / (x - Fraction(1, 4)), sqrt(y), sympy.loggamma(y)], ids=str)
def test_what_is_not_defined_has_no_value(e: sympy.Expr) -> None:
    with pytest.raises(NoValueError):
        evaluate(e, AT.__getitem__)
