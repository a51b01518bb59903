"""The JSON of `check --json` satisfies its schema and says what the report says."""

from pathlib import Path

import jsonschema
import pytest

from recipe_compiler.errors import Fault, Place
from recipe_compiler.report.as_json import read_schema, to_json
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Finding, Proved, Refuted, Report, Undecided

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "tests/mutants/sgnht_energy.yaml", *sorted((ROOT / "specs").glob("*/sgld*.yaml"))]


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_report_satisfies_the_schema(path: Path) -> None:
    jsonschema.validate(to_json([check(load(path))]), read_schema())


@pytest.mark.slow
def test_a_refutation_carries_its_witness() -> None:
    (document,) = to_json([check(load(FILES[0]))])["documents"]
    claim = next(c for c in document["claims"] if c["id"] == "claimed_stationary")
    assert document["verdict"] == "refuted"
    assert claim["for_d"] == {"d": 2}
    assert claim["checked_at"] == [1]
    assert claim["witness"]["d"] == "2"
    assert claim["where"].endswith("sgnht_energy.yaml:20:3")


def test_faulty_documents_come_with_their_faults() -> None:
    fault = Fault(Place("a.yaml", 3, 4), "H", "found x, expected y", "write y")
    found = to_json([], [("a.yaml", (fault,))])
    jsonschema.validate(found, read_schema())
    assert found["documents"][0]["verdict"] is None
    assert found["documents"][0]["faults"] == [
        {"where": "a.yaml:3:4", "entry": "H", "problem": "found x, expected y", "hint": "write y"}
    ]


DECISIONS = [
    Proved("structure", ("M is positive definite",)),
    Refuted("exact witness", (("d", "2"),), "r[i]"),
    Undecided(("tried",), "r[i]"),
]


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: decision.verdict.value)
def test_every_verdict_satisfies_the_schema(decision: Proved | Refuted | Undecided) -> None:
    finding = Finding("q_skew", "Q is skew", True, decision, (("d", 2), ("k", 1)), ((("d", 1), ("k", 1)),))
    found = to_json([Report("a", "a.yaml", "0" * 64, (finding,))])
    jsonschema.validate(found, read_schema())
    assert found["documents"][0]["claims"][0]["for_d"] == {"d": 2, "k": 1}


def test_the_schema_refuses_a_refutation_without_witness() -> None:
    found = to_json(
        [Report("a", "a.yaml", "0" * 64, (Finding("q_skew", "Q is skew", True, Refuted("x", (("d", "2"),))),))]
    )
    found["documents"][0]["claims"][0]["witness"] = None
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, read_schema())
