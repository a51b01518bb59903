"""Numbers that the theory states, computed."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

from recipe_compiler.verify.claims import DYNAMICS
from recipe_compiler.verify.claims_in_builds import BUILDS, SCHEMES, TARGETS


@pytest.mark.parametrize(("sequential", "stated"), [(True, 1.003), (False, 1.114)])
def test_the_stationary_variance_of_both_euler_rules(sequential: bool, stated: float) -> None:
    """theta ~ N(0, 1), M = C = 1, eps = 0.1; z = (theta, r)."""
    eps = 0.1
    kick = np.array([[1.0, 0.0], [-eps, 1.0 - eps]])
    move = np.array([[1.0, eps], [0.0, 1.0]])
    noise = np.diag([0.0, 2.0 * eps])
    step = move @ kick if sequential else kick + np.array([[0.0, eps], [0.0, 0.0]])
    added = move @ noise @ move.T if sequential else noise
    assert round(float(solve_discrete_lyapunov(step, added)[0, 0]), 3) == stated


ROOT = Path(__file__).parents[2]
OBLIGATIONS = (ROOT / "docs/theory.md").read_text(encoding="utf-8").partition("## What each claim asks for")[2]
TABLE = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in OBLIGATIONS.partition("\n## ")[0].splitlines()
    if line.startswith("| `")
]


def test_every_test_that_the_table_of_obligations_names_is_there() -> None:
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    there = {name for text in texts for name in re.findall(r"^def (test_\w+)\(", text, re.MULTILINE)}
    named = set(re.findall(r"`(test_\w+)`", OBLIGATIONS.partition("\n## ")[0]))
    assert named
    assert not named - there
    files = set(re.findall(r"`(\w+/\w+)`", OBLIGATIONS.partition("\n## ")[0]))
    folders = (ROOT / "tests" / "documents", ROOT / "tests")
    assert [file for file in files if not any([*folder.glob(f"{file}.*")] for folder in folders)] == []


def test_the_table_of_obligations_has_every_claim_and_no_empty_cell() -> None:
    rows = {name: row[1:] for row in TABLE for name in re.findall(r"`(\w+)`", row[0])}
    assert rows.keys() == {claim.id for table in (DYNAMICS, TARGETS, SCHEMES, BUILDS) for claim in table}
    assert {len(row) for row in rows.values()} == {6}
    assert all(cell for row in rows.values() for cell in row)
