"""Reports as the stable, versioned JSON of `recipe check --json`; `report.schema.json` beside this is its schema."""

import json
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

from recipe_compiler.errors import Fault
from recipe_compiler.verdict import Explanation, Finding, Proved, Refuted, Report, Undecided

SCHEMA_VERSION = 1

Json = dict[str, Any]

Faulty = tuple[str, Sequence[Fault]]
"""A file that is no usable document, with its faults."""


def to_json(reports: Iterable[Report], faulty: Iterable[Faulty] = ()) -> Json:
    """Return one object for a call of `check`: every report, then every faulty document."""
    documents = [*map(_document, reports), *(_faulty(file, faults) for file, faults in faulty)]
    return {"schema_version": SCHEMA_VERSION, "documents": documents}


def report_schema() -> Json:
    """Return the JSON Schema that `to_json` satisfies."""
    text = resources.files("recipe_compiler.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    return json.loads(text)


def _document(report: Report) -> Json:
    return {
        "file": report.file,
        "name": report.name,
        "digest": report.digest,
        "verdict": report.verdict.value,
        "claims": [claim_json(finding) for finding in report.findings],
        "faults": [],
        "caveats": list(report.caveats),
        "explanations": [_explanation(explanation) for explanation in report.explanations],
    }


def _faulty(file: str, faults: Sequence[Fault]) -> Json:
    listed = [
        {"where": str(fault.where), "entry": fault.entry, "problem": fault.problem, "hint": fault.hint}
        for fault in faults
    ]
    return {
        "file": file,
        "name": None,
        "digest": None,
        "verdict": None,
        "claims": [],
        "faults": listed,
        "caveats": [],
        "explanations": [],
    }


def _explanation(explanation: Explanation) -> Json:
    return {
        "topic": explanation.topic.value,
        "says": explanation.says,
        "formulas": dict(explanation.formulas),
        "by": explanation.by,
        "given": list(explanation.given),
    }


def claim_json(finding: Finding) -> Json:
    """Return one claim with its verdict and everything it rests on."""
    decision = finding.decision
    return {
        "id": finding.id,
        "says": finding.says,
        "required": finding.required,
        "verdict": finding.verdict.value,
        "by": decision.by if isinstance(decision, (Proved, Refuted)) else None,
        "given": list(decision.given),
        "for_d": finding.for_d if isinstance(finding.for_d, str) else dict(finding.for_d),
        "checked_at": [_size(sizes) for sizes in finding.checked_at if sizes],
        "witness": dict(decision.witness) if isinstance(decision, Refuted) else None,
        "residual": (decision.residual or None) if isinstance(decision, (Refuted, Undecided)) else None,
        "remarks": list(decision.remarks) if isinstance(decision, Proved) else [],
        "data": dict(decision.data) if isinstance(decision, Proved) else {},
        "tried": list(decision.tried) if isinstance(decision, Undecided) else [],
        "where": str(finding.where) if finding.where is not None else None,
        "seconds": finding.seconds,
    }


def _size(sizes: tuple[tuple[str, int], ...]) -> int | dict[str, int]:
    """Return one size as its number, several by name, as `checked_at` lists them."""
    return sizes[0][1] if len(sizes) == 1 else dict(sizes)
