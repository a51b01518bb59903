"""A user's file, run: its numbers exact, NumPy's names those that follow symbols. It runs in a child process only."""

import ast
import builtins
import inspect
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from recipe_compiler.lint.nodes import UntraceableError, of_float, tape
from recipe_compiler.lint.numpy_names import importer, replace_randomness
from recipe_compiler.lint.values import attribute, divided, has_attribute, kind, least, made, raised, real

NAME = "_recipe_lint_"
"""Names that the rewritten file uses start so."""


ASKED = {"float": "real", "type": "kind"}
"""Types of Python that are called of one value, and what is called in their place."""


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
        """Let `float(x)` of a symbol be the symbol, and `type(x)` that of the number that it stands for."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ASKED and len(node.args) == 1 and not node.keywords:
            return _called(node, ASKED[node.func.id], node.args)
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
    own = {"__import__": importer(), "min": least, "hasattr": has_attribute, "getattr": attribute}
    names["__builtins__"] = vars(builtins) | own
    exact = {"exact": _exact, "divided": divided, "raised": raised, "real": real, "kind": kind}
    names |= {NAME + name: function for name, function in exact.items()}
    rewritten = _Exactly().visit(ast.parse(text, file))
    exec(compile(rewritten, file, "exec", dont_inherit=True), names)
    return names


@cache
def _is_watched(name: str, file: str) -> bool:
    """Whether code of a file is looked at: the file of the step, one in its folder, or text that they ran."""
    return name.startswith((str(Path(file).parent) + os.sep, "<"))


def _exact(value: float) -> Any:
    return made(of_float(value))


def watched(call: Callable[[], Any], *, closely: bool) -> Any:
    """Return what a call returns; looked at `closely`, also what it requests of the system is noted, which takes time.

    Raises:
        UntraceableError: it could not be followed, also where the file caught what was raised for that; or an exception
            was caught, which numbers might not have raised.
    """
    before = sys.gettrace(), sys.getprofile()
    sys.settrace(_trace)
    if closely:
        sys.setprofile(_profile)
    try:
        found = call()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    for what in (tape.failed, tape.caught, tape.asked):
        if what is not None:
            tape.failed = what
            raise UntraceableError(what[1])
    return found


def _trace(frame: FrameType, event: str, argument: Any) -> Any:
    """Note lines that run, and exceptions that pass through a line of the file, or of others in its folder."""
    name = frame.f_code.co_filename
    if not _is_watched(name, tape.file) or "site-packages" in name:
        return None
    if name == tape.file:
        tape.codes.add(frame.f_code)
        tape.lines.add(frame.f_lineno)
    if event == "exception" and not issubclass(argument[0], (StopIteration, GeneratorExit)) and tape.caught is None:
        line = frame.f_lineno if name == tape.file else tape.line()
        tape.caught = (line, f"{argument[0].__name__} was caught: numbers might not have raised it")
    return _trace


_FILES = {"stat", "lstat", "listdir", "scandir"}
_CLOCKS = {"time", "monotonic", "perf_counter", "process_time", "thread_time"}
SYSTEM = {
    "time": {*_CLOCKS, *(f"{clock}_ns" for clock in _CLOCKS), "localtime", "gmtime", "ctime", "asctime", "strftime"},
    "posix": {"urandom", "getpid", "getppid", "times", "getloadavg", "getrandom", *_FILES},
    "nt": {"urandom", "getpid", "getppid", "times", *_FILES},
    "gc": {"get_objects", "get_count", "get_stats", "get_referrers"},
    "sys": {"getrefcount", "_getframe", "_current_frames"},
    "builtins": {"input", "id"},
    "datetime": {"now", "utcnow", "today"},
}
"""Functions whose answers change, by their modules; of `datetime`, methods of its classes."""


def _profile(frame: FrameType, event: str, argument: Any) -> None:
    """Note what a step requests of the system."""
    if event != "c_call" or tape.asked is not None or not _is_watched(frame.f_code.co_filename, tape.file):
        return
    owner = getattr(argument, "__module__", None) or getattr(getattr(argument, "__self__", None), "__module__", "")
    if argument.__name__ in SYSTEM.get(str(owner), ()) and not _importing(frame):
        tape.asked = (tape.line(), f"it reads {owner}.{argument.__name__}, which may change from call to call")


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def watch_files() -> None:
    """Note files that a step reads from now on: what they hold may change from call to call."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or not tape.running or tape.asked is not None:
            return
        path, mode, flags = (*arguments, None, None)[:3]
        reads = any(letter in mode for letter in "r+") if isinstance(mode, str) else not (flags or 0) & os.O_WRONLY
        if reads and not _importing(inspect.currentframe()):
            name = Path(os.fsdecode(path)).name if isinstance(path, str | bytes) else "a file"
            tape.asked = (tape.line(), f"it reads {name}, which may change from call to call")

    sys.addaudithook(hook)
