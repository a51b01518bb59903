"""Soundness of moves under fire: random cycles, right or wrong by chance, judged by maps and means that share nothing
with the compiler.

    python tests/properties/fire_moves.py [COUNT] [SEED] [KIND ...]           COUNT documents
    python tests/properties/fire_moves.py --wrong [COUNT] [SEED] [KIND ...]   COUNT that are wrong, each another text

on all cores; 10000 from seed 2015 on of every kind where left out. Most are cycles of refreshes, words, acceptances and
draws (`random_cycles`: acceptance ratios, shares, flips, orders of moves, how often they are done, laws), a quarter
draws and flows of gamma laws with data (`random_flows`: shapes, rates, Jacobians of log variables, sums over
minibatches), an eighth involutions (`random_involutions`: maps, Jacobians, laws of what is drawn), an eighth positions
that are reflected (`random_reflections`: masses, words, flips), a sixteenth draws of shares and of allocations by them
(`random_shares`: parameters, counts, logits), a sixteenth several moves with one word (`random_words`: what each moves,
its step size, flips, refreshes between them), an eighth steps of Python that are accepted or refused, as lint reads
them (`random_steps`: ratios, momenta, kicks, corrections, flips). No claim that the judge finds wrong may be proved,
none that it does not may be refuted: each such is printed with its seed, and the exit code is 1. Of a step with a wrong
coefficient that no mean tells nothing is known, and it is not counted.
"""

import hashlib
import itertools
import os
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))

from random_cycles import CLAIMS, Cycle, Judge, random_cycle
from random_flows import FLOW_CLAIMS, random_flow
from random_held import HELD_CLAIMS, Kept, random_held
from random_involutions import INVOLUTION_CLAIMS, random_involution
from random_reflections import REFLECTION_CLAIMS, random_reflection
from random_shares import SHARES_CLAIMS, random_shares
from random_steps import random_step
from random_words import WORDS_CLAIMS, random_words

from recipe_compiler.lint.bind_arguments import bind_arguments
from recipe_compiler.lint.findings import lint
from recipe_compiler.lint.source import read_source
from recipe_compiler.report.check import check
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Finding, Proved, Verdict
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.claims import applicable_claims
from recipe_compiler.verify.claims_in_builds import BUILDS, BoundBuild
from recipe_compiler.verify.steps.configurational import NOT_EXACT

PART = 20
"""Documents that a core judges before it says so."""

KINDS = {
    "reflection": (random_reflection, REFLECTION_CLAIMS),
    "involution": (random_involution, INVOLUTION_CLAIMS),
    "shares": (random_shares, SHARES_CLAIMS),
    "words": (random_words, WORDS_CLAIMS),
    "held": (random_held, HELD_CLAIMS),
    "flow": (random_flow, FLOW_CLAIMS),
    "cycle": (random_cycle, CLAIMS),
}
"""What makes a document of a kind, and the claims that its judge knows the truth of."""


@dataclass(frozen=True)
class Shot:
    """A random document, with what the judge and the compiler say of it."""

    seed: int
    kind: str
    digest: str
    """Of its text: two shots with one digest are one document."""
    verdicts: Mapping[tuple[str, bool], Verdict]
    """By claim, and whether the judge finds it wrong."""

    @property
    def is_wrong(self) -> bool:
        """Whether the judge finds something wrong."""
        return any(wrong for _, wrong in self.verdicts)

    @property
    def misjudged(self) -> Iterator[str]:
        """What is proved though it is wrong, or refuted though the judge finds nothing."""
        for (claim, wrong), verdict in self.verdicts.items():
            if verdict is (Verdict.PROVED if wrong else Verdict.REFUTED):
                yield f"seed {self.seed}, {self.kind}: {claim} {verdict}, {'wrong' if wrong else 'right'} by the judge"


@dataclass
class Tally:
    """What came of documents: verdicts by whether the judge finds the claim wrong, how many of each kind."""

    verdicts: Counter[tuple[bool, Verdict]] = field(default_factory=Counter[tuple[bool, Verdict]])
    kinds: Counter[str] = field(default_factory=Counter[str])
    misjudged: list[str] = field(default_factory=list[str])

    def add(self, shot: Shot) -> None:
        """Count one more."""
        self.verdicts.update((wrong, verdict) for (_, wrong), verdict in shot.verdicts.items())
        self.kinds[shot.kind] += 1
        self.misjudged += shot.misjudged

    def __str__(self) -> str:
        parts = [
            f"{sum(n for (own, _), n in self.verdicts.items() if own is wrong)} claims {what}: "
            + ", ".join(f"{self.verdicts[wrong, verdict]} {verdict.value}" for verdict in Verdict)
            for wrong, what in ((True, "that are wrong"), (False, "that the judge does not find wrong"))
        ]
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.kinds.items()))
        return f"{self.kinds.total()} documents ({kinds}); {'; '.join(parts)}; {len(self.misjudged)} judged wrongly"


def kind_of(seed: int) -> str:
    """Return what kind of document a seed makes."""
    match seed % 8:
        case 6:
            return "step"
        case 2:
            return "reflection"
        case 4:
            return "involution"
        case 3 | 7:
            return "flow"
        case _:
            return {8: "shares", 5: "words", 13: "held"}.get(seed % 16, "cycle")


def judged(seed: int, *, wrong_alone: bool = False) -> Shot:
    """Return the random document of a seed with the verdicts on it; where asked, of claims that are wrong alone."""
    kind = kind_of(seed)
    if kind == "step":
        return _judged_step(seed, wrong_alone=wrong_alone)
    make, asks = KINDS[kind]
    document = make(Random(seed))
    wrong = (Judge(document) if isinstance(document, Cycle) else document).wrong_claims(seed)
    with tempfile.TemporaryDirectory() as folder:
        path, digest = document.write(Path(folder)), ""
        if not wrong and wrong_alone:
            return Shot(seed, kind, digest, {})
        digest, build = _digest(Path(folder)), load(path)
    assert isinstance(build, Build)
    ids = wrong if wrong_alone else asks
    if isinstance(document, Kept):
        found = [_said(finding) for finding in check(build).findings if finding.id in ids]
        return Shot(seed, kind, digest, {(claim, claim in wrong): verdict for claim, verdict in found})
    bound = BoundBuild(Stages(build, bind(build)))
    asked = [claim for claim in applicable_claims(BUILDS, build) if claim.id in ids]
    verdicts = {(claim.id, claim.id in wrong): claim.decide(bound).verdict for claim in asked}
    return Shot(seed, kind, digest, verdicts)


def _said(finding: Finding) -> tuple[str, Verdict]:
    """Return a claim with its verdict; what is proved not to be exact is refuted to be."""
    decision, off = finding.decision, finding.id == "configurational"
    is_off = off and isinstance(decision, Proved) and decision.by.startswith(NOT_EXACT)
    return finding.id, Verdict.REFUTED if is_off else finding.verdict


def _judged_step(seed: int, *, wrong_alone: bool) -> Shot:
    step = random_step(Random(seed))
    wrong = bool(step.off(seed))
    if not wrong and (wrong_alone or not step.is_right):
        return Shot(seed, "step", "", {})
    assert not (wrong and step.is_right), (seed, step)
    with tempfile.TemporaryDirectory() as folder:
        file, document = Path(folder) / "step.py", Path(folder) / "dynamics.yaml"
        file.write_text(step.text(), encoding="utf-8")
        document.write_text(step.document(), encoding="utf-8")
        dynamics = load(document)
        assert isinstance(dynamics, Dynamics)
        report = lint(bind_arguments(read_source(f"{file}:step"), dynamics, ())).report
        digest = _digest(Path(folder))
    assert report is not None
    proved = {(found.id, wrong): Verdict.PROVED if found.checked_at else found.verdict for found in report.findings}
    return Shot(seed, "step", digest, proved)


def _digest(folder: Path) -> str:
    text = "\0".join(path.read_text(encoding="utf-8") for path in sorted(folder.iterdir()))
    return hashlib.sha256(text.encode()).hexdigest()


def fire(seeds: range) -> Tally:
    """Return what comes of the documents of some seeds."""
    tally = Tally()
    for seed in seeds:
        tally.add(judged(seed))
    return tally


def _part(seeds: range, kinds: Sequence[str], *, wrong_alone: bool) -> list[Shot]:
    return [judged(seed, wrong_alone=wrong_alone) for seed in seeds if kind_of(seed) in kinds]


def shots(seed: int, kinds: Sequence[str], *, wrong_alone: bool) -> Iterator[list[Shot]]:
    """Yield what comes of seeds from one on, without an end, each core some parts ahead."""
    cores = os.cpu_count() or 1
    with ProcessPoolExecutor(cores) as pool:
        judge = partial(_part, kinds=kinds, wrong_alone=wrong_alone)
        starts = itertools.count(seed, PART)
        ahead = deque(pool.submit(judge, range(k, k + PART)) for k in itertools.islice(starts, 3 * cores))
        try:
            while True:
                ahead.append(pool.submit(judge, range(k := next(starts), k + PART)))
                yield ahead.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def main(count: int, seed: int, kinds: Sequence[str], *, wrong_alone: bool) -> None:
    """Judge documents on all cores, and print what was found so far."""
    total, digests, began = Tally(), set[str](), time.monotonic()
    for parts, found in enumerate(shots(seed, kinds, wrong_alone=wrong_alone), start=1):
        for shot in found:
            if total.kinds.total() < count and not (wrong_alone and (not shot.is_wrong or shot.digest in digests)):
                digests.add(shot.digest)
                total.add(shot)
                for line in shot.misjudged:
                    print(line, flush=True)
        print(f"{total}; of {parts * PART} seeds in {time.monotonic() - began:.0f} s", flush=True)
        if total.kinds.total() >= count:
            break
    sys.exit(1 if total.misjudged else 0)


if __name__ == "__main__":
    alone, given = "--wrong" in sys.argv, [text for text in sys.argv[1:] if text != "--wrong"]
    numbers = [int(text) for text in given if text.isdigit()]
    named = [text for text in given if not text.isdigit()] or [*KINDS, "step"]
    count, seed = (numbers + [10000, 2015][len(numbers) :])[:2]
    main(count, seed, named, wrong_alone=alone)
