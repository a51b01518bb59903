"""The file that users get against the text that was read back: what steps in it is that text, word for word."""

import ast
from collections.abc import Iterator

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.readback.text import check_names, parsed

ROOTS = (
    "run", "run_lanes", "first_values", "prepare", "seed_streams", "generator", "full_gradient", "forecast",
    "prepare_energies", "full_potential", "log_likelihood", "auxiliary_energy",
)  # fmt: skip
"""The functions that draw, and those that tell of draws; all that they call goes with them."""


def check_file(module: Module) -> None:
    """Check that everything in a module's file that makes draws is, word for word, the text that was read back.

    Raises:
        CompilerError: it is not, or a name is not defined; names what differs.
    """
    check_names(module.file)
    read, there = (dict(_definitions(text)) for text in (module.text, module.file))
    left = [name for name in ROOTS if name in there]
    seen: set[str] = set()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        node, text = there[name]
        if name not in read or read[name][1] != text:
            raise CompilerError(f"{module.name}: {name} of the file is not what was read back")
        left += [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in there]


def _definitions(text: str) -> Iterator[tuple[str, tuple[ast.stmt, str]]]:
    """Yield the functions and constants of a text, each with its own lines."""
    lines = text.splitlines()
    for node in parsed(text).body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                names, first = [name], min([node.lineno, *(decorator.lineno for decorator in decorators)])
            case ast.Assign(targets=targets):
                names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
                first = node.lineno
            case _:
                continue
        yield from ((name, (node, "\n".join(lines[first - 1 : node.end_lineno]))) for name in names)
