"""Loads every case, and checks what is accepted, under a limit of memory; prints a line of JSON for each."""

import json
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from make import all_cases

from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.show import text
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verify.report import check

GIBIBYTE = 2**30


def memory() -> int:
    """Return the most memory held so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def outcome(path: Path) -> dict[str, object]:
    """Return what becomes of a document: refused with faults, or accepted and checked."""
    try:
        document = load(path)
    except DocumentError as error:
        faults = [[f.where.line, f.where.column, f.entry, f.problem, f.hint] for f in error.faults]
        return {"outcome": "refuse", "faults": faults}
    if not isinstance(document, Dynamics):
        return {"outcome": "accept"}
    report = check(document)
    verdicts = {finding.id: finding.verdict.value for finding in report.findings}
    energy, title = text(document.H), document.title
    return {"outcome": "accept", "verdict": report.verdict.value, "verdicts": verdicts, "caveats": report.caveats, "H": energy, "title": title}


def main() -> None:
    folder = Path("work/a/b/c/d")
    folder.mkdir(parents=True)
    resource.setrlimit(resource.RLIMIT_AS, (4 * GIBIBYTE, 4 * GIBIBYTE))
    warm = folder / "warm.yaml"
    warm.write_text("name: n\nstate: {x: {}}\nH: x**2\nD: [[1]]\nQ: [[0]]\n")
    outcome(warm)
    for number, case in enumerate(all_cases()):
        path = folder / f"case{number}.yaml"
        path.write_bytes(case.document)
        for name, data in case.files:
            (folder / name).write_bytes(data)
        before, start = memory(), time.perf_counter()
        try:
            found = outcome(path)
        except Exception as error:  # whatever it is, it is a failure of the case and not of the harness
            found = {"outcome": f"{type(error).__name__}: {error}"[:500]}
        seconds, grown = time.perf_counter() - start, memory() - before
        case_of = {"id": case.id, "field": case.field, "wanted": case.wanted, "names": case.names}
        print(json.dumps({**case_of, **found, "seconds": seconds, "grown": grown}), flush=True)


if __name__ == "__main__":
    main()
