"""Documents whose blocks are made from the repository: each block is compared with what makes it now."""

import ast
import io
import re
import shlex
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = re.compile(r"<!-- made by: (?P<source>.+?) -->\n```(?P<language>\w*)\n(?P<body>.*?)```\n", re.S)
PROGRAM = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?", re.S)
TIMES = re.compile(r" *[0-9.]+ m?s\b")

Command = Callable[..., str]


def function_source(path: Path, name: str) -> str:
    """Return the text of a function of a file, decorators included."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "\n".join(text.splitlines()[start - 1 : node.end_lineno]) + "\n"
    raise LookupError(f"{path} has no function {name}")


def same(old: str, new: str) -> bool:
    """Whether two texts agree but for times, and the widths of columns that hold them."""
    if not TIMES.search(new):
        return old == new
    return TIMES.sub("", old).split() == TIMES.sub("", new).split()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command of the command line and return what it prints."""
    import sys

    from recipe_compiler.cli import main

    def run(line: str) -> str:
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        out = io.StringIO()
        with redirect_stdout(out), pytest.raises(SystemExit):
            main()
        return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"

    return run


@pytest.fixture
def with_made_blocks(command: Command) -> Callable[[str], str]:
    """Return a document with every block `<!-- made by: ... -->` made anew: a file, file:function, or $ command."""

    def made(source: str) -> str:
        if source.startswith("$ "):
            return command(source[2:])
        path, _, function = source.partition(":")
        return function_source(ROOT / path, function) if function else (ROOT / path).read_text(encoding="utf-8")

    def remake(match: re.Match[str]) -> str:
        new = made(match["source"])
        if same(match["body"], new):
            return match[0]
        return f"<!-- made by: {match['source']} -->\n```{match['language']}\n{new}```\n"

    return lambda text: MADE.sub(remake, text)


@pytest.fixture
def with_run_programs(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return a document with its Python blocks executed in order, and what they print in the text blocks after them."""

    def rerun(text: str) -> str:
        monkeypatch.chdir(ROOT)
        names: dict[str, object] = {"__name__": "document"}

        def remake(match: re.Match[str]) -> str:
            out = io.StringIO()
            with redirect_stdout(out):
                exec(compile(match["code"], "document", "exec"), names)
            printed = out.getvalue()
            if same(match["printed"] or "", printed):
                return match[0]
            return f"```python\n{match['code']}```\n" + (f"\n```text\n{printed}```\n" if printed else "")

        return PROGRAM.sub(remake, text)

    return rerun
