"""The JSON Schema of the five kinds of document, for editors and for other programs."""

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from recipe_compiler.spec.fields import NAME_PATTERN, Leaf, left_out, one_or_many
from recipe_compiler.spec.schema import KINDS, DynamicsDocument, Part
from recipe_compiler.spec.schema_build import BuildDocument
from recipe_compiler.spec.schema_experiment import ExperimentDocument
from recipe_compiler.spec.schema_scheme import SchemeDocument
from recipe_compiler.spec.schema_target import TargetDocument
from recipe_compiler.spec.validate import fields_of

Schema = dict[str, Any]


def schema_json() -> Schema:
    """Return the JSON Schema (draft 2020-12) of a document, of the kind that its keys tell.

    Formulas are text or numbers. Where no key tells the kind yet, it may become any: an editor offers the keys of all.
    """
    documents = (DynamicsDocument, TargetDocument, SchemeDocument, BuildDocument, ExperimentDocument)
    told: Schema = {"anyOf": [_reference(kind) for kind, _ in KINDS]}
    for kind, keys in reversed(KINDS):
        has_key = {"anyOf": [{"required": [key]} for key in sorted(keys)]}
        told = {"if": has_key, "then": _reference(kind), "else": told}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        **told,
        "$defs": {document.__name__: _schema(document) for document in documents},
    }


def _reference(kind: str) -> Schema:
    return {"$ref": f"#/$defs/{kind.capitalize()}Document"}


def _schema(hint: Any) -> Schema:
    """Return what may stand where a type is expected; where a part is all defaults, nothing may."""
    match get_origin(hint), get_args(hint):
        case origin, (inner, *beside) if origin is Annotated:
            schema = next((dict(one.schema) for one in beside if isinstance(one, Leaf)), None) or _schema(inner)
            for one in beside:
                schema |= one if isinstance(one, dict) else {"description": one} if isinstance(one, str) else {}
            others = [schema["items"]] if one_or_many in beside else [{"type": "null"}] if left_out in beside else []
            return {"anyOf": [*others, schema]} if others else schema
        case origin, options if origin in (Union, UnionType):
            return {"anyOf": [{"type": "null"} if option is NoneType else _schema(option) for option in options]}
        case origin, known if origin is Literal:
            return {"enum": [*known]}
        case origin, (_, value) if origin is dict:
            return {
                "type": "object",
                "patternProperties": {NAME_PATTERN: _schema(value)},
                "additionalProperties": False,
            }
        case origin, (item,) if origin is list:
            return {"type": "array", "items": _schema(item)}
        case _ if isinstance(hint, type) and issubclass(hint, Part):
            fields = fields_of(hint)
            _, others = fields.pop("others", ("", None))
            return {
                "type": "object",
                "description": hint.__doc__,
                "additionalProperties": False if others is None else _schema(get_args(others)[1]) or True,
                "properties": {key: _schema(own) for key, (_, own) in fields.items()},
                "required": [key for key, (name, _) in fields.items() if not hasattr(hint, name)],
            }
        case _:
            return {}
