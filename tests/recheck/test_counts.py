"""What certificates say of discrete blocks, and of fields that are counts, is what documents declare."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from reports import certificate_of

from recipe_compiler import recheck

ROOT = Path(__file__).parents[2]
REMOVAL, MIXTURE = (ROOT / f"specs/builds/gibbs_{name}.yaml" for name in ("removal", "mixture"))
TRIALS = ROOT / "tests/mutants/moves/trials_of_another_field.yaml"


def of(path: Path) -> dict[str, Any]:
    return json.loads(certificate_of(path))


@pytest.mark.slow
@pytest.mark.parametrize("path", [REMOVAL, MIXTURE, TRIALS], ids=lambda path: path.stem)
def test_certificates_of_discrete_blocks_are_read(path: Path) -> None:
    """Laws are trusted, right or wrong, as those of other blocks are."""
    found = dict(recheck.recheck(of(path)))
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
    one = next(claim for claim in changed["claims"] if claim["id"] == "defined")
    one["given"] = [*one["given"], given]
    changed["assumptions"] = sorted({*changed["assumptions"], given})
    rest = {key: value for key, value in changed.items() if key != "seal"}
    forged = {**rest, "seal": sha256(recheck.canonical(rest).encode()).hexdigest()}
    with pytest.raises(recheck.FailureError, match="which the document does not say"):
        recheck.recheck(forged)
