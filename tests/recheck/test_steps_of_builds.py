"""What the checker looks at of a build's step again: letters, shares, the order that they give, and no more."""

from pathlib import Path

import pytest
from certificates import ROOT, Json, claim_in, of, said, sealed

from recipe_compiler import recheck
from recipe_compiler.spec.catalogue import NAMED
from recipe_compiler.spec.read_scheme import named_scheme
from recipe_compiler.spec.words import letters

BAOAB = ROOT / "specs/builds/sghmc_double_well_baoab.yaml"
REVERSED = ROOT / "tests/mutants/steps/reversed_half.yaml"
HALF = ROOT / "tests/mutants/steps/missing_half_kick.yaml"


def test_named_words_are_those_of_the_schemes() -> None:
    assert set(recheck.WORDS) == set(NAMED)
    for name, text in recheck.WORDS.items():
        own = [(x.piece, str(x.share)) for x in letters(named_scheme(name).split)]
        assert [(piece, str(share)) for piece, share in recheck.letters(text.split())] == own


@pytest.mark.slow
@pytest.mark.parametrize("path", [BAOAB, REVERSED, HALF], ids=lambda path: path.stem)
def test_letters_are_rechecked(path: Path) -> None:
    says = said(of(path))
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
        (REVERSED, "palindrome", {"by": "it is a palindrome"}),
        (HALF, "pieces", {"witness": {"share of B in the step": "1/3"}}),
    ],
    ids=str,
)
def test_what_the_letters_do_not_say_is_rejected(path: Path, name: str, changed: Json) -> None:
    whole = of(path)
    claim_in(whole, name).update(changed)
    with pytest.raises(recheck.FailureError):
        recheck.recheck(sealed(whole))


@pytest.mark.slow
def test_a_word_whose_shares_are_wrong_is_not_proved() -> None:
    whole = of(BAOAB)
    whole["documents"]["build"]["scheme"] = {"split": ["B/2", "A/2", "O", "A/2"]}
    with pytest.raises(recheck.FailureError, match="one step in all"):
        recheck.recheck(sealed(whole))
