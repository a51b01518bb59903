"""What ships: proofs are for every size and take little time; builds assume nothing of integrals and growth."""

import pytest
from answers import SPECS
from reports import report

from recipe_compiler.verify.stationarity.explosion import rests_on

UNIVERSAL = ("d_symmetric", "d_psd", "q_skew", "stationary", "claimed_drift", "claimed_stationary")
NAMES = sorted(path.stem for path in (SPECS / "dynamics").glob("*.yaml"))
CLAIM_SECONDS = 5


@pytest.mark.parametrize("name", NAMES)
def test_what_is_proved_of_shipped_dynamics_is_proved_for_every_size(name):
    found = report(SPECS / f"dynamics/{name}.yaml")
    assert found.verdict != "refuted"
    assert not [one.id for one in found.findings if one.required and one.verdict == "refuted"]
    assert max(one.seconds for one in found.findings) < CLAIM_SECONDS
    for one in found.findings:
        if one.id in UNIVERSAL:
            assert one.verdict == "proved"
            assert one.for_d == "all"
            # `sgrhmc_potential` is a single equation in two numbers
            sizes = {size for sizes in one.checked_at for _, size in sizes}
            assert sizes == {1, 2, 3} or name == "sgrhmc_potential"


@pytest.mark.parametrize("path", sorted((SPECS / "builds").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_builds_assume_nothing_of_integrals_and_growth(path):
    known = {one.id: one for one in report(path).findings}
    assert "exp(-U) has a finite integral" not in known["normalisable"].decision.given
    assert "explosion" not in known or rests_on(known["explosion"]) == ()
