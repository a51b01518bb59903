"""What is decided of every document in the repository stays what it is: `--update-golden` where it should change.

`verdicts.json` holds each document's verdicts, claim by claim, and a hash of the whole of what `recipe check --json`
says of it but for the seconds: words, grounds, witnesses, sizes, remarks and explanations.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from reports import demand_no_fault

from recipe_compiler.errors import DocumentError
from recipe_compiler.report.as_json import to_json
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load

ROOT = Path(__file__).parents[2]
FOLDERS = ("specs/dynamics", "specs/builds", "tests/mutants", "tests/errata", "tests/recover", "tests/repair")
FILES = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.yaml"))]
GOLDEN = Path(__file__).parent / "verdicts.json"
PLENTY = 20.0
"""Seconds of processor time a claim may take: what is decided here must not depend on the machine."""

pytestmark = pytest.mark.slow


def decided(file: str) -> dict[str, Any]:
    """Return what is decided of a document, with a hash of all that is said."""
    try:
        report = check(load(ROOT / file), PLENTY)
        demand_no_fault(report)
        said = to_json([report])
    except DocumentError as error:
        said = to_json([], [(file, error.faults)])
    (document,) = said["documents"]
    for claim in document["claims"]:
        del claim["seconds"]
    text = json.dumps(document, sort_keys=True).replace(f"{ROOT.as_posix()}/", "")
    claims = {claim["id"]: claim["verdict"] for claim in document["claims"]}
    return {"verdict": document["verdict"], **claims, "sha256": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize("file", FILES)
def test_verdicts_are_current(file: str, request: pytest.FixtureRequest) -> None:
    found = decided(file)
    known = json.loads(GOLDEN.read_text(encoding="utf-8"))
    if request.config.getoption("--update-golden"):
        known = {name: known[name] for name in FILES if name in known} | {file: found}
        GOLDEN.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
    assert found == known.get(file)
