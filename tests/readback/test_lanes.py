"""Chains side by side: every fault planted in `step_lanes` is found by reading it back."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from cycles import cycle_build, texts
from loaders import load_build
from some import some

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

BUILDS = Path(__file__).parents[2] / "specs" / "builds"
NAMES = ("sghmc_gaussian", "sgld_gaussian", "sgnht_gaussian", "sghmc_gaussian_baoab", "hmc", "again_every")
ACCEPTED = ("hmc", "again_every")
"""Cycles of moves that are accepted or refused, of a Gaussian in three dimensions; the last not all in each cycle."""


@cache
def made(name: str) -> Module:
    if name in ACCEPTED:
        return texts(cycle_build("gaussian", name))["shipped"].module
    build = load_build(BUILDS / f"{name}.yaml")
    program = rename(discretise(build, derive(bind(build), stated=True)), dict(build.sizes))
    return emit_module(build.name, program, schedule(program, lower(program)), "A test.\n", "0" * 64)


@pytest.mark.parametrize("name", NAMES)
def test_lanes_are_there_and_read_back(name: str) -> None:
    assert "def step_lanes(" in made(name).text
    check_shipped(made(name), {})


FAULTS = {
    "a lane left out": ("range(np.uint64(64))", "range(np.uint64(63))"),
    "the state of another lane": ("theta_0 = lanes[lane]", "theta_0 = lanes[np.uint64(63) - lane]"),
    "two entries swapped": ("theta_1 = lanes[np.uint64(64) + lane]", "theta_1 = lanes[np.uint64(128) + lane]"),
    "an entry not stored": ("        lanes[np.uint64(64) + lane] = theta_1\n", ""),
    "stored in another place": ("lanes[np.uint64(64) + lane] = theta_1", "lanes[np.uint64(128) + lane] = theta_1"),
    "stored in another lane": ("lanes[lane] = theta_0", "lanes[np.uint64(63) - lane] = theta_0"),
    "one normal for all lanes": ("_0 = lanes_noise[lane]", "_0 = lanes_noise[np.uint64(0)]"),
    "one normal for two entries": ("_1 = lanes_noise[np.uint64(64) + lane]", "_1 = lanes_noise[lane]"),
}
OF_MOVES = {
    "U not kept": ("lanes[np.uint64(576) + lane] = U_0", "lanes[np.uint64(576) + lane] += U_0"),
    "the gradient of another lane": (
        "grad_U_0 = lanes[np.uint64(384) + lane]", "grad_U_0 = lanes[np.uint64(447) - lane]"
    ),
    "acceptance of the last step alone": ("lanes_told[lane] += acceptance_0", "lanes_told[lane] = acceptance_0"),
    "acceptance of all lanes in one": ("lanes_told[lane] +=", "lanes_told[np.uint64(0)] +="),
}  # fmt: skip
"""Of what moves carry on and tell."""
PLANTED = [(name, fault) for name in NAMES for fault in FAULTS] + [
    (name, fault) for name in ACCEPTED for fault in OF_MOVES
]


@pytest.mark.parametrize(("name", "fault"), some(PLANTED, 3))
def test_faults_of_the_text_are_found(name: str, fault: str) -> None:
    found, wrong = (FAULTS | OF_MOVES)[fault]
    before, step_lanes = made(name).text.split("def step_lanes(")
    assert found in step_lanes
    faulty = replace(made(name), text=before + "def step_lanes(" + step_lanes.replace(found, wrong, 1))
    with pytest.raises(CompilerError):
        check_shipped(faulty, {})
