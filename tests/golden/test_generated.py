"""generated/ is what the specs compile to, byte for byte; whatever the hash seed, the module is the same text.

Its texts are read back in `tests/readback`.
"""

import ast
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build

ROOT = Path(__file__).parents[2]
BUILDS = sorted((ROOT / "specs" / "builds").glob("*.yaml"))


def compiled(path: Path) -> str:
    build = load_build(path)
    return compile_build(build).file


@pytest.mark.usefixtures("without_reading_back")
@pytest.mark.parametrize("path", BUILDS, ids=lambda path: path.stem)
def test_generated_is_current(path: Path, request: pytest.FixtureRequest) -> None:
    golden = ROOT / "generated" / f"{path.stem}.py"
    text = compiled(path)
    if request.config.getoption("--update-golden"):
        golden.write_text(text, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == text, f"recipe compile {path.relative_to(ROOT)} -o generated"


def test_nothing_else_is_in_generated() -> None:
    assert {path.stem for path in (ROOT / "generated").glob("*.py")} == {path.stem for path in BUILDS}


@pytest.mark.slow
def test_the_text_does_not_depend_on_the_hash_seed() -> None:
    path = ROOT / "specs" / "builds" / "generalised_langevin_gaussian.yaml"
    program = (
        "import hashlib, pathlib, sys\n"
        "from recipe_compiler.pipeline import compile_build\n"
        "from recipe_compiler.spec.load import load\n"
        "print(hashlib.sha256(compile_build(load(pathlib.Path(sys.argv[1]))).file.encode()).hexdigest())\n"
    )
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    command = [sys.executable, "-c", program, str(path)]
    other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    golden = (ROOT / "generated" / f"{path.stem}.py").read_bytes()
    assert other.stdout.strip() == hashlib.sha256(golden).hexdigest()


def test_generated_is_laid_out_as_the_formatter_would() -> None:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "--check", "--diff"]
    found = subprocess.run([*command, str(ROOT / "generated")], capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("path", BUILDS, ids=lambda path: path.stem)
def test_modules_import_pythons_own_numpy_and_numba_only(path: Path) -> None:
    text = (ROOT / "generated" / f"{path.stem}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    modules = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    # llvmlite comes with numba: the intrinsic that asks for rows is written with it
    own = ({"numba.extending"} if "@intrinsic" in text else set()) | ({"llvmlite"} if "def _ask_for" in text else set())
    of_python = {"math", "os", "sys", "threading", "time", "warnings", "concurrent.futures"}
    assert modules == {"numpy", "numba", *of_python, *own}
