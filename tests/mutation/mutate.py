"""Which seeded faults of the source the tests find.

    python tests/mutation/mutate.py [COUNT] [SEED]    draw COUNT faults from SEED on (120 and 0), test and store them
    python tests/mutation/mutate.py --again           test the stored faults once more and name the kills that are lost
    python tests/mutation/mutate.py --before COMMIT   test the survivors by the tests of a commit: which did it kill?

The first test that fails kills a fault, of its room's tests and of the golden texts and verdicts, cheapest first.
`kills.json` holds each fault with its seed and the test that killed it; a run that was interrupted goes on where it
ended. Whether a rewrite of tests loses a kill is shown by `--before` at less cost than by testing all faults twice:
what the new tests kill is not lost. Takes hours: by hand, not in CI.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from random import Random

from mutations import Mutation, mutated, mutations_of

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).parent / "kills.json"
SECONDS = 1800
"""A fault that keeps one command of tests from ending for so long is killed."""

TEXTS, VERDICTS = ("tests/golden/test_generated.py",), ("tests/golden/test_verdicts.py",)
DOCUMENTS = ("tests/documents",)
ROOMS = {
    "tensor": (("tests/tensor",), TEXTS, VERDICTS),
    "derive": (("tests/derive",), TEXTS, VERDICTS),
    "algebra": (("tests/algebra", "tests/soundness"), DOCUMENTS, VERDICTS),
    "verify": (("tests/verify", "tests/soundness", "tests/mutants"), DOCUMENTS, VERDICTS),
    "scheme": (("tests/scheme",), TEXTS, VERDICTS),
    "program": (TEXTS, ("tests/program", "tests/readback")),
    "readback": (("tests/readback",),),
    "emit": (TEXTS, ("tests/emit",)),
}
"""Each room with the commands of tests that its faults meet, cheapest first: golden verdicts reach no emitted text."""
KINDS = ("operator", "constant", "comparison", "term", "argument", "condition")


def drawn(seeds: range) -> dict[int, Mutation]:
    """Return the fault of each seed: rooms in turn, kinds in turn, any of their expressions."""
    every: dict[tuple[str, str], list[Mutation]] = {}
    for room in ROOMS:
        for path in sorted((ROOT / "recipe_compiler" / room).rglob("*.py")):
            for mutation in mutations_of(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")):
                every.setdefault((room, mutation.kind), []).append(mutation)
    rooms = [*ROOMS]
    turns = {seed: (rooms[seed % len(rooms)], KINDS[seed // len(rooms) % len(KINDS)]) for seed in seeds}
    return {seed: Random(seed).choice(every[turn]) for seed, turn in turns.items()}


def killer(mutation: Mutation, copy: Path, first: str) -> str | None:
    """Return the test that fails with the fault in a copy of the project: "" for none, None where it has no place."""
    path = copy / mutation.file
    source = path.read_text(encoding="utf-8")
    changed = mutated(mutation, source)
    if changed is None:
        return None
    path.write_text(changed, encoding="utf-8")
    commands = ROOMS[mutation.file.split("/")[1]]
    try:
        return next(filter(None, (_failed(tests, copy) for tests in ((first,), *commands) if tests[0])), "")
    finally:
        path.write_text(source, encoding="utf-8")


def _failed(tests: tuple[str, ...], copy: Path) -> str:
    there = [test for test in tests if (copy / test.partition("::")[0]).exists()]
    if not there:
        return ""
    command = [sys.executable, "-m", "pytest", "-xq", "--tb=no", "-rfE", "-p", "no:cacheprovider", *there]
    command += ["-m", "slow or not slow"] if tests == VERDICTS else []
    own = {"PYTHONPATH": str(copy), "XDG_CACHE_HOME": str(copy / "cache"), "NUMBA_CACHE_DIR": str(copy / "numba")}
    try:
        done = subprocess.run(
            command, cwd=copy, env=os.environ | own, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{tests[0]} did not end"
    if done.returncode in (0, 4, 5):  # passed; no such test
        return ""
    ended = [line.partition(" ") for line in done.stdout.splitlines()]
    failed = [rest.partition(" - ")[0] for verdict, _, rest in ended if verdict in {"FAILED", "ERROR"}]
    return failed[0] if failed else f"{tests[0]} ended with {done.returncode}"


def tested(faults: dict[int, Mutation], first: dict[int, str], commit: str) -> Iterator[tuple[int, str | None]]:
    """Yield the killer of each fault as it is found; every processor has a copy of the project at a commit."""
    copies: SimpleQueue[Path] = SimpleQueue()

    def test(seed: int) -> tuple[int, str | None]:
        copy = copies.get()
        try:
            return seed, killer(faults[seed], copy, first.get(seed, ""))
        finally:
            copies.put(copy)

    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(cores) as pool:
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
        for number in range(cores):
            copy = Path(folder, str(number))
            copy.mkdir()
            subprocess.run(["tar", "x"], cwd=copy, input=archive, check=True)
            copies.put(copy)
        for done in as_completed([pool.submit(test, seed) for seed in faults]):
            yield done.result()


def draw(count: int, seed: int) -> None:
    """Test the faults of `count` seeds that are not stored, and store each with the test that killed it."""
    stored = _stored()
    faults = drawn(range(seed, seed + count))
    for number, found in tested({seed: fault for seed, fault in faults.items() if seed not in stored}, {}, "HEAD"):
        stored[number] = {**asdict(faults[number]), "killed": found}
        text = json.dumps([{"seed": key} | stored[key] for key in sorted(stored)], indent=1)
        STORED.write_text(f"{text}\n", encoding="utf-8")
        print(f"{number}: {faults[number].file}: {found or 'SURVIVED'}", flush=True)
    _show(stored)


def again() -> int:
    """Test the stored faults once more; return how many kills are lost."""
    stored = _stored()
    faults = {seed: _fault(row) for seed, row in stored.items()}
    lost = gone = 0
    for number, found in tested(faults, {seed: row["killed"] for seed, row in stored.items()}, "HEAD"):
        gone += found is None
        if found == "" and stored[number]["killed"]:
            lost += 1
            print(f"lost: {number}: {stored[number]}", flush=True)
    print(f"{len(stored)} faults, {lost} kills lost, {gone} have no place any more")
    return lost


def before(commit: str) -> int:
    """Test the faults that survive by the tests of a commit; return how many of them it killed."""
    survivors = {seed: _fault(row) for seed, row in _stored().items() if row["killed"] == ""}
    killed = 0
    for number, found in tested(survivors, {}, commit):
        killed += bool(found)
        said = {None: "has no place there", "": "survived"}.get(found, f"killed by {found}")
        print(f"{number}: {survivors[number].file}: {said}", flush=True)
    print(f"{len(survivors)} survivors, {killed} of them killed at {commit}")
    return killed


def _fault(row: dict[str, object]) -> Mutation:
    return Mutation(**{key: row[key] for key in Mutation.__annotations__})


def _stored() -> dict[int, dict[str, object]]:
    rows = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else []
    return {row.pop("seed"): row for row in rows}


def _show(stored: dict[int, dict[str, object]]) -> None:
    rooms = [(str(row["file"]).split("/")[1], bool(row["killed"])) for row in stored.values()]
    counts = Counter(rooms)
    for room in ROOMS:
        print(f"{room:10} {counts[room, True]:3} killed of {counts[room, True] + counts[room, False]}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--again"]:
        sys.exit(again() > 0)
    if sys.argv[1:2] == ["--before"]:
        sys.exit(before(sys.argv[2]) > 0)
    draw(*(int(text) for text in [*sys.argv[1:], *("120", "0")[len(sys.argv) - 1 :]]))
