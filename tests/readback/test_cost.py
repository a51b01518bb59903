"""What reading back costs, in calls: about linear in the coordinates; of long loops it is free of their size."""

import cProfile
import pstats

import pytest
from answers import document
from read_back import check_shipped
from running import shipped

from recipe_compiler.pipeline import compile_build
from recipe_compiler.spec.model import Build

WORD = """
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


def word(size: int) -> Build:
    return document(WORD.replace("SIZE", str(size)))


def calls_of(build: Build) -> int:
    profile = cProfile.Profile()
    profile.runcall(check_shipped, shipped(build), dict(build.sizes))
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_noise_of_a_word_is_read_back_in_linear_time() -> None:
    few, more, many = (calls_of(word(size)) for size in (50, 200, 800))
    assert many - more == pytest.approx(4 * (more - few), rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "loop"), [(1000, "for i in range(1000):"), (30_000, "for i in range(d):")])
def test_a_long_loop_reads_its_size_off_an_array(size: int, loop: str) -> None:
    """The text for every size is read at 1, 2, 3; one with 30,000 in it would be read at 30,000, for two minutes."""
    text = compile_build(word(size)).text
    assert loop in text
    assert (str(size) in text) is (size == 1000)
