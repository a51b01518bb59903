"""Equations whose solutions run off to infinity, and functions that do not show that they stay: none is proved."""

from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.report.check import check
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.claims import DYNAMICS
from recipe_compiler.verify.core.subject import Subject, find, subject_of
from recipe_compiler.verify.stationarity.explosion import claimed_lyapunov, explosion
from recipe_compiler.verify.stationarity.stationary import claimed_stationary, stationary
from recipe_compiler.verify.updates.claimed_update import claimed_update

ROWS = {claim.id: claim for claim in DYNAMICS}
HERE = Path(__file__).parent

REFUTED = {
    "line_current": ("current of x", "1"),
    "half_line_current": ("x", "1"),
    "vector_current": ("current of theta[0]", "1"),
    "decoupled_current": ("current of x", "-3"),
    "abstract_current": ("U(x)", "x**2/2"),
    "student_current": ("current of x", "1"),
    "steep_noise": ("end", "x -> -oo"),
    "steep_noise_student": ("end", "x -> -oo"),
    "steep_noise_border": ("end", "x -> -oo"),
    "square_drift": ("end", "x -> oo"),
    "cubic_force": ("end", "y -> oo"),
}
"""Mutant to a part of its witness."""

UNDECIDED = {
    "plane_current": "exp(x**2/2 + y**2/2) is not shown to be integrable",
    "plane_steep_q": "exp(x**2/2 + y**2/2) is not shown to be integrable",
    "plane_student": "x**4 is not shown to be integrable",
    "any_size_steep_q": "-2 exp(sum_j r[j]**2/2 + sum_j theta[j]**2/2) r[i] is not shown to be integrable",
    "noise_outgrows": "x**6 is not shown to be integrable",
    "steep_noise_slower": "is not shown to be integrable",
    "steep_noise_any_size": "exp(sum_k x[k]**2) delta[i,j] is not shown to be integrable",
    "kinked": "derivative of sign across its jump",
}
"""Mutant to what is said to be missing."""

STATED = {
    "not_proper": "W does not go to infinity",
    "too_large": "L W grows faster than W: no c has L W <= c (1 + W)",
    "falls": "W does not go to infinity",
}
"""Mutant whose stated function shows nothing, to why; another function is found."""

CURRENTS = ("line_current", "half_line_current", "vector_current", "decoupled_current", "abstract_current")
NOISY = ("steep_noise", "steep_noise_student", "steep_noise_border", "steep_noise_slower", "steep_noise_any_size")
STEEP = ("plane_current", "plane_steep_q", "plane_student", "any_size_steep_q")

CONTROLS = {
    "gauge": "Lyapunov function x**2 + y**2",
    "below_the_law": "from almost every start",
    "stated": "Lyapunov function x**2 + y**2, as stated",
    "stated_any_size": "as stated",
    "steep_but_slower": "Lyapunov function x**2",
    "logarithm": "Lyapunov function log(1 + x**2 + y**2)",
    "no_q": "Lyapunov function H + k (norm2(theta)), k large",
    "linear": "Lyapunov function norm2(x)",
    "second_derivative": "Lyapunov function H + k (norm2(theta)), k large",
    "bounded_noise": "Lyapunov function norm2(x)",
}


def subject(path: Path) -> Subject:
    found = load_dynamics(path)
    return subject_of(found)


def decided(name: str) -> Answer:
    return find(explosion, subject(HERE / f"{name}.yaml"))


def test_every_mutant_has_its_row() -> None:
    assert {path.stem for path in HERE.glob("*.yaml")} == REFUTED.keys() | UNDECIDED.keys() | STATED.keys()
    assert {path.stem for path in (HERE / "controls").glob("*.yaml")} == CONTROLS.keys()


@pytest.mark.parametrize("name", REFUTED)
def test_what_reaches_infinity_is_refuted_and_stops_a_compilation(name: str) -> None:
    found = decided(name)
    assert isinstance(found.decision, Refuted)
    assert REFUTED[name] in found.decision.witness
    assert ROWS["explosion"].finding(found).required


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_is_not_shown_is_named_and_stops_nothing(name: str) -> None:
    found = decided(name)
    assert isinstance(found.decision, Undecided)
    assert any(UNDECIDED[name] in reason for reason in found.decision.tried)
    assert not ROWS["explosion"].finding(found).required


@pytest.mark.parametrize("name", STATED)
def test_a_stated_function_that_shows_nothing_is_refuted_and_another_found(name: str) -> None:
    stated = find(claimed_lyapunov, subject(HERE / f"{name}.yaml"))
    assert isinstance(stated.decision, Refuted)
    assert stated.decision.residual == STATED[name]
    assert "Lyapunov function x**2 + y**2" in decided(name).decision.by


@pytest.mark.parametrize("name", CURRENTS)
def test_a_law_on_a_line_has_no_current(name: str) -> None:
    found = claimed_stationary(subject(HERE / f"{name}.yaml")).decision
    assert isinstance(found, Refuted)
    assert "a stationary law has none" in found.by
    assert found.witness[-1][0].startswith("current of")


@pytest.mark.parametrize("name", NOISY)
def test_a_noise_as_steep_as_the_law_leaves_it_open_without_a_current(name: str) -> None:
    found = stationary(subject(HERE / f"{name}.yaml")).decision
    assert isinstance(found, Undecided)
    assert "a term of the noise, may carry solutions through infinity" in found.tried[1]


@pytest.mark.parametrize(
    "D", ["1/sigmoid(2*x)", "1/(1 - tanh(x))", "1/softplus(-2*x)", "2 + expm1(2*x)", "2 + gamma(2 + x**2)"]
)
def test_a_noise_is_as_steep_under_another_name(tmp_path: Path, D: str) -> None:
    path = tmp_path / "steep.yaml"
    path.write_text(f"name: steep\nstate: {{x: {{}}}}\nH: sqrt(1 + x**2)\nD: [[{D}]]\nQ: [[0]]\n")
    found = stationary(subject(path)).decision
    assert isinstance(found, Undecided)
    assert "a term of the noise, may carry solutions through infinity" in found.tried[1]


@pytest.mark.parametrize("D", ["1 + x**2", "cosh(x)", "exp(x)", "exp(x**2/4)", "1 + x**4", "2 + expm1(x)"])
def test_a_noise_that_the_law_outgrows_does_no_harm(tmp_path: Path, D: str) -> None:
    path = tmp_path / "tame.yaml"
    path.write_text(f"name: tame\nstate: {{x: {{}}}}\nH: x**2/2\nD: [[{D}]]\nQ: [[0]]\n")
    assert isinstance(stationary(subject(path)).decision, Proved)


@pytest.mark.parametrize("name", STEEP)
def test_a_current_that_may_go_through_infinity_leaves_the_law_open(name: str) -> None:
    about = subject(HERE / f"{name}.yaml")
    found = (claimed_stationary if about.dynamics.Q is None else stationary)(about).decision
    assert isinstance(found, Undecided)
    assert "nothing goes through infinity" in found.tried[0]


@pytest.mark.parametrize("name", CONTROLS)
def test_what_stays_finite_is_proved(name: str) -> None:
    found = find(explosion, subject(HERE / "controls" / f"{name}.yaml"))
    assert isinstance(found.decision, Proved)
    assert CONTROLS[name] in found.decision.by
    assert found.checked_at
    assert not ROWS["explosion"].finding(found).required


@pytest.mark.parametrize("name", ["gauge", "below_the_law", "no_q"])
def test_a_current_that_vanishes_at_infinity_does_no_harm(name: str) -> None:
    about = subject(HERE / "controls" / f"{name}.yaml")
    found = claimed_stationary if about.dynamics.Q is None else stationary
    assert found(about).verdict is Verdict.PROVED


ENDS = {
    "interval": ("interval(0, 1)", "-log(x) - log(1 - x)", "x*(1 - x)", "2 - 4*x", "1/(x*(1 - x))"),
    "half-line": ("positive", "3*log(1 + x) - log(x)", "x", "2 - 3*x/(1 + x)", "(1 + x)**3/x"),
}
"""Domains with ends: H, D, the drift of the recipe and exp(H), of which no power is steep."""


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize(("c", "verdict"), [(0, Verdict.PROVED), (1, Verdict.REFUTED), (-3, Verdict.REFUTED)])
def test_a_current_from_end_to_end_is_none_of_a_law(tmp_path: Path, name: str, c: int, verdict: Verdict) -> None:
    domain, H, D, drift, steep = ENDS[name]
    path = tmp_path / "ends.yaml"
    path.write_text(
        f'name: ends\nstate: {{x: {{domain: "{domain}"}}}}\nH: "{H}"\nD: [["{D}"]]\n'
        f'claims: {{drift: {{x: "{drift} + {c}*{steep}"}}}}\n'
    )
    assert claimed_stationary(subject(path)).verdict is verdict


def test_a_current_on_a_circle_goes_round(tmp_path: Path) -> None:
    path = tmp_path / "round.yaml"
    path.write_text("name: round\nstate: {a: {domain: circle}}\nH: 0*a\nD: [[1]]\nclaims: {drift: {a: 2}}\n")
    about = subject(path)
    assert claimed_stationary(about).verdict is Verdict.PROVED
    assert explosion(about).verdict is Verdict.PROVED


@pytest.mark.parametrize(("force", "verdict"), [("0", Verdict.PROVED), ("exp(x**2/2)", Verdict.UNDECIDED)])
def test_the_limit_of_an_update_has_no_current_through_infinity(tmp_path: Path, force: str, verdict: Verdict) -> None:
    path = tmp_path / "update.yaml"
    step = f"x + eps*(-x + {force}) + N(0, 2*eps)"
    path.write_text(f'name: update\nstate: {{x: {{}}}}\nH: x**2/2\nclaims: {{update: {{x: "{step}"}}}}\n')
    assert claimed_update(subject(path)).verdict is verdict


def test_a_document_that_explodes_is_refuted_though_its_residual_vanishes() -> None:
    found = load_dynamics(HERE / "steep_noise.yaml")
    report = check(found)
    refuted = [finding.id for finding in report.findings if finding.verdict is Verdict.REFUTED]
    assert refuted == ["explosion"]
    assert report.verdict is Verdict.REFUTED
