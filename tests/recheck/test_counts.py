"""What certificates say of discrete blocks, and of fields that are counts, is what documents declare."""

from pathlib import Path

import pytest
from certificates import ROOT, claim_in, of, said, sealed, settled

from recipe_compiler import recheck

REMOVAL, MIXTURE = (ROOT / f"specs/builds/gibbs_{name}.yaml" for name in ("removal", "mixture"))
TRIALS = ROOT / "tests/mutants/moves/trials_of_another_field.yaml"


@pytest.mark.slow
@pytest.mark.parametrize("path", [REMOVAL, MIXTURE, TRIALS], ids=lambda path: path.stem)
def test_certificates_of_discrete_blocks_are_read(path: Path) -> None:
    """Laws are trusted, right or wrong, as those of other blocks are."""
    found = said(of(path))
    assert found["laws"].startswith("trusted")
    assert found["stationary"].startswith("rechecked")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "given"),
    [
        (REMOVAL, "mu is counts"),
        (REMOVAL, "area is integer"),
        (REMOVAL, "left is one_hot"),
        (REMOVAL, "left is positive"),
        (REMOVAL, "left <= catch1"),
        (TRIALS, "k <= w"),
        (TRIALS, "t is integer"),
    ],
)
def test_what_no_document_says_of_counts_is_not_granted(path: Path, given: str) -> None:
    changed = of(path)
    claim_in(changed, "defined")["given"].append(given)
    with pytest.raises(recheck.FailureError, match="which the document does not say"):
        recheck.recheck(sealed(settled(changed)))
