"""Guard: cost is linear in steps, minibatch and d, and memory does not grow with the number of steps.

    python benchmarks/scaling.py

One module of minibatch SGHMC on logistic regression, with d left open, is run at growing sizes; each line shows what a
unit costs, and the last column the cost of a unit at the largest size over that at the smallest. Exit code 1 where a
unit becomes dearer by more than 30 %, or the most memory ever used grows by more than 4 MB from 10^3 to 10^6 steps.
"""

import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import emitted

DEARER = 1.3
GROWN = 4 << 20
ROWS, REPEATS = 500, 7


def seconds(work: Callable[[], object]) -> float:
    """Return the shortest of some times of the processor, after a call that warms up."""
    work()
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.thread_time()
        work()
        best = min(best, time.thread_time() - begin)
    return best


class Logistic:
    """The module and its build, at any size."""

    def __init__(self) -> None:
        self.build = replace(emitted.load_build("sghmc_w2_d14"), sizes=())
        self.module = emitted.compiled(self.build)

    def chains(self, d: int = 32, batch: int = 64, thin: int = 100, draws: int = 10) -> emitted.Chains:
        """Return a chain on made data; its step is short enough for every d."""
        run = replace(self.build.run, batch_size=batch, step_size=1e-4)
        build = replace(self.build, sizes=(("d", d),), run=run)
        return emitted.Chains(build, thin, draws, emitted.logistic_data(ROWS, d, scale=0.1), module=self.module)


def shown(what: str, sizes: Sequence[int], costs: Sequence[float]) -> bool:
    """Print what a unit costs at each size; return whether it becomes no dearer than allowed."""
    units = [1e9 * cost / size for size, cost in zip(sizes, costs, strict=True)]
    dearer = units[-1] / units[0]
    cells = "  ".join(f"{size}: {unit:.3g}" for size, unit in zip(sizes, units, strict=True))
    print(f"ns per unit of {what:10} {cells}   ratio {dearer:.2f}")
    return dearer <= DEARER


def main() -> int:
    """Print all lines."""
    logistic = Logistic()
    steps, batches, columns = (250, 1000, 4000, 16_000), (32, 128, 512, 2048), (32, 64, 128, 256)
    linear = [
        shown("steps", steps, [seconds(logistic.chains(thin=n // 10).advance) for n in steps]),
        shown("minibatch", batches, [seconds(logistic.chains(batch=n).advance) for n in batches]),
        shown("d", columns, [seconds(logistic.chains(d=n).advance) for n in columns]),
    ]
    logistic.chains(thin=100).advance()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    logistic.chains(d=4, batch=4, thin=100_000).advance()
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    print(f"memory: {grown / 2**20:.1f} MB more at 10^6 steps than at 10^3")
    return 0 if all(linear) and grown <= GROWN else 1


if __name__ == "__main__":
    sys.exit(main())
