"""The synthetic data are what their script makes, and stand as they ship."""

import runpy
from pathlib import Path

DATA = Path(__file__).parents[2] / "specs" / "data"


def test_the_files_are_those_of_the_script() -> None:
    made = dict(runpy.run_path(str(DATA / "make_twins.py"))["files"]())
    assert {name: (DATA / name).read_text() for name in made} == made
