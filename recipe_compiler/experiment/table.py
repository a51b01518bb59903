"""Tables of an experiment's figures, beside what is exact and what the paper prints; its claims, judged."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev

from recipe_compiler.experiment.document import (
    EXACT,
    SEED,
    Experiment,
    ExperimentRun,
    Operand,
    cells_of,
    label,
    read_operand,
    statistic_of,
)
from recipe_compiler.experiment.run import Record, Results
from recipe_compiler.experiment.statistics import Figure, trust_word
from recipe_compiler.spec.schema_experiment import ClaimEntry

REMARK = "remark"
AGREES, OPEN, DIFFERS, UNKNOWN = "agrees", "within the error", "does not agree", "not known"
APART = 2.0
"""Standard errors that two figures lie apart by, for one to be the larger."""
CLOSE = 3.0
"""Standard errors within which two figures are equal."""

Rows = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class TableRow:
    """A run, or the cells of a sweep that share all settings but the seed and the one that is chosen."""

    run: ExperimentRun
    settings: Mapping[str, float]
    """Those that its cells share."""
    figures: Mapping[str, Figure]
    records: tuple[Record, ...]
    chosen: tuple[float, ...] = ()
    """Values of the setting that `best` chooses, one for each seed."""

    @property
    def label(self) -> str:
        """The name that claims have for it."""
        return label(self.run.name, self.settings)

    @property
    def title(self) -> str:
        """The same in words."""
        settings = (f"{name.replace('_', ' ')} {value:g}" for name, value in self.settings.items())
        return ", ".join((self.run.title, *settings))


def table_rows(experiment: Experiment, results: Results) -> tuple[TableRow, ...]:
    """Return the rows of the table: of a sweep the best cells, averaged over its seeds."""
    return tuple(row for run in experiment.runs for row in _rows_of(run, results.records))


def _rows_of(run: ExperimentRun, records: Mapping[str, Record]) -> Iterator[TableRow]:
    best, groups = run.entry.best, dict[tuple[tuple[str, float], ...], dict[float, list[tuple[float, Record]]]]()
    for cell in cells_of(run):
        if (record := records.get(label(run.name, cell))) is not None:
            over = math.nan if best is None else cell[best.over]
            left_out = (SEED, "" if best is None else best.over)
            shared = tuple((name, one) for name, one in cell.items() if name not in left_out)
            groups.setdefault(shared, {}).setdefault(cell.get(SEED, 0.0), []).append((over, record))
    if not groups:
        yield TableRow(run, {}, {}, ())
    for shared, seeds in sorted(groups.items()):
        by = "" if best is None else best.by
        chosen = [min(own, key=lambda one: _value(one[1], by)) for own in seeds.values()]
        kept = tuple(record for _, record in chosen)
        over = () if best is None else tuple(value for value, _ in chosen)
        yield TableRow(run, dict(shared), {column: _averaged(column, kept) for column in run.columns}, kept, over)


def _value(record: Record, column: str) -> float:
    found = record.figures.get(column, Figure(math.nan)).value
    return math.inf if math.isnan(found) else found


def _averaged(column: str, records: Sequence[Record]) -> Figure:
    """Return a figure, of several seeds their mean with its standard error."""
    figures = [record.figures.get(column, Figure(math.nan)) for record in records]
    if len(figures) == 1:
        return figures[0]
    values = [figure.value for figure in figures]
    if not all(map(math.isfinite, values)):
        return Figure(math.nan)
    return Figure(fmean(values), stdev(values) / math.sqrt(len(values)))


def exact_of(experiment: Experiment, run: ExperimentRun | None, column: str, rows: Sequence[TableRow]) -> Figure | None:
    """Return what a column should be: as stated, else the figure of the reference run; None where nothing says it."""
    numbers = experiment.numbers if run is None else run.numbers
    if (column, EXACT) in numbers:
        return Figure(numbers[column, EXACT], 0.0)
    found = next((row for row in rows if row.label == experiment.entry.reference), None)
    return None if found is None else found.figures.get(column)


def shown_figure(figure: Figure) -> str:
    """Return a figure as text, its standard error in units of the last digits: 0.0139(3)."""
    if figure.words or not math.isfinite(figure.value):
        return figure.words or "-"
    if not (math.isfinite(figure.error) and figure.error > 0.0):
        return f"{figure.value:.3g}"
    decimals = 1 - math.floor(math.log10(figure.error))
    if not 0 <= decimals <= 8:
        return f"{figure.value:.3g} ± {figure.error:.2g}"
    return f"{figure.value:.{decimals}f}({figure.error * 10**decimals:.0f})"


def z_score(figure: Figure, other: Figure) -> float:
    """Return how many standard errors two figures lie apart by; infinity where neither has one."""
    error = math.hypot(*(one for one in (figure.error, other.error) if math.isfinite(one)), 0.0)
    apart = figure.value - other.value
    return 0.0 if apart == 0.0 else math.copysign(math.inf, apart) if error == 0.0 else apart / error


def table(experiment: Experiment, results: Results) -> tuple[tuple[str, ...], Rows]:
    """Return headings and rows of texts: each column beside what the paper prints of it, then trust and remarks."""
    rows, columns = table_rows(experiment, results), experiment.columns
    printed = {name for run in experiment.runs for name in run.entry.published}
    pairs = [(name, is_printed) for name in columns for is_printed in (False, True)[: 1 + (name in printed)]]
    headings = [f"{columns[n].title or n}, published" if own else columns[n].title or n for n, own in pairs]
    found: Rows = []
    if any((name, EXACT) in experiment.numbers for name in columns):
        exact = {(name, False): f"{own:.6g}" for (name, key), own in experiment.numbers.items() if key == EXACT}
        found.append((EXACT, *(exact.get(pair, "") for pair in pairs), "", ""))
    for row in rows:
        cells = (row.run.entry.published.get(n, "") if own else _cell(experiment, row, n, rows) for n, own in pairs)
        found.append((row.title, *cells, _trust(row), _remark(row)))
    used = [k for k in range(len(pairs) + 3) if k == 0 or any(row[k] for row in found)]
    return _chosen(("", *headings, "trusted", REMARK), used), [_chosen(row, used) for row in found]


def _chosen(cells: tuple[str, ...], places: Sequence[int]) -> tuple[str, ...]:
    return tuple(cells[k] for k in places)


def _cell(experiment: Experiment, row: TableRow, column: str, rows: Sequence[TableRow]) -> str:
    """Return a figure, with what it should be where that is the row's own, and how far off it is."""
    figure, entry = row.figures.get(column), row.run.columns.get(column)
    if figure is None or entry is None:
        return ""
    exact = exact_of(experiment, row.run, column, rows)
    is_judged = statistic_of(entry) not in ("cost", "fact", "forecast") and row.label != experiment.entry.reference
    if exact is None or not is_judged or not math.isfinite(figure.value):
        return shown_figure(figure)
    own = (column, EXACT) in row.run.numbers and (column, EXACT) not in experiment.numbers
    beside = f"; exact {exact.value:.6g}{f' ({entry.oracle})' if entry.oracle else ''}" if own else ""
    return f"{shown_figure(figure)}{beside}, z {z_score(figure, exact):.1f}"


def _trust(row: TableRow) -> str:
    record = row.records[0] if row.records else None
    return "" if record is None else trust_word(record.trust)


def _remark(row: TableRow) -> str:
    best = row.run.entry.best
    failed = next((record.failed for record in row.records if record.failed), "")
    chosen = "" if best is None else f"best {best.over}: {', '.join(f'{v:g}' for v in sorted(set(row.chosen)))}"
    verdict = next((record.verdict for record in row.records), "")
    control = {"refuted": "refuted: a negative control", "undecided": "claims are undecided"}.get(verdict, "")
    return "; ".join(filter(None, (row.run.entry.missing, control, chosen, failed)))


def markdown(headings: Sequence[str], rows: Rows) -> str:
    """Return a table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    escaped = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim of the paper and whether the figures agree with it."""

    says: str
    found: str
    """The figures that it compares."""
    verdict: str


def judge_claims(experiment: Experiment, results: Results) -> tuple[JudgedClaim, ...]:
    """Return every claim with its verdict: by standard errors, or by a relative distance where one is stated."""
    rows = table_rows(experiment, results)

    def figure(operand: Operand | None) -> Figure:
        if operand is None or not operand.row:
            return Figure(0.0 if operand is None else operand.number, 0.0)
        if operand.row == EXACT:
            return exact_of(experiment, None, operand.column, rows) or Figure(math.nan)
        known = {row.label.replace(" ", ""): row.figures for row in rows}
        return known.get(operand.row, {}).get(operand.column, Figure(math.nan))

    return tuple(_judged(claim, figure) for claim in experiment.entry.claims)


def _judged(claim: ClaimEntry, figure: Callable[[Operand | None], Figure]) -> JudgedClaim:
    texts = claim.larger or claim.equal
    figures = [figure(read_operand(text)) for text in texts]
    pairs = pairwise(figures) if claim.larger else ((figures[0], one) for one in figures[1:])
    verdicts = {_compared(claim, one, other) for one, other in pairs}
    verdict = next(one for one in (DIFFERS, UNKNOWN, OPEN, AGREES) if one in verdicts)
    shown = [text if read_operand(text) == Operand(number=one.value) else f"{text} {shown_figure(one)}"
             for text, one in zip(texts, figures, strict=True)]  # fmt: skip
    sign = (" > " if claim.times == 1 else f" > {claim.times} x ") if claim.larger else " = "
    return JudgedClaim(claim.says, sign.join(shown), verdict)


def _compared(claim: ClaimEntry, one: Figure, other: Figure) -> str:
    if not (math.isfinite(one.value) and math.isfinite(other.value)):
        return UNKNOWN
    times = float(claim.times)
    if claim.larger:
        z = z_score(one, Figure(times * other.value, times * other.error))
        return AGREES if z > APART else DIFFERS if z < -APART else OPEN
    if claim.within is None:
        return AGREES if abs(z_score(one, other)) <= CLOSE else DIFFERS
    allowed = float(claim.within) * abs(other.value)
    error = APART * math.hypot(*(own for own in (one.error, other.error) if math.isfinite(own)), 0.0)
    apart = abs(one.value - other.value)
    return AGREES if apart + error <= allowed else DIFFERS if apart - error > allowed else OPEN


def unexpected_trust(experiment: Experiment, results: Results) -> tuple[str, ...]:
    """Return the runs that are trusted against what is stated, or not trusted, with the first doubt."""
    found = [(row, row.records[0]) for row in table_rows(experiment, results) if row.records]
    return tuple(
        f"{row.label}: {record.trust}{''.join(f'; {doubt}' for doubt in record.doubts[:1])}"
        for row, record in found
        if record.trust and (not record.doubts) != row.run.entry.trusted
    )
