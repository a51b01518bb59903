"""Certificates as a forger has them: of any document, with a seal that fits whatever was changed."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from reports import certificate_of

from recipe_compiler import recheck
from recipe_compiler.report.as_json import make_certificate
from recipe_compiler.report.check import check
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Document

ROOT = Path(__file__).parents[2]
FOLDERS = ("specs/dynamics", "tests/mutants", "tests/mutants/explosion")
DOCUMENTS = sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.yaml"))

Json = dict[str, Any]


def of(document: str | Path) -> Json:
    """Return the certificate of a document: a path, from the root too, or a name among those of dynamics."""
    if isinstance(document, str):
        path = ROOT / f"{document}.yaml"
        document = path if path.exists() else next(path for path in DOCUMENTS if path.stem == document)
    return json.loads(certificate_of(document))


def made(document: Document) -> Json:
    """Return the certificate of a document, and of the data of a build."""
    return json.loads(json.dumps(make_certificate(document, check(observed(document)))))


def written(folder: Path, text: str) -> Json:
    """Return the certificate of a text."""
    (folder / "written.yaml").write_text(text, encoding="utf-8")
    return made(load(folder / "written.yaml"))


def claim_in(whole: Json, id_: str) -> Json:
    """Return one of the claims."""
    return next(one for one in whole["claims"] if one["id"] == id_)


def turn(one: Json, verdict: str, **parts: Any) -> None:
    """Give a claim another verdict, and what such a claim has."""
    one |= {"verdict": verdict, "witness": None, "residual": None, "for_d": "all", "data": {}, **parts}


def settled(changed: Json) -> Json:
    """Derive what a certificate says of the whole from its claims."""
    deciding = {one["verdict"] for one in changed["claims"] if one["required"]}
    changed["verdict"] = next((v for v in ("refuted", "undecided") if v in deciding), "proved")
    changed["assumptions"] = sorted({given for one in changed["claims"] for given in one["given"]})
    return changed


def sealed(changed: Json) -> Json:
    """Return a certificate with the digest and the seal of somebody who knows how they are made."""
    changed["digest"] = sha256(recheck.canonical(changed["documents"]).encode()).hexdigest()
    rest = {key: value for key, value in changed.items() if key != "seal"}
    return {**rest, "seal": sha256(recheck.canonical(rest).encode()).hexdigest()}


def rejected(changed: Json) -> bool:
    """Whether the re-checker says that a certificate is wrong, or cannot be read."""
    try:
        recheck.recheck(changed)
    except (recheck.FailureError, ValueError, LookupError, TypeError, AttributeError, SyntaxError):
        return True
    return False


def said(whole: Json) -> dict[str, str]:
    """Return what the re-checker says of each claim."""
    return dict(recheck.recheck(whole))
