"""Wrong samplers, several of them published: each fails the right claim, by name, with an exact witness."""

from pathlib import Path

import pytest
from reports import report
from some import some

from recipe_compiler.verdict import Finding, Proved, Refuted, Report, Verdict

HERE = Path(__file__).parent

CLAIMED = ("claimed_drift", "claimed_stationary")
DECIDED = ("d_symmetric", "d_psd", "q_skew", "stationary", *CLAIMED)

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
    "mirrored_gamma_line": ("regular",),
    "preconditioner_gamma_dropped": CLAIMED,
    "rhmc_without_determinant": ("marginal", "claimed_marginal"),
    "rhmc_slope_of_determinant": CLAIMED,
    "sgnht_precision": CLAIMED,
    "sgrhmc_double_well": ("regular",),
    "temperature_squared": ("claimed_diffusion", "claimed_stationary"),
    "lognormal_without_ito": CLAIMED,
}
"""Mutant to the claims that it fails; of those decided here, every other one is proved unless listed below."""

UNDECIDED = {"d_not_symmetric": ("d_psd",)}

UNASSERTED = {
    "mirrored_gamma_line": ("d_psd", "stationary", *CLAIMED),
    "sgrhmc_double_well": ("d_psd", "stationary"),
}
"""True where D is smooth, so never refuted; whether they are proved depends on how the places where it is not count."""

ENTRY = {
    "sghmc_naive": "the claimed drift of r",
    "sgrld_gamma_dropped": "the claimed drift of theta",
    "q_symmetric": "Q[theta,r] + Q[r,theta].T",
    "d_negative": "D[r,r]",
    "d_not_symmetric": "D[theta,r] - D[r,theta].T",
    "d_not_psd": "D[r,r]",
    "sgnht_energy": "the claimed drift of r",
    "sgnht_norm": "the claimed drift of xi",
    "lognormal_without_ito": "the claimed drift of x",
}
"""The guilty part that the witness names."""

CONTROLS = sorted((HERE / "controls").glob("*.yaml"))
"""Right samplers near the wrong ones. Those that ship are in `tests/verify/test_systems.py`."""


def finding(found: Report, claim: str) -> Finding:
    return next(f for f in found.findings if f.id == claim)


def test_every_mutant_has_its_row() -> None:
    assert {path.stem for path in HERE.glob("*.yaml")} == REFUTED.keys()


@pytest.mark.parametrize("name", some(REFUTED, 2))
def test_a_mutant_fails_the_right_claims(name: str) -> None:
    found = report(HERE / f"{name}.yaml")
    expected = dict.fromkeys(DECIDED, Verdict.PROVED) | dict.fromkeys(REFUTED[name], Verdict.REFUTED)
    expected |= dict.fromkeys(UNDECIDED.get(name, ()), Verdict.UNDECIDED)
    open_ = UNASSERTED.get(name, ())
    verdicts = {f.id: f.verdict for f in found.findings if f.id in expected}
    asserted = {claim: verdict for claim, verdict in verdicts.items() if claim not in open_}
    assert asserted == {claim: expected[claim] for claim in asserted}
    assert all(verdicts[claim] is not Verdict.REFUTED for claim in open_)
    refuted = [claim for claim in REFUTED[name] if claim in verdicts]
    assert refuted
    for claim in refuted:
        decision = finding(found, claim).decision
        assert isinstance(decision, Refuted)
        assert decision.witness
        assert decision.residual
    assert found.verdict is Verdict.REFUTED


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
    assert set(DECIDED) <= {f.id for f in found.findings}
    assert {f.id: f.verdict for f in found.findings if f.id in DECIDED and f.verdict is not Verdict.PROVED} == {}
    stationary = finding(found, "stationary")
    assert isinstance(stationary.decision, Proved)
    assert stationary.for_d == "all"
    assert {size for sizes in stationary.checked_at for _, size in sizes} == {1, 2, 3}
