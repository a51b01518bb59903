"""`recipe new` and `recipe schema`."""

import json
import os
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

SPECS = Path(__file__).parents[2] / "specs"


@cache
def document(file: Path) -> object:
    return YAML(typ="safe").load(file)


def accepts(schema: dict[str, object], files: list[Path]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert files
    for file in files:
        validator.validate(document(file))


@pytest.mark.slow
def test_a_new_spec_is_proved_as_it_stands(recipe, tmp_path: Path) -> None:
    assert recipe("new", "mine", folder=tmp_path).code == 0
    assert recipe("check", "mine.yaml", folder=tmp_path).code == 0


def test_a_new_spec_leaves_alone_what_is_there(recipe, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("precious")
    outcome = recipe("new", "mine", folder=tmp_path)
    assert outcome.code == 2
    assert "mine.yaml  NAME  found a file of that name, expected a name that is free" in outcome.err
    assert "hint: it is left as it is" in outcome.err
    assert (tmp_path / "mine.yaml").read_text() == "precious"


def test_a_new_spec_does_not_go_where_a_folder_is(recipe, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").mkdir()
    outcome = recipe("new", "mine", folder=tmp_path)
    assert outcome.code == 2
    assert "found a folder of that name" in outcome.err


def test_a_new_spec_is_whole_or_not_there(recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    outcome = recipe("new", "mine", folder=tmp_path)
    assert outcome.code == 2
    assert outcome.err == "mine.yaml: No space left on device\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "", "lambda", "a b", "-x", "a" * 100, "mine.yaml"])
def test_a_name_that_is_none_is_refused(recipe, tmp_path: Path, name: str) -> None:
    outcome = recipe("new", "--", name, folder=tmp_path)
    assert outcome.code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_schema_of_all_documents_accepts_what_ships(recipe) -> None:
    accepts(json.loads(recipe("schema").out), sorted(SPECS.rglob("*.yaml")))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dynamics", "target", "build"])
def test_the_schemas_accept_what_ships(recipe, kind: str) -> None:
    folder = SPECS / {"dynamics": "dynamics", "target": "targets", "build": "builds"}[kind]
    accepts(json.loads(recipe("schema", kind).out), sorted(folder.glob("*.yaml")))
