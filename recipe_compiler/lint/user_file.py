"""A user's file in a child process: it is run, its step is called, and what that returned is read block by block."""

import ast
import builtins
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.symbols import extent, length
from recipe_compiler.lint.bind_arguments import STATE, Binding, BoundName, get_shape
from recipe_compiler.lint.nodes import UntraceableError, read_float, tape
from recipe_compiler.lint.values import convert_to_float, divide, find_greatest, find_least, make_number, raise_exactly
from recipe_compiler.trace.operations import Untraced
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.time_limit import Unfinished, Work, run_all

LIMITS = f"at most {limits.DOCUMENT_SECONDS:g} s and {limits.MEMORY // 2**30} GiB"

Names = dict[str, Any]
Job = Callable[[Names], Any]


def run_in_child(ask: Binding, load: Callable[[Binding], Names], jobs: Sequence[Job]) -> tuple[Any, ...]:
    """Run a file in a child process and do jobs with its names; return what each gives, or why there is nothing.

    A job that does not end, or a file that raises an exception, gives `Untraced`.
    """
    found = run_all(Work(partial(_prepare_jobs, ask, load, jobs), len(jobs)), limits.CLAIM_SECONDS)
    return tuple(Untraced(_describe_unfinished(one.reason)) if isinstance(one, Unfinished) else one for one in found)


def _describe_unfinished(reason: str) -> str:
    return f"it {reason}" if reason.startswith("did not end") else reason


def _prepare_jobs(ask: Binding, load: Callable[[Binding], Names], jobs: Sequence[Job]) -> list[Callable[[], Any]]:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.stdout = sys.stderr = os.fdopen(nowhere, "w", encoding="utf-8")
    sys.dont_write_bytecode = True
    try:
        names = load(ask)
        if not callable(names.get(ask.source.step)):
            raise TypeError(f"`{ask.source.step}` is {type(names.get(ask.source.step)).__name__}, not a function")
    except BaseException as error:  # a user's file may raise anything, SystemExit too
        return [partial(describe_failure, error, raised_at_load=True) for _ in jobs]
    return [partial(_run_job, job, names) for job in jobs]


def _run_job(job: Job, names: Names) -> Any:
    try:
        return job(names)
    except BaseException as error:  # so may its step
        return describe_failure(error)


def describe_failure(error: BaseException, *, raised_at_load: bool = False) -> Untraced:
    """Return what was raised, and the line of the file at which it was."""
    if tape.failed is not None:
        line, reason = tape.failed
        return Untraced(reason, line)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == tape.file]
    line = (error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else 0) or 0
    said = " ".join(str(error).split())[:300]
    name = type(error).__name__
    reason = "it ended the program" if isinstance(error, SystemExit) else f"{name}: {said}" if said else name
    return Untraced(reason, line, raised_at_load)


# The file.


class NumbaStub(ModuleType):
    """What stands for numba: decorators that leave functions as they are, and types that nothing is done with."""

    prange = range

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _return_function if name in {"jit", "njit", "generated_jit"} else _Anything()


class _Anything:
    def __call__(self, *_: object, **__: object) -> "_Anything":
        return self

    def __getitem__(self, _: object) -> "_Anything":
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def _return_function(*args: Any, **_: Any) -> Any:
    is_decorator = len(args) == 1 and callable(args[0]) and not isinstance(args[0], _Anything)
    return args[0] if is_decorator else lambda function: function


EXACT: Mapping[str, Any] = {
    "exact": lambda value: make_number(read_float(value)), "divided": divide, "raised": raise_exactly, "real":
    convert_to_float,
}  # fmt: skip
PREFIX = "_recipe_lint_"
"""Names that the rewritten file uses start so."""


class _ExactRewriter(ast.NodeTransformer):
    """Literals, quotients and powers of plain numbers become exact, and `float(x)` of a symbol the symbol."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Make a literal exact."""
        return _make_call(node, "exact", [node]) if isinstance(node.value, float) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Make quotients and powers of whole numbers exact."""
        self.generic_visit(node)
        exact = {ast.Div: "divided", ast.Pow: "raised"}.get(type(node.op))
        return node if exact is None else _make_call(node, exact, [node.left, node.right])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Let `float(x)` of a symbol be the symbol."""
        self.generic_visit(node)
        is_float = isinstance(node.func, ast.Name) and node.func.id == "float"
        return _make_call(node, "real", node.args) if is_float and len(node.args) == 1 and not node.keywords else node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.MatchValue:
        """Leave patterns as they are."""
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        """Leave texts as they are."""
        return node


def _make_call(node: ast.expr, name: str, args: list[ast.expr]) -> ast.expr:
    called = ast.Call(ast.Name(PREFIX + name, ast.Load()), args, [])
    return ast.fix_missing_locations(ast.copy_location(called, node))


def run_file(file: str, text: str, modules: Mapping[str, ModuleType], *, exactly: bool) -> Names:
    """Run a file and return its names. Whatever it raises is raised.

    Args:
        file: its path.
        text: its content.
        modules: what it finds when it imports modules of these names.
        exactly: whether its numbers are exact.
    """
    tape.file = file
    sys.path.insert(0, str(Path(file).parent))
    own = NumbaStub("numba")
    sys.modules["numba"] = own
    module = ModuleType("_recipe_lint")
    module.__file__ = file
    sys.modules[module.__name__] = module
    names = vars(module)
    exact = {PREFIX + name: function for name, function in EXACT.items()} if exactly else {}
    replaced: dict[str, Any] = {"__import__": partial(_import_replaced, {"numba": own, **modules})}
    replaced |= {"min": find_least, "max": find_greatest} if exactly else {}
    names |= exact | {"__builtins__": vars(builtins) | replaced}
    tree = ast.parse(text, file)
    exec(compile(_ExactRewriter().visit(tree) if exactly else tree, file, "exec", dont_inherit=True), names)
    return names


def _import_replaced(
    own: Mapping[str, ModuleType], name: str, scope: Any = None, local: Any = None, wanted: Any = (), level: int = 0
) -> Any:
    top, *rest = name.split(".")
    if level or top not in own:
        return builtins.__import__(name, scope, local, wanted, level)
    found: Any = own[top]
    for part in rest if wanted else ():
        found = getattr(found, part)
    return found


# The step.


def call_step(ask: Binding, names: Names, given: Mapping[str, Any]) -> tuple[list[Any], bool]:
    """Return a value for every argument that holds the state, and whether these were listed in an order of their own.

    Raises:
        UntraceableError: more or fewer values, or one by another name.
    """
    names.update({name: given[name] for name in ask.globals})
    step, keywords = names[ask.source.step], {name: given[name] for name in ask.keywords}
    before = sys.gettrace()
    sys.settrace(_note_line)
    try:
        result = step(*(given[name] for name in ask.positional), **keywords)
    finally:
        sys.settrace(before)
    if tape.failed is not None:  # whoever caught it
        raise UntraceableError(tape.failed[1])
    outputs = [one.name for one in ask.outputs]
    listed = isinstance(result, tuple) or (isinstance(result, list) and len(outputs) > 1)
    return _order_by_block(result, ask, given, listed=listed), listed


def _note_line(frame: FrameType, event: str, argument: object) -> Any:
    if frame.f_code.co_filename != tape.file:
        return None
    tape.codes.add(frame.f_code)
    tape.lines.add(frame.f_lineno)
    return _note_line


def list_unreached_lines() -> tuple[int, ...]:
    """Return the lines of the functions that calls entered, that none of them ran."""
    every = {line for code in tape.codes for _, _, line in code.co_lines() if line and line != code.co_firstlineno}
    return tuple(sorted(every - tape.lines))


def _order_by_block(result: Any, ask: Binding, given: Mapping[str, Any], *, listed: bool) -> list[Any]:
    names = [one.name for one in ask.outputs]
    blocks = [one.block.name if one.block is not None else STATE for one in ask.outputs]
    expected = f"expected {len(names)}: {', '.join(names)}"
    if result is None:
        return [given[name] for name in names]
    if isinstance(result, Mapping):
        unknown = [key for key in result if key not in names and key not in blocks]
        if unknown:
            raise UntraceableError(f"a result called {unknown[0]!r}, expected {', '.join(names)}")
        both = zip(names, blocks, strict=True)
        return [result.get(name, result.get(block, given[name])) for name, block in both]
    values = list(result) if listed else [result]
    if len(values) != len(names):
        found = f"{len(values)} values" if listed else "one value"
        raise UntraceableError(f"{found} returned, {expected}")
    return values


def get_array_shape(given: BoundName, ask: Binding, sizes: Sizes) -> tuple[int, ...]:
    """Return the shape of what an argument is given at fixed sizes."""
    if given.kind == STATE:
        shapes = (extent(block.shape, sizes) for block in ask.dynamics.declarations.blocks)
        return (sum(rows * columns for rows, columns in shapes),)
    return tuple(length(size, sizes) for size in get_shape(given).sizes)
