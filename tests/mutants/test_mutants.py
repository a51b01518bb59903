"""Wrong samplers, several of them published: each fails the right claim, by name, with an exact witness."""

from functools import cache
from pathlib import Path

import pytest

from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Finding, Proved, Refuted, Report, Verdict
from recipe_compiler.verify.report import check

HERE = Path(__file__).parent
SPECS = HERE.parents[1] / "specs" / "dynamics"

CLAIMED = ("claimed_drift", "claimed_stationary")

REFUTED = {
    "sghmc_naive": CLAIMED,
    "sgrld_gamma_dropped": CLAIMED,
    "sgrld_gamma_wrong_sign": CLAIMED,
    "q_symmetric": ("q_skew", "stationary"),
    "d_negative": ("d_psd",),
    "gradient_sign": CLAIMED,
    "sgnht_energy": CLAIMED,
    "sgnht_norm": CLAIMED,
    "sgrhmc_naive": CLAIMED,
    "d_not_symmetric": ("d_symmetric",),
    "d_not_psd": ("d_psd",),
    "c_transposed": CLAIMED,
}
"""Mutant to the claims that it fails; every other claim is proved unless listed below."""

UNDECIDED = {"d_not_symmetric": ("d_psd",)}

ENTRY = {
    "sghmc_naive": "the claimed drift of r",
    "sgrld_gamma_dropped": "the claimed drift of theta",
    "q_symmetric": "Q[theta,r] + Q[r,theta].T",
    "d_negative": "D[r,r]",
    "d_not_symmetric": "D[theta,r] - D[r,theta].T",
    "d_not_psd": "D[r,r]",
    "sgnht_energy": "the claimed drift of r",
    "sgnht_norm": "the claimed drift of xi",
}
"""The guilty part that the witness names."""

CONTROLS = [*sorted((HERE / "controls").glob("*.yaml")), *sorted(SPECS.glob("*.yaml"))]


@cache
def report(path: Path) -> Report:
    document = load(path)
    assert isinstance(document, Dynamics)
    return check(document)


def finding(found: Report, claim: str) -> Finding:
    return next(f for f in found.findings if f.id == claim)


def test_every_mutant_has_its_row() -> None:
    assert {path.stem for path in HERE.glob("*.yaml")} == REFUTED.keys()


@pytest.mark.parametrize("name", REFUTED)
def test_a_mutant_fails_the_right_claims(name: str) -> None:
    found = report(HERE / f"{name}.yaml")
    by_verdict = {
        verdict: tuple(f.id for f in found.findings if f.verdict is verdict)
        for verdict in (Verdict.REFUTED, Verdict.UNDECIDED)
    }
    assert by_verdict == {Verdict.REFUTED: REFUTED[name], Verdict.UNDECIDED: UNDECIDED.get(name, ())}
    assert found.verdict is Verdict.REFUTED
    for claim in REFUTED[name]:
        decision = finding(found, claim).decision
        assert isinstance(decision, Refuted)
        assert decision.witness
        assert decision.residual


@pytest.mark.parametrize("name", ENTRY)
def test_the_guilty_part_is_named(name: str) -> None:
    decision = finding(report(HERE / f"{name}.yaml"), REFUTED[name][0]).decision
    assert isinstance(decision, Refuted)
    assert any(key.startswith(ENTRY[name]) for key, _ in decision.witness)


@pytest.mark.parametrize("name", ["sgnht_energy", "c_transposed"])
def test_what_hides_at_size_one_is_found_at_two(name: str) -> None:
    found = finding(report(HERE / f"{name}.yaml"), "claimed_stationary")
    assert found.for_d == (("d", 2),)
    assert found.checked_at == ((("d", 1),),)
    assert isinstance(found.decision, Refuted)
    assert "d = 1" in found.decision.by


def test_a_negative_diffusion_is_said_at_a_point() -> None:
    found = finding(report(HERE / "d_not_psd.yaml"), "d_psd")
    assert isinstance(found.decision, Refuted)
    assert found.decision.residual == "D[r,r] = C - theta**2"
    values = dict(found.decision.witness)
    assert int(values["C"]) - int(values["theta"]) ** 2 == int(values["D[r,r]"]) < 0
    assert found.where is not None
    assert found.where.line == 13


@pytest.mark.parametrize("path", CONTROLS, ids=lambda path: path.stem)
def test_a_right_sampler_is_proved(path: Path) -> None:
    found = report(path)
    assert {f.id: f.verdict for f in found.findings if f.verdict is not Verdict.PROVED} == {}
    assert {"d_symmetric", "d_psd", "q_skew", "stationary", *CLAIMED} == {f.id for f in found.findings}
    stationary = finding(found, "stationary")
    assert isinstance(stationary.decision, Proved)
    assert stationary.for_d == "all"
    assert {size for sizes in stationary.checked_at for _, size in sizes} == {1, 2, 3}
