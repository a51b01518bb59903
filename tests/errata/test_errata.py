"""What the papers print, and what is right: every erratum about dynamics, by its number in the project's list.

`printed/` holds the equations as printed, `corrected/` as they should be; letters and notation are the papers'. A name
starts with the number of its erratum, and what is printed and corrected under one name belongs together.
"""

from functools import cache
from pathlib import Path

import pytest
from loaders import load_dynamics
from some import some

from recipe_compiler.errors import DocumentError
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Finding, Proved, Refuted, Report, Verdict

pytestmark = pytest.mark.usefixtures("without_explanations")

HERE = Path(__file__).parent
CORRECTED = sorted((HERE / "corrected").glob("*.yaml"))

DECIDED = ("d_symmetric", "d_psd", "q_skew", "stationary", "claimed_drift", "claimed_diffusion", "claimed_stationary")
CLAIMED = ("claimed_drift", "claimed_stationary")

PRINTED = {
    "c01_gamma_sign": CLAIMED,
    "c01_gamma_target_sign": CLAIMED,
    "c01_sgrld_gamma_sign": CLAIMED,
    "c02_sgrhmc_both_signs": CLAIMED,
    "c02_sgrhmc_friction_sign": CLAIMED,
    "c02_sgrhmc_gamma_sign": CLAIMED,
    "c05_friction_twice": CLAIMED,
    "c06_noise_budget": ("d_psd",),
    "c08_thermostat_energy": CLAIMED,
    "c09_thermostat_component": CLAIMED,
    "c10_recovered_q": ("claimed_drift",),
    "c12_divergence_over_theta": CLAIMED,
    "c13_noise_root": ("claimed_diffusion", "claimed_stationary"),
    "c14_historic_conformal": CLAIMED,
    "c14_historic_correction": CLAIMED,
    "c14_historic_volume": CLAIMED,
    "c15_half_step": CLAIMED,
    "c16_force_sghmc": CLAIMED,
    "c16_force_sgnht": CLAIMED,
    "c17_thermostat_mass": CLAIMED,
    "c17_thermostat_mass_energy": CLAIMED,
    "c17_thermostat_noise": CLAIMED,
    "c18_thermostat_sign": (*CLAIMED, "normalisable"),
    "c20_curl_order": ("claimed_drift", "marginal"),
    "c20_diffusion_order": ("d_symmetric", "d_psd", *CLAIMED, "marginal"),
    "c20_noise_of_q": (*CLAIMED, "marginal"),
    "c23_double_speed": (*CLAIMED, "marginal"),
    "c24_lognormal": CLAIMED,
    "c28_same_minibatch": CLAIMED,
    "c31_slides": ("q_skew", "stationary", *CLAIMED, "normalisable"),
    "c31_slides_curl": ("q_skew", "stationary", "claimed_drift"),
    "c36_marginal": ("marginal", "claimed_marginal"),
    "c36_marginal_deterministic": ("marginal", "claimed_marginal"),
    "c50_shape_of_gamma": CLAIMED,
    "c52_generator_sign": CLAIMED,
}
"""Printed form to the claims that it fails; of those decided here, every other one is proved."""

WITHOUT_MARGINAL = ("c20_noise_of_q", "c20_nose_poincare_noise", "c43_nose_poincare")
"""Corrected dynamics of the Nose-Poincare energy: exp(-H) is stationary, and theta has another law than exp(-U)."""

HIDDEN_AT_ONE = ("c08_thermostat_energy", "c14_historic_conformal", "c14_historic_correction")
"""Right for one coordinate: the witness has two."""

RESIDUAL = {
    "c01_gamma_sign": "2 sum_ij d_z[i] d_z[j] A[i,j] - 2 sum_ij d_z[i] E d_z[j] A[j,i]"
    " + 2 sum_ij d_z[i] E d_z[j] B[j,i]",
    "c01_gamma_target_sign": "-2 d + 2 sum_i a[i]/theta[i] - 2 sum_i 1/theta[i]",
    "c02_sgrhmc_both_signs": "-2 sum_ij r[i] d_theta[j] K[j,i] + 2 sum_ijk r[i] K[j,i] K[j,k] r[k]"
    " - 2 sum_ij K[i,j]**2",
    "c02_sgrhmc_friction_sign": "2 sum_ijk r[i] K[j,i] K[j,k] r[k] - 2 sum_ij K[i,j]**2",
    "c02_sgrhmc_gamma_sign": "-2 sum_ij r[i] d_theta[j] K[j,i]",
    "c05_friction_twice": "-sum_ijkl h r[i] inv(M)[j,i] V[k,j] inv(M)[k,l] r[l]/2 + sum_ij h V[i,j] inv(M)[i,j]/2",
    "c08_thermostat_energy": "A/d - xi/d - sum_i A r[i]**2/d**2 + sum_i xi r[i]**2/d**2 - d A + d xi"
    " + sum_i A r[i]**2 - sum_i xi r[i]**2",
    "c15_half_step": "sum_ij d_theta[i] L inv(M)[i,j] p[j]/2",
    "c16_force_sghmc": "-2 sum_ij d_theta[i] L inv(M)[i,j] p[j]",
    "c16_force_sgnht": "-2 sum_i d_theta[i] L r[i]",
    "c17_thermostat_mass_energy": "-sum_ij A mu p[i] inv(M)[i,j] p[j]/d + sum_ij mu xi p[i] inv(M)[i,j] p[j]/d + A mu"
    " + sum_ijk A p[i] inv(M)[j,i] inv(M)[j,k] p[k] - sum_i A inv(M)[i,i] - mu xi"
    " - sum_ijk xi p[i] inv(M)[j,i] inv(M)[j,k] p[k] + sum_i xi inv(M)[i,i]",
    "c20_noise_of_q": "A s/m - A q**2 s**2/m**2 - B s/m + B q**2 s**2/m**2",
    "c28_same_minibatch": "-sum_i c[i] r[i]",
    "c31_slides": "2 sum_i A r[i]**2 + 2 sum_i d_theta[i] U r[i] + 2 sum_i xi r[i]**2",
    "c52_generator_sign": "-2 sum_i d_theta[i] d_theta[i] f + 2 sum_i (d_theta[i] f)**2",
}
"""What the claimed equation leaves of exp(-H), as worked out for the list of errata, in the order of canonical form."""

FAULTS = {
    "c09_thermostat_vector": ("claims.drift.xi", "found a column [d], expected a scalar"),
    "c20_curl_blocks": ("Q[theta,q]", "found a matrix [?, ?], expected a column [d]"),
    "c29_shape_of_d": ("D", "found rows of 4, 4, 4 entries, expected 3 rows of 3: one for each of theta, r, xi"),
    "c61_scalar_noise": ("D[theta,theta]", "found a scalar, expected a matrix [d, d]"),
}
"""Printed forms that have no meaning: the entry at fault, and what is said of it."""


@cache
def report(path: Path) -> Report:
    document = load_dynamics(path)
    return check(document)


def finding(found: Report, claim: str) -> Finding:
    return next(f for f in found.findings if f.id == claim)


def printed(name: str) -> Report:
    return report(HERE / "printed" / f"{name}.yaml")


def test_every_printed_form_has_its_row() -> None:
    names = [path.stem for path in (HERE / "printed").glob("*.yaml")]
    assert sorted(names) == sorted([*PRINTED, *FAULTS])


def test_every_printed_erratum_has_its_correction() -> None:
    corrected = {path.stem.partition("_")[0] for path in CORRECTED}
    assert {name.partition("_")[0] for name in (*PRINTED, *FAULTS)} - corrected == {"c23", "c36"}


@pytest.mark.parametrize("name", some(PRINTED, 2))
def test_what_is_printed_is_refuted(name: str) -> None:
    found = printed(name)
    asserted = {f.id: f.verdict for f in found.findings if f.id in (*DECIDED, *PRINTED[name])}
    assert asserted == {id: Verdict.REFUTED if id in PRINTED[name] else Verdict.PROVED for id in asserted}
    refuted = set(PRINTED[name]) & asserted.keys()
    assert refuted
    for claim in refuted:
        decision = finding(found, claim).decision
        assert isinstance(decision, Refuted)
        assert decision.witness
        assert decision.residual
    assert found.verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", RESIDUAL)
def test_the_residual_is_as_worked_out(name: str) -> None:
    decision = finding(printed(name), "claimed_stationary").decision
    assert isinstance(decision, Refuted)
    assert decision.residual == RESIDUAL[name]


@pytest.mark.parametrize("name", HIDDEN_AT_ONE)
def test_what_is_right_for_one_coordinate_is_refuted_at_two(name: str) -> None:
    for claim in CLAIMED:
        found = finding(printed(name), claim)
        assert found.for_d == (("d", 2),)
        assert found.checked_at == ((("d", 1),),)
        assert isinstance(found.decision, Refuted)
        assert "holds at d = 1 only" in found.decision.by


@pytest.mark.parametrize("name", FAULTS)
def test_what_has_no_meaning_is_a_fault(name: str) -> None:
    entry, problem = FAULTS[name]
    with pytest.raises(DocumentError) as error:
        load(HERE / "printed" / f"{name}.yaml")
    assert (entry, problem) in [(fault.entry, fault.problem) for fault in error.value.faults]


@pytest.mark.parametrize("path", some(CORRECTED, 2), ids=lambda path: path.stem)
def test_what_is_corrected_is_proved(path: Path) -> None:
    found = report(path)
    assert {*DECIDED} - {"claimed_diffusion"} <= {f.id for f in found.findings}
    assert {f.id: f.verdict for f in found.findings if f.id in DECIDED and f.verdict is not Verdict.PROVED} == {}
    marginal = {f.verdict for f in found.findings if f.id == "marginal"}
    assert marginal <= {Verdict.REFUTED if path.stem in WITHOUT_MARGINAL else Verdict.PROVED}


def test_a_proof_of_a_correction_is_for_every_size() -> None:
    found = finding(report(HERE / "corrected" / "c17_thermostat_mass.yaml"), "claimed_stationary")
    assert isinstance(found.decision, Proved)
    assert found.for_d == "all"
    assert "M is positive definite" in found.decision.given
