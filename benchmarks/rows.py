"""Guard: BAOAB costs what sequential Euler does where the gradient is of a hundred rows and more.

    python benchmarks/rows.py

SGHMC on logistic regression of 14 columns, all rows in each gradient; processor time of a step by either scheme,
measured in turn, and the median of their ratios. Exit code 1 where it is above 1.05 at 100 rows and more.
"""

import statistics
import sys
import time
from dataclasses import replace

import emitted

LARGEST = 1.05
ROWS, COLUMNS, ROUNDS = (10, 100, 1000, 10_000), 14, 31
WORK = 2_000_000
"""Rows that a measurement takes gradients of, and 20 more a step."""


def chains_of(scheme: str, rows: int) -> emitted.Chains:
    """Return a chain by the scheme of a build of the double well, on made data."""
    build = replace(
        emitted.load_build("sghmc_w2_d14"), variant="full", V=None, scheme=emitted.load_build(scheme).scheme,
        name=f"{scheme}_{rows}",
    )  # fmt: skip
    build = replace(build, run=replace(build.run, step_size=0.1 / rows**0.5, batch_size=None))
    steps = max(1, WORK // (rows + 20))
    return emitted.Chains(build, steps, 1, emitted.logistic_data(rows, COLUMNS))


def ratio(rows: int) -> float:
    """Return the median of BAOAB's time over that of sequential Euler, measured one after the other."""
    both = [chains_of(scheme, rows) for scheme in ("sghmc_w1a_baoab", "sghmc_w1a_sequential")]
    for chains in both:
        chains.advance()
    found: list[float] = []
    for _ in range(ROUNDS):
        seconds: list[float] = []
        for chains in both:
            begin = time.thread_time()
            chains.advance()
            seconds.append(time.thread_time() - begin)
        found.append(seconds[0] / seconds[1])
    return statistics.median(found)


def main() -> int:
    """Print the ratio at each number of rows."""
    held = True
    for rows in ROWS:
        found = ratio(rows)
        held &= rows < 100 or found <= LARGEST
        print(f"{rows:6} rows: a step by BAOAB takes {found:.3f} of one by sequential Euler")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
