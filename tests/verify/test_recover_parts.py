"""The search for Q: what is proposed is verified, and what it proposes at fixed sizes."""

from fractions import Fraction

import pytest
from answers import ROOT, document

from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.show import text
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.recover.search import Recovery, problem_of, search, verify_candidate

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
    return problem_of(prepare_subject(document(of)))


# verification


def test_a_proposal_that_is_wrong_is_not_believed():
    asked, one = problem(), Number(Fraction(1))
    right = search(asked).found
    assert isinstance(verify_candidate(asked, right.Q, "given"), Recovery)
    turned = tuple(zip(*right.Q, strict=True))
    assert "the claimed drift equals the derived drift" in verify_candidate(asked, turned, "turned")
    symmetric = ((Number(Fraction(0)), one), (one, Number(Fraction(0))))
    assert "Q is skew" in verify_candidate(asked, symmetric, "symmetric")


def test_a_q_that_is_not_periodic_is_not_believed_on_a_torus():
    found = search(problem(TORUS.replace("{domain: circle}", "{}"))).found
    assert "periodic" in verify_candidate(problem(TORUS), found.Q, "straight")


# at fixed sizes


@pytest.mark.parametrize("of", [PLANE, ALONG, OPEN / "steep.yaml"], ids=["plane", "along", "steep"])
def test_a_q_of_two_coordinates_has_polynomials_and_transcendentals(of):
    found = search(problem(of)).found
    assert isinstance(found, Recovery)
    assert of != PLANE or text(found.Q[0][1]) == "-sqrt(theta**2 + 1)"


@pytest.mark.parametrize("q", ["x**3*y**2*z", "sin(x)*y**2 + x*exp(z)", "sqrt(1 + x**2)*z**2", "sin(x)*cos(x)*y"])
def test_an_entry_that_does_not_occur_is_found(q):
    """With H = (x**2 + y**2 + z**2)/2, Q_xz = q: the drift is d_z q - q z, 0, q x - d_x q."""
    state, H = "state: {x: {}, y: {}, z: {}}", "H: x**2/2 + y**2/2 + z**2/2\nD: [[0, 0, 0], [0, 1, 0], [0, 0, 0]]"
    drift = f"{{x: 'grad({q}, z) - ({q})*z', y: -y, z: '({q})*x - grad({q}, x)'}}"
    assert search(problem(f"{state}\n{H}\nclaims: {{drift: {drift}}}\n")).found is not None
