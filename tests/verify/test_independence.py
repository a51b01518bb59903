"""The metric may not be made of the gradient's own minibatch."""

import pytest
from answers import answer, document, expect

from recipe_compiler.spec.bind import bind
from recipe_compiler.verify.builds.minibatch_independence import estimates_gradients, independence

DYNAMICS = """
state: {{theta: {{shape: d}}, r: {{shape: d}}}}
parameters: {{c: {{is: positive, default: 1}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: U(theta) + r.T @ r/2
D: [[0, 0], [0, "{}"]]
Q: [[0, "-({})"], ["{}", 0]]
"""
BUILD = """
name: b
dynamics: dynamics.yaml
target: SPECS/targets/logistic_regression.yaml
scheme: {name: euler}
variant: VARIANT
data: {file: data.csv, x: [a, b], y: y}
run: {step_size: 0.1BATCH}
"""
DATA = {"data.csv": "a,b,y\n1,-2,1\n0.5,1.5,0\n-1,0.25,1\n"}
METRICS = [
    ("exp(U)*I", "I"),
    ("c*I", "exp(U/2)*I"),
    ("outer(grad(U, theta), grad(U, theta))", "I"),
    ("diag(ones + grad(U, theta)**2)", "I"),
]
OF_STATE = [("c*I", "I"), ("diag(ones + theta**2)", "I"), ("c*I + U*I - U*I", "I")]


@pytest.mark.parametrize(
    ("D", "Q", "variant", "verdict"),
    [
        *((*own, "minibatch", "refuted") for own in METRICS),
        *((*own, "full", "proved") for own in METRICS),
        *((*own, "minibatch", "proved") for own in OF_STATE),
    ],
)
def test_a_metric_of_the_same_minibatch_is_refuted(D, Q, variant, verdict):
    text = BUILD.replace("VARIANT", variant).replace("BATCH", ", batch_size: 2" if variant == "minibatch" else "")
    build = document(text, dynamics=DYNAMICS.format(D, Q, Q), **DATA)
    found = independence(build, bind(build))
    expect(found, verdict)
    if verdict == "refuted":
        name, value = found.decision.witness[-1]
        assert name.startswith("the slope of the entry in")
        assert value != "0"


UPDATE = """
state: {{theta: {{shape: d}}, r: {{shape: d}}}}
parameters: {{C: {{shape: [d, d], is: positive semidefinite}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: U(theta) + r.T @ r/2
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
claims: {{update: {{r: "{}", theta: theta + eps*next(r)}}}}
"""


@pytest.mark.parametrize(
    ("r", "verdict"),
    [
        ("r - eps*grad_tilde(U, theta) - eps*C @ r + N(0, 2*eps*C)", "proved"),
        ("r - eps*C @ (grad_tilde(U, theta) + r) + N(0, 2*eps*C)", "proved"),
        ("r - eps*U*C @ grad_tilde(U, theta) + N(0, 2*eps*C)", "proved"),
        ("r - eps*norm2(grad_tilde(U, theta))*grad_tilde(U, theta) + N(0, 2*eps*C)", "undecided"),
        ("r - eps*grad_tilde(U, theta)**2 + N(0, 2*eps*C)", "undecided"),
        ("r - eps*tanh(grad_tilde(U, theta)) + N(0, 2*eps*C)", "undecided"),
        ("r - eps*C @ r + N(0, 2*eps*outer(grad_tilde(U, theta), grad_tilde(U, theta)))", "undecided"),
        ("r - eps*grad_tilde(U, theta)*(grad_tilde(U, theta).T @ r) + N(0, 2*eps*C)", "undecided"),
    ],
)
def test_an_estimate_may_not_meet_itself_in_a_term(r, verdict):
    dynamics = document(UPDATE.format(r))
    assert estimates_gradients(dynamics)
    expect(answer(dynamics, "independence"), verdict, "grad_tilde" if verdict == "undecided" else "")
