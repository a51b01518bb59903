"""Soundness of moves under fire: random cycles, right or wrong by chance, judged by maps and means that share nothing
with the compiler.

    python tests/properties/fire_moves.py [COUNT] [SEED]     on all cores; 10000 from seed 2015 on where left out

Most are cycles of refreshes, words, acceptances and draws (`random_cycles`: acceptance ratios, shares, flips, orders
of moves, how often they are done, laws), a quarter draws and flows of gamma laws with data (`random_flows`: shapes,
rates, Jacobians of log variables, sums over minibatches), an eighth involutions (`random_involutions`: maps, Jacobians,
laws of what is drawn), an eighth positions that are reflected (`random_reflections`: masses, words, flips), a sixteenth
draws of shares and of allocations by them (`random_shares`: parameters, counts, logits), an eighth steps of Python that
are accepted or refused, as lint reads them (`random_steps`: ratios, momenta, kicks, corrections, flips). No claim that
the judge finds wrong may be proved, none that it does not may be refuted: a first one ends it, with its seed. Of a step
with a wrong coefficient that no mean tells nothing is known, and it is not counted.
"""

import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))

from random_cycles import CLAIMS, Judge, random_cycle
from random_flows import FLOW_CLAIMS, random_flow
from random_involutions import INVOLUTION_CLAIMS, random_involution
from random_reflections import REFLECTION_CLAIMS, random_reflection
from random_shares import SHARES_CLAIMS, random_shares
from random_steps import random_step

from recipe_compiler.lint.bind_arguments import bind_arguments
from recipe_compiler.lint.findings import lint
from recipe_compiler.lint.source import read_source
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Verdict
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.claims import applicable_claims
from recipe_compiler.verify.claims_in_builds import BUILDS, BoundBuild

PART = 20
"""Documents that a core judges before it says so."""

Tally = Counter[tuple[bool, Verdict]]
"""How many claims the judge finds wrong, or not, and what was decided of them."""


def judged(seed: int) -> dict[tuple[str, bool], Verdict]:
    """Return the verdicts on the random document of a seed, by claim and whether the judge finds it wrong."""
    if seed % 8 == 6:
        return _judged_step(seed)
    asks = CLAIMS
    if seed % 8 == 2:
        document, asks = random_reflection(Random(seed)), REFLECTION_CLAIMS
        wrong = document.wrong_claims(seed)
    elif seed % 8 == 4:
        document, asks = random_involution(Random(seed)), INVOLUTION_CLAIMS
        wrong = document.wrong_claims(seed)
    elif seed % 16 == 8:
        document, asks = random_shares(Random(seed)), SHARES_CLAIMS
        wrong = document.wrong_claims(seed)
    elif seed % 4 == 3:
        asks = FLOW_CLAIMS
        document = random_flow(Random(seed))
        wrong = document.wrong_claims(seed)
    else:
        document = random_cycle(Random(seed))
        wrong = Judge(document).wrong_claims(seed)
    with tempfile.TemporaryDirectory() as folder:
        build = load(document.write(Path(folder)))
    assert isinstance(build, Build)
    bound = BoundBuild(Stages(build, bind(build)))
    asked = [claim for claim in applicable_claims(BUILDS, build) if claim.id in asks]
    return {(claim.id, claim.id in wrong): claim.decide(bound).verdict for claim in asked}


def _judged_step(seed: int) -> dict[tuple[str, bool], Verdict]:
    step = random_step(Random(seed))
    wrong = bool(step.off(seed))
    if not wrong and not step.is_right:
        return {}
    assert not (wrong and step.is_right), (seed, step)
    with tempfile.TemporaryDirectory() as folder:
        file, document = Path(folder) / "step.py", Path(folder) / "dynamics.yaml"
        file.write_text(step.text(), encoding="utf-8")
        document.write_text(step.document(), encoding="utf-8")
        dynamics = load(document)
        assert isinstance(dynamics, Dynamics)
        report = lint(bind_arguments(read_source(f"{file}:step"), dynamics, ())).report
    assert report is not None
    (found,) = report.findings
    assert found.id == "lint_metropolis", (seed, found)
    return {(found.id, wrong): Verdict.PROVED if found.checked_at else found.verdict}


def fire(seeds: range) -> Tally:
    """Return the verdicts on the documents of some seeds. Raises AssertionError for one that is wrong."""
    tally = Tally()
    for seed in seeds:
        for (claim, wrong), verdict in judged(seed).items():
            assert verdict is not (Verdict.PROVED if wrong else Verdict.REFUTED), (seed, claim, verdict)
            tally[wrong, verdict] += 1
    return tally


def says(tally: Tally, documents: int) -> str:
    """Return what was found."""
    parts = [
        f"{sum(n for (own, _), n in tally.items() if own is wrong)} claims {what}: "
        + ", ".join(f"{tally[wrong, verdict]} {verdict.value}" for verdict in Verdict)
        for wrong, what in ((True, "that are wrong"), (False, "that the judge does not find wrong"))
    ]
    return f"{documents} documents; {'; '.join(parts)}"


def main(count: int, seed: int) -> None:
    """Judge documents on all cores, and print what was found so far."""
    starts = range(seed, seed + count, PART)
    parts = [range(start, min(start + PART, seed + count)) for start in starts]
    total, done, began = Tally(), 0, time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for part, tally in zip(parts, pool.map(fire, parts), strict=True):
            total, done = total + tally, done + len(part)
            print(f"{says(total, done)}; {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*given, *(10000, 2015)[len(given) :])
