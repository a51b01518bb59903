"""Experiments from their documents: every build is read as from a file of its own, every name is known."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from recipe_compiler.errors import Fault, SpecError, nearest, spec_error
from recipe_compiler.formula.context import Scope
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.run.evaluate import Point, evaluate
from recipe_compiler.spec.catalogue import is_plain, names, shipped
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.fields import exact, shown
from recipe_compiler.spec.files import read_bytes
from recipe_compiler.spec.load import around, load
from recipe_compiler.spec.model import Build, Document
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.read_build import read_build
from recipe_compiler.spec.schema_experiment import (
    ColumnEntry,
    ExperimentDocument,
    ExperimentRunEntry,
)
from recipe_compiler.spec.validate import validate
from recipe_compiler.spec.yaml_nodes import Mapping as Node
from recipe_compiler.spec.yaml_nodes import Scalar
from recipe_compiler.spec.yaml_reader import read_yaml

STATISTICS = ("mean", "sd", "rmse", "quantile", "score", "forecast", "cost", "fact")
EXACT = "exact"
SEED = "seed"
"""The setting over whose values the rows of a sweep are averaged."""


@dataclass(frozen=True, slots=True, eq=False)
class ExperimentRun:
    """A row of the table as its document states it."""

    name: str
    entry: ExperimentRunEntry
    build: Build | None
    checks: tuple[Document, ...]
    columns: Mapping[str, ColumnEntry]
    numbers: Mapping[tuple[str, str], float]
    """Column and key, `exact` or `to`, to the number that is stated there."""

    @property
    def title(self) -> str:
        """The name that tables have."""
        return self.entry.title or self.name


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """What a document states, with its builds."""

    entry: ExperimentDocument
    file: Path
    runs: tuple[ExperimentRun, ...]
    numbers: Mapping[tuple[str, str], float]
    """Those that all runs share."""

    @property
    def columns(self) -> Mapping[str, ColumnEntry]:
        """All columns of the table, in order."""
        return {name: column for run in self.runs for name, column in run.columns.items()}


@dataclass(frozen=True, slots=True)
class Operand:
    """What a claim compares: a figure of a row, or a number."""

    row: str = ""
    column: str = ""
    number: float = 0.0

    @property
    def run(self) -> str:
        """The name of the run that the row is of."""
        return self.row.partition("[")[0]


def read_operand(text: str) -> Operand | None:
    """Return the figure or the number that a text of a claim means; None where it is neither."""
    if (number := exact(text)) is not None:
        return Operand(number=float(number))
    row, dot, column = text.replace(" ", "").rpartition(".")
    return Operand(row, column) if dot and re.fullmatch(r"\w+(\[.+\])?", row) else None


def statistic_of(column: ColumnEntry) -> str:
    """Return the name of the statistic that a column is."""
    return next(name for name in STATISTICS if getattr(column, name) is not None)


def find_experiment(name: str) -> Path:
    """Return the file of an experiment, or that of one that ships under a name. Raises SpecError."""
    path = Path(name)
    if path.is_file() or not is_plain(name):
        return path
    if (found := shipped(name, ("experiment",))) is not None:
        return found
    problem = f"found no file `{shown(name)}`, and no experiment that ships under that name; expected one of them"
    hint = nearest(name, names("experiment")) or f"there are {', '.join(names('experiment'))}"
    raise spec_error(name, "document", problem, hint)


def title_of(path: Path) -> str:
    """Return the title of an experiment, of which nothing else is read."""
    title = read_yaml(read_bytes(path), str(path)).get("title")
    return title.text if isinstance(title, Scalar) else ""


def read_experiment(path: Path) -> Experiment:
    """Return the experiment that a file states.

    Raises:
        SpecError, ModelError: with every fault of it and of the documents that it names.
    """
    root, faults = read_yaml(read_bytes(path), str(path)), Faults()
    entry, page = validate(root, ExperimentDocument, faults), Page(root, faults)
    numbers = _numbers(page["columns"], entry.columns)
    runs = [_read_run(page["runs", name], entry, name, path, numbers) for name in entry.runs]
    made = Experiment(entry, path, tuple(runs), numbers)
    _check_names(page, made)
    faults.finish()
    return made


def _read_run(
    at: Page, document: ExperimentDocument, name: str, path: Path, shared: Mapping[tuple[str, str], float]
) -> ExperimentRun:
    entry = document.runs[name]
    stated = [key for key in ("build", "check", "missing") if getattr(entry, key)]
    if len(stated) != 1:
        at.fault(f"found {' and '.join(stated) or 'none'}, expected one of build, check and missing")
    columns = {**document.columns, **entry.columns}
    kept = {key: value for key, value in shared.items() if key[0] not in entry.columns}
    numbers = {**kept, **_numbers(at["columns"], entry.columns)}
    build = at.faults.catch(partial(_read_build, at, document, name, path)) if entry.build else None
    checks = [at.faults.catch(partial(_load_beside, path, file)) for file in entry.check]
    if entry.best is not None:
        at["best", "over"].knows(entry.best.over, entry.for_.stated, "a setting of the sweep")
        at["best", "by"].knows(entry.best.by, columns, "a column")
    for column in entry.published:
        at["published", column].knows(column, columns, "a column")
    return ExperimentRun(name, entry, build, tuple(filter(None, checks)), columns, numbers)


def _read_build(at: Page, document: ExperimentDocument, name: str, path: Path) -> Build:
    """Return the build of a run: one that ships or has a file, or the entries here with those that all share."""
    node, shared = at["build"].node, at.root.get("build")
    if isinstance(node, Scalar):
        found = _load_beside(path, node.text, "build")
        if not isinstance(found, Build):
            raise SpecError([Fault(node.place, at["build"].label, "found another document, expected a build")])
        return found
    if not isinstance(node, Node):
        raise SpecError([Fault(at.where, at["build"].label, f"found {at['build'].found}, expected a build")])
    own = {key.text for key, _ in node.entries}
    given = shared.entries if isinstance(shared, Node) else ()
    named = ((replace(at.root.entries[0][0], text="name"), Scalar(f"{document.name}_{name}", node.place)),)
    entries = (*named, *((key, value) for key, value in given if key.text not in own), *node.entries)
    return read_build(Node(entries, node.place), str(path), around(path.parent))


def _load_beside(path: Path, name: str, *kinds: str) -> Document:
    found = shipped(name, kinds or ("dynamics", "target", "build"))
    return load(path.parent / name if found is None else found)


def _numbers(at: Page, columns: Mapping[str, ColumnEntry]) -> dict[tuple[str, str], float]:
    """Return the numbers that columns state, a fault added for those that are not one statistic, or no number."""
    found: dict[tuple[str, str], float] = {}
    for name, column in columns.items():
        here, stated = at[name], [one for one in STATISTICS if getattr(column, one) is not None]
        if len(stated) != 1:
            here.fault(f"found {', '.join(stated) or 'no statistic'}, expected one of {', '.join(STATISTICS)}")
        if (column.quantile is None) != (column.at is None):
            here.fault("found one of `quantile` and `at`, expected both")
        for key in sorted({EXACT, "to"} & column.stated):
            if (formula := here[key].formula(Scope(Declarations()), SCALAR)) is not None:
                found[name, key] = float(evaluate(formula, Point({}, {})))
                if not math.isfinite(found[name, key]):
                    here[key].fault(f"found {here[key].text}, expected a finite number")
    return found


def _check_names(page: Page, made: Experiment) -> None:
    """Add a fault for each unknown run, column or figure."""
    runs, columns = [run.name for run in made.runs], made.columns
    if made.entry.reference is not None:
        page["reference"].knows(made.entry.reference, runs, "a run")
    for place, claim in enumerate(made.entry.claims):
        at = page["claims", place]
        if bool(claim.larger) == bool(claim.equal) or len(claim.larger or claim.equal) < 2:
            at.fault("expected one of `larger` and `equal`, with two figures or more")
        for key in ("larger", "equal"):
            for item, text in zip(at[key].items, getattr(claim, key), strict=False):
                operand = read_operand(text)
                if operand is None:
                    example = f"{runs[0]}.{next(iter(columns))}"
                    item.fault(f"found `{shown(text)}`, expected a number, or a figure such as {example}")
                elif operand.row and item.knows(operand.run, (*runs, EXACT), "a run"):
                    item.knows(operand.column, columns, "a column")
    for name, plot in made.entry.plots.items():
        at = page["plots", name]
        for key, known in (("runs", runs), ("bars", columns), ("boxes", columns)):
            for one in getattr(plot, key):
                at[key].knows(one.partition("[")[0], known, "one of the experiment")
        if plot.lines is not None:
            at["lines"].knows(plot.lines, columns, "a column")


def cells_of(run: ExperimentRun, most: int | None = None) -> Iterator[dict[str, float]]:
    """Yield the settings of each cell of a sweep, by the first values of each up to `most`; {} without one."""
    cells: list[dict[str, float]] = [{}]
    for setting, values in vars(run.entry.for_).items():
        cells = [{**cell, setting: float(value)} for cell in cells for value in values[:most]]
    yield from cells


def label(run: str, cell: Mapping[str, float]) -> str:
    """Return the name of a row: `SCIR[batch_size=10]`."""
    inner = ", ".join(f"{name}={value:g}" for name, value in cell.items())
    return f"{run}[{inner}]" if inner else run
