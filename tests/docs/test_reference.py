"""Documentation says what the code says: keys, functions, kinds, exit codes, equations to functions, links."""

import ast
import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.core import TyperOption
from typer.main import get_command

from recipe_compiler.cli import app
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.operators import ARITY
from recipe_compiler.formula.shapes import DomainName, Kind
from recipe_compiler.formula.spellings import SPELLINGS
from recipe_compiler.limits import CLAIM_SECONDS, DOCUMENT_SECONDS
from recipe_compiler.pipeline import load
from recipe_compiler.report.as_json import make_certificate, read_schema
from recipe_compiler.report.check import check
from recipe_compiler.spec import schema
from recipe_compiler.spec.validate import fields_of
from recipe_compiler.verify.claims import DYNAMICS, Claim
from recipe_compiler.verify.claims_in_builds import BUILDS, SCHEMES, TARGETS

ROOT = Path(__file__).parents[2]
BIBLIOGRAPHY = (ROOT / "recipe_compiler" / "emit" / "references.bib").read_text(encoding="utf-8")
KEYS = set(re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY, re.M))
DOCS = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
REFERENCE = (ROOT / "docs/spec_reference.md").read_text(encoding="utf-8")
THEORY = (ROOT / "docs/theory.md").read_text(encoding="utf-8")


OVERLOADED = {"log", "diag", "logsumexp"}
"""Functions of the language that SymPy's spelling gives another number of arguments."""


def coded(text: str) -> set[str]:
    """Return every word that stands in code in a document: in a line, or in an indented block."""
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    spans = [*re.findall(r"`([^`]+)`", plain), *re.findall(r"^ {4}.*$", plain, re.M)]
    return {word for span in spans for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]*", span)}


def keys() -> set[str]:
    models = [model for model in vars(schema).values() if isinstance(model, type) and issubclass(model, schema.Part)]
    return {key for model in models for key in fields_of(model)}


def test_every_key_of_the_documents_is_in_the_reference() -> None:
    assert keys() - coded(REFERENCE) == set()


def test_every_function_is_in_the_reference() -> None:
    assert set(ARITY) - coded(REFERENCE) == set()


def test_the_table_of_spellings_is_that_of_the_code() -> None:
    section = REFERENCE.split("### What SymPy prints")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \|$", section, re.M)
    read = [item for item in SPELLINGS if item.name not in ARITY or item.name in OVERLOADED]
    assert rows == [(item.written, item.means) for item in read]


def test_the_table_of_densities_is_that_of_the_code() -> None:
    section = REFERENCE.split("### Densities")[1].split("\n### ")[0]
    rows = [re.findall(r"`([^`]+)`", line) for line in section.splitlines() if line.startswith("| `")]
    assert rows == [[row.call, *row.support, *row.needs, row.value] for row in DENSITIES.values()]


@pytest.mark.parametrize("values", [Kind, DomainName])
def test_every_kind_and_domain_is_in_the_reference(values: type[Kind] | type[DomainName]) -> None:
    assert [value for value in values if f"`{value}" not in REFERENCE] == []


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table of claims in the reference."""

    id: str
    says: str
    applicable_to: str
    counts: str
    decided: str
    rests_on: str


def claims_in_the_reference() -> dict[str, Row]:
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in REFERENCE.splitlines()]
    found = [Row(row[0].strip("`"), *row[1:]) for row in rows if len(row) == 6 and re.fullmatch(r"`[a-z_]+`", row[0])]
    return {row.id: row for row in found}


def test_the_reference_has_the_claims_of_the_tables_and_no_others() -> None:
    assert set(claims_in_the_reference()) == {claim.id for claim in (*DYNAMICS, *TARGETS, *SCHEMES, *BUILDS)}


@pytest.mark.parametrize("claim", [*DYNAMICS, *TARGETS, *SCHEMES, *BUILDS], ids=lambda claim: claim.id)
def test_the_reference_says_of_a_claim_what_reports_say(claim: Claim[Any, Any]) -> None:
    row = claims_in_the_reference()[claim.id]
    assert claim.says in row.says
    assert row.counts.startswith("required" if claim.required else "advisory") or claim in BUILDS
    assert ("required" if claim.required else "advisory") in row.counts
    assert claim.waived in row.counts
    assert ("a refutation counts" in row.counts) is claim.blocks_compile


@pytest.mark.parametrize("claim", [*DYNAMICS, *TARGETS, *SCHEMES, *BUILDS], ids=lambda claim: claim.id)
def test_the_reference_says_what_is_rechecked(claim: Claim[Any, Any]) -> None:
    section = REFERENCE.split("\n## Certificates")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()]
    told = [row[1] for row in rows if len(row) == 3 and f"`{claim.id}`" in row[0].split(", ")]
    rechecked = any(row.rechecked for row in (*DYNAMICS, *TARGETS, *SCHEMES, *BUILDS) if row.id == claim.id)
    if told:
        assert [cell != "nothing" for cell in told] == [rechecked]
    else:
        assert not claim.required
        assert not rechecked


def test_every_field_of_the_json_is_in_the_reference() -> None:
    definitions = [read_schema(), *read_schema()["$defs"].values()]
    assert {key for each in definitions for key in each.get("properties", ())} - coded(REFERENCE) == set()


def test_every_field_of_a_certificate_is_in_the_reference() -> None:
    dynamics = load(ROOT / "specs/dynamics/sgld.yaml")
    assert set(make_certificate(dynamics, check(dynamics))) - coded(REFERENCE) == set()


def test_the_limits_are_those_of_the_code() -> None:
    assert f"{CLAIM_SECONDS:g} s for a claim, {DOCUMENT_SECONDS:g} s for a document" in REFERENCE


def test_every_command_and_option_is_in_the_reference() -> None:
    for name, command in get_command(app).commands.items():
        line = next(line for line in REFERENCE.splitlines() if line.startswith(f"| `recipe {name}"))
        for option in (p for p in command.params if isinstance(p, TyperOption)):
            assert any(name in line for name in option.opts), (name, option.opts)


def test_every_exit_code_is_in_the_reference() -> None:
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", REFERENCE, re.M)} == set(ExitCode)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(recipe_compiler(?:\.\w+)+)`", THEORY))))
def test_every_function_of_the_theory_exists(path: str) -> None:
    parent, _, name = path.rpartition(".")
    module = importlib.import_module(parent)
    found = getattr(module, name, None) or importlib.import_module(path)
    assert callable(found) or isinstance(found, ModuleType)


def anchors(document: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a document."""
    plain = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ +(.*)$", plain, re.M)
    slugs = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
    return {slug if not slugs[:k].count(slug) else f"{slug}-{slugs[:k].count(slug)}" for k, slug in enumerate(slugs)}


@pytest.mark.parametrize("document", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", document.read_text(encoding="utf-8"))
    pages = [(document.parent / link if link else document, anchor) for link, anchor in links if "://" not in link]
    assert [page for page, _ in pages if not page.exists()] == []
    assert [(page, anchor) for page, anchor in pages if anchor and anchor not in anchors(page)] == []


def test_every_reference_of_a_spec_is_in_the_bibliography() -> None:
    for spec in (ROOT / "specs").rglob("*.yaml"):
        cited = re.search(r"^references: \[(.*)\]", spec.read_text(encoding="utf-8"), re.M)
        assert set(cited[1].split(", ") if cited and cited[1] else ()) <= KEYS


def test_every_paper_cited_in_a_docstring_is_in_the_bibliography() -> None:
    citation = re.compile(r"\b[a-z]+(?:19|20)\d\d[a-z]+\b")
    texts = {file: file.read_text(encoding="utf-8") for file in (ROOT / "recipe_compiler").rglob("*.py")}
    for file in (file for file, text in texts.items() if citation.search(text)):
        for node in ast.walk(ast.parse(texts[file])):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                cited = set(citation.findall(ast.get_docstring(node) or ""))
                assert cited <= KEYS, f"{file.name}: {cited - KEYS}"


YEAR = re.compile(r"\b(?:18|19|20)\d\d\b")
NAME = r"[A-Z][a-z]+(?:[A-Z][a-z]+)?"
AUTHORS = re.compile(rf"({NAME}(?:(?:, | and |, and ){NAME})*)(?: and others)?,? \(?$")
"""What stands before the year, as docstrings cite a paper: Ma, Chen, Fox 2015."""


def surnames(authors: str) -> set[str]:
    """Return the last words of all surnames, umlauts as they are and written out."""
    plain = re.sub(r"[{}\\\"']", "", authors)
    written_out = re.sub(r'\{\\"([aou])\}', r"\1e", authors)
    return {one.partition(",")[0].split()[-1] for text in (plain, written_out) for one in re.split(r"\s+and\s+", text)}


def test_every_paper_cited_by_authors_and_year_is_in_the_bibliography() -> None:
    entry = re.compile(r"author\s*=\s*\{(.*?)\},?\n.*?year\s*=\s*\{(\d+)\}", re.S)
    known = [(surnames(authors), year) for authors, year in entry.findall(BIBLIOGRAPHY)]
    cited: dict[tuple[str, str], str] = {}
    for file in (ROOT / "recipe_compiler").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for year in YEAR.finditer(text):
            before = AUTHORS.search(" ".join(f"{text[year.start() - 150 : year.start()]}.".split())[:-1])
            cited |= {(before[1], year[0]): file.name} if before else {}
    assert len(cited) > 60
    missing = {
        f"{authors} {year}": file
        for (authors, year), file in cited.items()
        if not any({*re.split(r", and | and |, ", authors)} <= names and year == own for names, own in known)
    }
    assert missing == {}


def test_every_error_that_a_docstring_names_by_its_module_is_there() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in (ROOT / "recipe_compiler").rglob("*.py")}
    raised = re.compile(r"^ +([\w.]+Error(?:, [\w.]+Error)*): ", re.M)
    by_module = re.compile(r"\b([a-z_]+)\.(\w+)")
    lines = ((file.name, line) for file, text in texts.items() for line in raised.findall(text) if "numpy" not in line)
    found = {pair: name for name, line in lines for pair in by_module.findall(line)}
    assert found
    there = {(file.stem, name) for file, text in texts.items() for name in re.findall(r"^class (\w+)", text, re.M)}
    assert {f"{module}.{name}": file for (module, name), file in found.items() if (module, name) not in there} == {}


@pytest.mark.parametrize("index", ["docs/index.md", "docs/decisions/README.md"])
def test_every_page_can_be_reached_from_its_index(index: str) -> None:
    text = (ROOT / index).read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / index).parent.glob("*.md")} - {Path(index).name}
    assert {page for page in pages if f"({page})" not in text} == set()
    assert "(decisions/README.md)" in (ROOT / "docs/index.md").read_text(encoding="utf-8")


def test_every_room_has_decisions_to_read() -> None:
    index = coded((ROOT / "docs/decisions/README.md").read_text(encoding="utf-8"))
    package = ROOT / "recipe_compiler"
    inside = {path.parent for path in package.glob("*/*.py")} | {path.parent for path in package.glob("verify/*/*.py")}
    rooms = {path.name for path in inside} | {path.stem for path in package.glob("*.py")}
    assert {room for room in rooms if not room.startswith("__")} - index == set()
