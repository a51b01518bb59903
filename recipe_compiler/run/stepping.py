"""The part of an emitted module that makes draws: what a checkpoint belongs to.

What a module says about itself (header, docstrings, comments) may change, and so may what only looks at draws (the
generator, the forecast): the bits of a chain do not depend on it.
"""

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping

ROOTS = ("run", "run_lanes", "prepare", "seed_streams")
"""The functions that a run calls to draw."""

_Defined = ast.FunctionDef | ast.Assign


def stepping_code(text: str) -> Mapping[str, str]:
    """Return what the draws of a module are made by: functions and constants by name, without words for readers.

    Args:
        text: of an emitted module.
    """
    defined = dict(_definitions(ast.parse(text)))
    lines = text.splitlines()
    found: dict[str, str] = {}
    left = [name for name in ROOTS if name in defined]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = _bare(defined[name], lines)
            left += [node.id for node in ast.walk(defined[name]) if isinstance(node, ast.Name) and node.id in defined]
    return dict(sorted(found.items()))


def _definitions(tree: ast.Module) -> Iterator[tuple[str, _Defined]]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name):
                yield name, node
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name, node
            case _:
                pass


def _bare(node: _Defined, lines: list[str]) -> str:
    """Return the text of a definition without its docstring, comments and empty lines."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    own = dict(enumerate(lines[first - 1 : node.end_lineno], first))
    if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
        said = node.body[0]
        for number in range(said.lineno, (said.end_lineno or said.lineno) + 1):
            own[number] = ""
    text = "\n".join(own.values()) + "\n"
    kept = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            kept[row - 1] = kept[row - 1][:column]
    return "\n".join(line.rstrip() for line in kept if line.strip())
