"""What the command line answers without having to think."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

import recipe_compiler

ROOT = Path(__file__).parents[2]
HEAVY = ("sympy", "numba", "numpy", "xarray", "arviz_stats", "flint", "pydantic", "ruamel", "rich")


def test_the_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\nfrom recipe_compiler.cli import main\nsys.argv = ['recipe', '--help']\n"
        "try:\n    main()\nfinally:\n"
        f"    print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "check" in done.stdout


def test_the_help_answers_within_half_a_second() -> None:
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", "recipe_compiler", "--help"], capture_output=True, check=True)
        best = min(best, time.perf_counter() - begin)
    assert best < 0.5


@pytest.mark.parametrize("command", ["check", "derive", "compile", "run", "new", "schema"])
def test_every_command_explains_itself(recipe, command: str) -> None:
    outcome = recipe(command, "--help")
    assert outcome.code == 0
    assert f"recipe {command}" in outcome.out


def test_the_exit_codes_are_in_the_help(recipe) -> None:
    words = " ".join(recipe("--help").out.split())
    assert "0 proved; 1 refuted; 2 wrong usage or a faulty document; 3 undecided" in words


def test_the_version_is_that_of_the_package(recipe) -> None:
    assert recipe("--version").out == f"recipe {recipe_compiler.__version__}\n"
    assert f"\nversion: {recipe_compiler.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [(), ("check",), ("run",)])
def test_h_is_help(recipe, command: tuple[str, ...]) -> None:
    assert recipe(*command, "-h").out == recipe(*command, "--help").out


def test_an_unknown_command_names_the_nearest(recipe) -> None:
    outcome = recipe("chek")
    assert outcome.code == 2
    assert "check" in outcome.err
