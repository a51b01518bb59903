"""What is decided of every dynamics in the repository, claim by claim, and how long it takes.

    python benchmarks/verdicts.py [FILE_OR_FOLDER ...] [--seconds S]

Without arguments: the dynamics that ship and the errata; `tests/mutants` holds the wrong samplers. Times are wall-clock
seconds of each claim; the total is that of checking, reading included. Exit code 1 where a claim took longer than 5 s
or the whole set longer than `--seconds`, 60 unless told otherwise.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from recipe_compiler.errors import DocumentError
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Report

ROOT = Path(__file__).parent.parent
FOLDERS = ("specs/dynamics", "tests/errata/printed", "tests/errata/corrected")
CLAIM_LIMIT, SET_LIMIT = 5.0, 60.0


@dataclass(frozen=True, slots=True)
class Row:
    """One document: its report, or the fault that kept it from being read, and the seconds all of it took."""

    file: Path
    report: Report | None
    fault: str
    seconds: float

    @property
    def slowest(self) -> float:
        """The seconds of the slowest claim."""
        findings = () if self.report is None else self.report.findings
        return max((finding.seconds for finding in findings), default=0.0)


def files(arguments: list[str]) -> list[Path]:
    """Return the YAML files named, those of folders included."""
    named = [Path(argument) for argument in arguments] or [ROOT / folder for folder in FOLDERS]
    return [file for one in named for file in (sorted(one.rglob("*.yaml")) if one.is_dir() else [one])]


def decided(file: Path) -> Row:
    """Check one document."""
    begin = time.perf_counter()
    try:
        document = load(file)
        report = check(document) if isinstance(document, Dynamics) else None
        fault = "no dynamics" if report is None else ""
    except DocumentError as error:
        report, fault = None, f"fault: {error.faults[0].entry}: {error.faults[0].problem}"
    return Row(file, report, fault, time.perf_counter() - begin)


def table(rows: list[Row]) -> str:
    """Return a line for each document and claim."""
    lines: list[str] = []
    for row in rows:
        verdict = row.report.verdict.value if row.report is not None else row.fault
        lines.append(f"{row.file.parent.name}/{row.file.stem}  {verdict}  {row.seconds:.2f} s")
        for finding in row.report.findings if row.report is not None else ():
            sizes = "every size" if finding.for_d == "all" else ", ".join(f"{name} = {n}" for name, n in finding.for_d)
            lines.append(f"    {finding.id:20} {finding.verdict.value:10} {finding.seconds:6.3f} s  {sizes}")
    return "\n".join(lines)


def main() -> int:
    """Check what the command line names, or everything."""
    parser = argparse.ArgumentParser(description="Print every verdict, and how long it took.")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--seconds", type=float, default=SET_LIMIT, help="limit for the whole set")
    options = parser.parse_args()
    begin = time.perf_counter()
    rows = [decided(file) for file in files(options.files)]
    total = time.perf_counter() - begin
    print(table(rows))
    count = sum(len(row.report.findings) for row in rows if row.report is not None)
    worst = max(rows, key=lambda row: row.slowest)
    print(f"\n{len(rows)} documents, {count} claims, {total:.1f} s")
    print(f"slowest claim {worst.slowest:.2f} s, of {worst.file.stem}")
    return 0 if total <= options.seconds and worst.slowest <= CLAIM_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
