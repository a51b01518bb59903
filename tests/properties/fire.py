"""Soundness under fire: thousands of random documents, judged by evaluators that share nothing with the compiler.

    python tests/properties/fire.py [SUBJECT] [COUNT] [SEED] [KIND ...]     on all cores; seed 2015 where left out

`dynamics` (10000 documents, and the subject where none is named):

- *right* dynamics, and *mutants* of what they claim (a quarter each). The evaluator is that of `recheck.py`: at random
  exact points it computes the residual of the claimed equation. A mutant is kept only where that is certainly not zero.
- *wild* dynamics (45 %), with kinks, comparisons, roots, logarithms, quotients of sizes and assumptions, right or wrong
  by chance: points are searched at which a claim fails. None may be proved that fails, and what is refuted must fail at
  its witness.
- *builds* with matrix values (the rest): minors of rational matrices tell what is true of them, in either direction.

`assumed` (600): right dynamics and mutants under random assumptions.

`moves` (10000): cycles, a quarter *flow*, an eighth *involution*, *reflection* and *step* (Python, as lint reads it)
each, a sixteenth *shares*, *words* and *held* each, of the kinds that are named or of all. No claim that the judge
finds wrong may be proved, none that it does not may be refuted. `wrong`: COUNT that are wrong, each another text.

`integrals` (2000): *posteriors* along whose curves masses do not fall may not be proved; as many *designs* that lose
rank, of which it is known whether their integral is finite.

What is judged wrongly is printed with its document or its seed, and the exit code is 1.
"""

import hashlib
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count as from_on
from pathlib import Path
from random import Random
from typing import Any

import wild
from builds import wild_build
from designs import Design, is_finite, random_design
from dynamics import FAULTS, Document, assumed, certainly_failing, mutant, right
from moves import random_flow, random_involution, random_reflection, random_shares
from parts import Files, write
from posteriors import Maker, Posterior, diverges
from steps import random_step
from words import random_cycle, random_held, random_words

from recipe_compiler.errors import DocumentError
from recipe_compiler.lint.bind_arguments import bind_arguments
from recipe_compiler.lint.findings import lint
from recipe_compiler.lint.source import read_source
from recipe_compiler.report.check import check
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Answer, Finding, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.builds.normalisable import normalisable_build
from recipe_compiler.verify.claims import DYNAMICS, Claim, applicable_claims, decider
from recipe_compiler.verify.claims_in_builds import BUILDS, BoundBuild
from recipe_compiler.verify.core.limits import Unfinished, Work, run_all
from recipe_compiler.verify.core.subject import Subject, find, subject_of
from recipe_compiler.verify.steps.configurational import NOT_EXACT

PART = 20
"""Documents that a core judges before it says so."""

WITNESSED = {"d_symmetric", "d_psd", "q_skew"}
"""Claims whose witnesses are looked at."""
EQUATION = {"stationary", "claimed_drift", "claimed_stationary", "claimed_update", "normalisable", "periodic"}
OF_BUILDS = {"d_symmetric", "d_psd", "bindings", "gradient_noise", "noise_budget"}
"""Claims about builds that are known to be true or not."""

KINDS: dict[str, tuple[Callable[[Random], Any], str]] = {
    "reflection": (random_reflection, "metropolis cycle exact"),
    "involution": (random_involution, "involution cycle exact"),
    "shares": (random_shares, "draw cycle exact"),
    "words": (lambda random: random_words(random).document(), "metropolis cycle exact"),
    "held": (random_held, "use draw metropolis cycle exact claimed_configurational configurational"),
    "flow": (random_flow, "draw cir cycle exact"),
    "cycle": (lambda random: random_cycle(random).document(), "draw metropolis cycle exact"),
    "step": (random_step, ""),
}
"""What makes moves of a kind, and the claims that their judge knows the truth of."""
OFTEN = ("cycle", "cycle", "reflection", "flow", "involution", "words", "step", "flow")
OFTEN += ("shares", "cycle", "reflection", "flow", "involution", "held", "step", "flow")
"""The kind of a seed, by its remainder; see `kind_of`."""

SECONDS = 5
"""Processor time that a verdict on an integral may take; `recipe check` gives a claim about as much."""


@dataclass
class Tally:
    """What came of it: verdicts by kind of document and claim, and every wrong verdict."""

    verdicts: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    documents: Counter[str] = field(default_factory=Counter[str])
    """By kind; what is discarded is a kind of its own."""
    wrong: list[str] = field(default_factory=list[str])
    digests: set[str] = field(default_factory=set[str])

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.verdicts + other.verdicts,
            self.documents + other.documents,
            [*self.wrong, *other.wrong],
            self.digests | other.digests,
        )

    def add(self, kind: str, claim: str, verdict: Verdict | str, misjudged: str = "") -> None:
        """Count a verdict, and keep what is wrong with it."""
        self.verdicts[kind, claim, str(verdict)] += 1
        self.wrong += [f"{kind}: {claim} {verdict}, {misjudged}"] if misjudged else []

    def __str__(self) -> str:
        names = [*map(str, Verdict), *sorted({verdict for *_, verdict in self.verdicts} - {*map(str, Verdict)})]
        kinds = sorted({(kind, claim) for kind, claim, _ in self.verdicts})
        lines = [f"{'':22s} {'claim':24s} " + "".join(f"{name[:10]:>11s}" for name in names)]
        for kind, claim in kinds:
            lines.append(f"{kind:22s} {claim:24s} " + "".join(f"{self.verdicts[kind, claim, v]:11d}" for v in names))
        documents = ", ".join(f"{n} {kind}" for kind, n in sorted(self.documents.items()))
        return "\n".join([*lines, f"documents: {documents}", f"wrong verdicts: {len(self.wrong)}", *self.wrong])


@contextmanager
def written(files: Files) -> Iterator[Path]:
    """Write documents for a while; gives the build."""
    with tempfile.TemporaryDirectory() as folder:
        yield write(files, Path(folder))


# Dynamics


def read(document: dict[str, Any]) -> Dynamics:
    """Return dynamics. Raises DocumentError where they mean nothing."""
    with written({"build.yaml": document}) as path:
        found = load(path)
    assert isinstance(found, Dynamics)
    return found


def findings(dynamics: Dynamics) -> dict[str, Finding]:
    """Return the findings about dynamics by claim, of those that are judged here, under the program's own limits."""
    claims = [claim for claim in applicable_claims(DYNAMICS, dynamics) if claim.id in WITNESSED | EQUATION]

    def jobs() -> list[Callable[[], Finding]]:
        subject = subject_of(dynamics)
        return [partial(_finding, claim, subject) for claim in claims]

    return {
        claim.id: claim.finding(Answer(Undecided((outcome.reason,)))) if isinstance(outcome, Unfinished) else outcome
        for claim, outcome in zip(claims, run_all(Work(jobs, len(claims))), strict=True)
    }


def _finding(claim: Claim[Subject, Dynamics], subject: Subject) -> Finding:
    return claim.finding(find(decider(claim), subject))


def judge_right(document: Document, tally: Tally) -> None:
    """Check a right document: nothing of it may be refuted."""
    tally.documents["right"] += 1
    for update in (False, True) if document.update else (False,):
        stated = document.document(update=update)
        for claim, finding in findings(read(stated)).items():
            is_wrong = finding.verdict is Verdict.REFUTED and claim != "normalisable"  # an energy may be anything
            tally.add("right", claim, finding.verdict, f"though right: {stated}" if is_wrong else "")


def judge_wrong(document: Document, fault: str, random: Random, tally: Tally) -> None:
    """Check a document with a wrong claim: what certainly fails may not be proved."""
    failing = set(certainly_failing(document, read(document.document(update=False)), random))
    if "claimed_stationary" not in failing:
        tally.documents["discarded"] += 1
        return
    tally.documents["mutant"] += 1
    for update in (False, True) if document.update else (False,):
        stated = document.document(update=update)
        for claim, finding in findings(read(stated)).items():
            if claim in failing or (update and claim == "claimed_update"):
                is_wrong = finding.verdict is Verdict.PROVED
                tally.add(fault, claim, finding.verdict, f"though wrong: {stated}" if is_wrong else "")


def fire(count: int, seed: int, under: Callable[[Document, Random], Document] = lambda one, _: one) -> Tally:
    """Judge `count` right dynamics and `count` wrong claims about such."""
    random, tally = Random(seed), Tally()
    for _ in range(count):
        judge_right(under(right(random), random), tally)
    while tally.documents["mutant"] < count:
        document, fault = under(right(random), random), random.choice(FAULTS)
        wrong = mutant(document, fault, random)
        if wrong is not None:
            judge_wrong(wrong, fault, random, tally)
    return tally


def fire_wild(count: int, seed: int) -> Tally:
    """Judge `count` wild dynamics that the language takes."""
    random, tally = Random(seed), Tally()
    while tally.documents["wild"] < count:
        judge_wild(wild.wild(random), random, tally)
    return tally


def judge_wild(document: wild.Wild, random: Random, tally: Tally) -> None:
    """Check that nothing is proved of a wild document that fails somewhere, and nothing refuted where it holds."""
    stated = document.document()
    try:
        found = findings(read(stated))
    except DocumentError:  # where a formula has no meaning: the derivative of a jump
        tally.documents["discarded"] += 1
        return
    failing = wild.wrong_claims(document, random)
    tally.documents["wild"] += 1
    for claim, finding in found.items():
        why = ""
        if finding.verdict is Verdict.PROVED and claim in failing:
            why = f"though it fails at {failing[claim]}: {stated}"
        if isinstance(finding.decision, Refuted) and claim in WITNESSED:
            witness = dict(finding.decision.witness)
            if wild.contradicts(document, claim, witness, random):
                why = f"though it holds at {witness}: {stated}"
        tally.add("wild, failing" if claim in failing else "wild", claim, finding.verdict, why)


def fire_builds(count: int, seed: int) -> Tally:
    """Judge `count` builds with matrix values: what is proved is true; what is refuted, or called a fault, is not."""
    random, tally = Random(seed), Tally()
    for _ in range(count):
        build = wild_build(random)
        wrong = build.wrong()
        tally.documents["build"] += 1
        with written(build.files()) as path:
            try:
                found = [finding for finding in check(load(path)).findings if finding.id in OF_BUILDS]
            except DocumentError as error:
                unlike = f"no fault, but {error}: {build}" if "fault" not in wrong else ""
                tally.add("build", "fault", Verdict.REFUTED, unlike)
                continue
        for finding in found:
            fails = finding.id in wrong
            is_wrong = finding.verdict is (Verdict.PROVED if fails else Verdict.REFUTED)
            why = f"wrongly, {finding.decision}: {build}" if is_wrong else ""
            tally.add("build, failing" if fails else "build", finding.id, finding.verdict, why)
    return tally


# Moves


@dataclass(frozen=True)
class Shot:
    """Random moves, with what the judge and the compiler say of them."""

    seed: int
    kind: str
    digest: str
    """Of its text: two shots with one digest are one document."""
    verdicts: dict[tuple[str, bool], Verdict]
    """By claim, and whether the judge finds it wrong."""

    @property
    def is_wrong(self) -> bool:
        """Whether the judge finds something wrong."""
        return any(wrong for _, wrong in self.verdicts)

    def tally(self) -> Tally:
        """Count it; wrong is what is proved though it is wrong, or refuted though the judge finds nothing."""
        found = Tally(documents=Counter([self.kind]), digests={self.digest})
        for (claim, wrong), verdict in self.verdicts.items():
            is_wrong = verdict is (Verdict.PROVED if wrong else Verdict.REFUTED)
            kind = f"{self.kind}, wrong" if wrong else self.kind
            found.add(kind, claim, verdict, f"not so by the judge: seed {self.seed}" if is_wrong else "")
        return found


def kind_of(seed: int) -> str:
    """Return what kind of moves a seed makes."""
    return OFTEN[seed % 16]


def judged(seed: int, *, wrong_alone: bool = False) -> Shot:
    """Return the random moves of a seed with the verdicts on them; where asked, of claims that are wrong alone."""
    kind = kind_of(seed)
    if kind == "step":
        return _judged_step(seed, wrong_alone=wrong_alone)
    make, asks = KINDS[kind]
    drawn = make(Random(seed))
    wrong = drawn.wrong_claims(seed)
    if not wrong and wrong_alone:
        return Shot(seed, kind, "", {})
    with written(drawn.files) as path:
        digest, build = _digest(path.parent), load(path)
    assert isinstance(build, Build)
    ids = wrong if wrong_alone else asks.split()
    if "word.yaml" in drawn.files:  # that draws are kept within a step is a claim of the report
        found = [_said(finding) for finding in check(build).findings if finding.id in ids]
    else:
        bound = BoundBuild(Stages(build, bind(build)))
        asked = [claim for claim in applicable_claims(BUILDS, build) if claim.id in ids]
        found = [(claim.id, claim.decide(bound).verdict) for claim in asked]
    return Shot(seed, kind, digest, {(claim, claim in wrong): verdict for claim, verdict in found})


def _said(finding: Finding) -> tuple[str, Verdict]:
    """Return a claim with its verdict; what is proved not to be exact is refuted to be."""
    decision, off = finding.decision, finding.id == "configurational"
    is_off = off and isinstance(decision, Proved) and decision.by.startswith(NOT_EXACT)
    return finding.id, Verdict.REFUTED if is_off else finding.verdict


def _judged_step(seed: int, *, wrong_alone: bool) -> Shot:
    step = random_step(Random(seed))
    wrong = bool(step.off(seed))
    if not wrong and (wrong_alone or not step.is_right):  # of a wrong coefficient that no mean tells nothing is known
        return Shot(seed, "step", "", {})
    assert not (wrong and step.is_right), (seed, step)
    with written({"step.py": step.text(), "build.yaml": step.document()}) as path:
        dynamics, digest = load(path), _digest(path.parent)
        assert isinstance(dynamics, Dynamics)
        report = lint(bind_arguments(read_source(f"{path.parent}/step.py:step"), dynamics, ())).report
    assert report is not None
    proved = {(found.id, wrong): Verdict.PROVED if found.checked_at else found.verdict for found in report.findings}
    return Shot(seed, "step", digest, proved)


def _digest(folder: Path) -> str:
    return hashlib.sha256("\0".join(path.read_text() for path in sorted(folder.iterdir())).encode()).hexdigest()


def fire_moves(seeds: Iterable[int]) -> Tally:
    """Return what comes of the moves of some seeds."""
    return sum((judged(seed).tally() for seed in seeds), Tally())


def _shots(kinds: list[str], wrong_alone: bool, part: int, seed: int) -> list[Shot]:
    seeds = range(seed + part * PART, seed + (part + 1) * PART)
    return [judged(one, wrong_alone=wrong_alone) for one in seeds if kind_of(one) in kinds]


# Integrals


def verdict_on(model: Posterior | Design) -> str:
    """Return what is decided of a posterior; that it is no document, or takes too long."""

    def over(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, over)
    with written(model.files()) as path:
        try:
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            build = observed(load(path))
            if not isinstance(build, Build):
                raise TypeError(build)
            return str(normalisable_build(build, bind(build)).decision.verdict)
        except DocumentError:  # a formula without a meaning: the density of a field that may not have it
            return "no document"
        except TimeoutError:
            return "undecided in time"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)


def fire_posteriors(seeds: Iterable[int]) -> Tally:
    """Judge the posteriors of some seeds: none along whose curves masses do not fall may be proved."""
    tally = Tally()
    for seed in seeds:
        random = Random(seed)
        model = Maker(random).posterior()
        verdict, curve = verdict_on(model), diverges(model, random)
        is_wrong = curve and verdict == str(Verdict.PROVED)
        why = f"infinite along {curve}: seed {seed}, {model}" if is_wrong else ""
        tally.documents["posterior"] += 1
        tally.add("posterior, infinite" if curve else "posterior", "normalisable", verdict, why)
    return tally


def fire_designs(seeds: Iterable[int]) -> Tally:
    """Judge the designs of some seeds: none may be proved that is infinite, none refuted that is finite."""
    tally = Tally()
    for seed in seeds:
        design = random_design(Random(seed))
        finite, verdict = is_finite(design), verdict_on(design)
        is_wrong = verdict == str(Verdict.REFUTED if finite else Verdict.PROVED)
        tally.documents["design"] += 1
        why = f"finite: {finite}: seed {seed}, {design}" if is_wrong else ""
        tally.add("design" if finite else "design, infinite", "normalisable", verdict, why)
    return tally


# The command


def _round(part: int, seed: int) -> list[Tally]:
    one = seed + part
    return [fire(PART // 4, one), fire_wild(9 * PART // 20, one), fire_builds(PART // 20, one)]


def _assumed_round(part: int, seed: int) -> list[Tally]:
    return [fire(PART // 2, seed + part, assumed)]


def _integrals(part: int, seed: int) -> list[Tally]:
    seeds = range(seed + part * PART, seed + (part + 1) * PART)
    return [fire_posteriors(seeds), fire_designs(seeds)]


SUBJECTS: dict[str, tuple[int, str, Callable[[int, int], list[Tally]]]] = {
    "dynamics": (10000, "right mutant wild build", _round),
    "assumed": (600, "right mutant", _assumed_round),
    "integrals": (2000, "posterior", _integrals),
}


def main(subject: str, count: int, seed: int, kinds: list[str]) -> None:
    """Judge documents on all cores, and print what was found so far; end with 1 for a wrong verdict."""
    total, began, cores = Tally(), time.monotonic(), os.cpu_count() or 1
    by_shots = subject in {"moves", "wrong"}
    work: Callable[..., list[Any]] = partial(_shots, kinds, subject == "wrong") if by_shots else SUBJECTS[subject][2]
    counted = kinds if by_shots else SUBJECTS[subject][1].split()
    with ProcessPoolExecutor(cores) as pool:
        parts = from_on()
        ahead = [pool.submit(work, next(parts), seed) for _ in range(3 * cores)]
        while sum(total.documents[kind] for kind in counted) < count:
            for one in ahead.pop(0).result():
                if by_shots and subject == "wrong" and not (one.is_wrong and one.digest not in total.digests):
                    continue
                total += one.tally() if by_shots else one
            ahead.append(pool.submit(work, next(parts), seed))
            print(
                f"{total.documents.total()} documents, {len(total.wrong)} wrong verdicts", file=sys.stderr, flush=True
            )
        pool.shutdown(cancel_futures=True)
    print(f"{total}\nin {time.monotonic() - began:.0f} s")
    sys.exit(1 if total.wrong else 0)


if __name__ == "__main__":
    texts = sys.argv[1:]
    numbers = [int(text) for text in texts if text.isdigit()]
    subject, *named = [text for text in texts if not text.isdigit()] or ["dynamics"]
    default = SUBJECTS[subject][0] if subject in SUBJECTS else 10000
    main(subject, *[*numbers, *(default, 2015)[len(numbers) :]], named or [*KINDS])
