"""Soundness under fire: thousands of random documents, judged by evaluators that share nothing with the compiler.

    python tests/properties/fire.py [SUBJECT ...] [COUNT] [SEED]     on all cores; 10000 seeds from 2015 on of each

Subjects are those below, and `dynamics`, `moves`, `integrals`:

- *right* dynamics, and *mutants* of what they claim. The evaluator is `kernel`: at random exact points it
  computes the residual of the claimed equation. A mutant is kept only where that is certainly not zero.
- *wild* dynamics, with kinks, comparisons, roots, logarithms, quotients of sizes and assumptions, right or wrong by
  chance: points are searched at which a claim fails. What is refuted must fail at its witness.
- moves of a kind (*cycle*, *flow*, *involution*, *shares*, *words*, *held*).
- *posteriors* along whose curves masses do not fall, and *designs* that lose rank, of which it is known whether their
  integral is finite.

A verdict is wrong where a claim is proved that fails, or refuted though it holds. Wrong verdicts are printed with the
seed of their document, and the exit code is 1.
"""

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
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

import wild
from designs import Design, is_finite, random_design
from dynamics import FAULTS, certainly_failing, mutant, parsed, right
from moves import random_flow, random_involution, random_shares
from parts import Files, write
from posteriors import Maker, Posterior, diverges
from reports import decide_here
from words import random_cycle, random_held, random_words

from recipe_compiler.errors import DocumentError
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Document, Dynamics
from recipe_compiler.verdict import Finding, Refuted, Verdict
from recipe_compiler.verify.builds.normalisable import normalisable_build

T = TypeVar("T")

WITNESSED = {"d_symmetric", "d_psd", "q_skew"}
"""Claims whose witnesses are looked at."""
EQUATION = {"stationary", "claimed_drift", "claimed_stationary", "claimed_update", "normalisable", "periodic"}
SECONDS = 5
"""Processor time that a document may take; `recipe check` gives a claim about as much."""


@dataclass(frozen=True)
class Judged:
    """A verdict on a claim, and whether the claim holds as far as is known."""

    claim: str
    verdict: Verdict | str
    holds: bool | None
    why: str = ""
    kind: str = ""
    """What the document is, where that is more than its subject."""

    @property
    def is_wrong(self) -> bool:
        """Whether it is proved though it fails, or refuted though it holds."""
        return self.verdict == {True: Verdict.REFUTED, False: Verdict.PROVED}.get(self.holds, "no verdict")


@dataclass
class Tally:
    """What came of it: verdicts by kind of document, claim, and whether it fails; documents; every wrong verdict."""

    verdicts: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    documents: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])

    def add(self, subject: str, seed: int, found: Iterable[Judged]) -> "Tally":
        """Count what was judged of a document; with nothing judged of it, it was discarded."""
        found = [*found]
        self.documents[subject if found else "discarded"] += 1
        for one in found:
            kind = (one.kind or subject) + (", failing" if one.holds is False else "")
            self.verdicts[kind, one.claim, str(one.verdict)] += 1
            self.wrong += [f"{kind}: {one.claim} {one.verdict}, seed {seed}, {one.why}"] if one.is_wrong else []
        return self

    def __str__(self) -> str:
        names = [*map(str, Verdict), *sorted({verdict for *_, verdict in self.verdicts} - {*map(str, Verdict)})]
        lines = [f"{'':22s} {'claim':24s} " + "".join(f"{name[:10]:>11s}" for name in names)]
        for kind, claim in sorted({(kind, claim) for kind, claim, _ in self.verdicts}):
            lines.append(f"{kind:22s} {claim:24s} " + "".join(f"{self.verdicts[kind, claim, v]:11d}" for v in names))
        documents = ", ".join(f"{n} {kind}" for kind, n in sorted(self.documents.items()))
        return "\n".join([*lines, f"documents: {documents}", f"wrong verdicts: {len(self.wrong)}", *self.wrong])


@contextmanager
def written(files: Files) -> Iterator[Path]:
    """Write documents for a while; gives the build."""
    with tempfile.TemporaryDirectory() as folder:
        yield write(files, Path(folder))


class LateError(BaseException):
    """A document took too long."""


def in_time(decide: Callable[[], T], otherwise: T) -> T:
    """Return what is decided, or something else where that takes too long."""

    def over(*_: object) -> None:
        raise LateError

    before = signal.signal(signal.SIGPROF, over)
    try:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        return decide()
    except LateError:
        return otherwise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def decided(document: Document, claims: Iterable[str]) -> dict[str, Finding]:
    """Return the findings of some claims; none where they take too long."""
    return in_time(lambda: decide_here(document, {*claims}, with_premises=False), {})


# Dynamics


def read(document: dict[str, Any]) -> Dynamics:
    """Return dynamics. Raises DocumentError where they mean nothing."""
    with written({"build.yaml": document}) as path:
        found = load(path)
    assert isinstance(found, Dynamics)
    return found


def findings(dynamics: Dynamics) -> dict[str, Finding]:
    """Return the findings about dynamics by claim, of those that are judged here."""
    return decided(dynamics, WITNESSED | EQUATION)


def judged_right(random: Random) -> Iterator[Judged]:
    """Judge right dynamics: all that they claim holds, though an energy may be anything."""
    document = right(random)
    for update in (False, True) if document.update else (False,):
        stated = document.document(update=update)
        for claim, finding in findings(read(stated)).items():
            yield Judged(claim, finding.verdict, None if claim == "normalisable" else True, str(stated))


def judged_mutant(random: Random) -> Iterator[Judged]:
    """Judge dynamics with a wrong claim, of what certainly fails."""
    document, fault = right(random), random.choice(FAULTS)
    wrong = mutant(document, fault, random)
    failing = certainly_failing(wrong, read(wrong.document(update=False)), random) if wrong else set[str]()
    if wrong is None or "claimed_stationary" not in failing:
        return
    for update in (False, True) if wrong.update else (False,):
        stated = wrong.document(update=update)
        for claim, finding in findings(read(stated)).items():
            if claim in failing or (update and claim == "claimed_update"):
                yield Judged(claim, finding.verdict, False, str(stated), fault)


def judged_wild(random: Random) -> Iterator[Judged]:
    """Judge wild dynamics: what fails somewhere, and what holds at the witness of its refutation."""
    document = wild.wild(random)
    stated = document.document()
    try:
        dynamics = read(stated)
        found = findings(dynamics)
    except DocumentError:  # where a formula has no meaning: the derivative of a jump
        return
    other = parsed(dynamics)
    failing = wild.wrong_claims(document, other, random)
    for claim, finding in found.items():
        yield Judged(claim, finding.verdict, False if claim in failing else None, f"{failing.get(claim)}: {stated}")
        if isinstance(finding.decision, Refuted) and claim in WITNESSED and (why := wild.contradiction(finding, other)):
            yield Judged(claim, Verdict.REFUTED, True, f"{why}: {stated}")


# Moves


def judged_moves(make: Callable[[Random], Any], asks: str, random: Random) -> Iterator[Judged]:
    """Judge random moves, of the claims that their judge knows the truth of."""
    drawn = make(random)
    wrong = drawn.judge(np.random.default_rng(random.randrange(2**32)))
    with written(drawn.files) as path:
        found = decided(observed(load(path)), asks.split())
    for claim, finding in found.items():
        yield Judged(claim, finding.verdict, claim not in wrong, wrong.get(claim, ""))


# Integrals


def verdict_on(model: Posterior | Design) -> str:
    """Return what is decided of a posterior; that it is no document, or takes too long."""
    with written(model.files()) as path:
        try:
            build = observed(load(path))
            assert isinstance(build, Build)
            return in_time(lambda: str(normalisable_build(build, bind(build)).verdict), "undecided in time")
        except DocumentError:  # a formula without a meaning: the density of a field that may not have it
            return "no document"


def judged_posterior(random: Random) -> Iterator[Judged]:
    """Judge a posterior: its integral is infinite where masses along a curve do not fall."""
    model = Maker(random).posterior()
    verdict, curve = verdict_on(model), diverges(model, random)
    yield Judged("normalisable", verdict, False if curve else None, f"infinite along {curve}: {model}")


def judged_design(random: Random) -> Iterator[Judged]:
    """Judge a design, of which it is known whether its integral is finite."""
    design = random_design(random)
    yield Judged("normalisable", verdict_on(design), is_finite(design), str(design))


SUBJECTS: dict[str, Callable[[Random], Iterable[Judged]]] = {
    "right": judged_right,
    "mutant": judged_mutant,
    "wild": judged_wild,
    "involution": partial(judged_moves, random_involution, "involution cycle exact"),
    "shares": partial(judged_moves, random_shares, "draw cycle exact"),
    "words": partial(judged_moves, lambda random: random_words(random).document(), "metropolis cycle exact"),
    "held": partial(judged_moves, random_held, "use draw metropolis cycle exact"),
    "flow": partial(judged_moves, random_flow, "draw cir cycle exact"),
    "cycle": partial(judged_moves, lambda random: random_cycle(random).document(), "draw metropolis cycle exact"),
    "posterior": judged_posterior,
    "design": judged_design,
}
GROUPS = {
    "dynamics": ["right", "mutant", "wild"],
    "moves": ["involution", "shares", "words", "held", "flow", "cycle"],
    "integrals": ["posterior", "design"],
}


def fire(subject: str, seeds: Iterable[int]) -> Tally:
    """Judge the documents of some seeds."""
    tally = Tally()
    for seed in seeds:
        tally.add(subject, seed, SUBJECTS[subject](Random(seed)))
    return tally


def _one(subject: str, seed: int) -> tuple[str, int, list[Judged]]:
    return subject, seed, [*SUBJECTS[subject](Random(seed))]


def main(subjects: list[str], count: int, seed: int) -> None:
    """Judge documents on all cores, and print what was found so far; end with 1 for a wrong verdict."""
    total, began = Tally(), time.monotonic()
    jobs = [(subject, one) for one in range(seed, seed + count) for subject in subjects]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(_one, *zip(*jobs, strict=True), chunksize=20):
            total.add(*found)
            if total.documents.total() % 100 == 0:
                print(f"{total.documents.total()} documents, {len(total.wrong)} wrong verdicts", file=sys.stderr)
    print(f"{total}\nin {time.monotonic() - began:.0f} s")
    sys.exit(1 if total.wrong else 0)


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:] if text.isdigit()]
    named = [text for text in sys.argv[1:] if not text.isdigit()]
    count, seed = [*numbers, *(10000, 2015)[len(numbers) :]]
    main([one for name in named or GROUPS for one in GROUPS.get(name, [name])], count, seed)
