"""The source of support functions, word for word, for an emitted file to carry along."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from recipe_compiler.errors import CompilerError

_MODULES = (
    "flags", "special", "transforms", "gammas", "normal_law", "vectors", "bits", "normals", "variates",
    "variates_gamma", "variates_count", "variates_mixed", "variates_normal", "box_muller", "lanes",
    "indices", "blocks_of_rows", "read_ahead", "noise", "moves", "propagator", "newton", "roots",
    "triangles", "seeds", "checks", "constraints", "starts", "chains", "user_functions", "trial",
)  # fmt: skip
"""Where the support code is, in the order in which an emitted file shows it: what is used comes before its user."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, or an assignment of constants, of the support code."""

    names: tuple[str, ...]
    uses: frozenset[str]
    """Names that it reads, those of other definitions among them."""
    text: str
    is_function: bool


_JITTED_ALONE = ", no_cpython_wrapper=True"
"""What a function is compiled with that jitted code alone calls: it compiles sooner, and Python may not call it."""


def support_text(names: Collection[str], given: Collection[str] = (), called_by_python: Collection[str] = ()) -> str:
    """Return the source of the support functions `names` and all they need, in a fixed order, ending in a newline.

    Args:
        names: functions the emitted code calls; CompilerError for one that is not part of the support code.
        given: constants the emitted file defines elsewhere, word for word the same.
        called_by_python: those of them that plain Python calls.
    """
    text = ""
    after_constant = False
    for definition in _needed(names):
        if not set(given).isdisjoint(definition.names):
            continue
        close = after_constant and not definition.is_function
        own = definition.text
        if not set(called_by_python).isdisjoint(definition.names):
            own = own.replace(_JITTED_ALONE, "")
        text += ("" if not text else "\n" if close else "\n\n") + own + "\n"
        after_constant = not definition.is_function
    return text


def _needed(names: Collection[str]) -> tuple[Definition, ...]:
    """Return the definitions of `names` and, in turn, of all that they use."""
    defined = {name: one for one in definitions() for name in one.names}
    unknown = sorted(set(names) - defined.keys())
    if unknown:
        raise CompilerError(f"no such support function: {', '.join(unknown)}")
    found: set[str] = set()
    ahead = set(names)
    while ahead:
        found |= ahead
        ahead = {use for name in ahead for use in defined[name].uses if use in defined} - found
    return tuple(one for one in definitions() if not found.isdisjoint(one.names))


@cache
def definitions() -> tuple[Definition, ...]:
    """Return all that the support code defines."""
    return tuple(one for module in _MODULES for one in _definitions_of(_source(module)))


def _source(module: str) -> str:
    """Return the text of a support file, with the calls of `njit` that its decorators stand for."""
    return re.sub(r"(?<=^@)\w+$", lambda name: _decorators().get(name[0], name[0]), _read(module), flags=re.MULTILINE)


@cache
def _decorators() -> dict[str, str]:
    calls = re.findall(r"^(\w+) = (njit\(.*?\)(?:  # fmt: skip)?)$", _read("jit"), re.MULTILINE | re.DOTALL)
    return {name: re.sub(r"\(\n +(.*)\n\)$", r"(\1)", call) for name, call in calls}


def _read(module: str) -> str:
    return files("recipe_compiler.emit.support").joinpath(f"{module}.py").read_text(encoding="utf-8")


def _definitions_of(source: str) -> Iterator[Definition]:
    lines = source.splitlines()
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                names = (name,)
                first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            case ast.Assign(targets=targets):
                names = tuple(n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
                first = node.lineno
            case _:
                continue
        uses = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        text = "\n".join(lines[first - 1 : node.end_lineno])
        yield Definition(names, frozenset(uses), text, isinstance(node, ast.FunctionDef))
