"""What a proof rests on is decided in a build."""

import pytest
from answers import answer, document, expect

DYNAMICS = """
name: assuming
state: {theta: {shape: d}}
parameters: {c: {}, a: {}}
functions: {U: {of: theta, role: potentialKIND}}
assume: ["c >= 0"EXTRA]
H: U(theta)
D: [["c*I"]]
Q: [[0]]
"""
NORMAL = "name: normal\nstate: {theta: {shape: d}}\nASSUMEpotential: theta.T @ theta / 2\n"
SCALED = NORMAL.replace("ASSUME", "parameters: {s: {default: 1}}\nASSUME").replace("/ 2", "/ 2 + s")
BUILD = """
name: assuming_build
dynamics: dynamics.yaml
target: target.yaml
BIND
parameters: {VALUES}
scheme: {name: euler}
variant: full
sizes: {d: 2}
run: {step_size: 0.1}
"""
RIGHT = "c: {value: 3}, a: {value: 1}"
DIAGONAL = """
name: diagonal
state: {theta: {shape: d}}
parameters: {K: {shape: [d, d], is: [diagonal, positive]}}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [["K"]]
Q: [[0]]
"""


def build(values, bind="", kind="", extra="", assume="", target=SCALED, dynamics=DYNAMICS):
    own = dynamics.replace("KIND", kind).replace("EXTRA", extra)
    text = BUILD.replace("BIND", bind).replace("VALUES", values)
    return document(text, dynamics=own, target=target.replace("ASSUME", assume))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"values": RIGHT}, "proved"),
        ({"values": "c: {value: -3}, a: {value: 1}"}, "refuted"),
        ({"bind": "bind: {c: -a**2}", "values": "a: {value: 3}"}, "refuted"),
        ({"bind": "bind: {c: q}", "values": "q: {value: -1/2}, a: {value: 1}"}, "refuted"),
        ({"values": RIGHT, "assume": 'assume: ["theta[0] > 0"]\n'}, "undecided"),  # no step keeps to it
        ({"values": RIGHT, "extra": ', "U(theta) >= 0"'}, "undecided"),
        ({"values": RIGHT, "kind": ", is: positive"}, "undecided"),
        ({"values": f"{RIGHT}, s: {{value: 0}}", "assume": 'assume: ["s > 0"]\n'}, "refuted"),
    ],
)
def test_what_is_assumed_is_decided_at_the_values_of_a_build(changes, verdict):
    found = answer(build(**changes), "assumptions")
    expect(found, verdict)
    assert found.required


@pytest.mark.slow
@pytest.mark.parametrize("of", ['constraint: "interval(a, b)"', 'domain: "interval(a, b)", transform: logit'])
@pytest.mark.parametrize(("a", "b", "verdict"), [("-1", "2", "proved"), ("2", "-1", "refuted"), ("2", "2", "refuted")])
def test_ends_that_leave_nothing_between_them_refute_a_build(of, a, b, verdict):
    between = NORMAL.replace("shape: d", f"shape: d, {of}").replace("ASSUME", "parameters: {a: {}, b: {}}\n")
    dynamics, values = DYNAMICS.replace(", a: {}", ""), f"a: {{value: {a}}}, b: {{value: {b}}}"
    expect(answer(build(values, 'bind: {c: "1"}', target=between, dynamics=dynamics), "assumptions"), verdict)


@pytest.mark.slow
@pytest.mark.parametrize(("D", "stays"), [("B @ B.T", True), ("I", False), ("B @ B.T + I", False)])
def test_a_chain_that_may_not_leave_a_plane_is_warned_of(D, stays):
    declared = "state: {theta: {shape: d}}\nparameters: {B: {shape: [d, k]}}\n"
    text = f"{declared}functions: {{U: {{of: theta, role: potential}}}}\nH: U(theta)\nD: [['{D}']]\nQ: [[0]]\n"
    expect(answer(document(text), "unique"), "refuted" if stays else "not refuted")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bind", "values", "verdict"),
    [
        ("", "K: {value: [[1, 0], [0, 2]]}", "proved"),
        ("bind: {K: 2*I}", "", "proved"),
        ("bind: {K: diag(w)}", "w: {shape: d, is: positive, value: [1, 2]}", "proved"),
        ("bind: {K: -1*I}", "", "refuted"),
    ],
)
def test_a_positive_diagonal_matrix_is_positive_on_its_diagonal(bind, values, verdict):
    own = build(values, bind, target=NORMAL, dynamics=DIAGONAL)
    expect(answer(own, "bindings"), verdict)
    expect(answer(own, "d_psd"), verdict)
