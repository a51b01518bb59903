"""Races: an emitted sampler beside hand-written ones, in one process, turn by turn.

    python benchmarks/race.py w2_d14 [--rounds N] [--module FILE]

Every contestant is compiled and warmed up first; then each round times each of them once, in turn, so that a slow
moment of the machine falls on all; the time is that of the one thread that works, not that of others on its core.
Printed are the median per unit of work and the ratio to the emitted sampler, with its smallest and largest value over
the rounds. Exit code 1 where the contestants do not do the same work.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import w2  # after BLAS is told to work in one thread


@dataclass(frozen=True, slots=True)
class Contestant:
    """Something that does a number of units of work when called."""

    name: str
    work: Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds per unit of every round."""

    name: str
    seconds: tuple[float, ...]


def race(contestants: tuple[Contestant, ...], units: int, rounds: int) -> tuple[Result, ...]:
    """Time every contestant once per round, round robin."""
    for contestant in contestants:
        contestant.work(units)
    times: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            begin = time.thread_time()
            contestant.work(units)
            times[contestant.name].append((time.thread_time() - begin) / units)
    return tuple(Result(name, tuple(seconds)) for name, seconds in times.items())


def table(results: tuple[Result, ...], unit: str) -> str:
    """Return the table of a race; ratios are to the first contestant, round by round."""
    first = results[0]
    width = max(len(result.name) for result in results)
    lines = [f"{'':{width}}  us per {unit:<12} times {first.name} (min .. max)"]
    for result in results:
        ratios = [mine / ours for mine, ours in zip(result.seconds, first.seconds, strict=True)]
        median = 1e6 * statistics.median(result.seconds)
        shown = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} .. {max(ratios):.2f})"
        lines.append(f"{result.name:{width}}  {median:<19.3f} {shown}")
    return "\n".join(lines)


def main() -> int:
    """Run the race named on the command line."""
    parser = argparse.ArgumentParser(description="Race an emitted sampler against hand-written ones.")
    parser.add_argument("race", choices=["w2_d14"])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--units", type=int, default=2000, help="iterations per turn")
    parser.add_argument("--module", type=Path, help="an emitted file to race instead of compiling the build")
    options = parser.parse_args()
    setting = w2.setting(options.module)
    contestants = (
        Contestant("emitted", lambda units: w2.emitted(setting, units)),
        Contestant("hand-written numba", lambda units: w2.hand_written(setting, units)),
    )
    print(f"SGHMC, d = {w2.SIZE}, N = {w2.ROWS}, minibatch {w2.BATCH}, {w2.INNER} steps per iteration, one thread")
    print(table(race(contestants, options.units, options.rounds), "iteration"))
    agreement = w2.compare(setting)
    print(agreement.text)
    return 0 if agreement.holds else 1


if __name__ == "__main__":
    sys.exit(main())
