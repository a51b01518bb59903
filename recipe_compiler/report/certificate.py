"""Certificates: a report with all that someone else needs to re-check it without this compiler (`recheck.py`)."""

import json
import platform
from collections.abc import Iterator
from hashlib import sha256

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.report.as_json import Json, claim_json
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.digest import digest, documents
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.spec.places import canonical_json
from recipe_compiler.verdict import Report
from recipe_compiler.verify.core.searched_point import admissible
from recipe_compiler.verify.core.sizes import checked_sizes
from recipe_compiler.version import OWN, versions

VERSION = 1
KEPT = slice(6, None, 30)
"""Of the points drawn at each size: a plain one and a wide one. Where none is admissible, one is searched for."""
PROVERS = (OWN, "sympy", "python-flint", "z3-solver", "clarabel")


def certificate(document: Dynamics | Target | Build, report: Report) -> Json:
    """Return the certificate of a report about a document.

    It holds the document itself, its digest, versions, the assumptions used, exact admissible points, and each claim
    with its verdict, method, witness and proof data. `seal` is the SHA-256 of the canonical JSON of all the rest.
    """
    claims = [claim_json(finding) for finding in report.findings]
    whole: Json = {
        "certificate_version": VERSION,
        "digest": digest(document),
        "documents": documents(document),
        "versions": {"python": platform.python_version(), **versions(PROVERS)},
        "verdict": report.verdict.value,
        "assumptions": sorted({given for finding in report.findings for given in finding.decision.given}),
        "claims": claims,
        "caveats": list(report.caveats),
        "points": list(_points(document)),
    }
    return {**whole, "seal": sha256(canonical_json(whole).encode("ascii")).hexdigest()}


def certificate_text(document: Dynamics | Target | Build, report: Report) -> str:
    """Return the certificate as the text of its file."""
    return json.dumps(certificate(document, report), indent=1, allow_nan=False) + "\n"


def _points(document: Dynamics | Target | Build) -> Iterator[dict[str, str]]:
    """Yield exact values for all that a dynamics declares, at every size that the second engine looked at."""
    if isinstance(document, Target):
        return
    dynamics = bind(document) if isinstance(document, Build) else document
    for sizes in checked_sizes(dynamics):
        try:
            drawn = list(points(dynamics.declarations, sizes))
            found = drawn[KEPT] or drawn[:1] or [admissible(dynamics.declarations, sizes)]
        except (NoInstanceError, NotScalarisableError, TooLargeError):
            continue
        yield from (dict(at.text) for at in found if at is not None)
