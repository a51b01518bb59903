"""A module's bytes are made of its documents: no limit on time, and nothing else that runs, has a part in them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build
from recipe_compiler.report import in_builds as reports
from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Finding, Undecided, Verdict
from recipe_compiler.verify.claims_in_builds import get_build_decider

pytestmark = pytest.mark.usefixtures("without_reading_back")

BUILDS = Path(__file__).parents[2] / "specs" / "builds"


@pytest.fixture(scope="module")
def build() -> Build:
    return load_build(BUILDS / "sghmc_logistic.yaml")


def endless(*_: object) -> NoReturn:
    while True:
        pass


def endless_beside(build_decider: Callable[..., Any]) -> Callable[..., Any]:
    """Return what decides claims about dynamics in a build, advisory ones without an end."""
    return lambda claim: (own := build_decider(claim)) and (own if claim.required else endless)


@pytest.mark.slow
def test_advisory_claims_that_do_not_end_change_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a build whose required claims take a small part of the time that a claim is given, on a busy machine too."""
    build = load_build(BUILDS / "sghmc_gaussian.yaml")
    text = compile_build(build).text
    for table in ("DYNAMICS", "TARGETS", "BUILDS"):
        claims = getattr(reports, table)
        monkeypatch.setattr(reports, table, tuple(c if c.required else replace(c, decide=endless) for c in claims))
    monkeypatch.setattr(reports, "get_build_decider", endless_beside(get_build_decider))
    report = check(build, 1.0)
    ended = {finding.required for finding in report.findings if isinstance(finding.decision, Undecided)}
    assert ended == {False}
    assert compile_build(build, report).text == text


def undecided(finding: Finding) -> Finding:
    return replace(finding, decision=Undecided(("did not end in 5 s",)))


@pytest.mark.parametrize("which", ["d_psd", "stationary"])
def test_what_may_be_undecided_is_written_the_same_whether_it_is_or_not(which: str, build: Build) -> None:
    report = check(build, advisory=False)
    found = tuple(undecided(finding) if finding.id == which else finding for finding in report.findings)
    slow = replace(report, findings=found)
    assert slow.verdict is Verdict.UNDECIDED
    texts = {compile_build(build, one, allow_undecided=True).text for one in (report, slow)}
    assert len(texts) == 1
    assert "\n    proved:" not in texts.pop()


def test_required_claims_alone_decide_a_build_as_all_of_them_do(build: Build) -> None:
    every, required = check(build), check(build, advisory=False)
    asked = tuple(finding for finding in every.findings if finding.required or finding.id == "explosion")
    assert required.findings == asked  # explosion is advisory, and a refutation of it decides all the same
    assert required.verdict is every.verdict
