"""One iteration of `run`: every fault planted in how it draws, steps and keeps is found by reading it back."""

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from loaders import load_build
from some import some

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Shift
from recipe_compiler.program.rename import rename
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.readback.run_loop import check_iteration
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

ROOT = Path(__file__).parents[2]
BUILDS = {
    "registers": ("specs/builds/sghmc_gaussian", 2),
    "rows": ("specs/builds/sghmc_logistic", 2),
    "two arrays": ("specs/builds/sghmc_logistic", 3),
    "chunks": ("benchmarks/builds/sgld_w5", 200),
}
GENERATORS = ("xoshiro", "philox", "numpy")


@cache
def made(shape: str, generator: str) -> Module:
    name, d = BUILDS[shape]
    build = load_build(ROOT / f"{name}.yaml")
    build = replace(build, bit_generator=generator, replacement=shape == "two arrays")
    program = rename(discretise(build, derive(bind(build), stated=True)), {"d": d})
    return emit_module(build.name, program, schedule(program, lower(program)), "A test.\n", "0" * 64)


def sizes(shape: str) -> dict[str, int]:
    return {"d": BUILDS[shape][1]}


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("shape", BUILDS)
def test_turns_are_read(shape: str, generator: str) -> None:
    check_iteration(made(shape, generator), sizes(shape))


# ruff: noqa: E501
XOSHIRO = {
    "a normal twice": ("registers", "noise_r_1, s0, s1, s2, s3 = _next", "noise_r_0, s0, s1, s2, s3 = _next"),
    "a state that stays": ("registers", "noise_r_0, s0, s1, s2, s3 = _next", "noise_r_0, s0, s1, s2, _ = _next"),
    "words in another order": ("registers", "_next_normal(s0, s1, s2, s3)", "_next_normal(s1, s0, s2, s3)"),
    "a state not kept": ("registers", "    noise_state[2] = s2\n", ""),
    "a word of another": ("registers", "    noise_state[2] = s2\n", "    noise_state[2] = s1\n"),
    "the state of another place": ("registers", "    s1 = noise_state[1]", "    s1 = noise_state[0]"),
    "noise of the batch's stream": ("rows", "_fill_normals(noise_state, noise_r)", "_fill_normals(batch_state, noise_r)"),
    "no noise drawn": ("rows", "            _fill_normals(noise_state, noise_r)\n", ""),
    "noise drawn twice in its place": ("rows", "_fill_normals(noise_state, noise_r)", "_fill_normals(noise_state, theta)"),
    "a batch of the noise's stream": ("rows", "_shuffle_indices(batch_state,", "_shuffle_indices(noise_state,"),
    "no batch": ("rows", "            _shuffle_indices(batch_state, permutation, batch)\n", ""),
    "a batch of too few rows": ("two arrays", "_fill_indices(batch_state, x.shape[0],", "_fill_indices(batch_state, theta.shape[0] - 1,"),
    "a parameter for another": ("rows", "            step(theta_new, r_new, theta, r, c, prior_variance,", "            step(theta_new, r_new, theta, r, prior_variance, c,"),
    "blocks swapped in a step": ("rows", "            step(theta_new, r_new, theta, r,", "            step(theta_new, r_new, r, theta,"),
    "a new block for two": ("rows", "            step(theta_new, r_new, theta, r,", "            step(r_new, r_new, theta, r,"),
    "a block not kept": ("rows", "                r[entry] = r_new[entry]\n", ""),
    "a block kept as another": ("rows", "r[entry] = r_new[entry]", "r[entry] = theta_new[entry]"),
    "entries left out": ("rows", "for entry in range(2):\n                theta", "for entry in range(1):\n                theta"),
    "entries returned swapped": ("registers", "theta_0, theta_1, r_0, r_1 = step(", "theta_1, theta_0, r_0, r_1 = step("),
    "an entry written back as another": ("registers", "    theta[1] = theta_1\n", "    theta[1] = theta_0\n"),
    "an entry not written back": ("registers", "    theta[1] = theta_1\n", ""),
    "no sweep": ("chunks", "            sweep(", "            len("),
}  # fmt: skip
PHILOX = {
    "a pair twice": ("registers", "_pair_philox(s0, s1, s2, 0)", "_pair_philox(s0, s1, s2, 0)[::-1]"),
    "one draw for two": ("registers", "noise_r_0, noise_r_1 = _pair", "noise_r_0, noise_r_0 = _pair"),
    "no next step": ("registers", "            s2 += np.uint64(1)\n", ""),
    "a step too far": ("registers", "s2 += np.uint64(1)", "s2 += np.uint64(2)"),
    "another chain": ("registers", "s2 += np.uint64(1)", "s1 += np.uint64(1)"),
    "the step not kept": ("registers", "    noise_state[2] = s2\n", ""),
    "no next step of arrays": ("rows", "            _next_step(noise_state)\n", ""),
    "the next step of another stream": ("rows", "_next_step(noise_state)", "_next_step(batch_state)"),
    "noise of the batch's stream": ("rows", "_fill_normals_philox(noise_state,", "_fill_normals_philox(batch_state,"),
    "half a pair": ("rows", "_fill_normals_philox(noise_state, 0,", "_fill_normals_philox(noise_state, 1,"),
    "no next step of chunks": ("chunks", "            _next_step(noise_state)\n", ""),
    "the first chunk again and again": ("chunks", "_fill_normals_philox(noise_state, first,", "_fill_normals_philox(noise_state, 0,"),
}  # fmt: skip
NUMPY = {
    "a normal twice": ("registers", "noise_r_1 = _next_normal_numpy(noise_state)", "noise_r_1 = noise_r_0"),
    "noise of the batch's stream": ("rows", "_fill_normals_numpy(noise_state,", "_fill_normals_numpy(batch_state,"),
    "old noise": ("rows", "            _fill_normals_numpy(noise_state, noise_r)\n", ""),
}
PLANTED = {"xoshiro": XOSHIRO, "philox": PHILOX, "numpy": NUMPY}


@pytest.mark.parametrize(
    ("generator", "fault"), some([(generator, name) for generator in PLANTED for name in PLANTED[generator]], 2)
)
def test_faults_of_the_text_are_found(generator: str, fault: str) -> None:
    shape, found, wrong = PLANTED[generator][fault]
    module = made(shape, generator)
    text = ast.unparse(ast.parse(module.text))  # every call on one line
    assert found in text, text[text.index("def run(") : text.index("def seed_streams(")]
    faulty = replace(module, text=text.replace(found, wrong))
    with pytest.raises(CompilerError):
        check_iteration(faulty, sizes(shape)) if fault != "the first chunk again and again" else check_shipped(
            faulty, {}
        )


def test_two_arrays_of_a_step_are_drawn_from_places_that_differ() -> None:
    """Blocks with noise of their own, in arrays: the second begins after the first."""
    build = load_build(ROOT / "specs/builds/sghmc_logistic.yaml")
    program = replace(discretise(build, derive(bind(build), stated=True)), bit_generator="philox")
    (noise,) = program.noises
    other = replace(noise, name="w_theta", blocks=(program.blocks[0],))
    added = tuple(replace(s, noise=f"w_{s.block.name}") if isinstance(s, Shift) else s for s in program.statements)
    twice = rename(replace(program, statements=(other, *added)), {"d": 3})
    module = emit_module(build.name, twice, lower(twice), "A test.\n", "0" * 64)
    first = "_fill_normals_philox(noise_state, 0, noise_theta)"
    second = "_fill_normals_philox(noise_state, noise_theta.shape[0] + noise_theta.shape[0] % 2, noise_r)"
    assert first in module.text
    assert second in module.text
    check_iteration(module, {"d": 3})
    faulty = replace(module, text=module.text.replace(second, second.replace(" + noise_theta.shape[0] % 2", " - 1")))
    with pytest.raises(CompilerError, match="a normal twice"):
        check_iteration(faulty, {"d": 3})
