"""Reports: what the engines' disagreement and faults of the program come to, exit codes, and reasons printed once."""

import json
from dataclasses import replace

import pytest
from answers import document
from reports import demand_no_fault

from recipe_compiler.commands.clean_exit import of_verdict, worst
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.derive import recipe
from recipe_compiler.derive.recipe import Derivation, Vector, derive
from recipe_compiler.report.as_json import to_json
from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import OWN_FAULT, Finding, Proved, Refuted, Report, Undecided, Verdict
from recipe_compiler.verify.core import subject
from recipe_compiler.verify.stationarity import stationary

SGRHMC = """
state: {theta: {shape: d}, r: {shape: d}}
functions:
  U: {of: theta, role: potential}
  K: {of: theta, shape: [d, d], is: positive definite}
H: U(theta) + r.T @ r / 2
D: [[0, 0], [0, K @ K]]
Q: [[0, -K], [K, 0]]
"""


def finding(found: Report, claim: str) -> Finding:
    return next(f for f in found.findings if f.id == claim)


def tried(found: Report, claim: str) -> str:
    decision = finding(found, claim).decision
    assert isinstance(decision, Undecided)
    return "; ".join(decision.tried)


@pytest.mark.slow
def test_the_residual_of_the_derivation_is_asked_of_the_second_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_gamma(dynamics: Dynamics) -> Derivation:
        found = derive(dynamics)
        c = calculus(dynamics.declarations)
        drift = tuple(c.subtract(f, gamma) for f, gamma in zip(found.drift, found.Gamma, strict=True))
        return replace(found, drift=drift)

    monkeypatch.setattr(subject, "derive", no_gamma)
    found = finding(check(document(SGRHMC)), "stationary")
    assert isinstance(found.decision, Refuted)
    assert found.decision.witness


@pytest.mark.slow
def test_a_fault_that_the_first_engine_does_not_see_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_divergence(c: object, blocks: object, matrix: tuple[tuple[Tensor, ...], ...], **_: object) -> Vector:
        return tuple(Tensor(tuple(i for i in row[0].free if i.label == "i"), ()) for row in matrix)

    # Gamma is lost in the derivation, and the residual of the first engine is blind
    monkeypatch.setattr(recipe, "divergence", no_divergence)
    monkeypatch.setattr(stationary, "residual", lambda *_: Tensor((), ()))
    assert "engines disagree" in tried(check(document(SGRHMC)), "stationary")


@pytest.mark.slow
def test_an_exception_inside_a_claim_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(stationary, "residual", broken)
    found = check(document(SGRHMC))
    assert f"{OWN_FAULT}: ZeroDivisionError: planted" in tried(found, "stationary")
    assert any(line.startswith(f"    {OWN_FAULT}: ZeroDivisionError") for line in finding(found, "stationary").evidence)
    with pytest.raises(AssertionError, match="ZeroDivisionError: planted"):
        demand_no_fault(found)
    told = json.dumps(to_json([found]))
    assert f"{OWN_FAULT}: ZeroDivisionError: planted" in told
    assert "please report it" in told
    assert finding(found, "q_skew").verdict is Verdict.PROVED


def test_exit_codes() -> None:
    proved = check(document("state: {x: {}}\nH: x**2/2\nD: [[1]]\nQ: [[0]]\n"))
    refuted = check(document("state: {x: {}}\nH: x**2/2\nD: [[-1]]\nQ: [[0]]\n"))
    undecided = replace(proved, findings=(Finding("stationary", "", True, Undecided(("nothing",))),))

    def exit_code(reports: list[Report], *, allow_undecided: bool = False) -> ExitCode:
        return worst([of_verdict(report.verdict, allow_undecided=allow_undecided) for report in reports])

    assert exit_code([proved]) == 0
    assert exit_code([undecided, refuted]) == 1
    assert exit_code([undecided, proved]) == 3
    assert exit_code([undecided, proved], allow_undecided=True) == 0
    assert exit_code([undecided, refuted], allow_undecided=True) == 1


@pytest.mark.parametrize("held", [Proved("x"), Refuted("x", ()), Undecided(()), Finding("a", "b", True, Proved("x")),
                                  Report("n", "f", "d", ()), *Verdict], ids=str)  # fmt: skip
def test_what_holds_a_verdict_is_no_boolean(held: object) -> None:
    with pytest.raises(TypeError, match=r"is not a boolean: compare it.* with Verdict\.PROVED, REFUTED or UNDECIDED"):
        bool(held)


def test_reasons_that_many_claims_share_are_printed_once() -> None:
    text = "name: root\nstate: {x: {}, y: {}}\nparameters: {a: {}}\nassume: ['a**2 == 2']\nH: x**2/2 + y**2/2\n"
    lines = list(check(document(f"{text}D: [[a**2, 0], [0, 1]]\nQ: [[0, 0], [0, 0]]\n"), advisory=False).lines)
    assert sum("no rational values were found" in line for line in lines) == 1
    assert sum(line == "    tried: same as for `D is symmetric`" for line in lines) == 5
