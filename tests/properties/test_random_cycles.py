"""Random cycles of moves: none is proved that does not keep exp(-H), and none refuted that does as far as one sees."""

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fire_moves import Shot, Tally, fire, judged
from random_flows import random_flow
from random_shares import random_shares
from random_words import random_words

from recipe_compiler.verdict import Verdict


def test_no_random_cycle_is_judged_wrongly() -> None:
    found: set[tuple[str, bool, Verdict]] = set()
    for seed in range(16):
        shot = judged(seed)
        assert not list(shot.misjudged)
        found |= {(claim, wrong, verdict) for (claim, wrong), verdict in shot.verdicts.items()}
    assert {("cycle", False, Verdict.PROVED), ("cycle", True, Verdict.REFUTED)} <= found
    assert {("draw", False, Verdict.PROVED), ("metropolis", False, Verdict.PROVED)} <= found
    assert {("lint_metropolis", False, Verdict.PROVED), ("lint_metropolis", True, Verdict.REFUTED)} <= found
    assert {("cir", False, Verdict.PROVED), ("cir", True, Verdict.UNDECIDED)} <= found


def test_faults_of_laws_are_seen_by_the_judge_alone() -> None:
    """Of documents without a fault nothing but `exact` with minibatches is wrong; of most others something is."""
    flows = [random_flow(Random(seed)) for seed in range(200)]
    whole = [flow for flow in flows if len({block for _, block in flow.moves}) == 2]
    right = [f for f in whole if f.claimed == f.right and f.of_s == (f.power + 1, f.right.by_s)]
    assert all(set(flow.wrong_claims(1)) <= ({"exact"} if flow.variant == "minibatch" else set()) for flow in right)
    bent = [flow for flow in whole if flow.claimed != flow.right]
    assert len(right) > 50 < len(bent)
    assert all({"cycle", "exact"} <= set(flow.wrong_claims(1)) for flow in bent)


def test_faults_of_shares_are_seen_by_the_judge_alone() -> None:
    """Of documents without a fault nothing is wrong; of those with one in a law that is drawn by, most claims are."""
    found = [random_shares(Random(seed)) for seed in range(200)]
    whole = [one for one in found if len({*one.moves}) == 3]
    right = [one for one in whole if one.of_w == one.of_g == one.of_z == one.right]
    bent = [one for one in whole if one.of_w != one.right]
    assert len(right) > 50 < len(bent)
    assert not any(one.wrong_claims(1) for one in right)
    assert sum({"draw", "cycle", "exact"} <= set(one.wrong_claims(1)) for one in bent) > 0.7 * len(bent)


def test_faults_of_several_moves_are_seen_by_the_judge_alone() -> None:
    """Of leapfrogs that all turn their momenta and move both coordinates nothing is wrong; without a flip most are."""
    found = [random_words(Random(seed)) for seed in range(400)]
    right = [
        one for one in found
        if one.of.word[0] == one.of.word[-1] and len(one.of.word) == 3
        and all(word.flip for word in one.words) and {k for word in one.words for k in word.moved} == {0, 1}
    ][:40]  # fmt: skip
    assert len(right) == 40
    assert not any(one.wrong_claims(1) for one in right)
    kept = [replace(word, before=(Fraction(9, 10),), flip=False, every=1) for word in right[0].words]
    bent = [replace(one, words=tuple(kept), after=()) for one in right[:10]]
    assert all({"metropolis", "cycle", "exact"} <= set(one.wrong_claims(1)) for one in bent)


@pytest.mark.slow
def test_the_same_of_many_cycles() -> None:
    found = fire(range(1000, 1300))
    assert found.misjudged == []
    assert found.verdicts[True, Verdict.REFUTED] > 50 < found.verdicts[False, Verdict.PROVED]


def test_what_is_judged_wrongly_is_counted() -> None:
    told, found = Tally(), {("cycle", True): Verdict.PROVED, ("exact", False): Verdict.REFUTED}
    told.add(Shot(1, "cycle", "", found))
    told.add(Shot(2, "flow", "", {("cir", True): Verdict.REFUTED, ("cycle", False): Verdict.PROVED}))
    assert len(told.misjudged) == 2
    assert "2 documents (1 cycle, 1 flow); 2 claims that are wrong: 1 proved, 1 refuted, 0 undecided" in str(told)
