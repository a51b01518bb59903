"""Texts of the same step in another shape, which hold what was read back word for word."""

import ast
from collections.abc import Iterator

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.readback.text import pieces_of

DIAGNOSTICS = (
    "prepare_generator", "generator", "full_gradient", "prepare_energies", "full_potential", "log_likelihood",
    "auxiliary_energy",
)  # fmt: skip
"""The functions that tell of draws. What one prepares is given to another, which does not call it."""


def check_diagnostics(module: Module, read: Module) -> None:
    """Check that what tells of draws is, word for word, that of another text of the same Program, which is read back.

    Raises:
        CompilerError: it is not; names what differs.
    """
    for name in _changed(module.text, read.text):
        raise CompilerError(f"{module.name}: {name} differs between the shapes of the loops")


def _changed(text: str, read: str) -> Iterator[str]:
    """Yield what is not the same in two texts, of what tells of draws and all that it calls."""
    known, there = (dict(_definitions(own)) for own in (read, text))
    left = [name for name in DIAGNOSTICS if name in there]
    seen: set[str] = set()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        node, lines = there[name]
        if name not in known or known[name][1] != lines:
            yield name
        left += [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in there]


def _definitions(text: str) -> Iterator[tuple[str, tuple[ast.stmt, str]]]:
    """Yield the functions and constants of a text, each with its own lines."""
    for lines, node in ((piece.lines, node) for piece in pieces_of(text) for node in piece.body):
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                names, first = [name], min([node.lineno, *(decorator.lineno for decorator in decorators)])
            case ast.Assign(targets=targets):
                names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
                first = node.lineno
            case _:
                continue
        yield from ((name, (node, "\n".join(lines[first - 1 : node.end_lineno]))) for name in names)
