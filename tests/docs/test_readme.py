"""The README shows what the repository does, and its commands run."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
LINES = re.findall(r"```sh\n(.*?)\n *```", README.read_text(encoding="utf-8"), re.S)


def test_the_blocks_are_what_the_repository_makes(golden, with_made_blocks) -> None:
    golden(README, with_made_blocks(README.read_text(encoding="utf-8")))


def test_a_changed_block_is_found(with_made_blocks: Callable[[str], str]) -> None:
    text = "<!-- made by: specs/dynamics/sgld.yaml -->\n```yaml\nname: sgld\n```\n"
    assert "H: U(theta)" in with_made_blocks(text)


def test_there_are_two_commands_of_one_line_each() -> None:
    assert len(LINES) == 2
    assert all("\n" not in line.strip() for line in LINES)


def test_ci_installs_and_tests_as_the_readme_says() -> None:
    ci = (ROOT / ".ci/run").read_text(encoding="utf-8")
    for step in LINES[1].split(" && ")[2:]:
        assert step.strip() in ci


def test_the_main_job_runs(recipe_lines: list[str], command, tmp_path: Path) -> None:
    """The commands of the first line, the run shortened and both outputs elsewhere."""
    shorter = {"compile": f" -o {tmp_path}", "run": f" -o {tmp_path} --draws 100 --warmup 20 --thin 20"}
    for line in recipe_lines:
        assert "Traceback" not in command(line + shorter.get(line.split()[1], ""))
    assert (tmp_path / "sghmc_logistic.py").exists()
    assert (tmp_path / "sghmc_logistic.nc").exists()


@pytest.mark.slow
def test_the_model_that_is_written_out_is_proved_at_the_data_that_ship(command, tmp_path: Path) -> None:
    (model,) = re.findall(r"```yaml\n(# y_n = .*?)```", README.read_text(encoding="utf-8"), re.S)
    (tmp_path / "groups.yaml").write_text(model, encoding="utf-8")
    (line,) = re.findall(r"`recipe run (groups.yaml .*?)`", README.read_text(encoding="utf-8"))
    printed = command(f"recipe check hmc {line.replace('groups.yaml', f'{tmp_path}/groups.yaml')}")
    assert re.search(r"exp\(-H\) has a finite integral +proved", printed)
    assert "hmc_groups: proved" in printed


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").split()) <= 900


@pytest.mark.slow
def test_the_main_job_converges(recipe_lines: list[str], command, tmp_path: Path) -> None:
    """R-hat is at most 1.01 with the settings that ship; the seed is fixed, so this cannot flake on one machine."""
    printed = command(recipe_lines[-1] + f" -o {tmp_path}")
    worst = [float(row.split()[-2]) for row in printed.splitlines() if row.startswith("theta[")]
    assert len(worst) == 30
    assert max(worst) <= 1.01
    assert "warning" not in printed


@pytest.fixture
def recipe_lines() -> list[str]:
    return [part.strip() for part in LINES[0].split(" && ") if part.strip().startswith("recipe ")]
