"""One claim about one document, written in the test."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Finding, Report
from recipe_compiler.verify.case import Case, case_of
from recipe_compiler.verify.report import check

Decide = Callable[[Callable[[Case], Finding], str], Finding]


@pytest.fixture
def decide(tmp_path: Path) -> Decide:
    """Return what a claim says of a document."""

    def decided(claim: Callable[[Case], Finding], text: str) -> Finding:
        path = tmp_path / "spec.yaml"
        path.write_text("name: spec\n" + textwrap.dedent(text), encoding="utf-8")
        document = load(path)
        assert isinstance(document, Dynamics)
        return claim(case_of(document))

    return decided


@pytest.fixture
def checked(tmp_path: Path) -> Callable[[str], Report]:
    """Return the whole report about a document."""

    def report(text: str) -> Report:
        path = tmp_path / "spec.yaml"
        path.write_text("name: spec\n" + textwrap.dedent(text), encoding="utf-8")
        document = load(path)
        assert isinstance(document, Dynamics)
        return check(document)

    return report
