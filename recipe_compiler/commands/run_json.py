"""The JSON of `recipe run --json`: of a run that was done, and of one that was refused."""

import json
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import cast

from recipe_compiler.advise.chosen import Plan
from recipe_compiler.advise.diagnostics import Summary
from recipe_compiler.advise.forecast import Forecast
from recipe_compiler.display import say_object
from recipe_compiler.errors import DataError, DocumentError, Fault, Place, RecipeError
from recipe_compiler.run.posterior_numbers import COLUMNS, final_scores
from recipe_compiler.run.sample import Draws
from recipe_compiler.run.stages import Run
from recipe_compiler.verdict import Report, Verdict

SCHEMA_VERSION = 1


def say_plan(plan: Plan, report: Report) -> None:
    """Print what was chosen, and the build with it."""
    say_json({**_of_report(report), "faults": (), "plan": plan.says, "doubts": plan.doubts, "build": plan.yaml(Path())})


def say_run(run: Run, plan: Plan, draws: Draws, summary: Summary, left_out: Sequence[str], path: Path) -> None:
    """Print what a run found."""
    diagnostics = summary.known
    rows = [{"name": row.name, **dict(zip(COLUMNS, row.values, strict=True))} for row in summary.rows]
    say_json(
        {
            **_of_report(run.report),
            "faults": (),
            "plan": plan.says,
            "settings": asdict(draws.settings),
            "interrupted": draws.interrupted,
            "diverging": draws.diverging,
            "seconds": draws.seconds,
            "processor_seconds": draws.processor_seconds,
            "ess_per_gradient": None
            if diagnostics.pace is None
            else dict(zip(("predicted", "measured"), diagnostics.pace, strict=True)),
            "summary": tuple(rows),
            "scores": final_scores(summary.tree),
            "constant": dict(summary.numbers.constants),
            "forecast": None if diagnostics.forecast is None else _of_forecast(diagnostics.forecast),
            "stein": None if diagnostics.departures is None else asdict(diagnostics.departures),
            "assumed": diagnostics.assumed,
            "refuted": None if run.build.mark is None else {**asdict(run.build.mark), "laws": diagnostics.laws},
            "trust": summary.trust,
            "doubts": summary.doubts,
            "warnings": summary.warnings,
            "left_out": tuple(left_out),
            "file": str(path),
        }
    )


def _of_forecast(forecast: Forecast) -> dict[str, object]:
    """Return a forecast without its arrays, which are in the file of the draws."""
    return {name: value for name, value in asdict(forecast).items() if name not in ("autocorrelations", "mode")}


def say_verdict(report: Report) -> None:
    """Print why a build is not run that is refuted, or undecided."""
    guilty = [f for f in report.findings if f.required and f.verdict is not Verdict.PROVED]
    faults = tuple({"where": report.file, "entry": f.id, "problem": f.verdict.value, "hint": ""} for f in guilty)
    say_json({**_of_report(report), "faults": faults})


def _of_report(report: Report) -> dict[str, object]:
    return {"name": report.name, "digest": report.digest, "verdict": report.verdict.value}


@contextmanager
def refusals_said(file: str, *, as_json: bool) -> Generator[None]:
    """Let what keeps a run from being done be printed as JSON, too, before it goes on its way to stderr."""
    try:
        yield
    except (RecipeError, OSError, MemoryError) as error:
        if as_json:
            say_faults(file, _faults(error))
        raise


def say_faults(file: str, faults: Sequence[Fault]) -> None:
    """Print the faults of a run that was refused."""
    listed = tuple(
        {"where": str(fault.where), "entry": fault.entry, "problem": fault.problem, "hint": fault.hint}
        for fault in faults
    )
    say_json({"name": file, "verdict": None, "faults": listed})


def _faults(error: Exception) -> Sequence[Fault]:
    match error:
        case DocumentError():
            return error.faults
        case DataError():
            return [Fault(Place(""), "run", problem) for problem in error.faults]
        case OSError():
            what = error.strerror or str(error)
            return [Fault(Place(""), str(error.filename or "run"), what)]
        case MemoryError():
            return [Fault(Place(""), "run", "out of memory")]
        case _:
            return [Fault(Place(""), "run", str(error))]


def say_json(found: dict[str, object]) -> None:
    """Print one JSON object with the version of its schema, without a mark, and null for every number that is none."""
    found = {"schema_version": SCHEMA_VERSION, **cast("dict[str, object]", finite(found))}
    say_object(json.dumps(found, allow_nan=False))


def finite(value: object) -> object:
    """Return a value for JSON, with null for every number that is none."""
    match value:
        case dict():
            return {key: finite(one) for key, one in cast("dict[str, object]", value).items()}
        case tuple() | list():
            return [finite(one) for one in cast("tuple[object, ...] | list[object]", value)]
        case float():
            return value if math.isfinite(value) else None
        case _:
            return value
