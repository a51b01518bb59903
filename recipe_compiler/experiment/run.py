"""Runs the builds of an experiment, a cell of a sweep after the other, and keeps the figures of each as it ends.

Experiment --run_experiment--> Results   one record a cell, in `results.json`; draws of runs without a sweep as netCDF
"""

import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from recipe_compiler.advise.chosen import Plan, processor
from recipe_compiler.advise.judge import forecast_run, judge_run
from recipe_compiler.advise.plan_run import plan_run
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.cache import Cache, check_once, compiler, content
from recipe_compiler.errors import RunError, VerificationError
from recipe_compiler.experiment.document import Experiment, ExperimentRun, cells_of, label
from recipe_compiler.experiment.statistics import Figure, FinishedRun, fact_of, figure_of
from recipe_compiler.pipeline import conclude, draw, make_ready, prepare_run
from recipe_compiler.report.refuted import mark_refuted
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.run.chains import Watch
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.observed import with_data
from recipe_compiler.run.sample import check_settings, unwatched
from recipe_compiler.run.scores import add_scores
from recipe_compiler.run.stages import Run, demand_no_code, settings_of
from recipe_compiler.run.store import save
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.model import Build, RunSettings
from recipe_compiler.spec.places import digest
from recipe_compiler.spec.schema_experiment import SettingsEntry
from recipe_compiler.verdict import Report, Verdict
from recipe_compiler.version import OWN, versions

RESULTS = "results.json"


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept of a cell."""

    key: str
    """Digest of all that its draws and figures depend on."""
    figures: Mapping[str, Figure]
    trust: str = ""
    doubts: tuple[str, ...] = ()
    failed: str = ""
    """Why there are no draws."""
    seconds: float = 0.0
    """Processor time of the draws."""
    verdict: str = ""
    """That of the build, where it is not proved."""


@dataclass(frozen=True, slots=True)
class Results:
    """Records by the labels of cells, and where they were made."""

    records: Mapping[str, Record]
    quick: bool = False
    stopped: bool = False
    made: Mapping[str, str] = field(
        default_factory=lambda: {**versions((OWN, "numpy", "numba")), "machine": _machine()}
    )

    def text(self) -> str:
        """Return all as JSON, numbers in six digits; from it `read_results` makes the same."""
        head = json.dumps({"quick": self.quick, "made": dict(self.made)})[:-1]
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(_kept(one))}" for name, one in self.records.items())
        return f'{head}, "records": {{\n{lines}\n}}}}\n'


def _machine() -> str:
    return f"{os.cpu_count()} cores of {processor().partition(' ')[0]}"


def _kept(record: Record) -> dict[str, Any]:
    """Return what JSON holds of a record: a figure as its words, or as its number and its error."""
    figures = {name: one.words or [*map(_rounded, (one.value, one.error))] for name, one in record.figures.items()}
    return {name: one for name, one in asdict(record).items() if one or name == "key"} | {"figures": figures}


def _rounded(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def read_results(path: Path) -> Results:
    """Return what `Results.text` wrote. Raises RunError for another file."""

    def figure(kept: Any) -> Figure:
        if isinstance(kept, str):
            return Figure(math.nan, words=kept)
        value, error = (math.nan if one is None else one for one in kept)
        return Figure(value, error)

    def record(figures: Any, **others: Any) -> Record:
        return Record(figures={name: figure(one) for name, one in figures.items()}, **others)

    try:
        kept: Any = json.loads(path.read_text(encoding="utf-8"))
        records = {name: record(**own) for name, own in kept.pop("records").items()}
        return Results(records, **kept)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        problem = f"found no results of an experiment, expected those that it wrote ({error}): remove the file"
        raise RunError(f"{path}: {problem}") from error


@dataclass(frozen=True, slots=True, eq=False)
class Effort:
    """How an experiment is run."""

    folder: Path
    quick: bool
    cache: Cache
    say: Callable[[str], None]
    """Called with a line that describes the work that starts."""
    tell: Callable[[str], None]
    """Called with a line of what was found."""
    cores: int | None = None
    bars: Callable[[int, int], AbstractContextManager[Watch]] = lambda chains, draws: nullcontext(unwatched)


def settings_for(
    experiment: Experiment, run: ExperimentRun, build: Build, cell: Mapping[str, float], *, quick: bool
) -> RunSettings:
    """Return the settings of a cell: those of the build, the experiment, the run, the cell, and of --quick."""

    def stated(entry: SettingsEntry) -> dict[str, Any]:
        return {name: float(one) if name == "step_size" else one for name, one in vars(entry).items()}

    own = {name: one if name == "step_size" else int(one) for name, one in cell.items()}
    given = stated(experiment.entry.settings) | stated(run.entry.settings) | own
    given |= stated(experiment.entry.quick.but(values=None)) if quick else {}
    given.pop("values", None)
    if build.variant == "full":
        given.pop("batch_size", None)
    return settings_of(build, given)


def run_experiment(experiment: Experiment, effort: Effort) -> Results:
    """Run what is not there yet, and return all records.

    Every record is written when it is made: an experiment that was stopped goes on where it was, a run with its
    checkpoint.

    Raises:
        NotProvedError: a build that is not proved, and not allowed to be run.
        DataError, RunError: data or settings that do not fit; a column of a coordinate that a run does not have.
        OSError: the folder cannot be written.
    """
    place = effort.folder / RESULTS
    effort.folder.mkdir(parents=True, exist_ok=True)
    before = read_results(place).records if place.is_file() else {}
    records: dict[str, Record] = {}
    for run in experiment.runs:
        for name, record in _records(experiment, run, before, effort):
            if record is None:
                return Results(records, effort.quick, stopped=True)
            records[name] = record
            write_whole(place, Results({**before, **records}, effort.quick).text().encode())
    write_whole(place, Results(records, effort.quick).text().encode())
    return read_results(place)  # with the digits that are kept


def _records(
    experiment: Experiment, run: ExperimentRun, before: Mapping[str, Record], effort: Effort
) -> Iterator[tuple[str, Record | None]]:
    """Yield the record of each cell of a run, kept or made; None where it was stopped."""
    if run.build is None:
        if run.checks:
            yield run.name, _checked(run, effort)
        return
    demand_no_code(run.build, "an experiment of builds without code", allowed=False)
    prepared: _Prepared | None = None
    for cell in cells_of(run, experiment.entry.quick.values if effort.quick else None):
        name = label(run.name, cell)
        settings = settings_for(experiment, run, run.build, cell, quick=effort.quick)
        key = _key(run, settings)
        if name in before and before[name].key == key:
            yield name, before[name]
            continue
        if prepared is None:
            effort.say(f"{run.name}: checking and compiling")
            prepared = _Prepared.of(run, run.build, settings, effort.cache)
        record = _record(name, key, run, prepared, settings, effort)
        yield name, record
        if record is None:
            return


def _key(run: ExperimentRun, settings: RunSettings) -> str:
    """Return the digest of build, data, settings, columns and compiler."""
    build = run.build
    files = () if build is None else (content(path) for path in files_of(build) if str(path) != build.source.file)
    columns = {name: vars(column) for name, column in run.columns.items()}
    own = (run.entry.allow, bool(run.entry.for_.stated), None if build is None else digest(build))
    parts = (compiler(), repr(own), repr(settings), repr(columns), *files)
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, eq=False)
class _Prepared:
    """A build that is decided, planned and compiled, once for all cells of its sweep."""

    plan: Plan
    report: Report
    first: Run
    prepare: Callable[[RunSettings], Run]

    @classmethod
    def of(cls, run: ExperimentRun, build: Build, settings: RunSettings, cache: Cache) -> "_Prepared":
        allow, build = run.entry.allow is not None, with_data(build)
        report = check_once(build, cache)
        if run.entry.allow == "refuted" and report.verdict is Verdict.REFUTED:
            plan = Plan(mark_refuted(build, report), ())
        else:
            _demand(run.name, report, allow_undecided=allow)
            plan, report = plan_run(build, report, allow_undecided=allow, cache=cache)
        if plan.doubts:
            raise RunError("\n".join((plan.refusal, *plan.doubts)))
        prepare = partial(_prepared_run, plan.build, report, allow_undecided=allow, cache=cache)
        return cls(plan, report, prepare(settings), prepare)

    def run(self, settings: RunSettings) -> Run:
        """Return the run at some settings: prepared anew where something is estimated at the size of its batch."""
        if settings == self.first.settings:
            return self.first
        if self.plan.build.estimates:
            return self.prepare(settings)
        check_settings(self.first.module, self.first.build, settings, self.first.data)
        return replace(self.first, settings=settings)


class NotProvedError(VerificationError):
    """A build of an experiment that is not run, with its verdict."""

    def __init__(self, says: str, verdict: Verdict) -> None:
        super().__init__(says)
        self.verdict = verdict


def _demand(name: str, report: Report, *, allow_undecided: bool) -> None:
    """Raise NotProvedError, with the claims and why, for a build that is not proved."""
    if report.verdict is Verdict.PROVED or (allow_undecided and report.verdict is Verdict.UNDECIDED):
        return
    guilty = [one for one in report.findings if one.required and one.verdict is report.verdict]
    waived = "; `allow: undecided` runs it anyway" if report.verdict is Verdict.UNDECIDED else ""
    says = "".join(f"\n  {one.says}: {line.strip()}" for one in guilty for line in one.evidence[:3])
    raise NotProvedError(f"runs.{name}: the build is {report.verdict.value}{waived}{says}", report.verdict)


def _prepared_run(build: Build, report: Report, settings: RunSettings, *, allow_undecided: bool, cache: Cache) -> Run:
    run = prepare_run(build, report, settings, allow_undecided=allow_undecided, cache=cache)
    return replace(run, log_likelihood=False, predictive=False)


def _checked(run: ExperimentRun, effort: Effort) -> Record:
    """Return the record of documents that are checked alone."""
    effort.say(f"{run.name}: checking")
    reports = [check_once(document, effort.cache) for document in run.checks]
    facts: dict[str, Figure] = {}
    for name, column in run.columns.items():
        if column.fact is not None:
            words = dict.fromkeys(fact_of(column.fact, report, None, "").words for report in reports)
            facts[name] = Figure(math.nan, words=", ".join(words))
    return Record("", facts)


def _record(
    name: str, key: str, run: ExperimentRun, prepared: _Prepared, settings: RunSettings, effort: Effort
) -> Record | None:
    """Return the record of a cell that is run now; None where it was stopped."""
    is_alone = not run.entry.for_.stated
    try:
        ready = make_ready(prepared.run(settings))
    except (RunError, VerificationError) as error:
        if is_alone:
            raise
        return Record(key, {}, failed=str(error))  # a step of the sweep that is too large for the noise of its batch
    ahead = None
    if is_alone:
        effort.say(f"{name}: forecasting what the step samples")
        ahead = forecast_run(ready, prepared.plan)
        mark = "" if ready.run.build.mark is None else "refuted: "
        effort.tell(f"{mark}{name}: {ahead.says[0] if ahead.says else 'no forecast'}")
    effort.say(f"{name}: drawing")
    place = effort.folder / f"{name}.{key}.checkpoint"
    kept = Checkpoint(place, ready.run.facts) if is_alone else None
    bars = effort.bars(settings.chains, settings.warmup + settings.draws) if is_alone else nullcontext(unwatched)
    with kept or nullcontext(), bars as watch:
        draws = draw(ready, watch, effort.cores, kept, resume=(place / "state").is_file())
    if draws.stopped is not None:
        return None
    effort.say(f"{name}: summarising")
    summary = None if ahead is None else judge_run(ready, prepared.plan, ahead, draws)
    tree = summary.tree if summary is not None else conclude(ready, draws)[0]
    if summary is None:
        add_scores(ready, tree, draws, Sampler.of_run(ready).gradients_of_step())
    finished = FinishedRun(ready, draws, tree, summary)
    trust, doubts = ("", ()) if summary is None else (summary.trust, summary.doubts)
    figures: dict[str, Figure] = {}
    for column, entry in run.columns.items():
        stated = {what: number for (own, what), number in run.numbers.items() if own == column}
        if entry.fact is None:
            figures[column] = figure_of(entry, finished, stated)
        else:
            figures[column] = fact_of(entry.fact, prepared.report, prepared.plan.build, trust)
    if is_alone:
        save(tree, effort.folder / f"{name}.nc")
        shutil.rmtree(place, ignore_errors=True)
    verdict = "" if prepared.report.verdict is Verdict.PROVED else prepared.report.verdict.value
    return Record(key, figures, trust, doubts, "", draws.processor_seconds, verdict)
