"""Chains as lanes: the same draws bit for bit whatever the number of chains, threads and pieces; each as if alone."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from answers import document, shipped
from cycles import cycle_build
from reference_draws import box_muller, reference_bits
from running import data_of, module_of

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.checks import _constants
from recipe_compiler.run import chains as chains_module
from recipe_compiler.run.chain import Chain, Inputs, advance, start_chain
from recipe_compiler.run.chains import run_chains
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.model import Build

BUILD = """
name: lanes
dynamics: sghmc
target: well.yaml
bind: {M: I, C: c*I}
parameters: {c: {is: positive, value: 1}}
scheme: {name: euler}
variant: full
sizes: {d: SIZE}
run: {step_size: 0.05, draws: 10, chains: 1}
"""
WELL = "state: {theta: {shape: d}}\npotential: sum(theta**4) / 4 + theta.T @ theta / 2\n"


@cache
def sghmc(d: int) -> Build:
    return document(BUILD.replace("SIZE", str(d)), well=WELL)


def inputs_of(module: Emitted, thin: int = 3, draws: int = 8, eps: float = 0.05) -> Inputs:
    return Inputs({"c": 1.0}, _constants(module.constants, module.prepare(1.0, eps)), {}, 0, None, eps, thin, draws)


def chains_of(module: Emitted, inputs: Inputs, count: int, d: int = 2) -> list[Chain]:
    noise, batch = module.seed_streams(7, count)
    starts = [np.random.default_rng(k).normal(size=(2, d)) for k in range(count)]
    return [
        start_chain(module, inputs, {"theta": theta, "r": r}, noise[k], batch[k]) for k, (theta, r) in enumerate(starts)
    ]


def run(module: Emitted, inputs: Inputs, chains: Sequence[Chain], cores: int = 1, *, lanes: bool = True) -> None:
    run_chains(module, inputs, chains, cores, lambda done, total: None, lanes=lanes)


def drawn(inputs: Inputs, count: int, d: int = 2, cores: int = 1, *, lanes: bool = True) -> np.ndarray:
    """Return all draws, chains first."""
    module = module_of(sghmc(d))
    chains = chains_of(module, inputs, count, d)
    run(module, inputs, chains, cores, lanes=lanes)
    assert [chain.done for chain in chains] == [inputs.draws] * count
    return np.stack([np.concatenate([*chain.draws.values()], axis=1) for chain in chains])


@pytest.mark.slow
@pytest.mark.parametrize(("d", "thin"), [(1, 3), (1, 8), (2, 1), (2, 5), (3, 3)])
def test_a_chain_draws_the_same_whatever_the_number_of_chains(d: int, thin: int) -> None:
    """Nor of threads; whether chains are lanes is stated, so that no number decides it."""
    inputs = inputs_of(module_of(sghmc(d)), thin)
    many, alone = drawn(inputs, 1000, d), drawn(inputs, 130, d, lanes=False)
    assert np.isfinite(many).all()
    for count in (1, 2, 63, 64, 65):
        for cores in (1, 2):
            np.testing.assert_array_equal(drawn(inputs, count, d, cores), many[:count])
            np.testing.assert_array_equal(drawn(inputs, count, d, cores, lanes=False), alone[:count])
    assert np.unique(many[:, -1, 0]).size == 1000
    assert not np.any(many[:130, 1:] == alone[:, 1:])  # the first step moves theta by the momentum that is given


def test_draws_depend_on_neither_cores_nor_pieces_nor_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of(sghmc(2))
    inputs = inputs_of(module)
    one = drawn(inputs, 130)
    backward = chains_of(module, inputs, 64)[::-1]
    advance(module, inputs, backward, inputs.draws, lanes=True)
    for k, chain in enumerate(reversed(backward)):
        np.testing.assert_array_equal(np.concatenate([*chain.draws.values()], axis=1), one[k])
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 1e-9)
    monkeypatch.setattr("recipe_compiler.run.chain.ROOM", 64 * 4 * 3)
    np.testing.assert_array_equal(drawn(inputs, 130, cores=os.cpu_count() or 2), one)


@pytest.mark.parametrize("d", [2, *(pytest.param(d, marks=pytest.mark.slow) for d in (1, 3))])
def test_lanes_are_the_step_written_by_hand(d: int) -> None:
    """Every step of every chain, its normals those of its own generator, by the rule of Box and Muller."""
    module = module_of(sghmc(d))
    inputs = inputs_of(module, thin=5, draws=4)
    found = drawn(inputs, 3, d)
    for k, chain in enumerate(chains_of(module, inputs, 3, d)):
        theta, r = chain.state["theta"], chain.state["r"]
        steps = max(8 // d, 1 + d % 2)
        for draw in range(4):
            for turn in range(5):
                if turn % steps == 0:
                    rows = d * min(steps, 5 - turn)
                    words = [_next_word(chain.state["noise_state"]) for _ in range(rows + rows % 2)]
                    normals = iter(box_muller(words))
                noise = np.array([next(normals) for _ in range(d)])
                theta, r = theta + 0.05 * r, r - 0.05 * (theta**3 + theta + r) + np.sqrt(2 * 0.05) * noise
            np.testing.assert_allclose(found[k, draw], np.concatenate([theta, r]), rtol=1e-9, atol=1e-11)


def _next_word(state: np.ndarray) -> int:
    word = next(reference_bits([int(s) for s in state]))
    with np.errstate(over="ignore"):
        state[:] = _next_bits.py_func(*state)[1:]
    return word


def test_a_diverging_chain_stops_and_its_neighbours_go_on() -> None:
    module = module_of(sghmc(2))
    inputs = inputs_of(module)
    chains, free = chains_of(module, inputs, 70), chains_of(module, inputs, 70)
    chains[5].state["theta"][:] = 1e200
    chains[66].state["theta"][:] = 40.0  # some steps later
    run(module, inputs, chains, 2)
    run(module, inputs, free, 2)
    assert [k for k, chain in enumerate(chains) if chain.diverging] == [5, 66]
    assert chains[5].done == 0
    assert np.isfinite(chains[66].draws["theta_draws"][: chains[66].done]).all()
    for k in set(range(70)) - {5, 66}:
        assert chains[k].done == inputs.draws
        np.testing.assert_array_equal(chains[k].draws["theta_draws"], free[k].draws["theta_draws"])


def test_falling_step_sizes_are_those_of_every_draw() -> None:
    module = module_of(sghmc(2))
    inputs, sizes = inputs_of(module), [0.05 if draw < 4 else 0.01 for draw in range(8)]
    falling = drawn(replace(inputs, of_draw=lambda chain: inputs_of(module, eps=sizes[chain.done])), 3)
    np.testing.assert_array_equal(falling[:, :4], drawn(inputs, 3)[:, :4])
    assert not np.any(falling[:, 5:] == drawn(inputs, 3)[:, 5:])


MOVES = {
    "hmc": cycle_build("gaussian", "hmc"),
    "a length that is drawn": cycle_build("double_well", "hmc_of_some_steps", "1/2"),
    "a length up to a parameter": cycle_build("gaussian", "hmc_up_to_a_length"),
    "ghmc": cycle_build("double_well", "ghmc", "1/2"),
    "moves that are not all in each cycle": cycle_build("gaussian", "again_every"),
    **{name: shipped(f"builds/{name}") for name in (
        "baoab_path_double_well", "sghmc_gaussian_baoab", "hmc_reflected_categories")},
}  # fmt: skip


def summaries_of(build: Build, *, lanes: bool) -> list[np.ndarray]:
    """Return numbers of every chain, a row each: means and mean squares of its entries, mean rates of its moves."""
    draws = sample(
        module_of(build),
        build,
        replace(build.run, draws=150, warmup=50, thin=3, chains=64, seed=3, lanes=lanes),
        data_of(build),
    )
    arrays = [array[:, 50:].reshape(64, 150, -1) for array in (*draws.arrays, *draws.stats.values())]
    return [np.mean(power, axis=1) for array in arrays for power in (array, array**2)]


@pytest.mark.slow
@pytest.mark.parametrize("moves", MOVES)
def test_a_move_that_is_refused_stops_no_lane(moves: str) -> None:
    """Lanes draw other numbers than chains alone: their moments and the rates of their moves agree."""
    alone, lanes = (summaries_of(MOVES[moves], lanes=lanes) for lanes in (False, True))
    for one, other in zip(alone, lanes, strict=True):
        error = np.sqrt((np.var(one, axis=0) + np.var(other, axis=0)) / 64)
        assert np.all(np.abs(np.mean(one, axis=0) - np.mean(other, axis=0)) <= 5 * error)
