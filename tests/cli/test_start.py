"""What the command line answers without having to think."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import recipe
from typer.testing import CliRunner

import recipe_compiler
from recipe_compiler.cli import app

ROOT = Path(__file__).parents[2]
HEAVY = ("sympy", "numba", "numpy", "xarray", "arviz_stats", "flint", "ruamel", "rich")


def test_the_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\nfrom recipe_compiler.cli import main\nsys.argv = ['recipe', '--help']\n"
        "try:\n    main()\nfinally:\n"
        f"    print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "check" in done.stdout


def test_the_help_takes_less_than_half_a_second_and_names_the_exit_codes() -> None:
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "recipe_compiler", "--help"], capture_output=True, text=True, check=True
    )
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 0.5
    words = " ".join(done.stdout.split())
    assert "0 proved; 1 refuted; 2 wrong usage or a faulty document; 3 undecided" in words


def imported(*arguments: str, folder: Path = ROOT) -> set[str]:
    """Return the packages that a command imports, its children's too."""
    command = [sys.executable, "-X", "importtime", "-m", "recipe_compiler", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 4), done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rsplit("|", 1)[1].strip() for line in lines}


UNUSED = {"numba", "llvmlite", "numpy", "scipy", "clarabel", "xarray", "arviz_base", "arviz_stats", "h5netcdf"}
"""What most documents are decided without."""
LATER = {
    "pipeline", "emit.module", "program.lower", "readback.readback", "explain.repairs", "run.sample",
    "verify.claims_in_builds", "report.in_builds", "splitting.split_by", "program.program", "program.loops",
    "spec.read_build", "spec.read_target", "spec.schema_build", "spec.schema_scheme", "spec.schema_target",
}  # fmt: skip
"""Parts of our own that come after the verdicts, are about other kinds, or come where a claim is refuted."""

DECIDES = {
    "sympy",
    "recipe_compiler.report.check",
    "recipe_compiler.verify.claims",
    "recipe_compiler.readback.readback",
}
"""What a document brings that nothing is known of yet."""

TABLES_OF_THE_JIT = "numba.np.arraymath"
"""Of the modules by which numba compiles, one that loading what is compiled does without."""


@pytest.mark.slow
@pytest.mark.parametrize("document", ["sghmc", "sgld", "sgnht"])
def test_a_check_imports_what_it_needs(document: str) -> None:
    found = imported("check", f"specs/dynamics/{document}.yaml")
    assert "sympy" in found
    assert found & (UNUSED | {f"recipe_compiler.{name}" for name in LATER}) == set()


@pytest.mark.slow
def test_a_verdict_that_is_known_is_said_without_deciding_again() -> None:
    imported("check", "specs/dynamics/sghmc.yaml")
    assert imported("check", "specs/dynamics/sghmc.yaml") & (UNUSED | DECIDES) == set()


@pytest.mark.slow
def test_a_second_run_with_another_step_imports_nothing_that_decides_reads_back_or_compiles(tmp_path: Path) -> None:
    run = ("run", "specs/builds/sghmc_double_well.yaml", "-o", str(tmp_path), "--draws", "200", "--thin", "20")
    imported(*run)
    found = imported(*run, "--step-size", "0.05")
    assert "recipe_compiler.run.sample" in found
    assert found & (DECIDES | {"clarabel", "recipe_compiler.advise.plan", TABLES_OF_THE_JIT}) == set()


@pytest.mark.parametrize("command", ["check", "derive", "compile", "run", "new", "schema"])
def test_every_command_explains_itself(command: str) -> None:
    outcome = recipe(command, "--help")
    assert outcome.code == 0
    assert f"recipe {command}" in outcome.out
    assert recipe(command, "-h") == outcome


def test_the_version_is_that_of_the_package() -> None:
    assert recipe("--version").out == f"recipe {recipe_compiler.__version__}\n"
    assert f"\nversion: {recipe_compiler.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "expected", "not_expected"),
    [
        ("show sgl", "sgld", "sghmc"),
        ("run hmc_l", "hmc_logistic", "hmc_double_well"),
        ("check sghmc bana", "banana", "sghmc"),
        ("lint f.py:step --against sgn", "sgnht", "banana"),
    ],
)
def test_names_of_documents_are_completed(words: str, expected: str, not_expected: str) -> None:
    given = {
        "_RECIPE_COMPLETE": "complete_bash",
        "COMP_WORDS": f"recipe {words}",
        "COMP_CWORD": f"{len(words.split())}",
    }
    offered = (
        CliRunner().invoke(app, env=given | {"_RECIPE_COMPLETE": "complete_bash"}, prog_name="recipe").stdout.split()
    )
    assert expected in offered
    assert not_expected not in offered
