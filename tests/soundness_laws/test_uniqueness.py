"""exp(-H) is the only stationary law only if it is a law, and stationary: else nothing is proved of its uniqueness."""

from pathlib import Path

import pytest
from loaders import load_dynamics
from written import POTENTIAL, document, subject

from recipe_compiler.report.check import check
from recipe_compiler.verdict import Decision, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.core.subject import Subject, subject_of
from recipe_compiler.verify.uniqueness.unique import unique

NO_LAW = {
    "Brownian motion": ("x: {shape: d}", "0*sum(x)", "refuted: exp(-H) has a finite integral"),
    "a square with a valley": ("x: {}, y: {}", "(x**2 + y)**2", "refuted: exp(-H) has a finite integral"),
    "Cauchy's law in two dimensions": (
        "x: {shape: d}",
        "log(1 + norm2(x))",
        "refuted: exp(-H) has a finite integral",
    ),
    "no function on a circle": ("t: {domain: circle}", "t**2/2", "refuted: what is stated of a circle is periodic"),
}


def reported(of: Subject) -> Decision:
    """Return what a report finds of `unique`, under its premises."""
    return {finding.id: finding.decision for finding in check(of.stated or of.dynamics).findings}["unique"]


@pytest.mark.parametrize("name", NO_LAW)
def test_what_is_no_law_is_not_the_only_one(tmp_path: Path, name: str) -> None:
    state, H, why = NO_LAW[name]
    found = reported(subject(tmp_path, state, H))
    assert isinstance(found, Undecided)
    assert any(why in reason for reason in found.tried)


def test_a_written_energy_is_shown_to_be_integrable_not_assumed(tmp_path: Path) -> None:
    found = unique(subject(tmp_path, "x: {shape: d}", "norm2(x)/2")).decision
    assert isinstance(found, Proved)
    assert not any("finite integral" in fact for fact in found.given)


def test_an_abstract_one_is_assumed_to_be_by_name(tmp_path: Path) -> None:
    found = reported(subject(tmp_path, "theta: {shape: d}", "U(theta)", functions=POTENTIAL))
    assert isinstance(found, Proved)
    assert "exp(-U) has a finite integral" in found.given


def test_what_to_declare_of_noise_that_may_vanish_is_said(tmp_path: Path) -> None:
    kind = "positive semidefinite"
    found = unique(
        subject(tmp_path, "x: {shape: d}", "norm2(x)/2", D="[[C]]", parameters=f"C: {{shape: [d, d], is: {kind}}}")
    )
    assert found.verdict is Verdict.REFUTED
    assert isinstance(found.decision, Refuted)
    assert "declare C positive definite" in found.decision.residual


@pytest.mark.parametrize("H", ["norm2(x)/2", "0*sum(x)"])
def test_where_noise_does_not_vanish_it_is_said_to_be_the_only_law_if_that_is_proved(tmp_path: Path, H: str) -> None:
    kind = "positive semidefinite"
    parameters = f"C: {{shape: [d, d], is: {kind}}}"
    found = unique(subject(tmp_path, "x: {shape: d}", H, D="[[C]]", parameters=parameters)).decision
    if "norm2" in H:
        assert isinstance(found, Refuted)
        assert "; where C is positive definite it is the only" in found.residual
    else:
        assert "it is the only one" not in getattr(found, "residual", "")


def test_friction_alone_does_not_make_it_the_only_law(tmp_path: Path) -> None:
    """Memories that may be uncoupled: A positive definite is not enough, and nothing is promised."""
    dynamics = document(
        tmp_path,
        "r: {shape: d}, w: {shape: d}",
        "norm2(r)/2 + norm2(w)/2",
        D="[[0, 0], [0, A]]",
        Q="[[0, -B], [B.T, 0]]",
        parameters="A: {shape: [d, d], is: positive semidefinite}, B: {shape: [d, d]}",
    )
    found = unique(subject_of(dynamics)).decision
    assert isinstance(found, Refuted)
    assert "the only one" not in found.residual


PLANE = {
    "a quartic well": ("x**4/4 + y**4/4", "[[0, 0], [0, 1]]", "[[0, -1], [1, 0]]"),
    "noise that is square at a line": ("x**2/2 + y**2/2", "[[1, 0], [0, x**2]]", "[[0, 0], [0, 0]]"),
    "noise that is square at two lines": ("x**2/2 + y**2/2", "[[1, 0], [0, (x**2 - 1)**2]]", "[[0, 0], [0, 0]]"),
    "a current that turns": ("x**4/4 + y**2/2", "[[1, 0], [0, 0]]", "[[0, x**2 - 1], [1 - x**2, 0]]"),
    "noise that vanishes and is turned": ("x**2/2 + y**2/2", "[[x**2, 0], [0, 1]]", "[[0, -1], [1, 0]]"),
}
"""Energy, D and Q of which no single bracket spans everywhere."""


@pytest.mark.parametrize("name", PLANE)
def test_higher_brackets_reach_what_lower_ones_do_not(tmp_path: Path, name: str) -> None:
    H, D, Q = PLANE[name]
    found = unique(subject_of(document(tmp_path, "x: {}, y: {}", H, D=D, Q=Q))).decision
    assert isinstance(found, Proved), found


FROZEN = {
    "a wall": ("x**2/2 + y**2/2", "[[x**2, 0], [0, 1]]", "[[0, 0], [0, 0]]"),
    "a wall across": ("x**2/2 + y**2/2", "[[(x - y)**2, 0], [0, (x - y)**2]]", "[[0, 0], [0, 0]]"),
    "a circle": ("x**2 + y**2", "[[(x**2 + y**2 - 1)**2, 0], [0, (x**2 + y**2 - 1)**2]]", "[[0, 0], [0, 0]]"),
    "a point": ("x**2 + y**2", "[[(x**2 + y**2)**2, 0], [0, (x**2 + y**2)**2]]", "[[0, 0], [0, 0]]"),
    "a flat current": ("x**2/2 + y**2/2", "[[1, 0], [0, 0]]", "[[0, 0], [0, 0]]"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FROZEN)
def test_what_no_bracket_reaches_is_not_proved(tmp_path: Path, name: str) -> None:
    H, D, Q = FROZEN[name]
    found = unique(subject_of(document(tmp_path, "x: {}, y: {}", H, D=D, Q=Q))).decision
    assert isinstance(found, Undecided if name == "a point" else Refuted), found


def test_a_q_that_is_recovered_decides_as_one_that_is_stated(tmp_path: Path) -> None:
    H, noise, drift = "x**2/2 + y**2/2", "[[0, 0], [0, 1]]", "x: y, y: -x - y"
    found = unique(subject_of(document(tmp_path, "x: {}, y: {}", H, D=noise, drift=drift))).decision
    assert isinstance(found, Proved)
    wrong = unique(subject_of(document(tmp_path, "x: {}, y: {}", H, D=noise, drift="x: y, y: -2*x - y"))).decision
    assert isinstance(wrong, Undecided)
    assert "none is shown to give the claimed drift" in wrong.tried[0]


@pytest.mark.parametrize(("most", "verdict"), [("2", Verdict.UNDECIDED), ("3", Verdict.REFUTED)])
def test_a_size_that_is_not_allowed_refutes_nothing(tmp_path: Path, most: str, verdict: Verdict) -> None:
    """Noise along (1, ..., 1) reaches all of one coordinate, and not of two."""
    text = f'name: one\nstate: {{x: {{shape: d}}}}\nassume: ["d < {most}"]\nH: norm2(x)/2\n'
    (tmp_path / "one.yaml").write_text(text + 'D: [["outer(ones, ones)"]]\nQ: [[0]]\n', encoding="utf-8")
    dynamics = load_dynamics(tmp_path / "one.yaml")
    assert unique(subject_of(dynamics)).verdict is verdict
