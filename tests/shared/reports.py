"""Reports on documents of the repository, each decided once in a run of the tests, whichever worker asks first."""

import os
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from recipe_compiler.cache import from_text, to_text
from recipe_compiler.report import check as module
from recipe_compiler.report.check import check
from recipe_compiler.run.write import write_whole
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Report

FOLDER = "RECIPE_COMPILER_TESTS"
"""The environment variable that names the folder of this run, made by the first process of it."""


@cache
def report(path: Path) -> Report:
    """Return the verdicts on a document, without a search for repairs of what is refuted."""
    kept = Path(os.environ[FOLDER]) / f"{sha256(str(path).encode()).hexdigest()}.json"
    if kept.exists():
        return from_text(kept.read_text(encoding="utf-8"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "explanations", lambda *_: ())
        found = check(load(path))
    write_whole(kept, to_text(found).encode())
    return found
