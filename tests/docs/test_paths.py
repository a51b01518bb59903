"""Paths that documents and docstrings name are there, and the map of the rooms has all of them."""

import re
from pathlib import Path

import pytest

from tests.test_layers import LAYERS

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT, ROOT / "recipe_compiler", ROOT / "recipe_compiler" / "algebra", ROOT / "docs")
NAMED = re.compile(r"`((?:\w+/)+\w+\.(?:py|md|json|bib|yaml))`")
"""A file of the repository in the text of a document or a docstring, from its root or from the package's."""
ELSEWHERE = {"sklearn"}
"""First folders of files of other projects."""


def named_but_missing(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    return [
        path
        for path in NAMED.findall(text)
        if not any((folder / path).exists() for folder in (*FOLDERS, file.parent))
        and path.partition("/")[0] not in ELSEWHERE
    ]


DOCUMENTS = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "recipe_compiler").rglob("*.py")))


def test_files_that_are_named_are_there() -> None:
    missing = {file.relative_to(ROOT).as_posix(): named_but_missing(file) for file in DOCUMENTS}
    assert {file: paths for file, paths in missing.items() if paths} == {}


def test_a_file_that_is_not_there_is_seen(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text("A checkpoint belongs to what makes draws (`run/nowhere.py`), `run/checkpoint.py` knows it.\n")
    assert named_but_missing(document) == ["run/nowhere.py"]


@pytest.mark.parametrize("room", sorted({room.partition("/")[0] for rooms in LAYERS for room in rooms} - {"__init__"}))
def test_the_map_has_every_room(room: str) -> None:
    rooms = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| room |")[2].partition("\n\n")[0]
    named = {name.strip("/") for line in rooms.splitlines() for name in re.findall(r"`([\w/]+)`", line)}
    assert room in named or room == "__main__"


@pytest.mark.parametrize("room", sorted(room for rooms in LAYERS for room in rooms if "/" in room))
def test_the_map_has_the_rooms_within_rooms(room: str) -> None:
    outer, _, inner = room.partition("/")
    rooms = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| room |")[2].partition("\n\n")[0]
    line = next(line for line in rooms.splitlines() if line.startswith((f"| `{outer}/`", f"| `{outer}`")))
    assert f"`{inner}`" in line or f"`{room}`" in line
