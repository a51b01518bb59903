"""The house rules that a reader of one file cannot see: floors, doors, printing, sizes of files and functions."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "recipe_compiler"
FLOORS = (
    {"errors", "verdict", "version"},
    {"formula"},
    {"tensor", "algebra"},
    {"spec"},
    {"derive"},
    {"program"},
    {"scheme"},
    {"emit"},
    {"verify"},
    {"run"},
    {"cache"},
    {"pipeline"},
    {"cli", "commands", "display", "__main__", "__init__", "recheck"},
)
FLOOR = {part: floor for floor, parts in enumerate(FLOORS) for part in parts}
ENDS = (0, len(FLOORS) - 1)
"""The floors whose parts may import each other."""
EVALUATORS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "sympify",
    "parse_expr",
    "lambdify",
    "parse_latex",
    "exec_module",
}
DOORS = {"run/load_module.py", "spec/python_file.py", "verify/lint/door.py"}
"""Where code is imported: an emitted module to run it, a Python spec, and a step function in `lint`'s child process."""
ENDS = {"commands/leaving.py", "commands/outputs.py", "commands/streams.py"}
"""Where the streams themselves are looked after."""
MAX_FILE, MAX_FUNCTION = 300, 60
ALONE = "recheck.py"
"""One file, to be copied anywhere: tests/recheck says how long it may be."""


def sources() -> dict[str, str]:
    return {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}


def part(file: str) -> str:
    """Return the part of the package a file belongs to: its folder, or its own name on the top level."""
    return file.split("/")[0].removesuffix(".py")


def imported_parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and part for each import of this package, wherever in the file it stands."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(level=0, module="recipe_compiler", names=names):
                modules = [f"recipe_compiler.{alias.name}" for alias in names]
            case ast.ImportFrom(level=0, module=str(module)):
                modules = [module]
            case ast.ImportFrom(level=level) if level > 0:
                modules = ["recipe_compiler.<relative import>"]
            case _:
                continue
        for module in modules:
            if module.split(".")[0] == "recipe_compiler":
                yield node.lineno, [*module.split("."), "__init__"][1]


def climbs(file: str, text: str) -> list[str]:
    """Imports that do not go down, and imports of something no floor knows."""
    here = part(file)
    return [
        f"{file}:{line} imports {there}"
        for line, there in imported_parts(text)
        if there not in FLOOR
        or (there != here and FLOOR[there] >= FLOOR[here] and FLOOR[here] not in (0, len(FLOORS) - 1))
    ]


def prints(file: str, text: str) -> list[str]:
    """Where a file writes to the terminal."""
    names = {"print", "stdout", "stderr", "Console"}
    return [
        f"{file}:{node.lineno}"
        for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.Name) and node.id in names) or (isinstance(node, ast.Attribute) and node.attr in names)
    ]


def evaluations(file: str, text: str) -> list[str]:
    """Where a file could evaluate text: builtins called by name, and SymPy's parsers however they are reached."""
    found: list[str] = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in EVALUATORS:
                found.append(f"{file}:{node.lineno} {name}")
            case ast.Call(func=ast.Attribute(attr=name)) if name in EVALUATORS - {"compile"}:
                found.append(f"{file}:{node.lineno} {name}")
            case ast.ImportFrom(names=names) if any(alias.name in EVALUATORS for alias in names):
                found.append(f"{file}:{node.lineno} import")
            case _:
                pass
    return found


def long_functions(file: str, text: str) -> list[str]:
    return [
        f"{file}:{node.lineno} {node.name}: {lines} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION
    ]


def test_every_part_of_the_package_has_a_floor() -> None:
    assert sorted({part(file) for file in sources()} - FLOOR.keys()) == []


def test_imports_go_down_the_floors_only() -> None:
    assert [fault for file, text in sources().items() for fault in climbs(file, text)] == []


def test_the_second_engine_knows_nothing_of_the_first() -> None:
    engine = {file: text for file, text in sources().items() if part(file) == "algebra"}
    assert "algebra/entries.py" in engine
    assert [(file, there) for file, text in engine.items() for _, there in imported_parts(text)
            if there in {"tensor", "derive"}] == []  # fmt: skip


def test_the_standalone_checker_is_nobodys_and_imports_nothing_of_ours() -> None:
    imports = [(file, there) for file, text in sources().items() for _, there in imported_parts(text)]
    assert [pair for pair in imports if "recheck" in (part(pair[0]), pair[1])] == []


def test_only_the_command_line_prints() -> None:
    # a progress bar goes to stderr, and only when the command line asks for it
    allowed = {"cli.py", "display.py", "__main__.py", "run/progress.py", "recheck.py", *ENDS}
    assert [place for file, text in sources().items() if file not in allowed for place in prints(file, text)] == []


def test_nothing_evaluates_text() -> None:
    assert [place for file, text in sources().items() if file not in DOORS for place in evaluations(file, text)] == []


def test_the_doors_for_code_are_in_use() -> None:
    assert [file for file in sorted(DOORS) if not evaluations(file, sources()[file])] == []


def test_files_are_short() -> None:
    lengths = {file: len(text.splitlines()) for file, text in sources().items() if file != ALONE}
    assert {file: length for file, length in lengths.items() if length > MAX_FILE} == {}


def test_functions_fit_a_screen() -> None:
    assert [function for file, text in sources().items() for function in long_functions(file, text)] == []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("formula/show.py", "from recipe_compiler.tensor.terms import Tensor"),
        ("tensor/terms.py", "def f():\n    from recipe_compiler.algebra import zero"),
        ("derive/recipe.py", "import recipe_compiler.pipeline"),
        ("spec/load.py", "from recipe_compiler import Dynamics"),
        ("run/sample.py", "from . import chains"),
        ("emit/module.py", "from recipe_compiler.cli import main"),
        ("emit/module.py", "from recipe_compiler.drawer import things"),
    ],
)
def test_a_climbing_import_is_found(file: str, text: str) -> None:
    assert len(climbs(file, text)) == 1


def test_an_import_that_goes_down_is_not_a_fault() -> None:
    assert (
        climbs(
            "run/sample.py", "from recipe_compiler.emit.module import Module\nfrom recipe_compiler.run.errors import X"
        )
        == []
    )


@pytest.mark.parametrize("text", ["print(1)", "import sys\nsys.stdout.write('a')", "Console()"])
def test_a_print_is_found(text: str) -> None:
    assert len(prints("run/sample.py", text)) == 1


@pytest.mark.parametrize(
    "text",
    ["eval('1')", "exec('1')", "import sympy\nsympy.sympify('x')", "from sympy import parse_expr", "__import__('os')"],
)
def test_an_evaluation_is_found(text: str) -> None:
    assert len(evaluations("formula/syntax.py", text)) == 1


def test_a_long_function_is_found() -> None:
    assert len(long_functions("a.py", "def f():\n" + "    x = 1\n" * 60)) == 1
    assert long_functions("a.py", "def f():\n" + "    x = 1\n" * 59) == []
