"""A user's file read without running it: the arguments of its step, and the values it returns."""

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recipe_compiler.errors import Fault, ModelError, Place, SpecError, nearest, spec_error
from recipe_compiler.spec.yaml_reader import MAX_BYTES


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a step."""

    name: str
    has_default: bool
    keyword: bool
    """Whether it is given by name only."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file with a step function."""

    file: str
    """Its absolute path, which identifies its lines."""
    shown: str
    """Its path as it was given."""
    text: str
    step: str
    line: int
    arguments: tuple[Argument, ...]
    names: tuple[str, ...]
    """Functions and constants on the top level of the file."""
    functions: tuple[str, ...]
    returned: int | None
    """How many values are returned as a tuple; 1 for anything else; None where nothing is returned."""
    changed: tuple[str, ...]
    """Arguments that are changed in place."""

    def place(self, line: int = 0) -> Place:
        """Return a place in the file."""
        return Place(self.shown, line)


def read_source(where: str) -> Source:
    """Read `FILE.py:step`.

    Raises:
        SpecError: no such file, no Python, no such function.
        ModelError: a module that this compiler emitted.
    """
    path, _, step = where.rpartition(":")
    if not path.endswith(".py") or not step:
        hint = "write for example sampler.py:step"
        raise spec_error(where, "step", "found no function of a Python file, expected FILE.py:NAME", hint)
    text = _read_text(Path(path))
    try:
        tree = ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", 0) or 0
        problem = f"found no Python: {getattr(error, 'msg', '') or type(error).__name__}, expected a file that runs"
        raise SpecError([Fault(Place(path, line), "step", problem)]) from None
    _refuse_emitted(tree, path)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if step not in functions:
        problem = f"found no `def {step}` on the top level, expected one; there are {', '.join(functions) or 'none'}"
        raise spec_error(path, step, problem, nearest(step, tuple(functions)))
    node = functions[step]
    return Source(
        str(Path(path).resolve()),
        path,
        text,
        step,
        node.lineno,
        tuple(_list_arguments(node)),
        tuple(dict.fromkeys((*functions, *_list_assigned(tree)))),
        tuple(functions),
        _count_returned(node),
        tuple(_list_changed(node)),
    )


def _read_text(path: Path) -> str:
    if not os.path.isfile(path):
        raise spec_error(path, "step", "found no such file, expected a Python file")
    if path.stat().st_size > MAX_BYTES:
        raise spec_error(path, "step", f"found more than {MAX_BYTES} bytes, expected fewer")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise spec_error(path, "step", "found bytes that are no UTF-8, expected text") from None


def _refuse_emitted(tree: ast.Module, path: str) -> None:
    """Refuse modules of this compiler: their step takes factors and scratch arrays that `prepare` makes."""
    if {"FORMAT", "SPEC_DIGEST", "BLOCKS"} <= set(_list_assigned(tree)):
        problem = "found a module that recipe compile emitted, expected a function z, eps, rng -> z"
        hint = "it was read back when it was emitted; `recipe compile BUILD --check` compares it with its build"
        raise ModelError([Fault(Place(path), "step", problem, hint)])


def _list_assigned(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                yield name
            case _:
                pass


def _list_arguments(node: ast.FunctionDef) -> Iterator[Argument]:
    own = node.args
    positional = [*own.posonlyargs, *own.args]
    without = len(positional) - len(own.defaults)
    for k, arg in enumerate(positional):
        yield Argument(arg.arg, k >= without, False)
    for arg, default in zip(own.kwonlyargs, own.kw_defaults, strict=True):
        yield Argument(arg.arg, default is not None, True)


def _list_own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of nested functions."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield child
            yield from _list_own_nodes(child)


def _count_returned(node: ast.FunctionDef) -> int | None:
    values = [part.value for part in _list_own_nodes(node) if isinstance(part, ast.Return) and part.value is not None]
    if not values:
        return None
    return max(len(value.elts) if isinstance(value, ast.Tuple) else 1 for value in values)


def _list_changed(node: ast.FunctionDef) -> Iterator[str]:
    """Yield the arguments whose entries are assigned to, or that an operator changes in place."""
    names = {argument.name for argument in _list_arguments(node)}
    found: set[str] = set()
    for part in _list_own_nodes(node):
        match part:
            case ast.Assign(targets=targets):
                inner = [target.value for target in targets if isinstance(target, ast.Subscript)]
            case ast.AugAssign(target=ast.Subscript(value=value)):
                inner = [value]
            case ast.AugAssign(target=target):
                inner = [target]
            case _:
                continue
        found |= {name.id for name in inner if isinstance(name, ast.Name)}
    yield from (argument.name for argument in _list_arguments(node) if argument.name in found & names)
