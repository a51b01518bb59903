"""Which functions of the package each test enters, and the plugin of pytest that notes it or picks tests by it.

Every function of a copy of the package marks its number in memory that the forks of a test share, so that what a child
decides counts for the test that asked. Of what several tests share (a cached report), the first of them alone is noted.
"""

import ast
import builtins
import json
import mmap
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

NOTED, PICKED = "RECIPE_COMPILER_REACH", "RECIPE_COMPILER_PICKED"
"""The file where each test leaves a line; the file with the tests to run, in order."""
MARKS = 1 << 14
"""Functions that have room; the package has some 11,000."""
UNMARKED = "recipe_compiler/emit/support/"
"""Its functions are read as text."""


def mark_functions(copy: Path) -> list[str]:
    """Let each function of a copy of the package mark that it was entered; return their names, by number."""
    names: list[str] = []
    for path in sorted((copy / "recipe_compiler").rglob("*.py")):
        file = path.relative_to(copy).as_posix()
        if file.startswith(UNMARKED):
            continue
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        marks: dict[int, str] = {}
        for function, node in _functions(ast.parse("".join(lines)), ""):
            first = node.body[min(ast.get_docstring(node) is not None, len(node.body) - 1)]
            at = min(part.lineno for part in (first, *getattr(first, "decorator_list", ()))) - 1
            if at >= node.lineno and lines[at][: first.col_offset].isspace():
                marks[at] = f"{' ' * first.col_offset}__reach__[{len(names)}] = 1\n"
                names.append(f"{file}::{function}")
        path.write_text("".join(marks.get(at, "") + line for at, line in enumerate(lines)), encoding="utf-8")
    start = copy / "recipe_compiler" / "__init__.py"
    made = f"import builtins\nbuiltins.__reach__ = getattr(builtins, '__reach__', None) or bytearray({MARKS})\n"
    start.write_text(start.read_text(encoding="utf-8") + made, encoding="utf-8")
    return names


def _functions(node: ast.AST, name: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, ast.FunctionDef | ast.ClassDef)
        inner = f"{name}.{child.name}".lstrip(".") if named else name
        if isinstance(child, ast.FunctionDef):
            yield inner, child
        yield from _functions(child, inner)


if NOTED in os.environ:
    _marks = mmap.mmap(-1, MARKS)
    vars(builtins)["__reach__"] = _marks

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
        """Add a line with a test that passes, the seconds of its processes and the functions it entered, by number."""
        _marks[:] = bytes(MARKS)
        begin, failed = sum(os.times()[:4]), item.session.testsfailed
        done = yield
        entered = [number for number, mark in enumerate(_marks[:]) if mark]
        if item.session.testsfailed > failed:
            return done
        with Path(os.environ[NOTED]).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps([item.nodeid, round(sum(os.times()[:4]) - begin, 3), entered]) + "\n")
        return done


if PICKED in os.environ:

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
        """Keep the tests that were picked, in their order."""
        picked = Path(os.environ[PICKED]).read_text(encoding="utf-8").splitlines()
        there = {item.nodeid: item for item in items}
        items[:] = [there[name] for name in picked if name in there]
