"""The page that adds a function adds it: to a copy of the package, by its rows alone. What lacks a row is said."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "howto_function.md").read_text(encoding="utf-8")
ROW = re.compile(r"<!-- goes into: (?P<file>\S+), before: `(?P<before>.+?)` -->\n```text\n(?P<code>.*?)```\n", re.S)
FILE = re.compile(r"<!-- file: (?P<file>\S+) -->\n```yaml\n(?P<text>.*?)```\n", re.S)
COMMAND = re.compile(r"^\$ (?P<line>.+)\n(?P<printed>(?:(?!\$ |```).*\n)*)", re.M)
ROWS = list(ROW.finditer(PAGE))
FIRST, MEANING, KERNEL, RECHECK = ROWS

pytestmark = pytest.mark.filterwarnings("error")


class House:
    """A copy of the package and its tests in a folder, and the commands of it."""

    def __init__(self, at: Path) -> None:
        self.at = at
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "recipe_compiler", at / "recipe_compiler", ignore=ignored)
        shutil.copytree(ROOT / "tests" / "formula", at / "tests" / "formula", ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", at)
        for found in FILE.finditer(PAGE):
            (at / found["file"]).write_text(found["text"])

    def put(self, row: re.Match[str], code: str | None = None) -> None:
        path = self.at / row["file"]
        text = path.read_text(encoding="utf-8")
        assert text.count(row["before"]) == 1
        path.write_text(text.replace(row["before"], (code or row["code"]) + row["before"]))

    def run(self, line: str) -> str:
        """Return what a command prints, errors too."""
        name, *arguments = shlex.split(line)
        commands = {"recipe": ["-m", "recipe_compiler"], "recheck": ["recipe_compiler/recheck.py"]}
        command = [sys.executable, *commands.get(name, ["-m", name]), *arguments]
        environment = os.environ | {
            "PYTHONPATH": str(self.at),
            "XDG_CACHE_HOME": str(self.at / "cache"),
            "COLUMNS": "200",
        }
        done = subprocess.run(command, cwd=self.at, env=environment, capture_output=True, text=True, timeout=300)
        return done.stdout + done.stderr


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_the_page_adds_a_function(house: House) -> None:
    for row in ROWS:
        house.put(row)
    commands = list(COMMAND.finditer(PAGE))
    assert len(commands) == 4
    for command in commands:
        printed = house.run(command["line"])
        for line in command["printed"].splitlines():
            assert line in printed, printed
    assert "math.asinh(theta" in (house.at / "out" / "slow_growth_plane.py").read_text()
    facts = house.run(
        "pytest tests/formula/test_elementwise.py -q -p no:cacheprovider -k 'arsinh or engines or other_file'"
    )
    assert " passed" in facts, facts
    assert "failed" not in facts, facts


def test_only_the_files_of_the_page_are_touched() -> None:
    assert {row["file"] for row in ROWS} == {
        "recipe_compiler/formula/elementwise.py",
        "recipe_compiler/algebra/scalars/elementwise.py",
        "recipe_compiler/recheck.py",
    }


def test_a_missing_row_is_named_and_nothing_is_proved(house: House) -> None:
    house.put(FIRST)
    said = house.run("recipe check dynamics.yaml")
    assert "slow_growth: undecided" in said
    assert "arsinh of 1 arguments is not known to the second engine" in said
    assert "arsinh(theta) has a value: the second engine's table lacks arsinh" in said
    house.put(MEANING)
    house.put(KERNEL)
    house.run("recipe check --certificate proof.json dynamics.yaml")
    assert "UnreadError: arsinh(theta)" in house.run("recheck proof.json")


def test_a_wrong_derivative_in_one_table_proves_nothing(house: House) -> None:
    house.put(FIRST, FIRST["code"].replace("1/sqrt(1 + x**2)", "1/(1 + x**2)"))
    house.put(MEANING)
    house.put(KERNEL)
    said = house.run("recipe check dynamics.yaml")
    assert "slow_growth: refuted" in said
    assert "the engines disagree on the residual" in said


def test_a_wrong_name_of_what_is_emitted_is_read_back(house: House) -> None:
    house.put(FIRST, FIRST["code"].replace("math.asinh", "math.sinh"))
    house.put(MEANING)
    house.put(KERNEL)
    said = house.run("recipe compile -o out build.yaml")
    assert "the emitted text was read back and differs from its Program" in said
    assert not (house.at / "out" / "slow_growth_plane.py").exists()
