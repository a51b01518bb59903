"""The names that `import recipe_compiler` offers: documented, with examples that run, and light to import."""

import ast
import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import recipe_compiler as rc
from recipe_compiler.formula.operators import ARITY

ROOT = Path(__file__).parents[2]
API = (ROOT / "docs/api.md").read_text(encoding="utf-8")
PUBLIC = {name: getattr(rc, name) for name in rc.__all__}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
OWN = ("Dynamics", "Target", "Build", "Derivation", "Model", "Lint", "Report")
"""Classes whose every public name is in the reference."""
VERBS = ("load", "compile", "lint", "scalar", "vector", "matrix", "function", "data")
EXPLAINED = ("Dynamics", "Target", "Build", *VERBS)
"""What is called, with its arguments in the reference and examples in its docstring."""


def test_every_public_name_is_in_the_reference() -> None:
    named = set(re.findall(r"`rc\.([A-Za-z_][A-Za-z0-9_]*)", API))
    assert named == {*rc.__all__}


@pytest.mark.parametrize("name", OWN)
def test_every_method_and_attribute_is_in_the_reference(name: str) -> None:
    own = {item for item in dir(CLASSES[name]) if not item.startswith("_")}
    own -= {
        "heading",
        "lines",
        "name",
        "file",
        "digest",
        "derivation",
        "found",
        "step",
        "allow_undecided",
        "allow_refuted",
    }
    own -= {"allow_refuted", "cache"}
    assert own - set(re.findall(r"\.([A-Za-z_]+)", API)) == set()


@pytest.mark.parametrize("name", EXPLAINED)
def test_the_arguments_in_the_reference_are_those_of_the_function(name: str) -> None:
    written = re.search(rf"`rc\.{name}\(([^`]*)\)`", API)
    assert written is not None
    parameters = inspect.signature(PUBLIC[name]).parameters
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    given = [stars.get(parameter.kind, "") + key for key, parameter in parameters.items()]
    assert [part.strip() for part in written[1].split(",")] == given


def test_the_arguments_of_sample_are_those_in_the_reference() -> None:
    written = re.search(r"model\.sample\((.*?)\)", API)
    assert written is not None
    assert [part.strip() for part in written[1].split(",")] == [*inspect.signature(rc.Model.sample).parameters][1:]


def test_every_function_of_the_language_is_a_function_of_python() -> None:
    python = {name.removesuffix("_") for name in rc.__all__}
    assert set(ARITY) - python == set()


def test_the_stub_names_what_the_package_has() -> None:
    stub = ast.parse((ROOT / "recipe_compiler/__init__.pyi").read_text(encoding="utf-8"))
    named = {
        alias.asname: f"{node.module}.{alias.name}"
        for node in ast.walk(stub)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(named) == {*rc.__all__}
    for name, home in named.items():
        module, _, own = home.rpartition(".")
        assert getattr(sys.modules[module], own) is PUBLIC[name], name
    assert (ROOT / "recipe_compiler/py.typed").exists()


@pytest.mark.slow
def test_a_verb_stays_itself_when_a_room_of_its_name_is_imported() -> None:
    rooms = {path.stem for path in (ROOT / "recipe_compiler").iterdir()}
    code = (
        "import recipe_compiler as rc, recipe_compiler.lint.findings, recipe_compiler.trace; "
        "print(callable(rc.lint), callable(rc.trace))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["True", "True"]
    assert rooms & {*rc.__all__} == {"lint", "trace"}


def test_a_name_that_is_not_there_is_said_so() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute .Dynamic.: did you mean Dynamics\?"):
        rc.Dynamic  # noqa: B018
    assert {*rc.__all__} == set(dir(rc))


@pytest.mark.parametrize("name", sorted(name for name in PUBLIC if callable(PUBLIC[name]) and name != "Verdict"))
def test_the_examples_of_docstrings_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.DocTestFinder().find(PUBLIC[name], name, globs=dict(PUBLIC))
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in found:
        runner.run(test)
    assert runner.failures == 0
    if name in EXPLAINED:
        assert any(test.examples for test in found)


@pytest.mark.parametrize(
    "name", ["Dynamics", "Target", "Build", "load", "compile", "lint", "scalar", "function", "data"]
)
def test_docstrings_have_the_sections_of_numpy(name: str) -> None:
    text = inspect.getdoc(PUBLIC[name]) or ""
    wanted = ["Parameters", "Raises", "Examples"] + ([] if inspect.isclass(PUBLIC[name]) else ["Returns"])
    assert [section for section in wanted if f"{section}\n{'-' * len(section)}" not in text] == []
    stated = {key for key in inspect.signature(PUBLIC[name]).parameters if key not in ("self", "stated")}
    listed = set(re.findall(r"[A-Za-z_]+", " ".join(re.findall(r"^(\*{0,2}[A-Za-z_][\w, ]*) ?:?.*$", text, re.M))))
    assert stated - listed == set()
