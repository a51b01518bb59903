"""What reading back costs, counted in calls: about linear in the coordinates of a target of several blocks."""

import cProfile
import pstats
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.program.schedule import schedule
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

SPECS = Path(__file__).parents[2] / "specs"


def calls(tmp_path: Path, groups: int) -> int:
    """Return the calls that reading back the shipped text takes, of the eight schools with more of them."""
    text = (SPECS / "builds" / "sghmc_eight_schools.yaml").read_text(encoding="utf-8")
    text = text.replace("../", f"{SPECS}/").replace("J: 8", f"J: {groups}")
    path = tmp_path / f"schools_{groups}.yaml"
    path.write_text(text, encoding="utf-8")
    build = load_build(path)
    sizes = dict(build.sizes)
    shipped = rename(discretise(build, derive(bind(build), stated=True)), sizes)
    module = emit_module(build.name, shipped, schedule(shipped, lower(shipped)), "A test.", "0" * 64)
    profile = cProfile.Profile()
    profile.runcall(check_shipped, module, sizes)
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


def test_reading_back_is_about_linear_in_the_groups(tmp_path: Path) -> None:
    some, more, most = (calls(tmp_path, groups) for groups in (20, 40, 60))
    assert most - more == pytest.approx(more - some, rel=0.08)
