"""Fokker-Planck residuals of known samplers, right ones and wrong ones, for every size."""

import pytest
from processor_time import ends

from recipe_compiler.derive.recipe import derive
from recipe_compiler.derive.stationarity import residual, skewness_defect, symmetry_defect
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.show import text

KINETIC = "U + r.T @ inv(M) @ r / 2"
CANONICAL = {"theta,r": "-I", "r,theta": "I"}
TWO = "theta:d; r:d"
M_C = "M:d d:positive definite; C:d d:positive semidefinite"
THERMOSTAT = {**CANONICAL, "r,xi": "r/d", "xi,r": "-r.T/d"}

RIGHT = {
    "hmc": (TWO, M_C, "U:theta", KINETIC, {}, CANONICAL),
    "sghmc": (TWO, M_C, "U:theta", KINETIC, {"r,r": "C"}, CANONICAL),
    "sgld": ("theta:d", "D0:d d:positive semidefinite", "U:theta", "U", {"theta,theta": "D0"}, {}),
    "sgrld": ("theta:d", "", "U:theta; B:theta:d d:positive semidefinite", "U", {"theta,theta": "B"}, {}),
    "theorem 1": (
        "z:d", "", "E:z; A:z:d d:positive semidefinite; R:z:d d:skew", "E", {"z,z": "A"}, {"z,z": "R"},
    ),
    "theorem 1, two blocks": (
        "x:d; y:k", "", "E:x y; A:x y:d d:positive semidefinite; L:x y:d k; R:x y:k k:skew", "E",
        {"x,x": "A"}, {"x,y": "L", "y,x": "-L.T", "y,y": "R"},
    ),
    "sgnht": (
        "theta:d; r:d; xi:", "A::positive", "U:theta", "U + r.T @ r / 2 + d/2*(xi - A)**2", {"r,r": "A*I"}, THERMOSTAT,
    ),
    "sgrhmc": (
        TWO, "", "U:theta; K:theta:d d:symmetric", "U + r.T @ r / 2",
        {"r,r": "K @ K"}, {"theta,r": "-K", "r,theta": "K"},
    ),
    "rhmc": (
        TWO, "", "U:theta; G:theta:d d:positive definite", "U + r.T @ inv(G) @ r / 2 + logdet(G)/2", {}, CANONICAL,
    ),
    "cir": (
        "theta:d:positive", "a::positive", "", "sum(theta) - (a - 1)*sum(log(theta))",
        {"theta,theta": "diag(theta)"}, {},
    ),
    "generalised langevin": (
        "theta:d; r:d; w:k", "g::positive", "U:theta; L:theta:d k", "U + r.T @ r / 2 + w.T @ w / 2",
        {"w,w": "g*I"}, {**CANONICAL, "r,w": "-L", "w,r": "L.T"},
    ),
    "low rank": ("theta:d", "", "U:theta; B:theta:d k", "U", {"theta,theta": "B @ B.T"}, {}),
    "non-separable metric": (
        "theta:d", "S:d d:positive definite", "U:theta", "U",
        {"theta,theta": "sqrt(1 + theta.T @ S @ theta)*inv(S) + theta @ theta.T/(1 + norm2(theta))"}, {},
    ),
    "inverse of a sum": ("theta:d", "", "U:theta", "U", {"theta,theta": "inv(I + theta @ theta.T)"}, {}),
    "elementwise functions": (
        TWO, "x:d", "U:theta", "U + sum(softplus(r)) + sum(softplus(-r)) + tanh(x.T @ theta)",
        {"r,r": "diag(sigmoid(theta)) + exp(x.T @ theta)*I"}, CANONICAL,
    ),
    "laplace": ("theta:d", "", "", "sum(abs(theta))", {"theta,theta": "I"}, {}),
    "fixed size": (
        "theta:2", "", "", "theta[0]**4/10 + (4*(theta[1] + 1.2) - theta[0]**2)**2/2",
        {"theta,theta": "(1 + theta.T @ theta)*I"}, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_derived_drift_is_stationary_for_every_size(name, make):
    derivation = derive(make(*RIGHT[name]))
    with ends():
        defect = residual(derivation, derivation.drift, derivation.D)
    assert defect.is_zero, text(defect)


@pytest.mark.parametrize("name", RIGHT)
def test_D_is_symmetric_and_Q_skew(name, make):
    derivation = derive(make(*RIGHT[name]))
    for defect in (symmetry_defect(derivation), skewness_defect(derivation)):
        assert all(entry.is_zero for row in defect for entry in row)


WRONG = {
    # noise of the gradient, no friction: chen2014sghmc Sec. 3.1
    "naive sghmc": ("sghmc", ["inv(M) @ r", "-grad(U, theta)"]),
    # Gamma left out: ma2015recipe Eq. 16
    "naive sgrhmc": ("sgrhmc", ["K @ r", "-K @ grad(U, theta) - K @ K @ r"]),
    "sgrhmc with the sign of Gamma wrong": (
        "sgrhmc", ["K @ r", "-K @ grad(U, theta) - div(K, theta) - K @ K @ r"],
    ),
    "sgrhmc with the friction not squared": (
        "sgrhmc", ["K @ r", "-K @ grad(U, theta) + div(K, theta) - K @ r"],
    ),
    "sgrld without Gamma": ("sgrld", ["-B @ grad(U, theta)"]),
    "sgrld with the sign of Gamma wrong": ("sgrld", ["-B @ grad(U, theta) - div(B, theta)"]),
    "low rank with half of Gamma": ("low rank", ["-B @ B.T @ grad(U, theta) + B @ div(B.T, theta)"]),
    "cir without Gamma": ("cir", ["a - 1 - theta"]),
    "rhmc without the determinant": (
        "rhmc", ["inv(G) @ r", "-grad(U, theta) - grad(r.T @ inv(G) @ r / 2, theta)"],
    ),
    "thermostat off by one": ("sgnht", ["r", "-grad(U, theta) - xi*r", "r.T @ r / d"]),
    "coupling not transposed": (
        "generalised langevin", ["r", "-grad(U, theta) + L @ w", "L.T @ r - g*w"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_drift_leaves_a_residual(name, make, vector):
    system, drift = WRONG[name]
    drift = [row if row != "a - 1 - theta" else "(a - 1)*ones - theta" for row in drift]
    derivation = derive(make(*RIGHT[system]))
    assert residual(derivation, vector(derivation.dynamics, drift), derivation.D).terms


RIGHT_CLAIMS = {
    "sghmc": ["inv(M) @ r", "-grad(U, theta) - C @ inv(M) @ r"],
    "sgrhmc": ["K @ r", "-K @ grad(U, theta) + div(K, theta) - K @ K @ r"],
    "sgnht": ["r", "-grad(U, theta) - xi*r", "r.T @ r / d - 1"],
    "cir": ["a*ones - theta"],
    "low rank": ["-B @ B.T @ grad(U, theta) + div(B @ B.T, theta)"],
    "generalised langevin": ["r", "-grad(U, theta) + L @ w", "-L.T @ r - g*w"],
}


@pytest.mark.parametrize("name", RIGHT_CLAIMS)
def test_published_drift_equals_the_derived_one(name, make, vector):
    derivation = derive(make(*RIGHT[name]))
    c = calculus(derivation.dynamics.declarations)
    claimed = vector(derivation.dynamics, RIGHT_CLAIMS[name])
    for one, other in zip(derivation.drift, claimed, strict=True):
        assert c.is_zero(c.subtract(one, other))


def test_thermostat_with_the_published_scale_is_not_stationary_for_every_d(make, vector):
    """ding2014sgnht: d/2 (xi - A)^2; with 1/(2d) the published drift is right at d = 1 only."""
    state, parameters, functions, _, D, Q = RIGHT["sgnht"]
    derivation = derive(make(state, parameters, functions, "U + r.T @ r / 2 + (xi - A)**2/(2*d)", D, Q))
    published = vector(derivation.dynamics, RIGHT_CLAIMS["sgnht"])
    defect = residual(derivation, published, derivation.D)
    assert defect.terms
    assert "d" in text(defect)


def test_symmetric_Q_has_a_defect(make):
    state, parameters, functions, H, D, _ = RIGHT["sghmc"]
    derivation = derive(make(state, parameters, functions, H, D, {"theta,r": "I", "r,theta": "I"}))
    defect = skewness_defect(derivation)
    assert defect[0][1].terms
    assert defect[1][0].terms
    assert defect[0][0].is_zero


def test_abstract_matrix_without_declared_symmetry_has_a_defect(make):
    derivation = derive(make("z:d", "", "E:z; A:z:d d", "E", {"z,z": "A"}, {}))
    assert symmetry_defect(derivation)[0][0].terms


def test_abstract_D_without_symmetry_still_has_a_stationary_recipe_only_if_it_is_symmetric(make):
    """With A not symmetric its skew part acts like Q, but D + Q must then be read as (A + A.T)/2 + rest."""
    derivation = derive(make("z:d", "", "E:z; A:z:d d", "E", {"z,z": "A"}, {}))
    symmetric = derive(make("z:d", "", "E:z; A:z:d d", "E", {"z,z": "(A + A.T)/2"}, {"z,z": "(A - A.T)/2"}))
    assert residual(symmetric, derivation.drift, symmetric.D).is_zero
