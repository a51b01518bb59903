"""Loads every case under a limit of memory, checks some, and prints a line of JSON for each."""

import json
import os
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from cases import Case, all_cases

from recipe_compiler.algebra.scalars.entries import scalar
from recipe_compiler.errors import DocumentError
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Dynamics

CHECKED = {"H38", "H39", "H68", "H69", "H70"}
"""Inputs whose danger lies in what is decided about them."""
CLAIM_SECONDS = 0.1
GIBIBYTE = 2**30


def memory() -> int:
    """Return the most memory held so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def of_children() -> float:
    """Return the processor time of the children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def outcome(path: Path, *, checked: bool) -> dict[str, object]:
    """Return what becomes of a document: refused with its faults, or accepted, and what was decided."""
    try:
        document = load(path)
    except DocumentError as error:
        faults = [[f.where.line, f.where.column, f.entry, f.problem, f.hint] for f in error.faults]
        return {"outcome": "refuse", "faults": faults}
    found: dict[str, object] = {"outcome": "accept", "title": getattr(document, "title", "")}
    if checked and isinstance(document, Dynamics):
        start = of_children()
        report = check(document, CLAIM_SECONDS)
        found["verdicts"] = {finding.id: finding.verdict.value for finding in report.findings}
        found["check_seconds"] = of_children() - start
        found["H"] = str(scalar(document.H, document.declarations, {})) if len(document.H.shape.sizes) == 0 else ""
    return found


def measured(case: Case, path: Path) -> dict[str, object]:
    """Return what becomes of a case, with the processor time and the memory it took."""
    before, start = memory(), time.process_time()
    try:
        found = outcome(path, checked=case.id in CHECKED)
    except Exception as error:  # whatever it is, it is a failure of the case and not of the harness
        found = {"outcome": f"{type(error).__name__}: {error}"[:500]}
    return {**found, "seconds": time.process_time() - start, "grown": memory() - before}


def main() -> None:
    """Go through the list, in a folder deep enough for paths that climb."""
    folder = Path("work/a/b/c/d")
    folder.mkdir(parents=True)
    resource.setrlimit(resource.RLIMIT_AS, (4 * GIBIBYTE, 4 * GIBIBYTE))
    warm = folder / "warm.yaml"
    warm.write_text("name: n\nstate: {x: {}}\nH: x**2\nD: [[1]]\nQ: [[0]]\n")
    outcome(warm, checked=True)
    for number, case in enumerate(all_cases()):
        path = folder / f"case{number}.yaml"
        path.write_bytes(case.document)
        for name, data in case.files:
            (folder / name).write_bytes(data)
        told = {"id": case.id, "field": case.field, "wanted": case.wanted, "names": case.names}
        print(json.dumps({**told, **measured(case, path)}), flush=True)


if __name__ == "__main__":
    main()
