"""Across kinks an identity holds weakly, or is left open by name; a current that jumps is never proved."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.errors import ModelError
from recipe_compiler.verdict import Answer, Proved, Undecided, Verdict
from recipe_compiler.verify.core.subject import Subject, subject_of
from recipe_compiler.verify.stationarity.stationary import claimed_stationary, stationary

Subjects = Callable[[str], Subject]


@pytest.fixture
def subjects(tmp_path: Path) -> Subjects:
    def made(text: str) -> Subject:
        path = tmp_path / "spec.yaml"
        path.write_text("name: spec\n" + textwrap.dedent(text), encoding="utf-8")
        document = load_dynamics(path)
        return subject_of(document)

    return made


def tried(found: Answer) -> str:
    assert isinstance(found.decision, Undecided)
    return "; ".join(found.decision.tried)


LAPLACE = """
state: {theta: {shape: d}, r: {shape: d}}
parameters: {C: {shape: [d, d], is: positive semidefinite}, M: {shape: [d, d], is: positive definite}}
H: sum(abs(theta)) + r.T @ inv(M) @ r / 2
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
claims:
  drift:
    theta: inv(M) @ r
    r: -sign(theta) - C @ inv(M) @ r
"""


def test_a_kinked_energy_is_proved_weakly(subjects: Subjects) -> None:
    found = stationary(subjects(LAPLACE)).decision
    assert isinstance(found, Proved)
    assert "weakly across the kinks of abs(theta)" in found.by
    assert isinstance(claimed_stationary(subjects(LAPLACE)).decision, Proved)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("-sign(theta) - C", "-sign(theta) - C.T @ C"), ("-sign(theta)", "sign(theta)"), ("-sign(theta)", "-theta")],
)
def test_a_wrong_claim_about_it_is_not(subjects: Subjects, right: str, wrong: str) -> None:
    found = claimed_stationary(subjects(LAPLACE.replace(right, wrong)))
    assert found.verdict is Verdict.REFUTED


def test_a_lipschitz_metric_is_proved_weakly(subjects: Subjects) -> None:
    text = """
    state: {theta: {shape: 2}}
    H: "minimum(theta[0]**2, theta[1]**2 + 1) + theta.T @ theta"
    D: [["(1 + maximum(theta[0], 0))*I"]]
    Q: [[0]]
    """
    assert isinstance(stationary(subjects(text)).decision, Proved)


def test_a_metric_that_jumps_is_not_proved(subjects: Subjects) -> None:
    text = "state: {theta: {}}\nH: theta**2/2\nD: [['2 + sign(theta)*exp(-theta**2)']]\nQ: [[0]]\n"
    try:
        verdict = stationary(subjects(text)).verdict
    except ModelError:
        return
    assert verdict is not Verdict.PROVED


def test_a_current_that_jumps_is_not_proved(subjects: Subjects) -> None:
    """J = f p jumps at 0 and is constant off it: mass gathers there, which no residual off 0 sees."""
    text = """
    state: {x: {domain: "interval(-1, 1)"}}
    H: 0*x
    D: [[1]]
    Q: [[0]]
    claims: {drift: {x: sign(x)}}
    """
    assert claimed_stationary(subjects(text)).verdict is not Verdict.PROVED


def test_a_singular_kink_is_named(subjects: Subjects) -> None:
    text = """
    state: {theta: {shape: d}}
    parameters: {a: {is: positive}}
    H: sum(abs(theta)) - (a - 1)*sum(log(abs(theta)))
    D: [[diag(abs(theta))]]
    Q: [[0]]
    """
    assert "abs(theta) > 0" in tried(stationary(subjects(text)))


def test_a_derivative_of_something_kinked_is_not_lipschitz(subjects: Subjects) -> None:
    text = "state: {x: {}, y: {}}\nH: x**2 + y**2\nD: [[1, 0], [0, 'grad(abs(x), x)**2 + 1']]\nQ: [[0, 0], [0, 0]]\n"
    assert stationary(subjects(text)).verdict is not Verdict.PROVED


def test_where_branches_that_meet_are_a_kink(subjects: Subjects) -> None:
    text = """
    state: {x: {}, r: {}}
    H: where(x > 0, x**2, 2*x**2) + r**2/2
    D: [[0, 0], [0, 1]]
    Q: [[0, -1], [1, 0]]
    """
    found = stationary(subjects(text)).decision
    assert isinstance(found, Proved)
    assert "weakly across the kinks of where(x > 0, x**2, 2*x**2)" in found.by
