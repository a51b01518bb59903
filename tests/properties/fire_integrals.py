"""Finite integrals under fire: random posteriors at data, judged by masses along random curves, or by exact numbers.

    python tests/properties/fire_integrals.py [COUNT] [SEED]     on all cores; 2000 from seed 2015 on where left out

Regressions, mixtures, hurdles, censored data, covariances and scales of groups, with priors of all kinds and data that
are often equal, constant or on a line (`random_posteriors`). None along whose curves masses do not fall may be proved:
a first one ends it, with its seed and its document. As many designs that lose rank (`random_designs`), of which it is
known whether their integral is finite: none may be proved that is infinite, none refuted that is finite.
"""

import os
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))

from random_designs import Design, is_finite, random_design
from random_posteriors import Maker, Posterior, diverges

from recipe_compiler.errors import DocumentError
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Verdict
from recipe_compiler.verify.builds.normalisable import normalisable_build

PART = 20
"""Documents that a core judges before it says so."""

SECONDS = 5
"""Processor time that a verdict may take; `recipe check` gives a claim about as much."""

Tally = Counter[tuple[bool, str]]
"""How many posteriors have a curve along which masses do not fall, or none that was found, and what was decided."""


def judged(seed: int) -> tuple[str, str, str]:
    """Return the verdict on the random posterior of a seed, a curve of infinite mass if one was found, its document."""
    random = Random(seed)
    model = Maker(random).posterior()
    return verdict_on(model), diverges(model, random), f"{model.text()}{model.rows}"


def verdict_on(model: Posterior | Design) -> str:
    """Return what is decided of a posterior; that it is no document, or takes too long."""

    def over(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, over)
    with tempfile.TemporaryDirectory() as folder:
        try:
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            build = observed(load(model.write(Path(folder))))
            if not isinstance(build, Build):
                raise TypeError(build)
            return str(normalisable_build(build, bind(build)).decision.verdict)
        except DocumentError as error:  # a formula without a meaning: the density of a field that may not have it
            return f"no document: {error.faults[0].problem[:60]}"
        except TimeoutError:
            return "undecided in time"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)


def fire(seeds: range) -> Tally:
    """Return the verdicts on the posteriors of some seeds. Raises AssertionError for one that is wrong."""
    tally = Tally()
    for seed in seeds:
        verdict, curve, text = judged(seed)
        assert not (curve and verdict == str(Verdict.PROVED)), f"seed {seed}: proved, infinite along {curve}\n{text}"
        tally[bool(curve), verdict] += 1
    return tally


def fire_designs(seeds: range) -> Tally:
    """Return the verdicts on the designs of some seeds. Raises AssertionError for one that is wrong."""
    tally = Tally()
    for seed in seeds:
        design = random_design(Random(seed))
        finite, verdict = is_finite(design), verdict_on(design)
        wrong = str(Verdict.REFUTED if finite else Verdict.PROVED)
        assert verdict != wrong, f"seed {seed}: {wrong}, finite: {finite}\n{design.text()}{design.table()}"
        tally[not finite, verdict] += 1
    return tally


def says(tally: Tally, what: str, found: str) -> str:
    """Return what was found."""
    lines = [
        f"{sum(n for (own, _), n in tally.items() if own is infinite)} {of}: "
        + ", ".join(f"{n} {verdict}" for (own, verdict), n in sorted(tally.items()) if own is infinite)
        for infinite, of in ((True, "with an infinite mass"), (False, f"without one{found}"))
    ]
    return f"{tally.total()} {what}; {'; '.join(lines)}"


def main(count: int, seed: int) -> None:
    """Judge posteriors and designs on all cores, and print what was found so far."""
    starts = range(seed, seed + count, PART)
    parts = [range(start, min(start + PART, seed + count)) for start in starts]
    total, designs, began = Tally(), Tally(), time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for one, other in zip(pool.map(fire, parts), pool.map(fire_designs, parts), strict=True):
            total += one
            designs += other
            print(f"{says(total, 'posteriors', ' that was found')}; {time.monotonic() - began:.0f} s")
            print(says(designs, "designs", ""), flush=True)


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*given, *(2000, 2015)[len(given) :])
