"""How reports, faults, derivations and summaries look on a terminal: plain text, colours only where they are wanted."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from recipe_compiler.errors import Fault, Place
from recipe_compiler.verdict import Report, Verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from recipe_compiler.advise.diagnostics import Summary
    from recipe_compiler.run.compare import RunComparison

PIPE_WIDTH = 132
"""Columns where there is no terminal to ask."""

EXCERPT = 100
"""Columns of a line of a document that are shown with a fault."""

STYLES = {Verdict.PROVED: "green", Verdict.REFUTED: "bold red", Verdict.UNDECIDED: "yellow"}


def plain(text: str) -> str:
    """Return text with everything a terminal might obey (escape codes, reversed writing) spelled out."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


MARK = "refuted: "
"""What stands before each line about a run of a refuted build."""


class _Marked:
    """A stream that puts `mark` before each line written to it; JSON, which says it itself, goes past it."""

    mark = ""

    def __init__(self, out: TextIO) -> None:
        self._out, self._begins = out, True

    def write(self, text: str) -> int:
        lines = text.splitlines(keepends=True)
        begin = [self._begins, *(line.endswith("\n") for line in lines)]
        self._begins = begin[-1]
        return self._out.write("".join(self.mark * at + line for at, line in zip(begin, lines, strict=False)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)


def mark_lines(mark: str) -> None:
    """Put a mark before each line that is printed from here on."""
    _Marked.mark = mark


def say(line: str) -> None:
    """Print one line of a result on stdout, at once: what comes next may take long."""
    _Marked(sys.stdout).write(plain(line) + "\n")
    sys.stdout.flush()


def say_object(text: str) -> None:
    """Print JSON on stdout, without a mark."""
    sys.stdout.write(plain(text) + "\n")
    sys.stdout.flush()


def complain(line: str) -> None:
    """Print one line about what went wrong on stderr."""
    _Marked(sys.stderr).write(plain(line) + "\n")


def show_report(report: Report) -> None:
    """Print the verdicts about one document, the evidence against it, and what was not checked."""
    from rich.padding import Padding
    from rich.text import Text

    out = _console()
    heading = Text(plain(f"{report.file}  {report.name}: "))
    heading.append(report.conclusion, STYLES[report.verdict])
    out.print(heading, soft_wrap=True)
    out.print(Padding(_verdict_table(report), (0, 0, 0, 2)))
    for line in report.lines:
        out.print(Text(plain(f"  {line}")), soft_wrap=True)


def _verdict_table(report: Report) -> "Table":
    from rich.text import Text

    table = _table(("claim", "verdict", "how", "checked at", "time"))
    for finding in report.findings:
        table.add_row(
            Text(plain(finding.claim)),
            Text(finding.verdict.value, STYLES[finding.verdict]),
            Text(plain(finding.how)),
            Text(plain(finding.where_checked)),
            Text(f"{1000 * finding.seconds:5.0f} ms"),  # as wide however long it took
        )
    return table


def show_faults(faults: Iterable[Fault]) -> None:
    """Print every fault with its place, the line of the document and a caret under its column, and its hint."""
    for fault in faults:
        complain(f"{fault.where}  {fault.entry}  {fault.problem}".strip())
        for line in excerpt(fault.where):
            complain(line)
        if fault.hint:
            complain(f"    hint: {fault.hint}")


def excerpt(where: Place) -> tuple[str, ...]:
    """Return the line at a place and a caret under the column, as far as they are known and can be read."""
    if not where.line:
        return ()
    try:
        lines = Path(where.file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    if where.line > len(lines):
        return ()
    line, column = lines[where.line - 1], max(where.column - 1, 0)
    start = max(0, column - EXCERPT // 2) if len(line) > EXCERPT else 0
    shown = "".join(c if c.isprintable() else " " for c in line[start : start + EXCERPT])
    caret = (" " * (4 + column - start) + "^",) if where.column else ()
    return (f"    {shown}", *caret)


def show_summary(summary: "Summary") -> None:
    """Print the posterior in numbers, and every warning about them."""
    from rich.text import Text

    from recipe_compiler.run.posterior_numbers import SHOWN, shown_cells

    out = _console()
    if summary.rows:
        table = _table(("", *SHOWN), numbers=True)
        for name, *cells in map(shown_cells, summary.rows):
            table.add_row(Text(plain(name)), *cells)
        out.print(table)
    for note in summary.notes:
        out.print(Text(plain(note)), soft_wrap=True)
    for warning in summary.warnings:
        out.print(Text(plain(f"warning: {warning}"), "yellow"), soft_wrap=True)
    for doubt in summary.doubts:
        out.print(Text(plain(f"not to be trusted: {doubt}"), "bold red"), soft_wrap=True)
    out.print(Text(plain(summary.trust), "bold"), soft_wrap=True)


def show_rows(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Print a table of texts."""
    from rich.text import Text

    table = _table(headings)
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    _console().print(table)


SHOWN = 20
"""The most numbers of runs that are shown side by side: those that lie farthest apart."""


def show_comparison(comparison: "RunComparison") -> None:
    """Print runs one by one, then where they lie farthest apart, and whether chance explains it."""
    from rich.text import Text

    from recipe_compiler.run.posterior_numbers import says_score

    out, first = _console(), comparison.runs[0]
    table = _table(("", "scheme", "step size", "thin", "draws", "seconds", "ess", "ess/s", "r_hat"), numbers=True)
    for run in comparison.runs:
        length = f"{run.chains} x {run.draws}"
        worth = (f"{run.seconds:.3g}", f"{run.least_ess:.0f}", f"{run.per_second:.3g}", f"{run.r_hat:.3f}")
        named = (Text(plain(run.file)), plain(run.scheme), f"{run.step_size:.3g}", str(run.thin), length)
        table.add_row(*named, *worth)
    out.print(table)
    for run in comparison.runs:
        out.print(Text(plain(f"{run.file}: {run.trust or 'its trust is not known'}")), soft_wrap=True)
    for name in dict.fromkeys(name for run in comparison.runs for name in run.scores):
        own = (f"{says_score(run.scores[name])} ({run.file})" for run in comparison.runs if name in run.scores)
        out.print(Text(plain(f"score {name}: {'; '.join(own)}")), soft_wrap=True)
    table = _table(("", "of", "in", "first", "there", "sds apart", "|z|"), numbers=True)
    for one in comparison.apart[:SHOWN]:
        values = (f"{one.first:.4g}", f"{one.other:.4g}", f"{one.in_sds:+.3f}", f"{abs(one.z):.2f}")
        table.add_row(Text(plain(one.name)), one.of, Text(plain(one.file)), *values)
    out.print(table)
    count = len(comparison.apart)
    says = f"{count} numbers beside those of {first.file}; chance alone explains |z| up to {comparison.limit:.1f}"
    out.print(Text(plain(says)), soft_wrap=True)
    for sentence in comparison.contradictions:
        out.print(Text(plain(f"the runs contradict each other: {sentence}"), "bold red"), soft_wrap=True)


def _table(headings: tuple[str, ...], numbers: bool = False) -> "Table":
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for k, heading in enumerate(headings):
        right = heading == "time" or (numbers and k > 0)
        fixed = heading in ("verdict", "checked at") or right
        table.add_column(heading, justify="right" if right else "left", no_wrap=fixed, overflow="fold")
    return table


def _console() -> "Console":
    """Return a console on stdout as it is now; rich leaves colours out where it is no terminal or NO_COLOR is set."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    out = cast("IO[str]", _Marked(sys.stdout))
    return Console(file=out, width=width, highlight=False, markup=False, emoji=False)
