"""What the checker looks at of a build's step again: letters, shares, the order that they give, and no more."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from reports import certificate_of

from recipe_compiler import recheck
from recipe_compiler.spec.catalogue import NAMED
from recipe_compiler.spec.read_scheme import named_scheme
from recipe_compiler.spec.words import letters

ROOT = Path(__file__).parents[2]
BAOAB = ROOT / "specs/builds/sghmc_double_well_baoab.yaml"
REVERSED = ROOT / "tests/mutants/steps/reversed_half.yaml"
HALF = ROOT / "tests/mutants/steps/missing_half_kick.yaml"


def of(path: Path) -> dict[str, Any]:
    return json.loads(certificate_of(path))


def sealed(changed: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in changed.items() if key != "seal"}
    return {**rest, "seal": sha256(recheck.canonical(rest).encode()).hexdigest()}


def claim(whole: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in whole["claims"] if one["id"] == name)


def test_named_words_are_those_of_the_schemes() -> None:
    assert set(recheck.WORDS) == set(NAMED)
    for name, text in recheck.WORDS.items():
        own = [(x.piece, str(x.share)) for x in letters(named_scheme(name).split)]
        assert [(piece, str(share)) for piece, share in recheck.letters(text.split())] == own


@pytest.mark.slow
@pytest.mark.parametrize("path", [BAOAB, REVERSED, HALF], ids=lambda path: path.stem)
def test_letters_are_rechecked(path: Path) -> None:
    says = dict(recheck.recheck(of(path)))
    assert "shares rechecked: exactly" in says["pieces"]
    assert says["palindrome"] == "rechecked: exactly"
    assert "its letters rechecked: exactly" in says["order"]
    assert says["flow"].startswith("trusted")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "name", "changed"),
    [
        (BAOAB, "order", {"data": {"order": "3"}}),
        (BAOAB, "order", {"data": {"order": "1"}}),
        (BAOAB, "palindrome", {"by": "it is not: letter 1 is B/2, letter 5 is A/2"}),
        (REVERSED, "order", {"data": {"order": "2"}}),
        (REVERSED, "palindrome", {"by": "it is its own reverse"}),
        (HALF, "pieces", {"witness": {"share of B in the step": "1/3"}}),
    ],
    ids=str,
)
def test_what_the_letters_do_not_say_is_rejected(path: Path, name: str, changed: dict[str, Any]) -> None:
    whole = of(path)
    claim(whole, name).update(changed)
    with pytest.raises(recheck.FailureError):
        recheck.recheck(sealed(whole))


@pytest.mark.slow
def test_a_word_whose_shares_are_wrong_is_not_proved() -> None:
    whole = of(BAOAB)
    whole["documents"]["build"]["scheme"] = {"split": ["B/2", "A/2", "O", "A/2"]}
    whole["digest"] = sha256(recheck.canonical(whole["documents"]).encode()).hexdigest()
    with pytest.raises(recheck.FailureError, match="one step in all"):
        recheck.recheck(sealed(whole))
