"""A skew Q is found where there is one, judged before it is shown, and never claimed where there is none."""

from dataclasses import replace
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.formula.show import text
from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Proved, Refuted, Topic, Undecided, Verdict
from recipe_compiler.verify.claims import DYNAMICS
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.symmetry import q_skew
from recipe_compiler.verify.recover.recovered_q import explained_q, lacks_q, recovered_q
from recipe_compiler.verify.recover.search import recover

ROOT = Path(__file__).parents[2]
SPECS = ROOT / "specs" / "dynamics"
OPEN = ROOT / "tests" / "recover"

ROWS = {claim.id: claim for claim in DYNAMICS}
KNOWN = {
    "hmc": {"Q[theta,r]": "-I", "Q[r,theta]": "I"},
    "sghmc": {"Q[theta,r]": "-I", "Q[r,theta]": "I"},
    "rhmc": {"Q[theta,r]": "-I", "Q[r,theta]": "I"},
    "sgnht": {"Q[theta,r]": "-I", "Q[r,theta]": "I", "Q[r,xi]": "r/d", "Q[xi,r]": "-r.T/d"},
    "sgnht_mass": {"Q[theta,r]": "-I", "Q[r,theta]": "I", "Q[r,xi]": "r/d", "Q[xi,r]": "-r.T/d"},
    "sgnht_mass_velocity": {
        "Q[theta,r]": "-I",
        "Q[r,theta]": "I",
        "Q[r,xi]": "inv(M) @ r / d",
        "Q[xi,r]": "-r.T @ inv(M) / d",
    },
    "gsgrhmc": {"Q[theta,r]": "-K(theta)", "Q[r,theta]": "K(theta)"},
    "gsgrhmc_cholesky": {"Q[theta,r]": "-L(theta)", "Q[r,theta]": "L(theta).T"},
    "sgrhmc_gamma": {"Q[theta,r]": "-diag(sqrt(theta))", "Q[r,theta]": "diag(sqrt(theta))"},
    "generalised_langevin": {
        "Q[theta,r]": "-I",
        "Q[r,theta]": "I",
        "Q[r,w]": "-Lambda",
        "Q[w,r]": "Lambda.T",
    },
    "sgrld": {"Q": "0"},
}
"""What is found where Q is taken out of a document, and nothing else about it is known."""

FOUND = (
    "linear_skew",
    "linear_three",
    "swirl",
    "coupled_thermostats",
    "cubic",
    "waves",
    "around",
    "steep",
    "torus_curl",
    "rotor",
)
"""Documents that have a Q, some of which is made of nothing that occurs in them."""


def document(path: Path) -> Dynamics:
    return load_dynamics(path)


def written(folder: Path, body: str) -> Dynamics:
    path = folder / "written.yaml"
    path.write_text(body, encoding="utf-8")
    return document(path)


@pytest.mark.parametrize("name", KNOWN)
def test_the_q_of_a_known_system_is_found_for_every_size(name: str) -> None:
    dynamics = replace(document(SPECS / f"{name}.yaml"), Q=None)
    found = recovered_q(subject_of(dynamics))
    assert isinstance(found.decision, Proved)
    assert dict(found.decision.data) == KNOWN[name]
    assert found.for_d == "all"
    assert {"d": 3}.items() <= dict(found.checked_at[-1]).items()
    assert not ROWS["recovered_q"].finding(found).required


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_a_q_is_found_and_its_text_is_judged_as_if_an_author_had_written_it(name: str, tmp_path: Path) -> None:
    dynamics = document(OPEN / f"{name}.yaml")
    assert dynamics.Q is None
    found = recover(subject_of(dynamics))
    assert found is not None
    rows = ",\n    ".join("[" + ", ".join(f'"{text(place)}"' for place in row) + "]" for row in found.Q)
    whole = (OPEN / f"{name}.yaml").read_text(encoding="utf-8") + f"Q: [{rows}]\n"
    again = written(tmp_path, whole.replace("  diffusion:", "  diffusion: "))
    subject = subject_of(replace(again, D=again.D or again.claims.diffusion))
    assert q_skew(subject).verdict is Verdict.PROVED
    assert claimed_drift(subject).verdict is Verdict.PROVED


def test_the_thermostat_is_found_by_coefficients_that_depend_on_the_size() -> None:
    found = recovered_q(subject_of(replace(document(SPECS / "sgnht.yaml"), Q=None))).decision
    assert isinstance(found, Proved)
    explanation = explained_q(found)
    assert explanation.topic is Topic.CURL
    assert ("Q[r,xi]", "r/d") in explanation.formulas
    assert "may be added" in explanation.says
    assert "U is smooth" in explanation.given


def test_nothing_is_looked_for_where_q_is_given() -> None:
    dynamics = document(SPECS / "sgnht.yaml")
    assert not lacks_q(dynamics)


@pytest.mark.slow
def test_a_wrong_energy_leaves_no_q() -> None:
    found = recovered_q(subject_of(document(OPEN / "thermostat_energy.yaml")))
    assert isinstance(found.decision, Refuted)
    assert "not stationary" in found.decision.by
    assert found.for_d == (("d", 2),)
    found = check(document(OPEN / "thermostat_energy.yaml"))
    assert not [explanation for explanation in found.explanations if explanation.topic is Topic.CURL]


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
def test_a_wrong_drift_has_no_q(name: str, old: str, new: str, tmp_path: Path) -> None:
    body = (SPECS / f"{name}.yaml").read_text(encoding="utf-8")
    assert old in body
    found = recovered_q(subject_of(replace(written(tmp_path, body.replace(old, new)), Q=None)))
    assert found.verdict is Verdict.REFUTED


@pytest.mark.slow
def test_a_q_beyond_all_ansatzes_is_undecided_with_numbers_of_one() -> None:
    found = recovered_q(subject_of(document(OPEN / "too_steep.yaml")))
    assert isinstance(found.decision, Undecided)
    assert any("a Q exists" in tried for tried in found.decision.tried)
    assert any("168 unknowns" in tried for tried in found.decision.tried)
    assert any(tried.startswith("numeric Q at ") and "no proof" in tried for tried in found.decision.tried)


def test_one_coordinate_forces_the_drift() -> None:
    found = recovered_q(subject_of(document(OPEN / "line_current.yaml")))
    assert isinstance(found.decision, Refuted)
    assert "a stationary law has none" in found.decision.by
    assert found.decision.witness[-1] == ("current of x", "1")


@pytest.mark.parametrize("name", ["circle_drift", "torus_drift"])
def test_a_current_around_a_torus_is_stationary_and_has_no_q(name: str) -> None:
    found = recovered_q(subject_of(document(OPEN / f"{name}.yaml")))
    assert isinstance(found.decision, Refuted)
    assert "stationary, but not representable" in found.decision.by
    assert found.decision.witness[-1][0].startswith("mean of")
    assert found.decision.witness[-1][1] == "1"


def test_a_constant_drift_on_the_line_has_a_q_where_there_is_none_on_the_circle(tmp_path: Path) -> None:
    body = (OPEN / "torus_drift.yaml").read_text(encoding="utf-8")
    straight = body.replace("{domain: circle}", "{}").replace("2*omega*cos(psi)**2", "omega")
    assert recovered_q(subject_of(written(tmp_path, straight))).verdict is Verdict.PROVED
    around = body.replace("2*omega*cos(psi)**2", "omega")
    assert recovered_q(subject_of(written(tmp_path, around))).verdict is Verdict.REFUTED


def test_a_mean_current_of_zero_is_no_reason_against_a_q(tmp_path: Path) -> None:
    body = (OPEN / "torus_drift.yaml").read_text(encoding="utf-8").replace("2*omega*cos(psi)**2", "omega*cos(psi)")
    assert recovered_q(subject_of(written(tmp_path, body))).verdict is Verdict.PROVED


def test_what_is_not_periodic_refutes_nothing_on_a_torus(tmp_path: Path) -> None:
    body = (OPEN / "torus_drift.yaml").read_text(encoding="utf-8").replace("2*omega*cos(psi)**2", "omega + psi")
    found = recovered_q(subject_of(written(tmp_path, body)))
    assert found.verdict is Verdict.UNDECIDED


def test_an_energy_that_is_not_periodic_neither_proves_nor_refutes_on_a_torus(tmp_path: Path) -> None:
    body = (OPEN / "torus_drift.yaml").read_text(encoding="utf-8").replace("H: 0", "H: psi")
    body = body.replace("2*omega*cos(psi)**2", "omega").replace("psi: sin(phi)", "psi: 0")
    assert recovered_q(subject_of(written(tmp_path, body))).verdict is Verdict.UNDECIDED


def test_a_stratonovich_equation_is_converted_first(tmp_path: Path) -> None:
    body = (OPEN / "waves.yaml").read_text(encoding="utf-8") + "  interpretation: stratonovich\n"
    assert recovered_q(subject_of(written(tmp_path, body))).verdict is Verdict.PROVED


def test_without_the_noise_nothing_is_decided() -> None:
    dynamics = document(OPEN / "waves.yaml")
    found = recovered_q(subject_of(replace(dynamics, D=None)))
    assert isinstance(found.decision, Undecided)
    assert "noise" in found.decision.tried[0]


@pytest.mark.parametrize(
    ("x", "y"),
    [("-sign(x)*y", "abs(x)"), ("-sign(y)*y", "sign(y)*x"), ("-y/x", "1 + x**(-2)")],
)
def test_a_q_that_jumps_or_blows_up_is_not_proved(x: str, y: str, tmp_path: Path) -> None:
    """That the drifts are equal off the line where Q jumps is not enough: a current enters there."""
    body = f"""
name: jumps
state: {{x: {{}}, y: {{}}}}
H: x**2/2 + y**2/2
D: [[0, 0], [0, 0]]
claims: {{drift: {{x: "{x}", y: "{y}"}}}}
"""
    assert recovered_q(subject_of(written(tmp_path, body))).verdict is not Verdict.PROVED


def test_contradictory_assumptions_prove_no_q(tmp_path: Path) -> None:
    body = (OPEN / "linear_three.yaml").read_text(encoding="utf-8") + 'assume: ["a > 1", "a**2 < a"]\n'
    assert recovered_q(subject_of(written(tmp_path, body))).verdict is Verdict.UNDECIDED


def test_a_q_that_is_not_defined_everywhere_is_not_proved(tmp_path: Path) -> None:
    body = """
name: undefined
state: {x: {}, y: {}}
parameters: {a: {}}
H: x**2/2 + a*y**2/2
D: [[0, 0], [0, 0]]
claims: {drift: {x: y, y: -x/a}}
"""
    assert recovered_q(subject_of(written(tmp_path, body))).verdict is Verdict.UNDECIDED
    known = body.replace("a: {}", "a: {is: positive}")
    assert recovered_q(subject_of(written(tmp_path, known))).verdict is Verdict.PROVED
