"""What a step's code reads of its surroundings: the command, the environment, who calls it, what is loaded.

By these a step may tell the process that follows it, or runs it with plain numbers, from the program that it is for. No
run in another process shows what it does there, so that nothing is said of such a step. Looked at is the text of the
file, as far as the step names it: its functions and what they are made of, not the files that it imports.
"""

import ast
from collections.abc import Iterator

from recipe_compiler.lint.source import Source

MODULES = ("builtins", "gc", "importlib", "inspect", "os", "platform", "psutil", "sys", "traceback", "threading")
"""Modules that tell of the process they are in."""
CALLS = ("__import__", "eval", "exec", "globals", "vars")
"""Functions of Python that lead to them."""
HARMLESS = ("os.write", "os.path.join", "sys.stdout.write", "sys.stderr.write", "sys.stdout.flush", "sys.stderr.flush")
HARMLESS_NUMBERS = ("sys.float_info", "sys.maxsize", "os.linesep", "os.sep")
"""What tells nothing, or the same everywhere."""


def surroundings(source: Source) -> tuple[str, ...]:
    """Return in words, by line, what the code of a step reads of its surroundings."""
    tree = ast.parse(source.text)
    aliases = dict(_aliases(tree))
    found: dict[str, None] = {}
    for node in _reached(tree, source.step):
        for line, what in _read(node, aliases):
            found[f"{source.place(line)}: it looks at its surroundings ({what}), which say where it runs"] = None
    return tuple(found)


def _aliases(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names under which modules, and what is in them, are imported anywhere in a file."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((one.asname or one.name.partition(".")[0], one.name) for one in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((one.asname or one.name, f"{module}.{one.name}") for one in names)
            case _:
                pass


def _reached(tree: ast.Module, step: str) -> Iterator[ast.stmt]:
    """Yield the statements of a file's top level that make the step and what it names, each once."""
    makers: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for name in _made(statement):
            makers.setdefault(name, []).append(statement)
    seen: set[int] = set()
    left = [step]
    while left:
        for statement in makers.get(left.pop(), ()):
            if id(statement) not in seen:
                seen.add(id(statement))
                yield statement
                left += [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]


def _made(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement makes, or changes."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
        stored = (ast.Store, ast.Del)
        yield from (n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, stored))


def _read(statement: ast.stmt, aliases: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Yield what a statement reads of its surroundings, with the line."""
    inner: set[int] = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Attribute, ast.Name)) and id(node) not in inner:
            name = _dotted(node, aliases)
            inner |= {id(part) for part in ast.walk(node)} if name else set()
            if name in CALLS or (name.partition(".")[0] in MODULES and not _is_harmless(name)):
                yield node.lineno, name


def _is_harmless(name: str) -> bool:
    return name in HARMLESS or any(name == one or name.startswith(f"{one}.") for one in HARMLESS_NUMBERS)


def _dotted(node: ast.expr, aliases: dict[str, str]) -> str:
    """Return `os.environ` for an attribute of a module by whatever name; empty for one of anything else."""
    match node:
        case ast.Attribute(value=value, attr=attr):
            before = _dotted(value, aliases)
            return f"{before}.{attr}" if before else ""
        case ast.Name(id=name):
            return aliases.get(name, name if name in CALLS else "")
        case _:
            return ""
