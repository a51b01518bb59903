"""Soundness under fire: thousands of random documents, judged by evaluators that share nothing with the compiler.

    python tests/properties/fire.py [COUNT] [SEED]     on all cores; 10000 in all and seed 2015 where left out
    python tests/properties/fire.py --assumed [COUNT] [SEED]     under random assumptions; 600 where left out

- *right* dynamics, and *mutants* of what they claim (a quarter each). The evaluator is that of `recheck.py`: at random
  exact points it computes the residual of the claimed equation. A mutant is kept only where that is certainly not zero.
- *wild* dynamics (45 %), with kinks, comparisons, roots, logarithms, quotients of sizes and assumptions,
  right or wrong by chance: `wild_judge` looks for points at which a claim fails. None may be proved that fails, and
  what is refuted must fail at its witness.
- *builds* with matrix values (the rest): minors of rational matrices tell what is true of them, in either direction.
"""

import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from random_assumptions import assumed
from random_dynamics import FAULTS, Document, mutant, right
from wild_builds import WildBuild, wild_build
from wild_dynamics import Wild, wild
from wild_judge import contradicts, wrong_claims

from recipe_compiler import recheck
from recipe_compiler.errors import DocumentError
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Finding, Refuted, Undecided, Verdict
from recipe_compiler.verify.claims import DYNAMICS, Claim, applicable_claims, decider
from recipe_compiler.verify.core.limits import Unfinished, Work, run_all
from recipe_compiler.verify.core.subject import Subject, find, subject_of

ROUND = 100
"""Documents, about, that a core judges before it says so."""

PARTS = 20
"""Of which 5 are right, 5 mutants, 9 wild, 1 a build."""

SIZES = ({"d": 2, "k": 1}, {"d": 2, "k": 2})
JUDGED = {
    "d_symmetric",
    "d_psd",
    "q_skew",
    "stationary",
    "claimed_drift",
    "claimed_stationary",
    "claimed_update",
    "normalisable",
    "periodic",
}
WITNESSED = {"d_symmetric", "d_psd", "q_skew"}
"""Claims whose witnesses are looked at."""

OF_BUILDS = {"d_symmetric", "d_psd", "bindings", "gradient_noise", "noise_budget"}
"""Claims about builds that `wild_builds` knows the truth of."""


@dataclass
class Tally:
    """What came of it: verdicts by kind of document, what was discarded, and every wrong verdict."""

    verdicts: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    discarded: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.verdicts + other.verdicts, self.discarded + other.discarded, [*self.wrong, *other.wrong])

    def __str__(self) -> str:
        kinds = sorted({(kind, claim) for kind, claim, _ in self.verdicts})
        rows = [
            f"{kind:15s} {claim:18s} " + "".join(f"{self.verdicts[kind, claim, v]:8d}" for v in map(str, Verdict))
            for kind, claim in kinds
        ]
        head = f"{'':15s} {'claim':18s} " + "".join(f"{v:>8.8s}" for v in map(str, Verdict))
        thrown = ", ".join(f"{n} of {kind}" for kind, n in self.discarded.items()) or "none"
        return "\n".join([head, *rows, f"discarded: {thrown}", f"wrong verdicts: {len(self.wrong)}", *self.wrong])


def fire(count: int, seed: int) -> Tally:
    """Judge `count` right dynamics and `count` wrong claims about such."""
    random, tally = Random(seed), Tally()
    for _ in range(count):
        judge_right(right(random), tally)
    while sum(n for (kind, claim, _), n in tally.verdicts.items() if kind in FAULTS and claim == "kept") < count:
        document, fault = right(random), random.choice(FAULTS)
        wrong = mutant(document, fault, random)
        if wrong is not None:
            judge_wrong(wrong, fault, random, tally)
    return tally


def fire_assumed(count: int, seed: int) -> Tally:
    """Judge `count` right dynamics and `count` wrong claims about such, all under assumptions that can hold."""
    random, tally = Random(seed), Tally()
    for _ in range(count):
        judge_right(assumed(right(random), random), tally)
    while sum(n for (kind, claim, _), n in tally.verdicts.items() if kind in FAULTS and claim == "kept") < count:
        document, fault = assumed(right(random), random), random.choice(FAULTS)
        wrong = mutant(document, fault, random)
        if wrong is not None:
            judge_wrong(wrong, fault, random, tally)
    return tally


def fire_wild(count: int, seed: int) -> Tally:
    """Judge `count` wild dynamics that the language takes."""
    random, tally = Random(seed), Tally()
    while sum(n for (_, claim, _), n in tally.verdicts.items() if claim == "kept") < count:
        judge_wild(wild(random), random, tally)
    return tally


def judge_wild(document: Wild, random: Random, tally: Tally) -> None:
    """Check that nothing is proved of a wild document that fails somewhere, and nothing refuted where it holds."""
    text = document.text()
    try:
        found = findings(text)
    except DocumentError:  # where a formula has no meaning: the derivative of a jump
        tally.discarded["wild"] += 1
        return
    failing = wrong_claims(document, random)
    tally.verdicts["wild", "kept", "proved"] += 1
    for claim, finding in found.items():
        kind = "wild, failing" if claim in failing else "wild"
        tally.verdicts[kind, claim, str(finding.verdict)] += 1
        if finding.verdict is Verdict.PROVED and claim in failing:
            tally.wrong.append(f"{claim} proved, though it fails at {failing[claim]}:\n{text}")
        if isinstance(finding.decision, Refuted) and claim in WITNESSED:
            witness = dict(finding.decision.witness)
            if contradicts(document, claim, witness, random):
                tally.wrong.append(f"{claim} refuted, though it holds at {witness}:\n{text}")


def fire_builds(count: int, seed: int) -> Tally:
    """Judge `count` builds with matrix values."""
    random, tally = Random(seed), Tally()
    for _ in range(count):
        judge_build(wild_build(random), tally)
    return tally


def judge_build(build: WildBuild, tally: Tally) -> None:
    """Check that what is proved of a build is true, and what is refuted, or called a fault, is not."""
    wrong = build.wrong()
    with tempfile.TemporaryDirectory() as folder:
        path = build.write(Path(folder))
        text = path.read_text(encoding="utf-8")
        try:
            found = check(load(path)).findings
        except DocumentError as error:
            tally.verdicts["build", "fault", str(Verdict.REFUTED)] += 1
            if "fault" not in wrong:
                tally.wrong.append(f"no fault, but {error}:\n{text}")
            return
    for finding in found:
        if finding.id not in OF_BUILDS:
            continue
        fails = finding.id in wrong
        tally.verdicts["build, failing" if fails else "build", finding.id, str(finding.verdict)] += 1
        if finding.verdict is (Verdict.PROVED if fails else Verdict.REFUTED):
            tally.wrong.append(f"{finding.id} {finding.verdict}, wrongly, {finding.decision}:\n{text}")


def judge_right(document: Document, tally: Tally) -> None:
    """Check a right document: nothing of it may be refuted."""
    for update in (False, True) if document.update else (False,):
        for claim, verdict in verdicts(document, update=update):
            tally.verdicts["right", claim, str(verdict)] += 1
            if verdict is Verdict.REFUTED and claim != "normalisable":  # an energy of theirs may be anything
                tally.wrong.append(f"{claim} refuted, though right:\n{document.text(update=update)}")


def judge_wrong(document: Document, fault: str, random: Random, tally: Tally) -> None:
    """Check a document with a wrong claim: what certainly fails may not be proved."""
    failing = set(certainly_failing(document, random))
    if "claimed_stationary" not in failing:
        tally.discarded[fault] += 1
        return
    tally.verdicts[fault, "kept", "proved"] += 1
    for update in (False, True) if document.update else (False,):
        wrong = failing | ({"claimed_update"} if update else set())
        for claim, verdict in verdicts(document, update=update):
            if claim not in wrong:
                continue
            tally.verdicts[fault, claim, str(verdict)] += 1
            if verdict is Verdict.PROVED:
                tally.wrong.append(f"{claim} proved, though wrong ({fault}):\n{document.text(update=update)}")


def verdicts(document: Document, *, update: bool) -> list[tuple[str, Verdict]]:
    """Return what the program says of the claims that are judged here, under its own limits."""
    found = findings(document.text(update=update))
    return [(claim, finding.verdict) for claim, finding in found.items()]


def findings(text: str) -> dict[str, Finding]:
    """Return the findings about a document by claim, of those that are judged here.

    Raises:
        DocumentError: the document means nothing.
    """
    dynamics = _read(text)
    claims = [claim for claim in applicable_claims(DYNAMICS, dynamics) if claim.id in JUDGED]

    def jobs() -> list[Callable[[], Finding]]:
        subject = subject_of(dynamics)
        return [partial(_finding, claim, subject) for claim in claims]

    return {
        claim.id: claim.finding(Answer(Undecided((outcome.reason,)))) if isinstance(outcome, Unfinished) else outcome
        for claim, outcome in zip(claims, run_all(Work(jobs, len(claims))), strict=True)
    }


def _finding(claim: Claim[Subject, Dynamics], subject: Subject) -> Finding:
    return claim.finding(find(decider(claim), subject))


def certainly_failing(document: Document, random: Random) -> Iterator[str]:
    """Yield the claims about the equation that fail at an exact point, by the other evaluator."""
    parsed = recheck.Documents({"dynamics": json.loads(_read(document.text(update=False)).source.document)})
    for claim in ("claimed_drift", "claimed_stationary"):
        for sizes in SIZES:
            page = recheck.Page(parsed, point(document, sizes, random))
            try:
                found = recheck.CHECKS[claim](page, {"id": claim}, "")
                # of stationarity the equation itself: at a point, any coordinate may look like a line of its own
                fails = any(page.sign(x) for x in (found[:1] if claim == "claimed_stationary" else found))
            except recheck.UnreadError:  # too large for the evaluator: no certainty here
                continue
            if fails:
                yield claim
                break


def point(document: Document, sizes: dict[str, int], random: Random) -> dict[str, str]:
    """Return exact values for all that a random document declares, as texts."""

    def number() -> str:
        return f"{random.randint(-5, 5)}/{random.randint(1, 3)}"

    def cubic(z: list[str]) -> str:
        return " + ".join(
            f"{number()}*{random.choice(z)}*{random.choice(z)}*{random.choice([*z, '1'])}" for _ in range(4)
        )

    shapes = dict(document.blocks)
    used = {shape for shape in shapes.values() if shape != "scalar"}
    found = {size: str(n) for size, n in sizes.items() if size in used}
    for name, shape in document.blocks:
        found[name] = number() if shape == "scalar" else _list([number() for _ in range(sizes[shape])])
    first = shapes["theta"]
    n = 1 if first == "scalar" else sizes[first]
    z = ["theta"] if first == "scalar" else [f"theta[{k}]" for k in range(n)]
    matrix, fields = ([[make() for _ in range(n)] for _ in range(n)] for make in (number, lambda: cubic(z)))
    found["B"] = number() if first == "scalar" else _list([_list(row) for row in matrix])
    found["G(theta)"] = cubic(z) if first == "scalar" else _list([_list(row) for row in fields])
    found |= dict.fromkeys(("rho", "kT", "mu"), "1/2") if document.assume else {}
    found |= {"v": "[1, 2]", "M": "[[2, 1], [1, 2]]"} if document.assume else {}
    return found | {"c": number(), "a": f"{random.randint(1, 5)}/2", "U(theta)": cubic(z)}


def _list(items: list[str]) -> str:
    return f"[{', '.join(items)}]"


def _read(text: str) -> Dynamics:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.yaml"
        path.write_text(text, encoding="utf-8")
        document = load(path)
    assert isinstance(document, Dynamics)
    return document


def main(count: int, seed: int, judge: Callable[[int, int], Tally]) -> None:
    """Fire on every core, each with its share and a seed of its own, in rounds that are told as they end."""
    cores = os.cpu_count() or 1
    started, rounds = time.monotonic(), max(1, count // (ROUND * cores))
    share = -(-count // (rounds * cores * PARTS))
    seeds = range(seed, seed + rounds * cores)
    total = Tally()
    with ProcessPoolExecutor(cores) as pool:
        done = pool.map(judge, seeds, [share] * len(seeds))
        for k, tally in enumerate(done, start=1):
            total += tally
            print(f"{PARTS * share * k} documents, {len(total.wrong)} wrong verdicts", file=sys.stderr, flush=True)
    print(total)
    print(f"{PARTS * share * len(seeds)} documents in {time.monotonic() - started:.0f} s")
    sys.exit(1 if total.wrong else 0)


def _round(seed: int, share: int) -> Tally:
    return fire(5 * share, seed) + fire_wild(9 * share, seed) + fire_builds(share, seed)


def _assumed_round(seed: int, share: int) -> Tally:
    return fire_assumed(PARTS * share // 2, seed)


if __name__ == "__main__":
    under = "--assumed" in sys.argv
    given = [int(text) for text in sys.argv[1:] if text != "--assumed"]
    count, seed = (*given, *(600 if under else 10000, 2015)[len(given) :])
    main(count, seed, _assumed_round if under else _round)
