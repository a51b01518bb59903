"""Documentation says what the code says: keys, functions, kinds, exit codes, equations to functions, links."""

import ast
import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.formula.calls import ARITY
from recipe_compiler.formula.shapes import DomainName, Kind
from recipe_compiler.spec import schema
from recipe_compiler.verify.assumptions import ASSUMPTIONS
from recipe_compiler.verify.bindings import BINDINGS, GRADIENT_NOISE
from recipe_compiler.verify.claims import TABLE
from recipe_compiler.verify.target import DEFINED, GRADIENT

ROOT = Path(__file__).parents[2]
DOCS = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
REFERENCE = (ROOT / "docs/spec_reference.md").read_text(encoding="utf-8")
THEORY = (ROOT / "docs/theory.md").read_text(encoding="utf-8")


def coded(text: str) -> set[str]:
    """Return every word that stands in code in a document."""
    spans = re.findall(r"`([^`]+)`", text)
    return {word for span in spans for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]*", span)}


def keys() -> set[str]:
    models = [model for model in vars(schema).values() if isinstance(model, type) and issubclass(model, BaseModel)]
    return {field.alias or name for model in models for name, field in model.model_fields.items()}


def test_every_key_of_the_documents_is_in_the_reference() -> None:
    assert keys() - coded(REFERENCE) == set()


def test_every_function_is_in_the_reference() -> None:
    assert set(ARITY) - coded(REFERENCE) == set()


@pytest.mark.parametrize("values", [Kind, DomainName])
def test_every_kind_and_domain_is_in_the_reference(values: type[Kind] | type[DomainName]) -> None:
    assert [value for value in values if f"`{value}" not in REFERENCE] == []


def test_every_claim_is_in_the_reference() -> None:
    ids = {
        *(claim.id for claim in TABLE),
        *(row[0] for row in (BINDINGS, GRADIENT_NOISE, ASSUMPTIONS, DEFINED, GRADIENT)),
    }
    assert set(re.findall(r"^\| `([a-z_]+)` \|.*\|.*(?:dynamics|target|build|claimed)", REFERENCE, re.M)) >= ids


def test_every_exit_code_is_in_the_reference() -> None:
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", REFERENCE, re.M)} == set(ExitCode)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(recipe_compiler(?:\.\w+)+)`", THEORY))))
def test_every_function_of_the_theory_exists(path: str) -> None:
    parent, _, name = path.rpartition(".")
    module = importlib.import_module(parent)
    found = getattr(module, name, None) or importlib.import_module(path)
    assert callable(found) or isinstance(found, ModuleType)


@pytest.mark.parametrize("document", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (document.parent / link).exists()] == []


def test_every_reference_of_a_spec_is_in_the_bibliography() -> None:
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text(encoding="utf-8"), re.M))
    for spec in (ROOT / "specs").rglob("*.yaml"):
        cited = re.search(r"^references: \[(.*)\]", spec.read_text(encoding="utf-8"), re.M)
        assert set(cited[1].split(", ") if cited and cited[1] else ()) <= known


def test_every_paper_cited_in_a_docstring_is_in_the_bibliography() -> None:
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text(encoding="utf-8"), re.M))
    for file in (ROOT / "recipe_compiler").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                cited = set(re.findall(r"\b[a-z]+(?:19|20)\d\d[a-z]+\b", ast.get_docstring(node) or ""))
                assert cited <= known, f"{file.name}: {cited - known}"


def test_every_page_can_be_reached_from_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")} - {"index.md"}
    assert {page for page in pages if f"({page})" not in index} == set()
