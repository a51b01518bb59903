"""A wrong drift is refuted, and a right one is not, whatever is assumed of parameters: admissible values are found."""

import pytest
from answers import answer, document, expect

SCALARS = """
state: {p: {shape: d}}
parameters: {kT: {is: positive}, gamma: {is: positive}, rho: {is: positive}}
assume: ASSUME
H: norm2(p)/(2*kT)
D: [[gamma*kT*I]]
Q: [[0]]
claims: {drift: {p: DRIFT}}
"""
MATRICES = """
state: {p: {shape: 2}}
parameters: {gamma: {is: positive}, v: {shape: 2, is: positive}, M: {shape: [2, 2], is: positive definite}}
assume: ASSUME
H: p.T @ inv(M) @ p/2
D: [[gamma*M]]
Q: [[0]]
claims: {drift: {p: DRIFT}}
"""
EQUAL = """
state: {p: {}}
parameters: {a: {is: positive}, b: {is: positive}, gamma: {is: positive}}
assume: ASSUME
H: p**2/2
D: [[gamma]]
Q: [[0]]
claims: {drift: {p: "DRIFT"}}
"""
ASSUMED = [
    (SCALARS, "rho < 1"),
    (SCALARS, "rho <= 1/2"),
    (SCALARS, "rho >= 4*kT"),
    (SCALARS, "rho + gamma < 1"),
    (SCALARS, "rho**2 <= kT/4"),
    (SCALARS, "rho < 1/d"),
    (SCALARS, "exp(rho) < 3/2"),
    (SCALARS, "gamma < rho", "rho < kT", "kT < 1/10"),
    (SCALARS, "99/100 < rho", "rho < 1"),
    (SCALARS, "rho + gamma == 1", "abs(rho - gamma) < 1/10"),
    (SCALARS, "rho**2 + gamma**2 == 1"),
    (MATRICES, "trace(M) <= 1/2"),
    (MATRICES, "M[0, 0] < 1", "M[1, 1] > 5"),
    (MATRICES, "v.T @ M @ v < 1/100"),
    (MATRICES, "v[0] < v[1]", "sum(v) < 1/10"),
]
UNMET = "no rational values were found that satisfy `exp(rho) < 1`: claims are not tested at points"


def drifting(text, assume, drift):
    return document(text.replace("ASSUME", str(assume)).replace("DRIFT", drift))


@pytest.mark.parametrize(("text", "assume"), [(text, assume) for text, *assume in ASSUMED])
@pytest.mark.parametrize(("drift", "verdict"), [("-1*gamma*p", "proved"), ("-2*gamma*p", "refuted")])
def test_a_drift_is_decided(text, assume, drift, verdict):
    own = drifting(text, assume, drift)
    for claim in ("claimed_drift", "claimed_stationary"):
        expect(answer(own, claim), verdict)


@pytest.mark.parametrize(
    ("assume", "drift", "verdict", "says"),
    [
        (["a + b == 1"], "-gamma*(a + b)*p", "proved", ""),
        (["a*b == 1"], "-gamma*a*b*p", "proved", ""),
        (["a*b + gamma == 1"], "-gamma*(gamma + a*b)*p", "proved", ""),
        (["a + b == 1", "a*b == gamma"], "-2*gamma*p*a", "refuted", ""),  # right at a = 1/2
        (["a**2 + b**2 == 2"], "-gamma*a*p", "refuted", ""),  # right at a = b = 1
        (["a**2 == 2"], "-gamma*a**2*p/2", "proved", ""),  # at no rational point
        (["a**2 == 2"], "-gamma*a*p", "refuted", ""),
        (["log(a) == b"], "-gamma*p*b/log(a)", "proved", ""),
        (["exp(a) == b"], "-gamma*b*p", "refuted", ""),
        (["b == log(a)", "a < 1"], "-2*gamma*p", "undecided", ""),  # no b is positive
        (["a**2 == 2", "a < 1"], "-gamma*p", "undecided", "solve `a**2 == 2` for a name"),
    ],
)
def test_equalities_are_solved_and_met_at_several_points(assume, drift, verdict, says):
    expect(answer(drifting(EQUAL, assume, drift), "claimed_drift"), verdict, says)


def test_what_no_values_are_found_for_is_named():
    expect(answer(drifting(SCALARS, ["exp(rho) < 1"], "-2*gamma*p"), "claimed_drift"), "undecided", UNMET)


def test_a_witness_names_parameters_that_an_assumption_makes_irrational():
    """Formulas are read without b and c, as no rational point meets what is assumed of these."""
    text = """
    state: {x: {}, y: {}}
    parameters: {a: {}, b: {}, c: {}}
    assume: ["c == 2*b", "b == exp(a)", "a > 1"]
    H: x**2/2 + y**2/2
    D: [[1, 0], [0, c]]
    Q: [[0, -b], [a, 0]]
    """
    at = expect(answer(document(text), "q_skew"), "refuted")
    assert {at["b"], at["c"]} == {f"exp({at['a']})", f"2*exp({at['a']})"}
