"""The JSON Schema says what the reader accepts."""

from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from recipe_compiler.spec.json_schema import schema_json

FILES = sorted((Path(__file__).parents[2] / "specs").rglob("*.yaml"))


VALIDATOR = jsonschema.Draft202012Validator(schema_json())


def check(document: object) -> None:
    VALIDATOR.validate(document)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_shipped_spec_conforms(file: Path) -> None:
    check(YAML(typ="safe").load(file))


@pytest.mark.parametrize("formula", [0, 1, -2.5, "theta"])
def test_a_formula_may_be_a_number(formula: object) -> None:
    check({"name": "n", "state": {"x": {}}, "H": formula, "D": [[formula]], "Q": formula})


@pytest.mark.parametrize("formula", [None, True, [1], {"a": 1}])
def test_a_formula_is_nothing_else(formula: object) -> None:
    with pytest.raises(jsonschema.ValidationError):
        check({"name": "n", "state": {"x": {}}, "H": formula, "D": [[0]], "Q": [[0]]})


@pytest.mark.parametrize(
    ("file", "path", "value"),
    [
        ("dynamics/sghmc", ("titel",), "x"),
        ("dynamics/sghmc", ("name",), "../x"),
        ("dynamics/sghmc", ("state", "1x"), {"shape": "d"}),
        ("dynamics/sghmc", ("parameters", "M", "is"), "positive-definite"),
        ("builds/sghmc_logistic", ("run", "step_size"), 0),
        ("builds/sghmc_logistic", ("run", "thin"), 0),
        ("builds/sghmc_logistic", ("run", "tune"), 10),
        ("builds/sghmc_logistic", ("scheme", "name"), "leapfrogs"),
        ("builds/sghmc_logistic", ("sizes", "d"), "thirty"),
        ("targets/logistic_regression", ("data", "x", "shape"), {"N": "d"}),
    ],
)
def test_what_the_reader_refuses_by_its_form_the_schema_refuses(
    file: str, path: tuple[str, ...], value: object
) -> None:
    document = YAML(typ="safe").load(Path(__file__).parents[2] / "specs" / f"{file}.yaml")
    part = document
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        check(document)


def offered(schema: dict, document: dict) -> set[str]:
    """Return the keys that an editor offers at the top of a document: of every schema that may still hold there."""
    keys = set(schema.get("properties", ()))
    if "$ref" in schema:
        keys |= offered(schema_json()["$defs"][schema["$ref"].rpartition("/")[2]], document)
    for choice in schema.get("anyOf", ()):
        keys |= offered(choice, document)
    if "if" in schema:
        holds = jsonschema.Draft202012Validator(schema["if"]).is_valid(document)
        keys |= offered(schema["then" if holds else "else"], document)
    return keys


@pytest.mark.parametrize(
    ("document", "own", "others"),
    [
        ({"Q": 0}, {"H", "D"}, {"log_likelihood", "scheme"}),
        ({"log_prior": 0}, {"log_likelihood"}, {"H", "scheme"}),
        ({"run": {}}, {"dynamics", "scheme"}, {"H", "log_likelihood"}),
    ],
)
def test_a_key_tells_the_kind(document: dict, own: set[str], others: set[str]) -> None:
    found = offered(schema_json(), document)
    assert own <= found
    assert not others & found
