"""A skew Q is found where there is one, judged before it is shown, and never claimed where there is none."""

from dataclasses import replace

import pytest
from answers import ROOT, answer, document, expect, shipped

from recipe_compiler.errors import VerificationError
from recipe_compiler.formula.show import text
from recipe_compiler.pipeline import compile_build
from recipe_compiler.report.found_q import with_proved_q
from recipe_compiler.spec.found_q import has_found_q, lacks_q
from recipe_compiler.spec.places import compiled_digest, digest
from recipe_compiler.spec.to_yaml import archived, from_archive, restated
from recipe_compiler.verdict import Topic
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.recover.recovered_q import explained_q
from recipe_compiler.verify.recover.search import search

OPEN = ROOT / "tests/recover"
CANONICAL = {"Q[theta,r]": "-I", "Q[r,theta]": "I"}
THERMOSTAT = {**CANONICAL, "Q[r,xi]": "r/d", "Q[xi,r]": "-r.T/d"}
KNOWN = {
    "hmc": CANONICAL,
    "sghmc": CANONICAL,
    "rhmc": CANONICAL,
    "sgnht": THERMOSTAT,
    "sgnht_mass": THERMOSTAT,
    "sgnht_mass_velocity": {**CANONICAL, "Q[r,xi]": "inv(M) @ r / d", "Q[xi,r]": "-r.T @ inv(M) / d"},
    "gsgrhmc": {"Q[theta,r]": "-K(theta)", "Q[r,theta]": "K(theta)"},
    "gsgrhmc_cholesky": {"Q[theta,r]": "-L(theta)", "Q[r,theta]": "L(theta).T"},
    "sgrhmc_gamma": {"Q[theta,r]": "-diag(sqrt(theta))", "Q[r,theta]": "diag(sqrt(theta))"},
    "generalised_langevin": {**CANONICAL, "Q[r,w]": "-Lambda", "Q[w,r]": "Lambda.T"},
    "sgrld": {"Q": "0"},
}
"""What is found where Q is taken out of a document, and nothing else about it is known."""


def open_text(name):
    return (OPEN / f"{name}.yaml").read_text()


@pytest.mark.parametrize("name", KNOWN)
def test_the_q_of_a_known_system_is_found_for_every_size(name):
    found = answer(replace(shipped(f"dynamics/{name}"), Q=None), "recovered_q")
    assert expect(found, "proved") == KNOWN[name]
    assert found.for_d == "all"
    assert {"d": 3}.items() <= dict(found.checked_at[-1]).items()
    assert not found.required


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["linear_skew", "linear_three", "swirl", "coupled_thermostats", "cubic", "waves", "around", "steep", "torus_curl"],
)
def test_a_q_is_found_and_its_text_is_judged_as_if_an_author_had_written_it(name):
    found = search(prepare_subject(document(OPEN / f"{name}.yaml"))).found
    rows = [[text(place) for place in row] for row in found.Q]
    again = document(f"{open_text(name)}Q: {rows}\n".replace("  diffusion:", "  diffusion: "))
    again = replace(again, D=again.D or again.claims.diffusion)
    expect(answer(again, "q_skew"), "proved")
    expect(answer(again, "claimed_drift"), "proved")


def test_the_thermostat_is_found_by_coefficients_that_depend_on_the_size():
    explanation = explained_q(answer(replace(shipped("dynamics/sgnht"), Q=None), "recovered_q").decision)
    assert explanation.topic is Topic.CURL
    assert ("Q[r,xi]", "r/d") in explanation.formulas
    assert "may be added" in explanation.says
    assert "U is smooth" in explanation.given
    assert not lacks_q(shipped("dynamics/sgnht"))


def edited(name, old, new):
    """Return what is found where a shipped system has another drift, and no Q."""
    body = (ROOT / f"specs/dynamics/{name}.yaml").read_text()
    assert old in body
    return replace(document(body.replace(old, new)), Q=None)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("sghmc", "- C @ inv(M) @ r", "- C @ r"),
        ("sghmc", "- C @ inv(M) @ r", "- C.T @ inv(M) @ r - r"),
        ("gsgrhmc", "+ div(K, theta)", ""),
        ("gsgrhmc", "+ div(K, theta)", "- div(K, theta)"),
        ("sgnht", "r.T @ r / d - 1", "r.T @ r - d"),
        ("sgnht_mass", "r: -grad(U, theta) - xi*r", "r: -grad(U, theta) - xi*(inv(M) @ r)"),
        ("rhmc", "- grad(logdet(G), theta)/2", ""),
        ("generalised_langevin", "w: -Lambda.T", "w: Lambda.T"),
    ],
)
def test_a_wrong_drift_has_no_q(name, old, new):
    expect(answer(edited(name, old, new), "recovered_q"), "refuted")


@pytest.mark.parametrize(
    ("name", "says", "witness"),
    [
        ("line_current", "a stationary distribution has zero current", "current of x"),
        ("circle_drift", "with one coordinate Q = 0", "claimed drift"),
    ],
)
def test_a_current_that_is_forced_has_no_q(name, says, witness):
    found = answer(document(OPEN / f"{name}.yaml"), "recovered_q")
    expect(found, "refuted", says)
    assert found.decision.witness[-1][0].startswith(witness)
    assert found.decision.witness[-1][1] == "1"


TORUS = open_text("torus_drift")
JUMPS = (
    'state: {{x: {{}}, y: {{}}}}\nH: x**2/2 + y**2/2\nD: [[0, 0], [0, 0]]\nclaims: {{drift: {{x: "{}", y: "{}"}}}}\n'
)
UNDEFINED = "state: {x: {}, y: {}}\nparameters: {a: {}}\nH: x**2/2 + a*y**2/2\nD: [[0, 0], [0, 0]]\n"
UNDEFINED += "claims: {drift: {x: y, y: -x/a}}\n"


def torus(drift):
    return TORUS.replace("2*omega*cos(psi)**2", drift)


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (torus("omega").replace("{domain: circle}", "{}"), "proved"),  # on the line
        (torus("omega"), "undecided"),
        (torus("omega*cos(psi)"), "proved"),  # a mean current of zero
        (torus("omega + psi"), "undecided"),  # not periodic
        (torus("omega").replace("H: 0", "H: psi").replace("psi: sin(phi)", "psi: 0"), "undecided"),
        (open_text("waves") + "  interpretation: stratonovich\n", "proved"),  # converted first
        # that the drifts are equal off the line where Q jumps is not enough: a current enters there
        (JUMPS.format("-sign(x)*y", "abs(x)"), "not proved"),
        (JUMPS.format("-sign(y)*y", "sign(y)*x"), "not proved"),
        (JUMPS.format("-y/x", "1 + x**(-2)"), "not proved"),
        (open_text("linear_three") + 'assume: ["a > 1", "a**2 < a"]\n', "undecided"),
        (UNDEFINED, "undecided"),
        (UNDEFINED.replace("a: {}", "a: {is: positive}"), "proved"),
    ],
)
def test_circles_jumps_and_assumptions(body, verdict):
    expect(answer(document(body), "recovered_q"), verdict)


def test_without_the_noise_nothing_is_decided():
    expect(answer(replace(document(OPEN / "waves.yaml"), D=None), "recovered_q"), "undecided", "noise")


CHAIN = """
name: chain
state: {theta: {shape: d}, r: {shape: d}, xi: {}, eta: {}}
parameters: {m: {is: positive}, q: {is: positive}, nu: {is: positive}, A: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/(2*m) + q*xi**2/2 + nu*eta**2/2
D: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, A]]
"""
CHAIN_DRIFT = """
claims:
  drift: {theta: r/m, r: "-grad(U, theta) - xi*r", xi: (r.T @ r/m - d)/q - eta*xi, eta: (q*xi**2 - 1)/nu - A*nu*eta}
"""
CHAIN_Q = "Q: [[0, -I, 0, 0], [I, 0, r/q, 0], [0, -r.T/q, 0, xi/nu], [0, 0, -xi/nu, 0]]"
TURNED = """
name: turned
state: {x: {shape: 2}}
parameters: {c: {}, S: {shape: [2, 2], is: positive definite}}
H: x.T @ inv(S) @ x / 2 + sum(x**4)
D: [[I]]
"""
TURNED_DRIFT = """
claims:
  drift: {x: "-(I + c*[[0, -1], [1, 0]]) @ (inv(S) @ x + 4*x**3)"}
  marginal: {x: x.T @ inv(S) @ x / 2 + sum(x**4)}
"""
TURNED_Q = 'Q: [["c*[[0, -1], [1, 0]]"]]'
OF_CHAIN = """
name: of_chain
dynamics: part.yaml
target: standard_normal
parameters: {m: {value: 2}, q: {value: 1}, nu: {value: 3}, A: {value: 1}}
scheme: {name: sequential_euler, order: [r, theta, xi, eta]}
variant: full
sizes: {d: 2}
run: {step_size: 0.01}
"""
OF_TURNED = """
name: of_turned
dynamics: part.yaml
parameters: {c: {value: 2}, S: {value: [[2, 1/2], [1/2, 1]]}}
scheme: {name: euler}
variant: full
run: {step_size: 0.01}
"""
FOUND = [(OF_CHAIN, CHAIN + CHAIN_DRIFT, CHAIN_Q), (OF_TURNED, TURNED + TURNED_DRIFT, TURNED_Q)]


@pytest.mark.parametrize(("build", "part", "Q"), FOUND, ids=["chain of thermostats", "complete H"])
def test_a_build_has_the_q_that_is_proved_to_give_its_drift(build, part, Q):
    found, stated = with_proved_q(document(build, part=part)), with_proved_q(document(build, part=part + Q))
    assert (has_found_q(found), has_found_q(stated)) == (True, False)
    module = compile_build(found)
    assert module.text == compile_build(stated).text.replace(compiled_digest(stated), compiled_digest(found))
    assert "Q is not stated: it was recovered" in module.file
    again = restated(found, {"run": {"step_size": "0.02"}})
    assert again.dynamics == found.dynamics
    assert digest(with_proved_q(from_archive(archived(again), None))) == digest(again)


def test_a_build_whose_drift_no_q_gives_stays_without():
    part = CHAIN + CHAIN_DRIFT.replace("- A*nu*eta", "- 2*A*nu*eta")
    build = with_proved_q(document(OF_CHAIN, part=part))
    assert build.dynamics.Q is None
    with pytest.raises(VerificationError, match="claimed_stationary is refuted"):
        compile_build(build)
