"""The JSON Schema of the three kinds of document, for editors and for other programs."""

import json
from importlib.resources import files
from typing import Any

from recipe_compiler.spec.schema import BuildDocument, DynamicsDocument, TargetDocument

Schema = dict[str, Any]

SHIPPED = "document.schema.json"
"""The file beside this module that holds the schema as text; a test keeps it equal to `schema_json()`."""


def schema_json() -> Schema:
    """Return the JSON Schema (draft 2020-12) of a document: a build has `dynamics`, dynamics have `H`.

    Formulas are text or numbers.
    """
    definitions: Schema = {}
    for model in (DynamicsDocument, TargetDocument, BuildDocument):
        schema = model.model_json_schema(mode="validation", ref_template="#/$defs/{model}")
        definitions |= schema.pop("$defs", {})
        definitions[model.__name__] = schema
    dynamics_or_target = {
        "if": {"required": ["H"]},
        "then": {"$ref": "#/$defs/DynamicsDocument"},
        "else": {"$ref": "#/$defs/TargetDocument"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "if": {"required": ["dynamics"]},
        "then": {"$ref": "#/$defs/BuildDocument"},
        "else": dynamics_or_target,
        "$defs": {name: _cleaned(definitions[name]) for name in sorted(definitions)},
    }


def schema_text() -> str:
    """Return the schema as the text that ships."""
    return json.dumps(schema_json(), indent=1, sort_keys=True) + "\n"


def shipped_text() -> str:
    """Return the text of the file that ships."""
    return files("recipe_compiler.spec").joinpath(SHIPPED).read_text(encoding="utf-8")


def _cleaned(schema: Any) -> Any:
    """Return a schema without the titles and defaults of Python; mappings from names are closed, parts may be empty."""
    if isinstance(schema, list):
        return [_cleaned(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts: Schema = {str(key): part for key, part in schema.items()}
    if {"type", "anyOf", "$ref"} & parts.keys():
        parts = {key: part for key, part in parts.items() if key not in ("title", "default")}
    if "patternProperties" in parts and "properties" not in parts:
        parts["additionalProperties"] = False
        entries = parts["patternProperties"].items()
        parts["patternProperties"] = {k: {"anyOf": [v, {"type": "null"}]} if "$ref" in v else v for k, v in entries}
    return {key: _cleaned(part) for key, part in parts.items()}
