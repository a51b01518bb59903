"""What other noise costs: the same builds with xoshiro, Philox and a numpy.random.Generator, timed turn by turn.

    python benchmarks/generators.py

prints nanoseconds a step (w5: a coordinate and step) and, in parentheses, the ratio to xoshiro: medians of rounds in
which every one has its turn. `w1c`, one chain in registers; `w4`, 64 chains as lanes; `w5`, 10240 coordinates in
chunks.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import emitted
import numpy as np

GENERATORS = ("xoshiro", "philox", "numpy")
ROUNDS = 15

Entry = tuple[str, str, int, Callable[[], object]]
"""Workload, generator, units of a call, and the call."""


def contestants() -> Iterator[Entry]:
    """Yield who is timed."""
    for name, build, sizes, thin, chains in (
        ("w1c", "sghmc_w1c", {}, 20_000, 1),
        ("w4", "sghmc_w1c", {}, 50_000, 64),
        ("w5", "sgld_w5", {"d": 10240}, 100, 1),
    ):
        for generator in GENERATORS:
            if name == "w4" and generator == "numpy":
                continue  # it has no lanes
            asked = replace(emitted.load_build(build, **sizes), name=f"{build}_{generator}", bit_generator=generator)
            run = emitted.Chains(asked, thin, 1, chains=chains, lanes=name == "w4")
            yield name, generator, thin * chains * sizes.get("d", 1), run.advance


def timed(field: Sequence[Entry]) -> dict[tuple[str, str], list[float]]:
    """Return seconds per unit of every round, by workload and generator; the first round compiles and is left out."""
    seconds: dict[tuple[str, str], list[float]] = {(name, generator): [] for name, generator, _, _ in field}
    for _ in range(ROUNDS + 1):
        for name, generator, units, work in field:
            begin = time.thread_time()
            work()
            seconds[name, generator].append((time.thread_time() - begin) / units)
    return {key: times[1:] for key, times in seconds.items()}


def table(seconds: dict[tuple[str, str], list[float]]) -> Iterator[str]:
    """Yield the lines of a table of medians, and of the medians of ratios."""
    yield f"| workload | {' | '.join(GENERATORS)} |"
    yield f"|---{'|---' * len(GENERATORS)}|"
    for workload in dict.fromkeys(name for name, _ in seconds):
        cells: list[str] = []
        for generator in GENERATORS:
            times = seconds.get((workload, generator), [])
            ratios = np.divide(times, seconds[workload, "xoshiro"]) if times else []
            cells.append(f"{1e9 * statistics.median(times):.3g} ({statistics.median(ratios):.2f})" if times else "-")
        yield f"| `{workload}` | {' | '.join(cells)} |"


if __name__ == "__main__":
    print("\n".join(table(timed(list(contestants())))))
