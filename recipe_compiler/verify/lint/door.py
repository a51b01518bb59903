"""A user's file, run: its numbers exact, NumPy's names those that follow symbols. It runs in a child process only."""

import ast
import builtins
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from recipe_compiler.verify.lint.nodes import UntraceableError, of_float, tape
from recipe_compiler.verify.lint.numpy_names import importer, replace_randomness
from recipe_compiler.verify.lint.values import divided, made, raised, real

NAME = "_recipe_lint_"
"""Names that the rewritten file uses start so."""


class _Exactly(ast.NodeTransformer):
    """Literals, quotients and powers of plain numbers become exact; nothing else changes."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Make a literal exact."""
        return _called(node, "exact", [node]) if isinstance(node.value, float) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Make quotients and powers of whole numbers exact."""
        self.generic_visit(node)
        match node.op:
            case ast.Div():
                return _called(node, "divided", [node.left, node.right])
            case ast.Pow():
                return _called(node, "raised", [node.left, node.right])
            case _:
                return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Let `float(x)` of a symbol be the symbol."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "float" and len(node.args) == 1 and not node.keywords:
            return _called(node, "real", node.args)
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.MatchValue:
        """Leave patterns as they are."""
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        """Leave texts as they are."""
        return node


def _called(node: ast.expr, name: str, args: list[ast.expr]) -> ast.expr:
    called = ast.Call(ast.Name(NAME + name, ast.Load()), args, [])
    return ast.fix_missing_locations(ast.copy_location(called, node))


def run_file(file: str, text: str) -> dict[str, Any]:
    """Run a file and return its names. Whatever it raises is raised."""
    tape.file = file
    replace_randomness()
    sys.path.insert(0, str(Path(file).parent))
    module = ModuleType("_recipe_lint")
    module.__file__ = file
    sys.modules[module.__name__] = module
    names = vars(module)
    names["__builtins__"] = vars(builtins) | {"__import__": importer()}
    names |= {NAME + "exact": _exact, NAME + "divided": divided, NAME + "raised": raised, NAME + "real": real}
    rewritten = _Exactly().visit(ast.parse(text, file))
    exec(compile(rewritten, file, "exec", dont_inherit=True), names)
    return names


def _folder() -> str:
    return str(Path(tape.file).parent) + os.sep


def _exact(value: float) -> Any:
    return made(of_float(value))


def watched(call: Callable[[], Any]) -> Any:
    """Return what a call returns.

    Raises:
        UntraceableError: it could not be followed, also where the file caught what was raised for that; or an exception
            was caught, which numbers might not have raised.
    """
    before = sys.gettrace()
    sys.settrace(_trace)
    try:
        found = call()
    finally:
        sys.settrace(before)
    if tape.failed is not None:
        raise UntraceableError(tape.failed[1])
    if tape.caught is not None:
        tape.failed = tape.caught
        raise UntraceableError(tape.caught[1])
    return found


def _trace(frame: FrameType, event: str, argument: Any) -> Any:
    """Note exceptions that pass through a line of the file, or of others in its folder."""
    name = frame.f_code.co_filename
    if not name.startswith((_folder(), "<")) or "site-packages" in name:
        return None
    frame.f_trace_lines = False
    if event == "exception" and not issubclass(argument[0], (StopIteration, GeneratorExit)) and tape.caught is None:
        line = frame.f_lineno if name == tape.file else tape.line()
        tape.caught = (line, f"{argument[0].__name__} was caught: numbers might not have raised it")
    return _trace
