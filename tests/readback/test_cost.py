"""What reading back costs, in calls: about linear in the coordinates; of long loops it is free of their size."""

import cProfile
import pstats
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"


WORD = """
format: 1
name: wide
dynamics: SPECS/dynamics/sghmc.yaml
target: SPECS/targets/standard_normal.yaml
bind: {M: I, C: c*I}
parameters: {c: {is: nonnegative, value: 1}}
scheme: {name: baoab}
variant: full
sizes: {d: SIZE}
run: {step_size: 0.1}
"""


def word(tmp_path: Path, size: int) -> Build:
    path = tmp_path / "wide.yaml"
    path.write_text(WORD.replace("SPECS", str(SPECS)).replace("SIZE", str(size)), encoding="utf-8")
    return load_build(path)


def calls(tmp_path: Path, groups: int) -> int:
    """Return the calls that reading back the shipped text takes, of the eight schools with more of them."""
    text = (SPECS / "builds" / "sghmc_eight_schools.yaml").read_text(encoding="utf-8")
    text = text.replace("../", f"{SPECS}/").replace("J: 8", f"J: {groups}")
    path = tmp_path / f"schools_{groups}.yaml"
    path.write_text(text, encoding="utf-8")
    return calls_of(load_build(path))


def calls_of(build: Build) -> int:
    sizes = dict(build.sizes)
    shipped = rename(discretise(build, derive(bind(build), stated=True)), sizes)
    module = emit_module(build.name, shipped, schedule(shipped, lower(shipped)), "A test.", "0" * 64)
    profile = cProfile.Profile()
    profile.runcall(check_shipped, module, sizes)
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


@pytest.mark.slow
def test_reading_back_is_about_linear_in_the_groups(tmp_path: Path) -> None:
    some, more, most = (calls(tmp_path, groups) for groups in (20, 40, 60))
    assert most - more == pytest.approx(more - some, rel=0.08)


@pytest.mark.slow
def test_the_noise_of_a_word_is_read_back_in_linear_time(tmp_path: Path) -> None:
    few, more, many = (calls_of(word(tmp_path, size)) for size in (50, 200, 800))
    assert many - more == pytest.approx(4 * (more - few), rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "loop"), [(1000, "for i in range(1000):"), (30_000, "for i in range(d):")])
def test_a_long_loop_reads_its_size_off_an_array(tmp_path: Path, size: int, loop: str) -> None:
    """The text for every size is read at 1, 2, 3; one with 30,000 in it would be read at 30,000, for two minutes."""
    text = compile_build(word(tmp_path, size)).text
    assert loop in text
    assert (str(size) in text) is (size == 1000)
