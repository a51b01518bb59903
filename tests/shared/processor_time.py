"""Where the time of the tests goes: `python -m pytest --processor-time FILE` writes it, this as a script adds it up.

Every test leaves a line with the processor time of its process and of the children that ended meanwhile: the clock of a
machine that others use too says little. Commands that are `started` are left out. `processor_time.py FILE` sums
by folder, `FILE 3` by file, `FILE function` by function.
"""

import json
import resource
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST = 40
"""Rows of a table."""


@contextmanager
def noted(file: str, test: str) -> Iterator[None]:
    """Add a line on what a test takes meanwhile."""
    before = _spent()
    yield
    own, children = (now - then for now, then in zip(_spent(), before, strict=True))
    with Path(file).open("a", encoding="utf-8") as lines:
        lines.write(json.dumps([test, round(own, 4), round(children, 4)]) + "\n")


@contextmanager
def ends(seconds: float = 120) -> Iterator[None]:
    """Demand that what is done meanwhile ends: far above what any machine takes, far below what does not end."""
    before = sum(_spent())
    yield
    assert sum(_spent()) - before < seconds


def _spent() -> tuple[float, float]:
    found = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own, children = (one.ru_utime + one.ru_stime for one in found)
    return own, children


def table(lines: str, by: str = "2") -> str:
    """Return the sums by the first parts of the path, or by function, the largest first."""
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for test, own, children in map(json.loads, lines.splitlines()):
        path, _, function = test.partition("::")
        name = f"{path}::{function.partition('[')[0]}" if by == "function" else "/".join(path.split("/")[: int(by)])
        for key in (name, "all"):
            sums[key] = [a + b for a, b in zip(sums[key], (own, children, 1.0), strict=True)]
    rows = sorted(sums.items(), key=lambda row: -row[1][0] - row[1][1])[:LONGEST]
    head = f"{'seconds':>9} {'own':>9} {'children':>9} {'tests':>6}"
    return "\n".join([head, *(f"{a + b:9.1f} {a:9.1f} {b:9.1f} {n:6.0f} {name}" for name, (a, b, n) in rows)])


if __name__ == "__main__":
    print(table(Path(sys.argv[1]).read_text(encoding="utf-8"), *sys.argv[2:3]))
