"""Documents written in the test, and what one claim, or the whole report, says of them."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Report
from recipe_compiler.verify.claims import DYNAMICS, applicable_claims, decider
from recipe_compiler.verify.core.subject import find, subject_of

Loaded = Callable[[str], Dynamics]


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """Return the dynamics that a text states."""

    def read(text: str) -> Dynamics:
        path = tmp_path / "spec.yaml"
        path.write_text("name: spec\n" + textwrap.dedent(text), encoding="utf-8")
        return load_dynamics(path)

    return read


@pytest.fixture
def said(loaded: Loaded) -> Callable[[str, str], str]:
    """Return the verdict of one claim about dynamics, as a report gives it; "absent" where it is not asked."""

    def verdict(claim: str, text: str) -> str:
        document = loaded(text)
        row = next((row for row in applicable_claims(DYNAMICS, document) if row.id == claim), None)
        if row is None:
            return "absent"
        finding = row.finding(find(decider(row), subject_of(document)))
        assert "please report" not in str(finding.decision), finding
        return str(finding.verdict)

    return verdict


@pytest.fixture
def checked(loaded: Loaded) -> Callable[[str], Report]:
    """Return the whole report about a document."""
    return lambda text: check(loaded(text))
