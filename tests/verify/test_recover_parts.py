"""The parts of the search for Q: linear solve, verification, integral of the plane, homotopy, means over a torus."""

from fractions import Fraction

import pytest
import sympy as sp
from answers import ROOT, document

from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.scalars.entries import scalar
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.errors import Place
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.formula.syntax import parse
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.recover.circles import mean
from recipe_compiler.verify.recover.numeric import numbers_of
from recipe_compiler.verify.recover.scalar_formulas import NotWrittenError, Writer
from recipe_compiler.verify.recover.search import Recovery, from_integral, integral, recover, verified
from recipe_compiler.verify.recover.skew_problem import Proposal, fields, problem_of
from recipe_compiler.verify.recover.solve import Coefficient, Indeterminates, solve

OPEN = ROOT / "tests/recover"
# Riemannian HMC in one dimension, K = sqrt(1 + theta**2): Q exp(-H) vanishes at infinity for Q = -K alone
PLANE = """
state: {theta: {}, r: {}}
H: theta**4/4 + r**2/2
D: [[0, 0], [0, 0]]
claims: {drift: {theta: sqrt(1 + theta**2)*r, r: -sqrt(1 + theta**2)*theta**3 + theta/sqrt(1 + theta**2)}}
"""
ALONG = """
state: {x: {}, y: {}}
H: x**2/2 + exp(y) - y
D: [[0, 0], [0, 0]]
claims: {drift: {x: "-x**3*exp(y)*(exp(y) - 1) + x**3*exp(y)", y: "x**4*exp(y) - 3*x**2*exp(y)"}}
"""
CURRENT = "state: {theta: {}, r: {}}\nH: 0\nD: [[0, 0], [0, 0]]\nclaims: {drift: {theta: 1, r: 2}}\n"
TORUS = (OPEN / "torus_drift.yaml").read_text().replace("2*omega*cos(psi)**2", "omega")


def problem(of=PLANE):
    return problem_of(subject_of(document(of)))


def point(asked, *values):
    z = [x for block in asked.subject.dynamics.declarations.blocks for x in coordinates(block, {})]
    return Point(dict(zip(z, values, strict=True)), {}, ())


# linear equations


def of(*terms):
    """Return a polynomial of numbers beside powers of names: `of(3, (2, "d"))` is 3 + 2 d."""
    pairs = [term if isinstance(term, tuple) else (term,) for term in terms]
    return tuple((Fraction(number), tuple((name, 1) for name in names)) for number, *names in pairs)


def value(coefficient, values):
    def total(entry):
        found = Fraction(0)
        for number, powers in entry:
            for name, n in powers:
                number *= values[str(name)] ** n
            found += number
        return found

    return total(coefficient.top) / total(coefficient.bottom)


def test_equations_are_solved_for_functions_of_sizes():
    columns = [{"a": of((1, "d")), "b": of(1)}, {"b": of((-2, "m"))}]
    found = dict(solve(columns, {"a": of(3)}, Indeterminates(["d", "m"])))
    assert found[0] == Coefficient(of(3), of((1, "d")))
    assert found[1].bottom == of((1, "d", "m")) or found[1].top == of(3)
    values = {"d": Fraction(5), "m": Fraction(7)}
    assert [value(found[k], values) for k in (0, 1)] == [Fraction(3, 5), Fraction(3, 70)]


def test_a_generator_that_stands_for_a_sum_is_that_sum():
    generators = Indeterminates(["d"])
    generators.note("over", of((1, "d"), 2))
    found = solve([{"a": of((1, "d"), 2)}], {"a": ((Fraction(1), (("over", 2),)),)}, generators)
    assert value(found[0][1], {"d": Fraction(3)}) == Fraction(5)


def test_equations_have_the_first_solution_there_is_or_none():
    one, two = {"a": of(1)}, {"a": of(2)}
    assert solve([{"a": of(1), "b": of(1)}], one, Indeterminates()) is None
    assert solve([], one, Indeterminates()) is None
    assert solve([two, two, one], one, Indeterminates()) == ((0, Coefficient(of(Fraction(1, 2)), of(1))),)
    assert solve([one], {}, Indeterminates()) == ()


# verification


def test_a_proposal_that_is_wrong_is_not_believed():
    asked, one = problem(), Number(Fraction(1))
    right = recover(asked.subject)
    assert isinstance(verified(asked, Proposal(right.Q, "given")), Recovery)
    turned = tuple(zip(*right.Q, strict=True))
    assert "the claimed drift equals the derived drift" in verified(asked, Proposal(turned, "turned"))
    symmetric = ((Number(Fraction(0)), one), (one, Number(Fraction(0))))
    assert "Q is skew" in verified(asked, Proposal(symmetric, "symmetric"))


def test_a_q_that_is_not_periodic_is_not_believed_on_a_torus():
    found = recover(problem(TORUS.replace("{domain: circle}", "{}")).subject)
    assert "periodic" in verified(problem(TORUS), Proposal(found.Q, "straight"))


# the plane


@pytest.mark.parametrize(
    "of", [PLANE, ALONG, pytest.param(OPEN / "steep.yaml", marks=pytest.mark.slow)], ids=["plane", "along", "steep"]
)
def test_the_integral_of_the_plane_has_coefficients_of_any_kind_along_either_coordinate(of):
    asked = problem(of)
    found = from_integral(asked, fields(asked, {}))
    assert isinstance(verified(asked, found), Recovery)
    assert of != PLANE or text(found.Q[0][1]) in {"-sqrt(1 + theta**2)", "-sqrt(theta**2 + 1)"}
    assert of != ALONG or found.by == "integral along x"


def test_an_integral_that_is_no_polynomial_is_refused():
    z, a = sp.Symbol("z", real=True), sp.Symbol("a", real=True)
    assert integral(z, z, sp.sin(z)) is None
    assert integral(z, sp.exp(z), z) is None
    assert integral(z, sp.Integer(2), z) is None
    assert sp.expand(integral(z, z + a, 1 - z**2 - a * z) - z) == 0


# the homotopy from infinity


@pytest.mark.parametrize(("theta", "r"), [("1/2", "1"), ("6/5", "-3/10"), ("2", "1/10"), ("-1", "1/3")])
def test_numbers_from_infinity_are_those_of_the_q_that_vanishes_there(theta, r):
    asked = problem()
    found = numbers_of(asked, point(asked, Fraction(theta), Fraction(r)), {})
    assert found[0][1] == pytest.approx(-((1 + Fraction(theta) ** 2) ** Fraction(1, 2)), rel=1e-7)
    assert found[1][0] == -found[0][1]
    assert found[0][0] == found[1][1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear_three", "cubic"])
def test_numbers_in_three_dimensions_satisfy_the_equation(name):
    asked = problem(OPEN / f"{name}.yaml")
    numbers = {sp.Symbol("a", real=True): Fraction(2, 3), sp.Symbol("b", positive=True): Fraction(3, 2)}
    at, h = fields(asked, {}), Fraction(1, 64)
    z0 = (Fraction(1, 2), Fraction(-2, 3), Fraction(3, 4))

    def Q(z):
        return numbers_of(asked, Point(dict(point(asked, *z).numbers) | numbers, {}, ()), {})

    here = dict(zip(at.z, z0, strict=True)) | numbers
    exact = {s: sp.Rational(v.numerator, v.denominator) for s, v in here.items()}
    middle = Q(z0)
    for i in range(3):
        total = 0.0
        for j in range(3):
            shifts = [tuple(x + k * h * (n == j) for n, x in enumerate(z0)) for k in (-2, -1, 1, 2)]
            a, b, c, d = (Q(z)[i][j] for z in shifts)
            total += (a - 8 * b + 8 * c - d) / (12 * float(h)) - middle[i][j] * float(at.g[j].subs(exact))
        assert total == pytest.approx(float(at.W[i].subs(exact)), abs=1e-4)


@pytest.mark.parametrize("of", [PLANE.replace("theta: {}", "theta: {domain: positive}"), CURRENT])
def test_numbers_are_refused_where_rays_leave_the_domain_or_the_current_does_not_decay(of):
    asked = problem(of)
    assert numbers_of(asked, point(asked, Fraction(1), Fraction(1)), {}) is None


def test_means_of_trigonometric_polynomials_over_a_torus_are_exact():
    p, q, a = sp.symbols("p q a", real=True)
    assert mean(sp.sin(p) ** 4 * sp.cos(p) ** 2 * a, (p, q)) == a / 16
    assert mean(sp.sin(p) * sp.cos(q) ** 2 + sp.cos(2 * q) + 3, (p, q)) == 3
    assert mean(sp.sin(p + q) ** 2, (p, q)) == sp.Rational(1, 2)
    for other in (p * sp.sin(p), 1 / (2 + sp.sin(p)), sp.exp(sp.sin(p))):
        assert mean(other, (p, q)) is None


# scalars as formulas

DECLARED = """
state: {x: {}, v: {shape: 2}}
parameters: {a: {is: positive}, M: {shape: [2, 2], is: symmetric}}
functions: {U: {of: [x, v]}, K: {of: v, shape: [2, 2]}}
H: U + x**2/2
D: [[0, 0], [0, 0]]
Q: [[0, 0], [0, 0]]
"""


@pytest.mark.parametrize(
    "formula",
    [
        "x**2/3 - 2*a*v[1]",
        "sqrt(1 + x**2)*exp(-a*x)/(1 + v[0]**2)",
        "M[0, 1]*K(v)[1, 0] - 1/x",
        "grad(U, v)[1]*sin(x) + grad(U, x)**2",
        "(1 + x**2)**(3/4) - pi*tanh(x)",
        "-(1 + a)*log(2 + x**2)",
    ],
)
def test_a_scalar_is_written_and_read_again_as_the_same(formula):
    declarations, here = document(DECLARED).declarations, Place("", 1, 1)

    def read(source):
        typed = elaborate(parse(source, "test", here), Scope(declarations), SCALAR, "test", here)
        return scalar(typed, declarations, {})

    first = read(formula)
    assert sp.expand(read(text(Writer(declarations).written(first))) - first) == 0


@pytest.mark.parametrize("unwritten", [sp.airyai(sp.Symbol("x", real=True)), sp.Symbol("unknown")])
def test_what_has_no_formula_is_refused(unwritten):
    with pytest.raises(NotWrittenError):
        Writer(document(DECLARED).declarations).written(unwritten)
