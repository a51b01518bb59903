"""The verdicts on every document in the repository stay what they are: `--update-golden` where they should change.

`verdicts.json` holds the verdict of each claim. `words.json` holds a hash of everything else that `recipe check
--json` says of a document but the seconds: grounds, witnesses, sizes, remarks, explanations and their words.
`lint.json` holds both of the steps of tests/lint: `python -m pytest -m "slow or not slow" tests/lint/test_steps.py`.
"""

import runpy
from pathlib import Path
from typing import Any

import pytest
from golden_rows import demand_row, digest_of
from reports import PLENTY, demand_no_fault, report

from recipe_compiler.errors import DocumentError
from recipe_compiler.report.as_json import to_json
from recipe_compiler.report.check import check
from recipe_compiler.run.observed import observed
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Refuted

ROOT = Path(__file__).parents[2]
PANEL = ROOT / "benchmarks" / "models"
FOLDERS = (
    "specs/dynamics", "specs/builds", "specs/refuted", "tests/mutants", "tests/errata", "tests/recover", "tests/repair",
)  # fmt: skip
MODELS = ("benchmarks/models/builds", "tests/posteriors/builds")
"""Builds whose data decide whether their posterior is proper: these are decided with their data attached."""
PATHS = [path for folder in (*FOLDERS, *MODELS) for path in sorted((ROOT / folder).rglob("*.yaml"))]
FILES = [path.relative_to(ROOT).as_posix() for path in PATHS]


@pytest.fixture(scope="module", autouse=True)
def _table_of_diamonds() -> None:
    runpy.run_path(str(PANEL / "make_data.py"))["expand"](PANEL / "data")


@pytest.mark.parametrize("file", FILES)
def test_verdicts_are_current(file: str, request: pytest.FixtureRequest) -> None:
    try:
        decided = report(ROOT / file)
        assert all(one.decision.witness for one in decided.findings if isinstance(one.decision, Refuted))
        found = {"verdict": decided.verdict.value, **{claim.id: claim.verdict.value for claim in decided.findings}}
    except DocumentError:
        found = {"verdict": None}
    demand_row("verdicts.json", file, found, FILES, request)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_words_are_current(file: str, request: pytest.FixtureRequest) -> None:
    try:
        decided = check(observed(load(ROOT / file)), PLENTY)
        demand_no_fault(decided)
        said: dict[str, Any] = to_json([decided])
    except DocumentError as error:
        said = to_json([], [(file, error.faults)])
    (document,) = said["documents"]
    for claim in document["claims"]:
        del claim["seconds"]
    demand_row("words.json", file, digest_of(document), FILES, request)
