"""Every hostile input by the real command, each in a process of its own: `python tests/hostile/by_command.py`.

Prints how many there were, how they ended, and the processor time they took, children included; leaves with 1 where
one did not behave: a traceback, no end, an exit code that it should not have, or code of its own that ran.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))

from cases import ACCEPT, EITHER, REFUSE
from make import all_cases
from tries import Try, all_tries

RECIPE = (sys.executable, "-m", "recipe_compiler")
HANGS = 300.0
"""Seconds of the wall clock after which a command is taken to have no end."""
REFUSED, DECIDED = frozenset({2}), frozenset({0, 1, 3})
CODES = {REFUSE: REFUSED, ACCEPT: DECIDED, EITHER: REFUSED | DECIDED}


@dataclass(frozen=True)
class End:
    """How a command ended."""

    name: str
    code: int | None
    """None: it did not end."""
    allowed: frozenset[int]
    seconds: float
    """Processor time, of its children too."""
    err: str
    ran: bool
    """Whether something was executed that it holds."""

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with it."""
        checks = {
            "no end": self.code is None,
            f"exit code {self.code}, expected {sorted(self.allowed)}": self.code not in (None, *self.allowed),
            "a traceback": "Traceback (most recent call last)" in self.err,
            "something in it ran": self.ran,
        }
        return tuple(what for what, holds in checks.items() if holds)


def listed(*, every: bool) -> Iterator[Try]:
    """Yield the entries of the list as documents to check: all of their variants, or the first of each."""
    seen: set[str] = set()
    for number, case in enumerate(all_cases()):
        if every or case.id not in seen:
            seen.add(case.id)
            name = f"case{number}.yaml"
            files = ((name, case.document), *case.files)
            yield Try(f"{case.id} {case.field}", ("check", name), CODES[case.wanted], files)


def ended(one: Try, folder: Path) -> End:
    """Run a command in a folder of its own, deep enough for paths that climb."""
    place = folder / "a" / "b" / "c" / "d"
    place.mkdir(parents=True)
    for name, content in one.files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    one.prepare(place)
    begin = time.monotonic()
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        shell = ("sh", "-c", f'"$@" {one.redirected}', "sh") if one.redirected else ()
        child = subprocess.Popen(
            [*shell, *RECIPE, *one.arguments], cwd=place, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True,
        )  # fmt: skip
        while (waited := os.wait4(child.pid, os.WNOHANG))[0] == 0 and time.monotonic() - begin < HANGS:
            time.sleep(0.02)
        pid, status, used = waited
        if pid == 0:
            os.killpg(child.pid, 9)
            _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    said = (folder / "err").read_text(encoding="utf-8", errors="replace")
    ran = any(folder.rglob("*CANARY*"))
    code = child.returncode if pid else None
    return End(one.name, code, one.allowed, used.ru_utime + used.ru_stime, said, ran)


def all_ended(tries: Iterable[Try]) -> Iterator[End]:
    """Run one command after the other."""
    for one in tries:
        with tempfile.TemporaryDirectory() as folder:
            yield ended(one, Path(folder))


def main() -> None:
    """Run what is asked for and say how it ended."""
    parser = argparse.ArgumentParser(description="Run every hostile input by the real command.")
    parser.add_argument("--first", action="store_true", help="only the first variant of each entry of the list")
    parser.add_argument("--only", default="", help="those whose names hold this text")
    parser.add_argument("--share", default="1/1", help="K/N: every N-th, from the K-th on")
    options = parser.parse_args()
    k, n = (int(number) for number in options.share.split("/"))
    every = (*all_tries(), *listed(every=not options.first))
    tries = [one for one in every if options.only in one.name][k - 1 :: n]
    ends: list[End] = []
    for end in all_ended(tries):
        ends.append(end)
        for fault in end.faults:
            print(f"{end.name}: {fault}: {end.err[-500:]}", flush=True)
    bad = [end for end in ends if end.faults]
    seconds = [end.seconds for end in ends]
    slowest = max(ends, key=lambda end: end.seconds)
    codes = ", ".join(f"{code}: {count}" for code, count in sorted(Counter(str(end.code) for end in ends).items()))
    print(f"{len(ends)} hostile inputs by the command, {len(bad)} of which did not behave")
    print(f"exit codes {codes}; without an end {sum(end.code is None for end in ends)}")
    print(f"tracebacks {sum('Traceback' in end.err for end in ends)}; executed {sum(end.ran for end in ends)}")
    print(f"processor time: median {median(seconds):.2f} s, largest {slowest.seconds:.2f} s ({slowest.name})")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
