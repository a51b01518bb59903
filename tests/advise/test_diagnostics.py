"""The table of what is looked at after a run: its doubts are those that the documentation lists, with their limits."""

import re
from pathlib import Path

from recipe_compiler.advise.diagnostics import DOUBTS, WARNINGS

REFERENCE = (Path(__file__).parents[2] / "docs/spec_reference.md").read_text(encoding="utf-8")


def test_the_reference_lists_the_doubts_of_the_table() -> None:
    table = REFERENCE[REFERENCE.index("| doubt | by |") :].split("\n\n")[0]
    listed = [tuple(re.findall(r"[^|]+", row)) for row in table.splitlines()[2:]]
    assert listed == [(f" {one.finds} ", f" {one.by} ") for one in DOUBTS]


def test_each_diagnostic_has_a_name_of_its_own() -> None:
    ids = [one.id for one in (*DOUBTS, *WARNINGS)]
    assert len({*ids}) == len(ids)
