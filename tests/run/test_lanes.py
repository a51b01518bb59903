"""Chains as lanes: the same draws bit for bit whatever the number of chains, threads and pieces; each as if alone."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cycles import cycle_build, texts
from loaders import load_build
from reference_draws import reference_bits

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.run import chains as chains_module
from recipe_compiler.run.chain import Chain, Inputs, start_chain
from recipe_compiler.run.chains import run_chains
from recipe_compiler.run.data import load_data
from recipe_compiler.run.lanes import advance_lanes
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import Draws, sample
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"

WELL = """
format: 1
name: well
state:
  theta: {shape: d}
potential: sum(theta**4) / 4 + theta.T @ theta / 2
"""

BUILD = """
format: 1
name: lanes_{d}
dynamics: {specs}/dynamics/sghmc.yaml
target: well.yaml
bind: {{M: I, C: c*I}}
parameters: {{c: {{is: positive, value: 1}}}}
scheme: {{name: euler}}
variant: full
sizes: {{d: {d}}}
run: {{step_size: 0.05, draws: 10, chains: 1}}
"""


@pytest.fixture(scope="session")
def module(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Emitted]:
    """Return the modules of SGHMC in d dimensions."""
    folder = tmp_path_factory.mktemp("lanes")
    (folder / "well.yaml").write_text(WELL)
    return lambda d: emitted(folder, d)


@cache
def emitted(folder: Path, d: int) -> Emitted:
    file = folder / f"lanes_{d}.yaml"
    file.write_text(BUILD.format(specs=SPECS, d=d))
    build = load_build(file)
    program = rename(discretise(build, derive(bind(build), stated=True)), {"d": d})
    text = emit_module(build.name, program, schedule(program, lower(program)), "A test.\n", "0" * 64).text
    return load_text(build.name, text)


def inputs_of(module: Emitted, thin: int = 3, draws: int = 8, eps: float = 0.05) -> Inputs:
    return Inputs((1.0,), tuple(float(x) for x in module.prepare(1.0, eps)), (), 0, None, eps, thin, draws)


def chains_of(module: Emitted, inputs: Inputs, count: int, d: int) -> list[Chain]:
    noise, batch = module.seed_streams(7, count)
    starts = [np.random.default_rng(k).normal(size=(2, d)) for k in range(count)]
    return [start_chain(module, inputs, (theta, r), noise[k], batch[k]) for k, (theta, r) in enumerate(starts)]


def drawn(module: Emitted, inputs: Inputs, count: int, d: int, cores: int = 1, *, lanes: bool = True) -> np.ndarray:
    """Return all draws, chains first."""
    chains = chains_of(module, inputs, count, d)
    run_chains(module, inputs, chains, cores, lambda done, total: None, lanes=lanes)
    assert [chain.done for chain in chains] == [inputs.draws] * count
    return np.stack([np.concatenate(chain.draws, axis=1) for chain in chains])


@pytest.mark.slow
@pytest.mark.parametrize(("d", "thin"), [(1, 3), (1, 8), (2, 1), (2, 5), (3, 3)])
def test_a_chain_draws_the_same_whatever_the_number_of_chains(
    module: Callable[[int], Emitted], d: int, thin: int
) -> None:
    """Nor of threads; whether chains are lanes is stated, so that no number decides it."""
    here = module(d)
    inputs = inputs_of(here, thin)
    many, alone = drawn(here, inputs, 1000, d), drawn(here, inputs, 130, d, lanes=False)
    assert np.isfinite(many).all()
    for count in (1, 2, 63, 64, 65):
        for cores in (1, 2):
            np.testing.assert_array_equal(drawn(here, inputs, count, d, cores), many[:count])
            np.testing.assert_array_equal(drawn(here, inputs, count, d, cores, lanes=False), alone[:count])
    assert np.unique(many[:, -1, 0]).size == 1000
    assert not np.any(many[:130] == alone)


def test_a_chain_does_not_depend_on_its_lane(module: Callable[[int], Emitted]) -> None:
    here = module(2)
    inputs = inputs_of(here)
    forward, backward = chains_of(here, inputs, 64, 2), chains_of(here, inputs, 64, 2)[::-1]
    advance_lanes(here, inputs, forward, inputs.draws)
    advance_lanes(here, inputs, backward, inputs.draws)
    for one, other in zip(forward, reversed(backward), strict=True):
        np.testing.assert_array_equal(one.draws[0], other.draws[0])
        np.testing.assert_array_equal(one.noise_state, other.noise_state)


def test_draws_depend_on_neither_cores_nor_pieces(
    module: Callable[[int], Emitted], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = module(2)
    inputs = inputs_of(here)
    one = drawn(here, inputs, 130, 2, cores=1)
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 1e-9)
    monkeypatch.setattr("recipe_compiler.run.lanes.ROOM", 64 * 4 * 3)
    np.testing.assert_array_equal(drawn(here, inputs, 130, 2, cores=os.cpu_count() or 2), one)


@pytest.mark.parametrize("d", [2, *(pytest.param(d, marks=pytest.mark.slow) for d in (1, 3))])
def test_lanes_are_the_step_written_by_hand(module: Callable[[int], Emitted], d: int) -> None:
    """Every step of every chain, its normals those of its own generator, by the rule of Box and Muller."""
    here = module(d)
    inputs = inputs_of(here, thin=5, draws=4)
    found = drawn(here, inputs, 3, d)
    for k, chain in enumerate(chains_of(here, inputs, 3, d)):
        theta, r = chain.blocks
        steps = max(8 // d, 1 + d % 2)
        for draw in range(4):
            for turn in range(5):
                if turn % steps == 0:
                    rows = d * min(steps, 5 - turn)
                    normals = iter(box_muller(chain.noise_state, rows + rows % 2))
                noise = np.array([next(normals) for _ in range(d)])
                theta, r = (
                    theta + 0.05 * r,
                    r - 0.05 * (theta**3 + theta + r) + np.sqrt(2 * 0.05) * noise,
                )
            np.testing.assert_allclose(found[k, draw], np.concatenate([theta, r]), rtol=1e-9, atol=1e-11)


def box_muller(state: np.ndarray, count: int) -> list[float]:
    """Return normals of one xoshiro256++ generator, whose state moves on."""
    bits, normals = [_next_word(state) for _ in range(count + count % 2)], list[float]()
    for a, b in zip(bits[::2], bits[1::2], strict=True):
        radius = np.sqrt(-2.0 * np.log(((a >> 12) + 0.5) / 2**52))
        angle = ((b >> 12) / 2**52 - 0.5) * np.pi / 2
        x, y = (-1) ** (b & 1) * np.cos(angle), np.sin(angle)
        normals += [radius * y, radius * x] if b & 2 else [radius * x, radius * y]
    return normals


def _next_word(state: np.ndarray) -> int:
    word = next(reference_bits([int(s) for s in state]))
    with np.errstate(over="ignore"):
        state[:] = _next_bits.py_func(*state)[1:]
    return word


def test_a_diverging_chain_stops_and_its_neighbours_go_on(module: Callable[[int], Emitted]) -> None:
    here = module(2)
    inputs = inputs_of(here)
    chains, free = chains_of(here, inputs, 70, 2), chains_of(here, inputs, 70, 2)
    chains[5].blocks[0][:] = 1e200
    chains[66].blocks[0][:] = 40.0  # some steps later
    run_chains(here, inputs, chains, 2, lambda done, total: None, lanes=True)
    run_chains(here, inputs, free, 2, lambda done, total: None, lanes=True)
    assert [k for k, chain in enumerate(chains) if chain.diverging] == [5, 66]
    assert chains[5].done == 0
    assert np.isfinite(chains[66].draws[0][: chains[66].done]).all()
    for k in set(range(70)) - {5, 66}:
        assert chains[k].done == inputs.draws
        np.testing.assert_array_equal(chains[k].draws[0], free[k].draws[0])


def test_falling_step_sizes_are_those_of_every_draw(module: Callable[[int], Emitted]) -> None:
    here = module(2)
    inputs = inputs_of(here)
    sizes = [0.05 if draw < 4 else 0.01 for draw in range(8)]
    falling = replace(inputs, of_draw=lambda draw: inputs_of(here, eps=sizes[draw]))
    whole = drawn(here, falling, 3, 2)
    np.testing.assert_array_equal(whole[:, :4], drawn(here, inputs, 3, 2)[:, :4])
    assert not np.any(whole[:, 5:] == drawn(here, inputs, 3, 2)[:, 5:])


def test_chains_that_do_not_stand_at_the_same_draw_are_refused(module: Callable[[int], Emitted]) -> None:
    here = module(2)
    inputs = inputs_of(here)
    chains = chains_of(here, inputs, 2, 2)
    chains[1].done = 3
    with pytest.raises(ValueError, match="same draw"):
        advance_lanes(here, inputs, chains, 1)


PHILOX = ("variant: full", "variant: full\nnoise: {generator: philox}")
"""A generator whose numbers are the same in lanes."""
MOVES = {
    "hmc": cycle_build("gaussian", "hmc", "1/4", PHILOX),
    "a length that is drawn": cycle_build("double_well", "hmc_of_some_steps", "1/2", PHILOX),
    "ghmc": cycle_build("double_well", "ghmc", "1/2", PHILOX),
    "moves that are not all in each cycle": cycle_build("gaussian", "again_every", "1/4", PHILOX),
    "a path": replace(load_build(SPECS / "builds/baoab_path_double_well.yaml"), bit_generator="philox"),
    "a word with its gradient": replace(load_build(SPECS / "builds/sghmc_gaussian_baoab.yaml"), bit_generator="philox"),
    "reflected": replace(load_build(SPECS / "builds/hmc_reflected_categories.yaml"), bit_generator="philox"),
}
SAME = ("acceptance", "tried", "mapped", "mapped_tried")


def of_moves(build: Build, *, lanes: bool) -> Draws:
    module = texts(build)["shipped"].module
    settings = replace(build.run, draws=40, warmup=3, thin=3, chains=5, seed=3, lanes=lanes)
    return sample(load_text(module.name, module.text), build, settings, load_data(build.data, build.target))


def differences(one: Draws, other: Draws, build: Build) -> list[str]:
    """Return what of two runs differs by more than rounding: products and sums may be fused in one form alone."""
    blocks = [block.name for block in build.dynamics.declarations.blocks]
    found = [name for name in blocks if not same(one.block(name), other.block(name))]
    return found + [name for name in SAME if not same(getattr(one, name), getattr(other, name))]


def same(one: object, other: object) -> bool:
    if one is None or other is None:
        return one is other
    return np.allclose(np.asarray(one), np.asarray(other), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("moves", MOVES)
def test_a_move_that_is_refused_stops_no_lane(moves: str) -> None:
    """With numbers that are the same in lanes, so are all draws, and what is told of each move."""
    build = MOVES[moves]
    alone = of_moves(build, lanes=False)
    if alone.acceptance is not None:
        assert 0.05 < float(np.mean(alone.acceptance)) < 0.999
    assert differences(alone, of_moves(build, lanes=True), build) == []
