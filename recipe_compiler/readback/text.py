"""The text of a module, parsed, and the names in it: what is never read back, the chain itself, is checked so."""

import ast
import builtins
from collections.abc import Iterator
from functools import lru_cache

from recipe_compiler.errors import CompilerError


@lru_cache(maxsize=4)
def parsed(text: str) -> ast.Module:
    """Return the syntax tree of a module's text. It is shared: nobody may change it."""
    return ast.parse(text)


@lru_cache(maxsize=4)
def check_names(text: str) -> None:
    """Check that every name read in a function is an argument, a local, a name of the module or a builtin.

    Raises:
        CompilerError: one is not; names it and the function.
    """
    tree = parsed(text)
    known = set(dir(builtins)) | {name for node in tree.body for name in _bound(node)}
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        own, read = set[str](), dict[str, None]()
        for node in ast.walk(function):
            match node:
                case ast.FunctionDef(name=name) | ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                    own.add(name)
                case ast.Name(id=name):
                    read[name] = None
                case _:
                    pass
        for name in read:
            if name not in own and name not in known:
                raise CompilerError(f"the emitted function {function.name} reads {name}, which nothing defines")


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module binds."""
    match node:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name for alias in names)
        case ast.Assign(targets=targets):
            yield from (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))
        case _:
            return
