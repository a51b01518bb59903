"""The parts of the search for Q: linear solve, verification, integral of the plane, homotopy, means over a torus."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp
from loaders import load_dynamics

from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.scalars.entries import scalar
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.errors import Place
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.formula.syntax import parse
from recipe_compiler.verify.core.subject import Subject, subject_of
from recipe_compiler.verify.recover.circles import mean
from recipe_compiler.verify.recover.numeric import numbers_of
from recipe_compiler.verify.recover.scalar_formulas import NotWrittenError, Writer
from recipe_compiler.verify.recover.search import Recovery, from_integral, integral, recover, verified
from recipe_compiler.verify.recover.skew_problem import Proposal, SkewProblem, fields, problem_of
from recipe_compiler.verify.recover.solve import Coefficient, Indeterminates, solve

ROOT = Path(__file__).parents[2]
OPEN = ROOT / "tests" / "recover"
ONE = Fraction(1)

PLANE = """
name: plane
state: {theta: {}, r: {}}
H: theta**4/4 + r**2/2
D: [[0, 0], [0, 0]]
claims:
  drift:
    theta: sqrt(1 + theta**2)*r
    r: -sqrt(1 + theta**2)*theta**3 + theta/sqrt(1 + theta**2)
"""
"""Riemannian HMC in one dimension, K = sqrt(1 + theta**2): Q exp(-H) vanishes at infinity for Q = -K alone."""


def problem(path: Path) -> SkewProblem:
    dynamics = load_dynamics(path)
    found = problem_of(subject_of(dynamics))
    assert found is not None
    return found


def plane(folder: Path, body: str = PLANE) -> SkewProblem:
    path = folder / "plane.yaml"
    path.write_text(body, encoding="utf-8")
    return problem(path)


def point(subject: Subject, *values: Fraction) -> Point:
    z = [x for block in subject.dynamics.declarations.blocks for x in coordinates(block, {})]
    return Point(dict(zip(z, values, strict=True)), {}, ())


# --- linear equations -------------------------------------------------------------------------------------------------


def test_equations_are_solved_for_functions_of_sizes() -> None:
    columns = [{"a": ((ONE, (("d", 1),)),), "b": ((ONE, ()),)}, {"b": ((Fraction(-2), (("m", 1),)),)}]
    target = {"a": ((Fraction(3), ()),)}
    found = dict(solve(columns, target, Indeterminates(["d", "m"])) or ())
    assert found[0] == Coefficient(((Fraction(3), ()),), ((ONE, (("d", 1),)),))
    assert found[1].bottom == ((ONE, (("d", 1), ("m", 1))),) or found[1].top == ((Fraction(3), ()),)
    values = {"d": Fraction(5), "m": Fraction(7)}
    assert value(found[0], values) == Fraction(3, 5)
    assert value(found[1], values) == Fraction(3, 70)


def value(coefficient: Coefficient, values: dict[str, Fraction]) -> Fraction:
    def of(entry: tuple[tuple[Fraction, tuple[tuple[object, int], ...]], ...]) -> Fraction:
        total = Fraction(0)
        for number, powers in entry:
            for name, n in powers:
                number *= values[str(name)] ** n
            total += number
        return total

    return of(coefficient.top) / of(coefficient.bottom)


def test_a_generator_that_stands_for_a_sum_is_that_sum() -> None:
    generators = Indeterminates(["d"])
    generators.note("over", ((ONE, (("d", 1),)), (Fraction(2), ())))
    columns = [{"a": ((ONE, (("d", 1),)), (Fraction(2), ()))}]
    found = solve(columns, {"a": ((ONE, (("over", 2),)),)}, generators)
    assert found is not None
    assert value(found[0][1], {"d": Fraction(3)}) == Fraction(5)


def test_equations_without_a_solution_have_none() -> None:
    columns = [{"a": ((ONE, ()),), "b": ((ONE, ()),)}]
    assert solve(columns, {"a": ((ONE, ()),)}, Indeterminates()) is None
    assert solve([], {"a": ((ONE, ()),)}, Indeterminates()) is None


def test_the_first_unknowns_that_do_are_used() -> None:
    column = {"a": ((Fraction(2), ()),)}
    found = solve([column, column, {"a": ((ONE, ()),)}], {"a": ((ONE, ()),)}, Indeterminates())
    assert found == ((0, Coefficient(((Fraction(1, 2), ()),), ((ONE, ()),))),)


def test_nothing_asked_needs_nothing() -> None:
    assert solve([{"a": ((ONE, ()),)}], {}, Indeterminates()) == ()


# --- verification -----------------------------------------------------------------------------------------------------


def test_a_proposal_that_is_wrong_is_not_believed(tmp_path: Path) -> None:
    asked = plane(tmp_path)
    right = recover(asked.subject)
    assert right is not None
    assert isinstance(verified(asked, Proposal(right.Q, "given")), Recovery)
    turned = tuple(zip(*right.Q, strict=True))
    said = verified(asked, Proposal(turned, "turned"))
    assert isinstance(said, str)
    assert "the claimed drift is the derived one" in said
    one = Number(ONE)
    symmetric = ((Number(Fraction(0)), one), (one, Number(Fraction(0))))
    said = verified(asked, Proposal(symmetric, "symmetric"))
    assert isinstance(said, str)
    assert "Q is skew" in said


def test_a_q_that_is_not_periodic_is_not_believed_on_a_torus(tmp_path: Path) -> None:
    body = (OPEN / "torus_drift.yaml").read_text(encoding="utf-8").replace("2*omega*cos(psi)**2", "omega")
    straight = plane(tmp_path, body.replace("{domain: circle}", "{}"))
    found = recover(straight.subject)
    assert found is not None
    said = verified(plane(tmp_path, body), Proposal(found.Q, "straight"))
    assert isinstance(said, str)
    assert "periodic" in said


# --- the plane --------------------------------------------------------------------------------------------------------


def test_the_integral_of_the_plane_has_coefficients_of_any_kind(tmp_path: Path) -> None:
    asked = plane(tmp_path)
    found = from_integral(asked, fields(asked, {}))
    assert isinstance(found, Proposal)
    assert isinstance(verified(asked, found), Recovery)
    assert text(found.Q[0][1]) in {"-sqrt(1 + theta**2)", "-sqrt(theta**2 + 1)"}


@pytest.mark.slow
def test_the_integral_of_the_plane_goes_beyond_the_ansatz() -> None:
    asked = problem(OPEN / "steep.yaml")
    found = from_integral(asked, fields(asked, {}))
    assert isinstance(found, Proposal)
    assert isinstance(verified(asked, found), Recovery)


def test_the_integral_along_either_coordinate_is_tried(tmp_path: Path) -> None:
    body = """
name: along
state: {x: {}, y: {}}
H: x**2/2 + exp(y) - y
D: [[0, 0], [0, 0]]
claims:
  drift: {x: "-x**3*exp(y)*(exp(y) - 1) + x**3*exp(y)", y: "x**4*exp(y) - 3*x**2*exp(y)"}
"""
    asked = plane(tmp_path, body)
    found = from_integral(asked, fields(asked, {}))
    assert isinstance(found, Proposal)
    assert found.by == "integral along x"
    assert isinstance(verified(asked, found), Recovery)


def test_an_integral_that_is_no_polynomial_is_refused() -> None:
    z, a = sp.Symbol("z", real=True), sp.Symbol("a", real=True)
    assert integral(z, z, sp.sin(z)) is None
    assert integral(z, sp.exp(z), z) is None
    assert integral(z, sp.Integer(2), z) is None
    q = integral(z, z + a, 1 - z**2 - a * z)
    assert q is not None
    assert sp.expand(q - z) == 0


# --- the homotopy from infinity ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("theta", "r"), [("1/2", "1"), ("6/5", "-3/10"), ("2", "1/10"), ("-1", "1/3")])
def test_numbers_from_infinity_are_those_of_the_q_that_vanishes_there(theta: str, r: str, tmp_path: Path) -> None:
    asked = plane(tmp_path)
    found = numbers_of(asked, point(asked.subject, Fraction(theta), Fraction(r)), {})
    assert found is not None
    expected = -((1 + Fraction(theta) ** 2) ** Fraction(1, 2))
    assert found[0][1] == pytest.approx(expected, rel=1e-7)
    assert found[1][0] == -found[0][1]
    assert found[0][0] == found[1][1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear_three", "cubic"])
def test_numbers_in_three_dimensions_satisfy_the_equation(name: str) -> None:
    asked = problem(OPEN / f"{name}.yaml")
    subject = asked.subject
    numbers = {sp.Symbol("a", real=True): Fraction(2, 3), sp.Symbol("b", positive=True): Fraction(3, 2)}
    at = fields(asked, {})
    z0 = (Fraction(1, 2), Fraction(-2, 3), Fraction(3, 4))
    h = Fraction(1, 64)

    def Q(z: tuple[Fraction, ...]) -> tuple[tuple[float, ...], ...]:
        here = point(subject, *z)
        found = numbers_of(asked, Point(dict(here.numbers) | numbers, {}, ()), {})
        assert found is not None
        return found

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


def test_numbers_are_refused_where_rays_leave_the_domain(tmp_path: Path) -> None:
    asked = plane(tmp_path, PLANE.replace("theta: {}", "theta: {domain: positive}"))
    assert numbers_of(asked, point(asked.subject, ONE, ONE), {}) is None


def test_numbers_are_refused_where_the_current_does_not_decay(tmp_path: Path) -> None:
    body = PLANE.replace("theta**4/4 + r**2/2", "0").replace("sqrt(1 + theta**2)*r", "1")
    body = body.replace("r: -sqrt(1 + theta**2)*theta**3 + theta/sqrt(1 + theta**2)", "r: 2")
    asked = plane(tmp_path, body)
    assert numbers_of(asked, point(asked.subject, ONE, ONE), {}) is None


# --- means over a torus -----------------------------------------------------------------------------------------------


def test_means_of_trigonometric_polynomials_are_exact() -> None:
    p, q, a = sp.Symbol("p", real=True), sp.Symbol("q", real=True), sp.Symbol("a", real=True)
    assert mean(sp.sin(p) ** 4 * sp.cos(p) ** 2 * a, (p, q)) == a / 16
    assert mean(sp.sin(p) * sp.cos(q) ** 2 + sp.cos(2 * q) + 3, (p, q)) == 3
    assert mean(sp.sin(p + q) ** 2, (p, q)) == sp.Rational(1, 2)
    assert mean(p * sp.sin(p), (p, q)) is None
    assert mean(1 / (2 + sp.sin(p)), (p, q)) is None
    assert mean(sp.exp(sp.sin(p)), (p, q)) is None


# --- scalars as formulas ----------------------------------------------------------------------------------------------

DECLARED = """
name: declared
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
def test_a_scalar_is_written_and_read_again_as_the_same(formula: str, tmp_path: Path) -> None:
    path = tmp_path / "declared.yaml"
    path.write_text(DECLARED.replace("of: [x, v]", "of: [x, v]"), encoding="utf-8")
    dynamics = load_dynamics(path)
    declarations = dynamics.declarations
    here = Place("", 1, 1)

    def read(source: str) -> sp.Expr:
        typed = elaborate(parse(source, "test", here), Scope(declarations), SCALAR, "test", here)
        return scalar(typed, declarations, {})

    first = read(formula)
    assert sp.expand(read(text(Writer(declarations).written(first))) - first) == 0


def test_what_has_no_formula_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "declared.yaml"
    path.write_text(DECLARED, encoding="utf-8")
    dynamics = load_dynamics(path)
    x = sp.Symbol("x", real=True)
    with pytest.raises(NotWrittenError):
        Writer(dynamics.declarations).written(sp.airyai(x))
    with pytest.raises(NotWrittenError):
        Writer(dynamics.declarations).written(sp.Symbol("unknown"))


def test_recovery_of_a_document_with_q_given_looks_at_the_claims_alone() -> None:
    dynamics = load_dynamics(ROOT / "specs" / "dynamics" / "sgnht.yaml")
    assert recover(subject_of(dynamics)) == recover(subject_of(replace(dynamics, Q=None)))
