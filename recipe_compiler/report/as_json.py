"""Reports as JSON: that of `recipe check --json`, stable and versioned, and certificates.

`report.schema.json` beside this is the schema of the first. A certificate is a report with all that someone else needs
to re-check it without this compiler (`recheck.py`).
"""

import json
import platform
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from importlib import resources
from typing import Any

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.errors import Fault
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Document, Dynamics
from recipe_compiler.spec.places import canonical_json, digest, documents
from recipe_compiler.verdict import Explanation, Finding, Proved, Refuted, Report, Undecided
from recipe_compiler.verify.core.sizes import list_checked_sizes
from recipe_compiler.version import OWN, versions

SCHEMA_VERSION = 1
Json = dict[str, Any]
Faulty = tuple[str, Sequence[Fault]]
"""A file that is no usable document, with its faults."""

VERSION = 1
KEPT = slice(6, None, 30)
"""Among the points drawn at each size: a plain one and a wide one."""

PROVERS = (OWN, "sympy", "python-flint", "clarabel")


def to_json(reports: Iterable[Report], faulty: Iterable[Faulty] = ()) -> Json:
    """Return one object for a call of `check`: every report, then every faulty document."""
    documents = [*map(_write_document, reports), *(_write_faulty(file, faults) for file, faults in faulty)]
    return {"schema_version": SCHEMA_VERSION, "documents": documents}


def read_schema() -> Json:
    """Return the JSON Schema that `to_json` satisfies."""
    text = resources.files("recipe_compiler.report").joinpath("report.schema.json").read_text(encoding="utf-8")
    return json.loads(text)


def _write_document(report: Report) -> Json:
    return {
        "file": report.file,
        "name": report.name,
        "digest": report.digest,
        "verdict": report.verdict.value,
        "claims": [write_claim(finding) for finding in report.findings],
        "faults": [],
        "caveats": list(report.caveats),
        "explanations": [_write_explanation(explanation) for explanation in report.explanations],
    }


def _write_faulty(file: str, faults: Sequence[Fault]) -> Json:
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


def _write_explanation(explanation: Explanation) -> Json:
    return {
        "topic": explanation.topic.value,
        "says": explanation.says,
        "formulas": dict(explanation.formulas),
        "by": explanation.by,
        "given": list(explanation.given),
    }


def write_claim(finding: Finding) -> Json:
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
        "checked_at": [_write_sizes(sizes) for sizes in finding.checked_at if sizes],
        "witness": dict(decision.witness) if isinstance(decision, Refuted) else None,
        "residual": (decision.residual or None) if isinstance(decision, (Refuted, Undecided)) else None,
        "remarks": list(decision.remarks) if isinstance(decision, Proved) else [],
        "data": dict(decision.data) if isinstance(decision, Proved) else {},
        "tried": list(decision.tried) if isinstance(decision, Undecided) else [],
        "where": str(finding.where) if finding.where is not None else None,
        "seconds": finding.seconds,
    }


def _write_sizes(sizes: tuple[tuple[str, int], ...]) -> int | dict[str, int]:
    """Return one size as its number, several by name, as `checked_at` lists them."""
    return sizes[0][1] if len(sizes) == 1 else dict(sizes)


def make_certificate(document: Document, report: Report) -> Json:
    """Return the certificate of a report about a document.

    It holds the document itself, its digest, versions, the assumptions used, exact admissible points, and each claim
    with its verdict, method, witness and proof data. `seal` is the SHA-256 of the canonical JSON of all the rest.
    """
    claims = [write_claim(finding) for finding in report.findings]
    whole: Json = {
        "certificate_version": VERSION,
        "digest": digest(document),
        "documents": documents(document),
        "versions": {"python": platform.python_version(), **versions(PROVERS)},
        "verdict": report.verdict.value,
        "assumptions": sorted({given for finding in report.findings for given in finding.decision.given}),
        "claims": claims,
        "caveats": list(report.caveats),
        "points": list(_list_points(document)),
    }
    return {**whole, "seal": sha256(canonical_json(whole).encode("ascii")).hexdigest()}


def format_certificate(document: Document, report: Report) -> str:
    """Return the certificate as the text of its file."""
    return json.dumps(make_certificate(document, report), indent=1, allow_nan=False) + "\n"


def _list_points(document: Document) -> Iterator[dict[str, str]]:
    """Yield exact values for all that a dynamics declares, at every size that the second engine looked at."""
    if not isinstance(document, (Build, Dynamics)):
        return
    dynamics = bind(document) if isinstance(document, Build) else document
    for sizes in list_checked_sizes(dynamics):
        try:
            drawn = list(points(dynamics.declarations, sizes))
        except (NoInstanceError, NotScalarisableError, TooLargeError):
            continue
        yield from (dict(at.text) for at in drawn[KEPT] or drawn[:1])
