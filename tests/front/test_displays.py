"""Results show themselves: short where a notebook or a prompt shows them, whole where they are printed."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

import recipe_compiler as rc
from recipe_compiler import notebook
from recipe_compiler.verdict import Explanation, Finding, Proved, Refuted, Report, Topic, Undecided, Verdict

ROOT = Path(__file__).parents[2]
WRONG = ROOT / "tests/mutants/sghmc_naive.yaml"


class Tags(HTMLParser):
    """Which tags are open, and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    return tags


def huge() -> Report:
    """Return a report larger than any that is shipped."""
    long = " + ".join(f"<b>theta_{k}</b>" for k in range(2000))
    decided = (Proved(long, given=(long,)), Refuted(long, (("d", "1"), ("x", long)), long), Undecided((long,) * 50))
    findings = tuple(Finding(f"claim_{k}", long, True, decision) for k in range(40) for decision in decided)
    return Report("huge", "huge.yaml", "0" * 64, findings, (long,) * 50, (Explanation(Topic.REPAIR, long),) * 50)


@pytest.fixture(scope="module")
def wrong() -> Report:
    return rc.load(WRONG).check()


@pytest.mark.slow
def test_a_report_is_no_boolean(wrong: Report) -> None:
    with pytest.raises(TypeError, match=r"a Report is not a boolean: compare its \.verdict with Verdict\.PROVED"):
        bool(wrong)
    with pytest.raises(TypeError, match=r"compare its \.verdict"):
        assert not wrong
    assert wrong.verdict is rc.Verdict.REFUTED


@pytest.mark.slow
def test_a_report_is_shown_in_a_line_at_a_prompt(wrong: Report) -> None:
    assert repr(wrong).startswith("<Report on sghmc_naive: refuted; ")
    assert len(repr(huge())) < 120
    assert len(repr(huge().findings[0])) < 120


def test_a_report_is_printed_with_all_its_evidence(wrong: Report) -> None:
    printed = str(wrong)
    for finding in wrong.findings:
        assert finding.says in printed
        if isinstance(finding.decision, Refuted):
            assert ", ".join(f"{name} = {value}" for name, value in finding.decision.witness) in printed
    assert all(caveat in printed for caveat in wrong.caveats)


def test_a_notebook_shows_the_table_of_verdicts(wrong: Report) -> None:
    html = wrong._repr_html_()
    text = " ".join(read(html).text)
    assert "<table>" in html
    assert all(finding.claim in text for finding in wrong.findings)
    assert text.count("refuted") >= 2


@pytest.mark.slow
def test_what_a_notebook_shows_is_under_20_kb_whatever_the_report() -> None:
    report = huge()
    html = report._repr_html_()
    assert len(str(report)) > 1_000_000
    assert len(html.encode()) < 20_000
    assert "<b>theta" not in html  # what documents say is text
    assert "more: print(report) shows all" in " ".join(read(html).text)


@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 10**6])
def test_a_card_never_takes_more_than_its_room(size: int) -> None:
    table = notebook.table(("a", "b"), [("\u20ac" * 500, "b")] * size)
    assert len(notebook.card("h" * 10_000, table, ["\u20ac" * 1000] * 1000).encode()) < 20_000


def test_documents_are_equations_in_a_notebook() -> None:
    sghmc, target = rc.load(ROOT / "specs/dynamics/sghmc.yaml"), rc.load(ROOT / "specs/targets/eight_schools.yaml")
    assert r"H(z) &= U(\theta)" in sghmc._repr_latex_()
    assert r"\log p_n &=" in target._repr_latex_()
    assert "begin{align*}" in rc.load(ROOT / "specs/targets/funnel.yaml")._repr_latex_()


def test_a_formula_is_shown_as_it_is_written() -> None:
    theta = rc.vector("theta", "d")
    formula = -rc.inv(theta @ theta.T) @ theta / 2
    assert repr(formula) == "-inv(theta @ theta.T) @ theta / 2"
    assert formula._repr_latex_().startswith(r"$\displaystyle -\frac{1}{2}")
    assert (theta @ (-theta.T))._repr_latex_() == r"$\displaystyle \theta \left(-{\theta}^\top\right)$"
    assert (theta > 0)._repr_latex_() is not None
    assert (theta + "other")._repr_latex_() is None  # a text names what the formula does not declare


@pytest.mark.slow
@pytest.mark.parametrize("loaded", [True, False])
def test_a_step_that_computes_its_target_is_judged_by_that_of_a_build(*, loaded: bool) -> None:
    """Its dynamics alone, whose U is any, say nothing of a step with a gradient of its own."""
    build = ROOT / "specs/builds/sghmc_gaussian.yaml"
    found = rc.lint(f"{ROOT}/tests/lint/steps/of_builds.py:gaussian", rc.load(build) if loaded else build)
    assert found.report is not None
    assert found.report.verdict is Verdict.PROVED


@pytest.mark.slow
def test_lint_shows_what_it_read() -> None:
    found = rc.lint(f"{ROOT}/docs/examples/sghmc_step.py:step", against=ROOT / "specs/dynamics/sghmc.yaml")
    assert found.report is not None
    assert found.report.verdict is Verdict.REFUTED
    assert "refuted" in repr(found)
    assert read(found._repr_html_()).text
    with pytest.raises(TypeError, match="not a boolean"):
        bool(found)


def test_latex_keeps_the_densities_of_a_target() -> None:
    written = rc.load(ROOT / "specs/targets/linear_regression.yaml").to_latex()
    assert r"\log p &= \log\operatorname{normal}\left(\theta \mid 0, " in written
