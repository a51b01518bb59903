"""Which seeded faults of the source the tests find.

    python tests/mutation/mutate.py [COUNT] [SEED]    draw COUNT faults from SEED on (120 and 0), test and store them
    python tests/mutation/mutate.py --again           test the stored faults once more and name the kills that are lost
    python tests/mutation/mutate.py --before COMMIT   test the survivors by the tests of a commit: which did it kill?

The first test that fails kills a fault, of the tests that enter its function, cheapest first, up to a limit of
processor time. One run of the tests, half an hour, notes what each enters (`reach.py`). `kills.json` holds each fault
with its seed and the test that killed it; a run that was interrupted goes on where it ended. Whether a rewrite of tests
loses a kill is shown by `--before` at less cost than by testing all faults twice: what the new tests kill is not lost.
Takes hours: by hand, not in CI.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from queue import SimpleQueue
from random import Random

from mutations import Mutation, mutated, mutations_of
from reach import NOTED, PICKED, mark_functions

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).parent / "kills.json"
ROOMS = ("tensor", "derive", "algebra", "verify", "scheme", "program", "readback", "emit")
TESTS = (*ROOMS, "golden", "documents", "soundness", "mutants", "splitting", "targets")
"""The rooms that faults are put into, and the folders of tests that they meet."""
MOST_SECONDS = 100
"""Processor time of the tests that a fault meets, as the run without faults took it."""
CLOCK_SECONDS = 600
"""A fault that keeps its tests from ending for so long is killed."""
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


@dataclass(frozen=True)
class Noted:
    """A test, the seconds of its processes and the functions it entered."""

    test: str
    seconds: float
    entered: frozenset[str]


def noted(commit: str) -> list[Noted]:
    """Return what each test of a commit enters, cheapest first; runs all of them where no run is kept."""
    kept = ROOT / ".pytest_cache" / "entered" / f"{commit}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            copy, lines = Path(folder, "copy"), Path(folder, "lines")
            _unpack(commit, copy)
            names = mark_functions(copy)
            done = _run_tests([f"tests/{name}" for name in TESTS], copy, {NOTED: str(lines)}, "--tb=short")
            print(done.stdout[-3000:], flush=True)
            rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
            text = json.dumps([names, sorted(rows, key=itemgetter(1))])
        kept.write_text(text, encoding="utf-8")
    names, rows = json.loads(kept.read_text(encoding="utf-8"))
    return [Noted(test, seconds, frozenset(names[number] for number in entered)) for test, seconds, entered in rows]


def picked(mutation: Mutation, tests: list[Noted]) -> list[str]:
    """Return the tests that a fault meets: those that enter its function; where none is known, its file or room."""
    folder, _, _ = mutation.file.rpartition("/")
    _, room, _ = mutation.file.split("/", 2)
    starts = (f"{mutation.file}::", f"{folder}/", f"recipe_compiler/{room}/")
    entering = [row for row in tests if f"{mutation.file}::{mutation.function}" in row.entered]
    for start in starts:
        entering = entering or [row for row in tests if any(name.startswith(start) for name in row.entered)]
    sums = accumulate(row.seconds for row in entering)
    return [row.test for row, spent in zip(entering, sums, strict=True) if spent < MOST_SECONDS]


def killer(mutation: Mutation, copy: Path, tests: list[str]) -> str | None:
    """Return the test that fails with the fault in a copy of the project: "" for none, None where it has no place."""
    path = copy / mutation.file
    source = path.read_text(encoding="utf-8")
    changed = mutated(mutation, source)
    if changed is None:
        return None
    path.write_text(changed, encoding="utf-8")
    (copy / "picked").write_text("\n".join(tests), encoding="utf-8")
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    there = [file for file in files if (copy / file).exists()]
    try:
        done = _run_tests(there, copy, {PICKED: str(copy / "picked")}, "-x")
    except subprocess.TimeoutExpired:
        return "tests did not end"
    finally:
        path.write_text(source, encoding="utf-8")
    if done.returncode in (0, 5):  # passed; none of these tests is there
        return ""
    ended = [line.partition(" ") for line in done.stdout.splitlines()]
    failed = [rest.partition(" - ")[0] for verdict, _, rest in ended if verdict in {"FAILED", "ERROR"}]
    return failed[0] if failed else f"tests ended with {done.returncode}"


def _run_tests(tests: list[str], copy: Path, own: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-p", "reach"]
    path = f"{copy}{os.pathsep}{Path(__file__).parent}"
    own |= {"PYTHONPATH": path, "XDG_CACHE_HOME": str(copy / "cache"), "NUMBA_CACHE_DIR": str(copy / "numba")}
    limit = CLOCK_SECONDS if PICKED in own else None
    command += [*options, *tests]
    return subprocess.run(
        command, cwd=copy, env=os.environ | own, capture_output=True, text=True, timeout=limit, check=False
    )


def _unpack(commit: str, copy: Path) -> None:
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    copy.mkdir()
    subprocess.run(["tar", "x"], cwd=copy, input=archive, check=True)


def tested(faults: dict[int, Mutation], first: dict[int, str], commit: str) -> Iterator[tuple[int, str | None]]:
    """Yield the killer of each fault as it is found; every processor has a copy of the project at a commit."""
    copies: SimpleQueue[Path] = SimpleQueue()
    tests = noted(commit)

    def test(seed: int) -> tuple[int, str | None]:
        copy = copies.get()
        try:
            before = killer(faults[seed], copy, [first[seed]]) if seed in first else ""
            return seed, before or killer(faults[seed], copy, picked(faults[seed], tests))
        finally:
            copies.put(copy)

    cores = int(os.environ.get("CORES", os.cpu_count() or 1))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(cores) as pool:
        for number in range(cores):
            _unpack(commit, Path(folder, str(number)))
            copies.put(Path(folder, str(number)))
        for done in as_completed([pool.submit(test, seed) for seed in faults]):
            yield done.result()


def draw(count: int, seed: int) -> None:
    """Test the faults of `count` seeds that are not stored, and store each with the test that killed it."""
    stored = _stored()
    faults = drawn(range(seed, seed + count))
    for number, found in tested(
        {seed: fault for seed, fault in faults.items() if seed not in stored}, {}, _commit("HEAD")
    ):
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
    for number, found in tested(
        faults, {seed: row["killed"] for seed, row in stored.items() if row["killed"]}, _commit("HEAD")
    ):
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
    for number, found in tested(survivors, {}, _commit(commit)):
        killed += bool(found)
        said = {None: "has no place there", "": "survived"}.get(found, f"killed by {found}")
        print(f"{number}: {survivors[number].file}: {said}", flush=True)
    print(f"{len(survivors)} survivors, {killed} of them killed at {commit}")
    return killed


def _commit(name: str) -> str:
    return subprocess.run(
        ["git", "rev-parse", name], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.strip()


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
