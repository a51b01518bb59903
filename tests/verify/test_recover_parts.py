"""The parts of the search for Q: verification, the integral of the plane, scalars as formulas."""

from fractions import Fraction

import pytest
import sympy as sp
from answers import ROOT, document

from recipe_compiler.algebra.scalars.entries import scalar
from recipe_compiler.errors import Place
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text
from recipe_compiler.formula.syntax import parse
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.recover.scalar_formulas import NotWrittenError, Writer
from recipe_compiler.verify.recover.search import Recovery, from_integral, integral, recover, verified
from recipe_compiler.verify.recover.skew_problem import Proposal, fields, problem_of

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
TORUS = (OPEN / "torus_drift.yaml").read_text().replace("2*omega*cos(psi)**2", "omega")


def problem(of=PLANE):
    return problem_of(subject_of(document(of)))


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
