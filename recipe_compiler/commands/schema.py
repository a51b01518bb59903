"""`recipe schema`."""

import json

from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.display import say
from recipe_compiler.spec.json_schema import schema_json


def print_schema(kind: str | None) -> ExitCode:
    """Print the JSON Schema of all documents, or of one kind."""
    schema = schema_json()
    if kind is not None:
        for choice in ("if", "then", "else", "type"):
            del schema[choice]
        schema = {**schema, "$ref": f"#/$defs/{kind.capitalize()}Document"}
    say(json.dumps(schema, indent=1, sort_keys=True))
    return ExitCode.PROVED
