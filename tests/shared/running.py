"""Builds that run: their modules, with faults planted where asked, their draws, and how far means of these are off."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
from cycles import texts
from plain_modules import are_plain

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module, renames, with_starts
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.run.chain import run_arguments, start_chain
from recipe_compiler.run.data import Data, load_data
from recipe_compiler.run.energies import energies_of
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import Draws, prepare_inputs, sample
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.run.store import to_datatree
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

Change = tuple[str, str]


def module_of(build: Build, *changes: Change, shape: str = "shipped") -> Emitted:
    """Return the module of a build, some of its text replaced."""
    return _module(build, changes, shape, are_plain())


@cache
def _module(build: Build, changes: tuple[Change, ...], shape: str, plain: bool) -> Emitted:
    assert are_plain() is plain
    module = shipped(build) if shape == "shipped" else texts(build)[shape].module
    text = module.text
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return load_text(module.name, text + shipped(build).starts, build.codes)


@cache
def shipped(build: Build) -> Module:
    """Return the text of a build with the sizes that it states; nothing is proved or read back."""
    derivation = derive(bind(build))
    program = discretise(build, derive(derivation.dynamics, stated=True))
    names = renames(program)
    sized = rename(rename(program, names), {names.get(name, name): number for name, number in build.sizes})
    module = emit_module(build.name, sized, schedule(sized, lower(sized)), "A test.\n", "0" * 64)
    return with_starts(module, build, derivation, names)


def data_of(build: Build) -> Data:
    """Return the data of a build."""
    return load_data(build.data, build.target)


def drawn(build: Build, *changes: Change, shape: str = "shipped", **settings: object) -> Draws:
    """Return the draws of a build by settings of its own, some of its text replaced."""
    run = replace(build.run, **settings)
    return sample(module_of(build, *changes, shape=shape), build, run, data_of(build))


def kept(draws: Draws, block: str = "theta") -> np.ndarray:
    """Return the draws of a block after warm-up."""
    return draws.block(block)[:, draws.warmup :]


def stored(build: Build, draws: Draws) -> object:
    """Return the draws with their energies, as a run stores them."""
    data, module = data_of(build), module_of(build)
    inputs = prepare_inputs(module, build, draws.settings, data)
    known = energies_of(module, build, inputs, data, draws, asked=True)
    return to_datatree(draws, build, data, "0" * 64, "", known)


def in_pieces(build: Build, pieces: Iterable[int], shape: str = "shipped") -> np.ndarray:
    """Return all that a chain draws by so many calls of `run`, each of so many draws: blocks, then what it counts."""
    module, data, pieces = module_of(build, shape=shape), data_of(build), [*pieces]
    inputs, sizes = prepare_inputs(module, build, build.run, data), resolve_sizes(build, data)
    inputs = replace(inputs, draws=sum(pieces))
    noise, batch = module.seed_streams(3, 2)
    state = {name: np.full(extent(size, sizes) or 1, 0.3) for name, size in module.blocks}
    chain = start_chain(module, inputs, state, noise[1], batch[1])
    for count in pieces:
        chain.done += module.run(*run_arguments(module, inputs, chain, count))
    assert chain.done == sum(pieces)
    return np.concatenate([*chain.draws.values()], axis=1)


def off(values: np.ndarray, expected: object, batches: int = 20) -> float:
    """Return how many standard errors means over draws are off, the most of all entries.

    Errors are those of means of batches, so many of each chain; `values` is `[chain, draw, ...]`.
    """
    chains, draws, *rest = values.shape
    means = values.reshape(chains, batches, draws // batches, *rest).mean(axis=2).reshape(-1, *rest)
    errors = np.maximum(means.std(axis=0, ddof=1) / np.sqrt(len(means)), 1e-12)
    return float(np.max(np.abs(means.mean(axis=0) - np.asarray(expected)) / errors))
