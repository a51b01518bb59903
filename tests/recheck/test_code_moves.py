"""Certificates of cycles with code: what is taken on a word is printed, and no claim rests on less or more of it."""

import json
from pathlib import Path

import pytest
from certificates import Json, claim_in, said, sealed, settled
from certificates import made as made_of
from code_moves import HMC, MOVES, code, written

from recipe_compiler import recheck
from recipe_compiler.spec.load import load

KEPT = "the code of my_moves.py:turn preserves exp(-H)"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    build = load(written(tmp_path_factory.mktemp("coded"), f"{HMC}, {code('turn')}, {code('hit_and_run')}"))
    return json.dumps(made_of(build))


@pytest.fixture
def made(text: str) -> Json:
    return json.loads(text)


@pytest.mark.slow
@pytest.mark.parametrize("id_", ["code", "cycle", "exact"])
def test_what_is_granted_is_printed(made: Json, id_: str) -> None:
    says = said(made)[id_]
    assert says.startswith("trusted")
    assert "granted, not declared" in says
    assert "the code of my_moves.py:hit_and_run preserves exp(-H)" in says
    assert KEPT in says


@pytest.mark.slow
@pytest.mark.parametrize("id_", ["code", "cycle", "exact"])
def test_a_claim_that_does_not_say_so_is_rejected(made: Json, id_: str) -> None:
    claim_in(made, id_)["given"].remove(KEPT)
    with pytest.raises(recheck.FailureError, match=f"{id_} does not say that it rests on the code of my_moves.py:turn"):
        recheck.recheck(sealed(settled(made)))


@pytest.mark.slow
@pytest.mark.parametrize("id_", ["cycle", "exact"])
def test_code_that_no_move_is_grants_nothing(made: Json, id_: str) -> None:
    claim_in(made, id_)["given"].append("the code of my_moves.py:swap preserves exp(-H)")
    with pytest.raises(recheck.FailureError, match=f"{id_} rests on code that no move of the cycle is"):
        recheck.recheck(sealed(settled(made)))


@pytest.mark.parametrize("id_", ["metropolis", "stationary", "refresh", "normalisable"])
def test_other_claims_may_not_rest_on_it(made: Json, id_: str) -> None:
    claim_in(made, id_)["given"].append(KEPT)
    with pytest.raises((recheck.FailureError, recheck.UnreadError)):
        recheck.recheck(sealed(settled(made)))


def test_a_claim_about_code_cannot_be_left_out(made: Json) -> None:
    made["claims"] = [one for one in made["claims"] if one["id"] != "code"]
    with pytest.raises(recheck.FailureError, match="applicable are"):
        recheck.recheck(sealed(settled(made)))


def test_two_files_of_one_name_are_two_words(tmp_path: Path) -> None:
    """A claim that names one of them twice in the place of both is rejected."""
    other = tmp_path / "b"
    other.mkdir()
    (other / "my_moves.py").write_text(MOVES, encoding="utf-8")
    build = load(written(tmp_path, f"{HMC}, {code('turn')}, {code('turn').replace('my_moves', 'b/my_moves')}"))
    made = made_of(build)
    both = f"{KEPT.replace('my_moves', 'b/my_moves')}"
    assert {KEPT, both} <= {*claim_in(made, "exact")["given"]}
    assert said(made)["exact"].startswith("trusted")
    claim_in(made, "exact")["given"].remove(both)
    with pytest.raises(recheck.FailureError, match=r"exact does not say .* the code of b/my_moves\.py:turn"):
        recheck.recheck(sealed(settled(made)))
