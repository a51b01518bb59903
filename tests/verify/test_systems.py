"""The dynamics that ship: what is proved of them is proved for every size, and in little time."""

import pytest
from answers import SPECS
from reports import report

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
