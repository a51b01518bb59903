"""The house rules that a reader of one file cannot see: layers, rooms, entry points, printing, sizes of functions."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "recipe_compiler"
LAYERS = (
    {"errors", "limits", "notebook", "verdict", "version"},
    {"formula", "kernel"},
    {"algebra/scalars"},
    {"tensor"},
    {"algebra/zero", "algebra/positivity"},
    {"facts", "algebra/polynomial_integrability"},
    {"algebra/structure"},
    {"algebra/points"},
    {"algebra/dynamics"},
    {"spec"},
    {"derive"},
    {"trace"},
    {"program"},
    {"splitting"},
    {"scheme", "emit/support"},
    {"emit", "streams"},
    {"verify/core"},
    {"ansatz", "verify/growth"},
    {"verify/equation", "verify/integrability", "verify/from_data"},
    {"verify/infinity"},
    {"verify/stationarity"},
    {"verify/recover"},
    {"verify/uniqueness"},
    {"verify/builds", "verify/updates", "verify/words"},
    {"verify/steps"},
    {"verify/moves"},
    {"verify"},
    {"readback", "lint", "explain"},
    {"audit"},
    {"report"},
    {"run"},
    {"plots"},
    {"cache"},
    {"pipeline"},
    {"advise"},
    {"experiment"},
    {"front"},
    {"cli", "commands", "display", "__main__", "__init__", "recheck"},
)
"""The rooms of the package, from the ground up: a room imports from lower layers only."""
LAYER = {room: layer for layer, rooms in enumerate(LAYERS) for room in rooms}
OPEN_LAYERS = (0, len(LAYERS) - 1)
"""The layers whose rooms may import each other."""
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
ENTRY_POINTS = {"run/load_module.py", "spec/python_file.py", "lint/user_file.py"}
"""Where code is imported: an emitted module to run it, a Python spec, and a step in `lint`'s child processes."""
COPIED = ("kernel",)
"""Rooms that are copied and run without the others: they alone import their own files by relative names."""
RELATIVE = "<relative import>"
ENDS = {"commands/clean_exit.py", "commands/outputs.py"}
"""Where the streams themselves are looked after."""


@dataclass(frozen=True, slots=True)
class Read:
    """What the rules ask of a file; its syntax tree, which is large, is not kept."""

    statements: int
    imports: tuple[tuple[int, str], ...]
    """Line and module, for each import of this package."""
    prints: tuple[str, ...]
    evaluations: tuple[str, ...]


@cache
def paths() -> Mapping[str, Path]:
    """Return the files of the package, but for documents and data and what made these."""
    found = (path for path in sorted(PACKAGE.rglob("*.py")) if PACKAGE / "catalogue" not in path.parents)
    return {path.relative_to(PACKAGE).as_posix(): path for path in found}


@cache
def sources() -> Mapping[str, Read]:
    """Return what every file of the package holds, parsed and walked through once for all rules."""
    return {file: read(file, path.read_text(encoding="utf-8")) for file, path in paths().items()}


def read(file: str, text: str) -> Read:
    """Return what a text holds as a file of the package."""
    tree = ast.parse(text)
    nodes = [*ast.walk(tree)]
    imported, printed, evaluated = imports(nodes), prints(file, nodes), evaluations(file, nodes)
    return Read(len(tree.body), tuple(imported), tuple(printed), tuple(evaluated))


def module(file: str) -> str:
    """Return the module of a file by its path: `formula/show`; of a package, `formula/__init__`."""
    return file.removesuffix(".py")


def room(file: str) -> str:
    """Return the room a file or module is in: its folder, or its own name on the top level."""
    folder, _, name = module(file).rpartition("/")
    return folder or name


def is_package(file: str) -> bool:
    """Whether a file is the `__init__.py` of a folder: it holds a sentence and imports nothing."""
    return file.endswith("/__init__.py")


@cache
def modules() -> frozenset[str]:
    return frozenset(module(file) for file in paths() if not is_package(file))


def imports(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield line and module for each import of this package, wherever in the file it stands."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                named = [alias.name for alias in names]
            case ast.ImportFrom(level=0, module=str(origin), names=names):
                named = [f"{origin}.{alias.name}" for alias in names]
            case ast.ImportFrom(level=level) if level > 0:
                named = [f"recipe_compiler.{RELATIVE}"]
            case _:
                continue
        for name in named:
            first, *parts = name.split(".")
            if first != "recipe_compiler":
                continue
            longest = (("/".join(parts[:k])) for k in range(len(parts), 0, -1))
            yield node.lineno, next((m for m in longest if m in modules()), "/".join(parts[:1]) or "__init__")


def climbs(file: str, own: Read) -> list[str]:
    """Imports that do not go down, and imports of something no layer knows."""
    here = room(file)
    return [
        f"{file}:{line} imports {there}"
        for line, there in own.imports
        if here not in COPIED or there != RELATIVE
        if (other := room(there)) not in LAYER
        or (other != here and LAYER[other] >= LAYER[here] and LAYER[here] not in OPEN_LAYERS)
    ]


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the sets of two or more modules, or rooms, that import each other, directly or by way of others."""

    def reached(start: str) -> set[str]:
        found, ahead = set[str](), [start]
        while ahead:
            for there in graph.get(ahead.pop(), set()) - found:
                found.add(there)
                ahead.append(there)
        return found

    reach = {here: reached(here) for here in graph}
    loops = {frozenset({*(there for there in reach[here] if here in reach.get(there, set()))}) for here in graph}
    return sorted(sorted(loop) for loop in loops if len(loop) > 1)


@cache
def imported_modules() -> dict[str, set[str]]:
    """Return for each module of the package those that it imports."""
    return {
        module(file): {there for _, there in own.imports if there != module(file)}
        for file, own in sources().items()
        if not is_package(file)
    }


def imported_rooms() -> dict[str, set[str]]:
    """Return for each folder those that its files import from."""
    folders: dict[str, set[str]] = {}
    for here, theirs in imported_modules().items():
        folders.setdefault(room(here), set()).update(room(there) for there in theirs if room(there) != room(here))
    return folders


def prints(file: str, nodes: list[ast.AST]) -> list[str]:
    """Where a file writes to the terminal."""
    names = {"print", "stdout", "stderr", "Console"}
    return [
        f"{file}:{node.lineno}"
        for node in nodes
        if (isinstance(node, ast.Name) and node.id in names) or (isinstance(node, ast.Attribute) and node.attr in names)
    ]


def evaluations(file: str, nodes: list[ast.AST]) -> list[str]:
    """Where a file could evaluate text: builtins called by name, and SymPy's parsers however they are reached."""
    found: list[str] = []
    for node in nodes:
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


def test_every_room_of_the_package_has_a_layer() -> None:
    rooms = {room(file) for file in paths() if not is_package(file)}
    assert sorted(rooms ^ LAYER.keys()) == []


def test_packages_hold_a_sentence_and_no_code() -> None:
    assert [file for file, own in sources().items() if is_package(file) and own.statements != 1] == []


def test_imports_go_down_the_layers_only() -> None:
    assert [fault for file, own in sources().items() for fault in climbs(file, own)] == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert cycles(imported_modules()) == []


def test_no_room_imports_itself_by_way_of_others() -> None:
    assert cycles(imported_rooms()) == []


def test_the_second_engine_knows_nothing_of_the_first() -> None:
    engine = {file: own for file, own in sources().items() if file.startswith("algebra/")}
    assert "algebra/scalars/entries.py" in engine
    theirs = [(file, room(there)) for file, own in engine.items() for _, there in own.imports]
    assert [(file, there) for file, there in theirs if there in {"tensor", "derive"}] == []


def test_what_a_program_means_is_said_without_its_lowering() -> None:
    graph, ahead = imported_modules(), {"readback/mean", "readback/moves", "readback/laws"}
    reached = set[str]()
    while ahead - reached:
        reached |= ahead
        ahead = set[str]().union(*(graph.get(there, set()) for there in reached))
    assert "program/program" in reached
    assert [there for there in sorted(reached) if there.startswith(("program/lower", "program/loop", "emit/"))] == []


def test_the_standalone_checker_is_nobodys_and_imports_nothing_of_ours_but_its_kernel() -> None:
    graph = imported_modules()
    assert {room(file) for file in graph["recheck"]} == {"kernel"}
    assert {there for file, own in sources().items() if room(file) == "kernel" for _, there in own.imports} == {
        RELATIVE
    }
    assert [file for file, theirs in graph.items() if "recheck" in theirs] == []


def test_only_the_command_line_prints() -> None:
    # a progress bar goes to stderr, and only when the command line, or a caller of an emitted `sample`, asks for it
    of_files = {"emit/support/chains.py"}
    allowed = {
        "cli.py",
        "display.py",
        "__main__.py",
        "run/progress.py",
        "recheck.py",
        "lint/user_file.py",
        *ENDS,
        *of_files,
    }
    assert [place for file, own in sources().items() if file not in allowed for place in own.prints] == []


def test_nothing_evaluates_text() -> None:
    closed = {file: own for file, own in sources().items() if file not in ENTRY_POINTS}
    assert [place for own in closed.values() for place in own.evaluations] == []


def test_the_entry_points_of_code_are_in_use() -> None:
    assert [file for file in sorted(ENTRY_POINTS) if not sources()[file].evaluations] == []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("formula/show.py", "from recipe_compiler.tensor.terms import Tensor"),
        ("tensor/terms.py", "def f():\n    from recipe_compiler.algebra.zero.zero import zero"),
        ("verify/core/sizes.py", "from recipe_compiler.verify.equation import d_psd"),
        ("verify/infinity/diffusions_on_line.py", "from recipe_compiler.verify.claims import DYNAMICS"),
        ("algebra/zero/zero.py", "from recipe_compiler.algebra.positivity.prove import proved"),
        ("derive/recipe.py", "import recipe_compiler.pipeline"),
        ("spec/load.py", "from recipe_compiler import Dynamics"),
        ("run/sample.py", "from . import chains"),
        ("run/stages.py", "from recipe_compiler.advise.forecast import forecast"),
        ("pipeline.py", "from recipe_compiler.advise.chosen import Plan"),
        ("emit/module.py", "from recipe_compiler.cli import main"),
        ("emit/module.py", "from recipe_compiler.drawer import things"),
    ],
)
def test_a_climbing_import_is_found(file: str, text: str) -> None:
    assert len(climbs(file, read(file, text))) == 1


def test_an_import_that_goes_down_is_not_a_fault() -> None:
    text = "from recipe_compiler.emit.module import Module\nfrom recipe_compiler.errors import X"
    assert climbs("run/sample.py", read("run/sample.py", text)) == []


def test_a_cycle_is_found() -> None:
    ring = {"a/x": {"a/y"}, "a/y": {"b/z"}, "b/z": {"a/x"}, "c/w": {"a/x"}}
    assert cycles(ring) == [["a/x", "a/y", "b/z"]]
    assert cycles({**ring, "b/z": set()}) == []


def test_a_cycle_put_into_the_package_is_found() -> None:
    graph = imported_modules()
    assert "formula/expression" in graph["tensor/convert"]
    planted = graph | {"formula/expression": graph["formula/expression"] | {"tensor/convert"}}
    assert [loop for loop in cycles(planted) if {"formula/expression", "tensor/convert"} <= set(loop)]


@pytest.mark.parametrize("text", ["print(1)", "import sys\nsys.stdout.write('a')", "Console()"])
def test_a_print_is_found(text: str) -> None:
    assert len(read("run/sample.py", text).prints) == 1


@pytest.mark.parametrize(
    "text",
    ["eval('1')", "exec('1')", "import sympy\nsympy.sympify('x')", "from sympy import parse_expr", "__import__('os')"],
)
def test_an_evaluation_is_found(text: str) -> None:
    assert len(read("formula/syntax.py", text).evaluations) == 1
