"""`recipe schema`."""

import json

from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.display import say
from recipe_compiler.spec.json_schema import shipped_text


def print_schema(kind: str | None) -> ExitCode:
    """Print the JSON Schema of all documents, or of one kind."""
    schema = json.loads(shipped_text())
    if kind is not None:
        for choice in ("if", "then", "else", "type"):
            del schema[choice]
        schema = {**schema, "$ref": f"#/$defs/{kind.capitalize()}Document"}
    say(json.dumps(schema, indent=1))
    return ExitCode.PROVED
