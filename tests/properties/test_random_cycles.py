"""Random cycles of moves: none is proved that does not keep exp(-H), and none refuted that does as far as one sees."""

import sys
import tempfile
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from random_cycles import CLAIMS, Judge, random_cycle

from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Verdict
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.claims import BUILDS, Bound, applicable_claims


def judged(seed: int) -> dict[tuple[str, bool], Verdict]:
    """Return the verdicts on a random cycle, by claim and whether the judge finds it wrong."""
    cycle = random_cycle(Random(seed))
    wrong = Judge(cycle).wrong_claims(seed)
    with tempfile.TemporaryDirectory() as folder:
        build = load(cycle.write(Path(folder)))
    assert isinstance(build, Build)
    bound = Bound(Stages(build, bind(build)))
    asked = [claim for claim in applicable_claims(BUILDS, build) if claim.id in CLAIMS]
    return {(claim.id, claim.id in wrong): claim.decide(bound).verdict for claim in asked}


def fire_cycles(seeds: range) -> set[tuple[str, bool, Verdict]]:
    """Return which verdicts fell on right and wrong claims; each wrong verdict is an error by its seed."""
    found: set[tuple[str, bool, Verdict]] = set()
    for seed in seeds:
        for (claim, wrong), verdict in judged(seed).items():
            assert verdict is not (Verdict.PROVED if wrong else Verdict.REFUTED), (seed, claim)
            found.add((claim, wrong, verdict))
    return found


def test_no_random_cycle_is_judged_wrongly() -> None:
    found = fire_cycles(range(24))
    for claim in ("draw", "cycle"):
        assert {(claim, False, Verdict.PROVED), (claim, True, Verdict.REFUTED)} <= found
    assert ("metropolis", False, Verdict.PROVED) in found


@pytest.mark.slow
def test_the_same_of_many_cycles() -> None:
    fire_cycles(range(1000, 1300))
