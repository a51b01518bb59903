"""The syntax tree of an emitted text, parsed once for all that read it: many small sizes, one text."""

import ast
from functools import lru_cache


@lru_cache(maxsize=4)
def parsed(text: str) -> ast.Module:
    """Return the syntax tree of a module's text; it is shared, so nobody may change it."""
    return ast.parse(text)


@lru_cache(maxsize=4)
def functions_of(text: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a module's text by name; shared likewise."""
    return {node.name: node for node in parsed(text).body if isinstance(node, ast.FunctionDef)}
