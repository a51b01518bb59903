"""The JSON Schema of the four kinds of document, for editors and for other programs."""

from typing import Any

from recipe_compiler.spec.schema import KINDS, DynamicsDocument
from recipe_compiler.spec.schema_build import BuildDocument
from recipe_compiler.spec.schema_scheme import SchemeDocument
from recipe_compiler.spec.schema_target import TargetDocument

Schema = dict[str, Any]


def schema_json() -> Schema:
    """Return the JSON Schema (draft 2020-12) of a document, of the kind that its keys tell.

    Formulas are text or numbers. Where no key tells the kind yet, it may become any: an editor offers the keys of all.
    """
    definitions: Schema = {}
    for model in (DynamicsDocument, TargetDocument, SchemeDocument, BuildDocument):
        schema = model.model_json_schema(mode="validation", ref_template="#/$defs/{model}")
        definitions |= schema.pop("$defs", {})
        definitions[model.__name__] = schema
    told: Schema = {"anyOf": [_reference(kind) for kind, _ in KINDS]}
    for kind, keys in reversed(KINDS):
        has_key = {"anyOf": [{"required": [key]} for key in sorted(keys)]}
        told = {"if": has_key, "then": _reference(kind), "else": told}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        **told,
        "$defs": {name: _cleaned(definitions[name]) for name in sorted(definitions)},
    }


def _reference(kind: str) -> Schema:
    return {"$ref": f"#/$defs/{kind.capitalize()}Document"}


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
