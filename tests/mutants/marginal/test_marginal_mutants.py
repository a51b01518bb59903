"""Wrong marginals and energies without a finite integral, several of them published: each fails the right claim."""

from functools import cache
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.verdict import Answer, Refuted, Verdict
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.integrability.marginal import claimed_marginal, claims_marginal, has_auxiliaries, marginal
from recipe_compiler.verify.integrability.normalisable import normalisable

HERE = Path(__file__).parent
SPECS = HERE.parents[2] / "specs" / "dynamics"

BOTH = ("marginal", "claimed_marginal")

REFUTED = {
    "rhmc_without_log_det": BOTH,
    "rhmc_log_det_negative": BOTH,
    "rhmc_log_det_whole": BOTH,
    "metric_squared": BOTH,
    "momentum_shifted": ("normalisable", *BOTH),
    "momentum_negative": ("normalisable",),
    "thermostat_coupled": BOTH,
    "nose_poincare": BOTH,
    "geometric_brownian": ("normalisable",),
    "gamma_claimed": ("claimed_marginal",),
    "twice_the_potential": BOTH,
    "thermostat_marginal": ("claimed_marginal",),
    "valley": ("normalisable",),
    "student_exponent": ("normalisable",),
    "student_one_dimension": ("normalisable",),
    "mixture_flat": ("normalisable",),
    "quartic_ray": ("normalisable",),
}
"""Mutant to the claims that it fails."""

RESIDUAL = {
    "rhmc_without_log_det": "-sum_jk d_theta[i] G[j,k] inv(G)[j,k]/2",
    "nose_poincare": "(U) (s - 1)",
}
"""What is left over, where it is known in closed form."""


@cache
def findings(path: Path) -> dict[str, Answer]:
    document = load_dynamics(path)
    subject = subject_of(document)
    found = {"normalisable": normalisable(subject)}
    if has_auxiliaries(document):
        found["marginal"] = marginal(subject)
    if claims_marginal(document):
        found["claimed_marginal"] = claimed_marginal(subject)
    return found


def test_every_mutant_has_its_row() -> None:
    assert {path.stem for path in HERE.glob("*.yaml")} == REFUTED.keys()


@pytest.mark.parametrize("name", REFUTED)
def test_a_mutant_fails_the_right_claims(name: str) -> None:
    found = findings(HERE / f"{name}.yaml")
    expected = set(REFUTED[name])
    assert {claim for claim, finding in found.items() if finding.verdict is Verdict.REFUTED} == expected
    for claim in expected:
        decision = found[claim].decision
        assert isinstance(decision, Refuted)
        assert decision.witness
        assert decision.residual
        if name in RESIDUAL:
            assert decision.residual == RESIDUAL[name]


@pytest.mark.parametrize("path", sorted(SPECS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_originals_hold(path: Path) -> None:
    assert {finding.verdict for finding in findings(path).values()} == {Verdict.PROVED}
