"""Soundness under fire, a few of each; `python tests/properties/fire.py` fires ten thousand."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import flint
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fire import FAULTS, Shot, fire, fire_builds, fire_moves, fire_wild, judged
from moves import random_flow, random_shares
from words import KEPT, Refresh, random_words

from recipe_compiler.verdict import Verdict

RIGHT = ("d_symmetric", "q_skew", "stationary", "claimed_drift", "claimed_stationary")
"""Claims that hold of all that is right, and are decided."""


@pytest.mark.slow
def test_nobody_sets_the_precision_of_others() -> None:
    alone = "import fire, flint; assert flint.ctx.prec == 53, flint.ctx.prec"
    ran = subprocess.run([sys.executable, "-c", alone], cwd=Path(__file__).parent, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_is_right_is_proved_and_nothing_wrong_is(seed: int) -> None:
    tally = fire(5, seed)
    assert tally.wrong == []
    assert tally.documents["right"] == tally.documents["mutant"] == 5
    assert {v for kind, claim, v in tally.verdicts if kind == "right" and claim in RIGHT} == {"proved"}
    assert {v for kind, claim, v in tally.verdicts if kind in FAULTS and claim == "claimed_drift"} == {"refuted"}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_nothing_is_proved_that_fails_somewhere_and_nothing_refuted_where_it_holds(seed: int) -> None:
    """The judge has balls of its own precision, and what is judged those of a user's process."""
    with flint.ctx.workprec(53):
        tally = fire_wild(15, seed)
        assert flint.ctx.prec == 53
    assert tally.wrong == []
    assert any(kind == "wild, failing" for kind, _, _ in tally.verdicts)


@pytest.mark.slow
def test_builds_are_judged_at_their_values() -> None:
    tally = fire_builds(8, 1)
    assert tally.wrong == []
    assert any(kind == "build, failing" for kind, _, _ in tally.verdicts)


@pytest.mark.slow
def test_the_same_of_many() -> None:
    assert fire(100, 3).wrong == fire_wild(400, 3).wrong == fire_builds(40, 3).wrong == []


def test_no_random_cycle_is_judged_wrongly() -> None:
    found: set[tuple[str, bool, Verdict]] = set()
    for seed in range(16):
        shot = judged(seed)
        assert shot.tally().wrong == []
        found |= {(claim, wrong, verdict) for (claim, wrong), verdict in shot.verdicts.items()}
    right, wrong = ("cycle", "draw", "metropolis", "lint_metropolis", "cir"), ("cycle", "lint_metropolis")
    assert {(claim, False, Verdict.PROVED) for claim in right} <= found
    assert {(claim, True, Verdict.REFUTED) for claim in wrong} | {("cir", True, Verdict.UNDECIDED)} <= found


@pytest.mark.slow
def test_the_same_of_many_cycles() -> None:
    found = fire_moves(range(1000, 1300))
    assert found.wrong == []
    assert sum(n for (kind, _, v), n in found.verdicts.items() if "wrong" in kind and v == "refuted") > 50
    assert sum(n for (kind, _, v), n in found.verdicts.items() if "wrong" not in kind and v == "proved") > 50


@pytest.mark.parametrize(("make", "share"), [(random_flow, 1.0), (random_shares, 0.7)])
def test_faults_of_laws_are_seen_by_the_judge_alone(make, share: float) -> None:
    """Of documents without a fault nothing but `exact` with minibatches is wrong; of most others something is."""
    found = [make(Random(seed)) for seed in range(200)]
    wrong = {kind: [one.wrong_claims(1) for one in found if one.is_right is kind] for kind in (True, False)}
    assert len(wrong[True]) > 50 < len(wrong[False])
    assert {claim for claims in wrong[True] for claim in claims} <= ({"exact"} if make is random_flow else set())
    assert sum({"cycle", "exact"} <= {*claims} for claims in wrong[False]) >= share * len(wrong[False])


def test_faults_of_several_moves_are_seen_by_the_judge_alone() -> None:
    """Of leapfrogs that all turn their momenta and move both coordinates nothing is wrong; without a flip most are."""
    found = [random_words(Random(seed)) for seed in range(400)]
    right = [
        one for one in found
        if (letters := one.words[0].letters)[0] == letters[-1] and len(letters) == 3
        and all(word.flip for word in one.words) and {k for word in one.words for k in word.moved} == {0, 1}
    ][:40]  # fmt: skip
    assert len(right) == 40
    assert not any(one.document().wrong_claims(1) for one in right)
    for one in right[:10]:
        moves = [(Refresh(KEPT[3]), replace(word, flip=(), every=1)) for word in right[0].words]
        bent = replace(one, moves=tuple(move for pair in moves for move in pair))
        assert {"metropolis", "cycle", "exact"} <= set(bent.document().wrong_claims(1))


def test_what_is_judged_wrongly_is_counted() -> None:
    found = {("cycle", True): Verdict.PROVED, ("exact", False): Verdict.REFUTED, ("draw", True): Verdict.REFUTED}
    told = Shot(1, "cycle", "", found).tally() + Shot(2, "flow", "", {("cycle", False): Verdict.PROVED}).tally()
    assert len(told.wrong) == 2
    assert "documents: 1 cycle, 1 flow\nwrong verdicts: 2\n" in str(told)
