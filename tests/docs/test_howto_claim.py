"""The page that adds a claim adds it: to a copy of the package, by its file and its row. What lacks a line is said."""

import json
from pathlib import Path
from typing import Any

PAGE = (Path(__file__).parents[2] / "docs" / "howto_claim.md").read_text(encoding="utf-8")
COPIED = ("docs", "tests/docs")
DOCUMENTED = (
    "pytest -q -p no:cacheprovider tests/docs/test_reference.py tests/docs/test_theory.py"
    " -k 'the_claims_of_the_tables or what_reports_say or what_is_rechecked or every_claim'"
)


def test_the_page_adds_a_claim(house: Any) -> None:
    *code, reference, theory = house.added
    for row in code:
        house.put(row)
    assert len(house.typed) == 3
    house.prints_what_the_page_says()

    told = {file: json.loads(house.run(f"recipe check --json {file}")) for file in ("still.yaml", "turning.yaml")}
    found = {
        file: next(claim for claim in said["documents"][0]["claims"] if claim["id"] == "detailed_balance")
        for file, said in told.items()
    }
    assert {file: claim["verdict"] for file, claim in found.items()} == {
        "still.yaml": "proved",
        "turning.yaml": "refuted",
    }
    assert {"U is smooth"} <= set(found["still.yaml"]["given"])
    assert found["turning.yaml"]["witness"]
    assert {claim["required"] for claim in found.values()} == {False}

    missing = house.run(DOCUMENTED)
    assert "Extra items in the right set:" in missing, missing
    assert "what_reports_say[detailed_balance]" in missing, missing
    house.put(reference)
    house.put(theory)
    complete = house.run(DOCUMENTED)
    assert " passed" in complete, complete
    assert "failed" not in complete, complete


def test_the_files_of_the_page_are_all_that_is_touched(house: Any) -> None:
    assert [row["file"] for row in house.added] == [
        *["recipe_compiler/verify/claims.py"] * 2,
        "docs/spec_reference.md",
        "docs/theory.md",
    ]


def test_a_wrong_formula_in_one_engine_proves_nothing(house: Any) -> None:
    for row in house.added[:2]:
        house.put(row)
    file = house.at / "recipe_compiler" / "verify" / "equation" / "detailed_balance.py"
    text = file.read_text()
    assert text.count("f[n] + pushed") == 1
    file.write_text(text.replace("f[n] + pushed", "f[n] - pushed"))
    said = house.run("recipe check still.yaml")
    assert "the engines disagree on the current of theta" in said, said
