"""Reports of documents: what is proved, refuted, left undecided, and what is said beside."""

import json
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from reports import demand_no_fault

from recipe_compiler.commands.clean_exit import of_verdict, worst
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.derive import recipe
from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.report.as_json import to_json
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import OWN_FAULT, Finding, Proved, Refuted, Report, Undecided, Verdict, own_faults
from recipe_compiler.verify.core import subject
from recipe_compiler.verify.stationarity import stationary

Check = Callable[[str], Report]


@pytest.fixture
def checked(tmp_path: Path) -> Check:
    """Return the report of a dynamics written as YAML."""

    def report(text: str) -> Report:
        path = tmp_path / "spec.yaml"
        path.write_text("name: spec\n" + textwrap.dedent(text), encoding="utf-8")
        return check(load(path))

    return report


def finding(found: Report, claim: str) -> Finding:
    return next(f for f in found.findings if f.id == claim)


def tried(found: Report, claim: str) -> str:
    decision = finding(found, claim).decision
    assert isinstance(decision, Undecided)
    return "; ".join(decision.tried)


SGRHMC = """
state: {theta: {shape: d}, r: {shape: d}}
functions:
  U: {of: theta, role: potential}
  K: {of: theta, shape: [d, d], is: positive definite}
H: U(theta) + r.T @ r / 2
D: [[0, 0], [0, K @ K]]
Q: [[0, -K], [K, 0]]
"""


@pytest.mark.slow
def test_every_claim_of_the_language_is_asked_where_it_applies(checked: Check) -> None:
    asked = {finding.id for finding in checked(SGRHMC).findings}
    assert {"d_psd", "stationary", "regular", "unique"} <= asked


def test_a_boundary_is_asked(checked: Check) -> None:
    found = checked("state: {x: {domain: positive}}\nH: x - 2*log(x)\nD: [[x]]\nQ: [[0]]\n")
    assert found.verdict is Verdict.PROVED
    assert finding(found, "boundary").verdict is Verdict.PROVED


def test_a_square_root_process_on_the_whole_line_is_not_proved(checked: Check) -> None:
    found = checked("state: {x: {}}\nH: x - 2*log(x)\nD: [[x]]\nQ: [[0]]\n")
    assert finding(found, "d_psd").verdict is Verdict.REFUTED
    assert "x > 0" in tried(found, "stationary")


@pytest.mark.parametrize("entry", ["1/x**2", "sqrt(x**2)", "log(1 + x)**2"])
def test_an_undischarged_obligation_is_undecided(checked: Check, entry: str) -> None:
    found = checked(f"state: {{x: {{}}}}\nH: x**2/2\nD: [[1 + {entry}]]\nQ: [[0]]\n")
    assert finding(found, "stationary").verdict is Verdict.UNDECIDED
    assert "not shown" in tried(found, "stationary")
    assert found.verdict is not Verdict.PROVED


def test_contradictory_assumptions_prove_nothing(checked: Check) -> None:
    text = """
    state: {x: {}}
    parameters: {a: {is: positive}}
    assume: ["exp(a) < 1"]
    H: x**2/2
    D: [[a]]
    Q: [[0]]
    """
    found = checked(text)
    assert {f.verdict for f in found.findings} == {Verdict.UNDECIDED}
    assert "no rational values were found that satisfy `exp(a) < 1`" in tried(found, "stationary")


KRON = """
state: {theta: {shape: d}, r: {shape: d}}
parameters: {a: {is: positive}, b: {}, c: {is: positive}}
assume: ["a*c - b**2 >= 0"]
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r / 2
D: [[a*I, b*I], [b*I, c*I]]
Q: [[0, -I], [I, 0]]
"""


def test_correlated_noise_is_proved_under_its_assumption(checked: Check) -> None:
    decision = finding(checked(KRON), "d_psd").decision
    assert isinstance(decision, Proved)
    assert "a*c - b**2 >= 0" in decision.given


def test_correlated_noise_is_refuted_without_it(checked: Check) -> None:
    decision = finding(checked(KRON.replace("assume", "# assume")), "d_psd").decision
    assert isinstance(decision, Refuted)
    values = dict(decision.witness)
    assert int(values["a"]) * int(values["c"]) < int(values["b"]) ** 2


def test_a_literal_position_sets_the_smallest_size(checked: Check) -> None:
    found = checked("state: {theta: {shape: d}}\nH: theta[1]**4 + theta.T @ theta\nD: [[I]]\nQ: [[0]]\n")
    assert found.verdict is Verdict.PROVED
    assert finding(found, "stationary").checked_at == ((("d", 2),), (("d", 3),))


def test_fixed_sizes_are_those_looked_at(checked: Check) -> None:
    text = """
    state: {theta: {shape: 2}}
    H: theta[0]**4/10 + (4*(theta[1] + 1.2) - theta[0]**2)**2/2
    D: [[I]]
    Q: [[0]]
    """
    assert checked(text).verdict is Verdict.PROVED


@pytest.mark.slow
def test_a_claimed_equation_without_d_and_q_is_refuted_by_its_residual(checked: Check) -> None:
    text = """
    state: {theta: {shape: d}, r: {shape: d}}
    functions: {U: {of: theta, role: potential}}
    H: U(theta) + r.T @ r / 2
    claims:
      drift: {theta: r, r: "-grad(U, theta) - 2*r"}
      diffusion: [[0, 0], [0, I]]
    """
    found = checked(text)
    assert finding(found, "claimed_stationary").verdict is Verdict.REFUTED
    assert {f.id for f in found.findings}.isdisjoint({"q_skew", "stationary", "claimed_drift"})
    right = checked(text.replace("- 2*r", "- r"))
    assert finding(right, "claimed_stationary").verdict is Verdict.PROVED
    assert right.verdict is Verdict.PROVED


def test_a_claimed_diffusion_beside_d_must_be_it(checked: Check) -> None:
    text = """
    state: {x: {}}
    H: x**2/2
    D: [[1]]
    Q: [[0]]
    claims: {drift: {x: -x}, diffusion: [[2]]}
    """
    found = checked(text)
    decision = finding(found, "claimed_diffusion").decision
    assert finding(found, "claimed_drift").verdict is Verdict.PROVED
    assert isinstance(decision, Refuted)
    assert dict(decision.witness)["claims.diffusion[x,x] - D[x,x]"] == "1"


@pytest.mark.parametrize(("interpretation", "verdict"), [("stratonovich", "proved"), ("ito", "refuted")])
def test_a_stratonovich_equation_is_converted_first(checked: Check, interpretation: str, verdict: str) -> None:
    # Ito: -D x + D' = -(1 + x**2) x + 2 x; Stratonovich's drift is less by D'/2 = x
    text = f"""
    state: {{x: {{}}}}
    H: x**2/2
    D: [[1 + x**2]]
    Q: [[0]]
    claims:
      interpretation: {interpretation}
      drift: {{x: -(1 + x**2)*x + x}}
    """
    found = checked(text)
    assert finding(found, "claimed_drift").verdict.value == verdict
    assert finding(found, "claimed_stationary").verdict.value == verdict


@pytest.mark.slow
def test_a_stratonovich_equation_whose_noise_factor_matters_is_undecided(checked: Check) -> None:
    text = """
    state: {x: {shape: d}}
    functions: {U: {of: x, role: potential}, G: {of: x, shape: [d, d], is: positive definite}}
    H: U(x)
    D: [[G]]
    Q: [[0]]
    claims:
      interpretation: stratonovich
      drift: {x: -G @ grad(U, x)}
    """
    assert "factor of D" in tried(checked(text), "claimed_stationary")


@pytest.mark.slow
def test_the_residual_of_the_derivation_is_asked_of_the_second_engine(
    checked: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_gamma(dynamics: Dynamics) -> Derivation:
        found = derive(dynamics)
        c = calculus(dynamics.declarations)
        drift = tuple(c.subtract(f, gamma) for f, gamma in zip(found.drift, found.Gamma, strict=True))
        return replace(found, drift=drift)

    monkeypatch.setattr(subject, "derive", no_gamma)
    found = finding(checked(SGRHMC), "stationary")
    assert isinstance(found.decision, Refuted)
    assert found.decision.witness


@pytest.mark.slow
def test_a_fault_that_the_first_engine_does_not_see_is_undecided(
    checked: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_divergence(c: object, blocks: object, matrix: tuple[tuple[Tensor, ...], ...]) -> tuple[Tensor, ...]:
        return tuple(Tensor(tuple(i for i in row[0].free if i.label == "i"), ()) for row in matrix)

    # Gamma is lost in the derivation, and the residual of the first engine is blind
    monkeypatch.setattr(recipe, "divergence", no_divergence)
    monkeypatch.setattr(stationary, "residual", lambda *_: Tensor((), ()))
    assert "engines disagree" in tried(checked(SGRHMC), "stationary")


@pytest.mark.slow
def test_an_exception_inside_a_claim_is_undecided(checked: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(stationary, "residual", broken)
    found = checked(SGRHMC)
    assert f"{OWN_FAULT}: ZeroDivisionError: planted" in tried(found, "stationary")
    assert any(line.startswith(f"    {OWN_FAULT}: ZeroDivisionError") for line in finding(found, "stationary").evidence)
    assert [OWN_FAULT in said for said in own_faults([found])] == [True]
    with pytest.raises(AssertionError, match="ZeroDivisionError: planted"):
        demand_no_fault(found)
    told = json.dumps(to_json([found]))
    assert f"{OWN_FAULT}: ZeroDivisionError: planted" in told
    assert "please report it" in told
    assert finding(found, "q_skew").verdict is Verdict.PROVED


def test_exit_codes(checked: Check) -> None:
    proved = checked("state: {x: {}}\nH: x**2/2\nD: [[1]]\nQ: [[0]]\n")
    refuted = checked("state: {x: {}}\nH: x**2/2\nD: [[-1]]\nQ: [[0]]\n")
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


def test_reasons_that_many_claims_share_are_printed_once(tmp_path: Path) -> None:
    text = "name: root\nstate: {x: {}, y: {}}\nparameters: {a: {}}\nassume: ['a**2 == 2']\nH: x**2/2 + y**2/2\n"
    (tmp_path / "root.yaml").write_text(f"{text}D: [[a**2, 0], [0, 1]]\nQ: [[0, 0], [0, 0]]\n", encoding="utf-8")
    lines = list(check(load(tmp_path / "root.yaml"), advisory=False).lines)
    assert sum("no rational values were found" in line for line in lines) == 1
    assert sum(line == "    tried: as for `D is symmetric`" for line in lines) == 5
