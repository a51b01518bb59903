"""Documents whose blocks are made from the repository: each block is compared with what makes it now."""

import ast
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from copies import copy_compiled
from started import started

ROOT = Path(__file__).parents[2]
MADE = re.compile(r"<!-- made by: (?P<source>.+?) -->\n```(?P<language>\w*)\n(?P<body>.*?)```\n", re.S)
PROGRAM = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?", re.S)
TIMES = re.compile(r" *[0-9.]+ m?s\b")

ADDED = re.compile(r"<!-- goes into: (?P<file>\S+), before: `(?P<before>[^\n]+)` -->\n```\w+\n(?P<code>.*?)```\n", re.S)
FILE = re.compile(r"<!-- file: (?P<file>\S+) -->\n```\w+\n(?P<text>.*?)```\n", re.S)
TYPED = re.compile(r"^\$ (?P<line>.+)\n(?P<printed>(?:(?!\$ |```).*\n)*)", re.M)

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
def folder(tmp_path: Path) -> Path:
    """Return a folder that looks like the repository's root; what commands write there does not land in it."""
    here = tmp_path / "root"
    here.mkdir()
    for entry in ROOT.iterdir():
        if not entry.name.startswith("."):
            (here / entry.name).symlink_to(entry)
    return here


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path) -> Command:
    """Run a line of the shell and return what it prints; `recipe` alone runs in this process."""
    from recipe_compiler.cli import main

    commands = tmp_path / "commands"
    commands.mkdir()
    (commands / "recipe").write_text(f'#!/bin/sh\nexec {sys.executable} -m recipe_compiler "$@"\n', encoding="utf-8")
    (commands / "recipe").chmod(0o755)

    def run(line: str) -> str:
        if " | " in line or " && " in line or " ; " in line:
            return trimmed(in_shell(line, folder, commands))
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        out = io.StringIO()
        with redirect_stdout(out), pytest.raises(SystemExit):
            main()
        return trimmed(out.getvalue())

    return run


def in_shell(line: str, folder: Path, commands: Path) -> str:
    """Return what a line of the shell prints in a folder, with those commands and the ones of this environment."""
    path = os.pathsep.join((str(commands), str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        line, shell=True, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=120
    )
    assert done.stderr == ""
    return done.stdout


def trimmed(text: str) -> str:
    """Return a text without spaces at the ends of its lines."""
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


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


class House:
    """A copy of the package with a page's files in a folder, and the commands of it."""

    def __init__(self, at: Path, page: str, copied: tuple[str, ...]) -> None:
        self.at = at
        self.added = list(ADDED.finditer(page))
        self.typed = list(TYPED.finditer(page))
        for folder in ("recipe_compiler", "tests/shared", *copied):
            if (ROOT / folder).is_symlink():
                (at / folder).symlink_to((ROOT / folder).readlink())
                continue
            copy_compiled(ROOT / folder, at / folder, links=True)
        for file in ("pyproject.toml", "tests/conftest.py"):
            shutil.copy(ROOT / file, at / file)
        for found in FILE.finditer(page):
            (at / found["file"]).write_text(found["text"], encoding="utf-8")

    def put(self, row: re.Match[str], code: str | None = None) -> None:
        """Put a block where the page says, or something else in its place."""
        path = self.at / row["file"]
        text = path.read_text(encoding="utf-8")
        assert text.count(row["before"]) == 1
        path.write_text(text.replace(row["before"], (code or row["code"]) + row["before"]), encoding="utf-8")

    def run(self, line: str) -> str:
        """Return what a command prints, errors too."""
        name, *arguments = shlex.split(line)
        commands = {"recipe": ["-m", "recipe_compiler"], "recheck": ["recipe_compiler/recheck.py"], "python": []}
        own = {"PYTHONPATH": str(self.at), "XDG_CACHE_HOME": str(self.at / "cache"), "COLUMNS": "200"}
        return started([*commands.get(name, ["-m", name]), *arguments], self.at, os.environ | own)

    def prints_what_the_page_says(self) -> None:
        """Run the page's commands in order, each of which prints the lines below it."""
        for command in self.typed:
            printed = self.run(command["line"])
            for line in command["printed"].splitlines():
                assert line in printed, printed


@pytest.fixture
def house(tmp_path: Path, request: pytest.FixtureRequest) -> House:
    """Return a house with the `PAGE` of a test file, and copies of the folders in its `COPIED`."""
    return House(tmp_path, request.module.PAGE, request.module.COPIED)
