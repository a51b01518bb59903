"""The cache as a user meets it."""

import os
from pathlib import Path

SGLD = "specs/dynamics/sgld.yaml"
FEW_DRAWS = (0, 4)
"""So few draws may be no good, which is not what is asked here."""


def kept() -> list[Path]:
    return [path for path in Path(os.environ["XDG_CACHE_HOME"]).rglob("*") if path.is_file()]


def test_a_second_check_says_the_same(recipe) -> None:
    first = recipe("check", SGLD)
    assert len(kept()) == 1
    assert recipe("check", SGLD) == first


def test_nothing_is_kept_where_that_is_not_wanted(recipe) -> None:
    assert recipe("check", SGLD, "--no-cache").code == 0
    assert kept() == []


def test_a_second_run_with_other_settings_is_not_verified_again(recipe, tmp_path: Path) -> None:
    build = "specs/builds/sgld_gaussian.yaml"
    short = ("--warmup", "5", "--thin", "10", "--chains", "2", "-o", tmp_path)
    assert recipe("run", build, *short, "--draws", "40").code in FEW_DRAWS
    first = kept()
    assert recipe("run", build, *short, "--draws", "50", "--step-size", "0.04").code in FEW_DRAWS
    assert kept() == first
