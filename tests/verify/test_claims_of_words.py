"""What a scheme claims where its flows are numerical, or its letters are not what they are called."""

import json

import pytest
from answers import document, expect

from recipe_compiler import recheck
from recipe_compiler.report.as_json import certificate
from recipe_compiler.report.check import check

RUTH = "[7*A/24, 2*B/3, 3*A/4, -2*B/3, -A/24, B]"
GAUSSIAN = "parameters: {mu: {value: [1, -2]}, Sigma: {value: [[2, 1/2], [1/2, 1]]}OTHERS}"
MASS = GAUSSIAN.replace("OTHERS", ", M: {value: [[2, 1/2], [1/2, 1]]}, C: {value: [[1, 0], [0, 2]]}")
BUILD = """
name: own
dynamics: DYNAMICS
target: SPECS/targets/gaussian.yaml
PARAMETERS
scheme: {use: scheme.yaml}
variant: full
sizes: {d: 2}
run: {step_size: 0.1}
"""
LANGEVIN = BUILD.replace("DYNAMICS", "SPECS/dynamics/sghmc.yaml").replace("PARAMETERS", MASS)
POSITIVE = BUILD.replace("DYNAMICS", "SPECS/dynamics/sgrhmc_positive.yaml").replace("gaussian", "inverse_gaussian")
POSITIVE = POSITIVE.replace("PARAMETERS", "parameters: {b: {value: [6, 2]}, c: {value: [1/2, 1/3]}, k: {value: 1/4}}")
MOMENTA = BUILD.replace("DYNAMICS", "dynamics.yaml").replace("PARAMETERS", GAUSSIAN.replace("OTHERS", ""))
TWO_MOMENTA = """
name: two_momenta
state: {theta: {shape: d}, r: {shape: d}, p: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/2 + p.T @ p/2
D: [[0, 0, 0], [0, I, 0], [0, 0, I]]
Q: [[0, -I, -I], [I, 0, 0], [I, 0, 0]]
"""


def decided(scheme, build=""):
    """Return what is decided of a scheme, by itself or in a build that uses it, and check it again."""
    scheme = f"name: own\n{scheme}\n"
    own = document(build, scheme=scheme, dynamics=TWO_MOMENTA) if build else document(scheme)
    report = check(own)
    assert recheck.recheck(json.loads(json.dumps(certificate(own, report))))
    return {one.id: one for one in report.findings}


@pytest.mark.parametrize(
    ("split", "order", "verdict"),
    [
        (RUTH, 3, "undecided"),
        ("[A]", 4, "undecided"),
        ("[A/2, B, A/2]", 3, "undecided"),  # what is off in the word and in the flow may cancel
        ("[A/2, B, A/2]", 2, "proved"),
        ("[A, B]", 2, "refuted"),
        ("[A, B]", 3, "refuted"),
        (RUTH, 2, "proved"),
    ],
)
def test_a_word_of_numerical_flows_has_no_more_than_their_order(split, order, verdict):
    found = decided(f"split: {split}\nflows: {{A: midpoint}}\nclaims: {{order: {order}}}")["claimed_order"]
    expect(found, verdict, "or by numerical ones of order 2" if verdict == "proved" else "")


def test_the_checker_refuses_an_order_beyond_that_of_numerical_flows():
    own = document(f"name: own\nsplit: {RUTH}\nclaims: {{order: 3}}\n")
    whole = json.loads(json.dumps(certificate(own, check(own))))
    assert dict(recheck.recheck(whole))["claimed_order"].startswith("rechecked: exactly")
    claim = next(one for one in whole["claims"] if one["id"] == "claimed_order")
    stated = {"split": RUTH[1:-1].split(", "), "claims": {"order": 3}, "flows": {"A": "midpoint"}}
    with pytest.raises(recheck.FailureError, match="order 2"):
        recheck.of_word(claim, recheck.Documents({"scheme": stated}), None, "")


HALVES = "[B/2, A, B/2]\npieces: {A: {Q: all, H: r}, B: {Q: all, H: U}}\nflows: {B: generalised}"
EXACT = "split: [B/2, A/2, O, A/2, B/2]\nclaims: {configurational: exact}"
LATE = EXACT.replace("B/2, A/2, O, A/2, B/2", "A/2, B/2, B/2, A/2, O") + "\nkeep: 2"
SWAPPED = EXACT.replace("B", "X").replace("O", "B").replace("X", "O")
BACK = "split: [O, B/2, A, B/2, -O, O]\nclaims: {order: 1}"
OF_TWO = """split: [B/2, C/2, B/2, A, O, C/2]
pieces: {A: {Q: [[theta, r]], H: r}, C: {Q: [[theta, p]], H: p}, B: {Q: all, H: U}, O: {D: all}}
"""
RENAMED = """split: [K/2, X/2, F, X/2, K/2]
pieces: {K: {Q: [[theta, r]], H: U}, X: {Q: [[theta, r]], H: r}, F: {D: all}}
claims: {configurational: exact, gradients: 1}"""


@pytest.mark.parametrize(
    ("scheme", "why"),
    [
        ("[A]\npieces: {A: {Q: all, H: all}}\nflows: {A: generalised}", "A evaluates the gradient and moves"),
        (HALVES, "within the flow"),
        ("[S/2, F/2, A, F/2, S/2]", "no piece is called B"),
    ],
)
@pytest.mark.parametrize("count", [0, 1])
def test_gradients_are_not_counted_where_a_flow_or_another_letter_may_take_them(scheme, why, count):
    found = decided(f"split: {scheme}\nclaims: {{gradients: {count}}}")["claimed_gradients"]
    expect(found, "undecided", why)


@pytest.mark.parametrize(
    ("scheme", "claim", "verdict", "witness"),
    [
        # Var theta of `baoab` is 1 - eps**2 omega**2/4 after its first A, which its end does not tell
        (EXACT, "claimed_configurational", "proved", {}),
        (f"{EXACT}\nkeep: 2", "claimed_configurational", "refuted", {"omega^2 Var theta": "3/4"}),
        (BACK, "claimed_order", "undecided", {}),  # noise goes back
        (BACK.replace("O", "C"), "claimed_order", "proved", {}),
    ],
)
def test_a_word_by_itself(scheme, claim, verdict, witness):
    assert witness.items() <= expect(decided(scheme)[claim], verdict).items()


@pytest.mark.parametrize(
    ("scheme", "build", "claim", "verdict"),
    [
        pytest.param(*own, marks=pytest.mark.slow)
        for own in (
            (f"{OF_TWO}claims: {{gradients: 1}}", MOMENTA, "claimed_gradients", "refuted"),  # all that moves theta
            (f"{OF_TWO}claims: {{gradients: 2}}", MOMENTA, "claimed_gradients", "proved"),
            (f"{OF_TWO}claims: {{gradients: 2}}", MOMENTA, "pieces", "proved"),
            (EXACT, LANGEVIN, "claimed_configurational", "proved"),
            (f"{EXACT}\nkeep: 2", LANGEVIN, "claimed_configurational", "refuted"),
            (LATE, LANGEVIN, "claimed_configurational", "proved"),
            (SWAPPED, LANGEVIN, "claimed_configurational", "refuted"),
            (f"{EXACT}\nflows: {{O: midpoint}}", LANGEVIN, "claimed_configurational", "undecided"),
            (EXACT, POSITIVE, "claimed_configurational", "undecided"),
        )
    ]
    + [(RENAMED, LANGEVIN, claim, "proved") for claim in ("claimed_configurational", "claimed_gradients")],
)
def test_in_a_build_the_pieces_have_to_be_those_of_langevin_dynamics(scheme, build, claim, verdict):
    expect(decided(scheme, build)[claim], verdict)
