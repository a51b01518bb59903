"""After a run: its draws as documents state them, and what the target and H say of every draw.

The functions of the state were emitted and read back with its step.

With U of all data, whatever the steps took, and as the documents state it, constants left out where they do,

    lp              -U of what is sampled: log tau where tau has `transform: log`
    energy          H
    temperature     r . dH/dr / d of a momentum r ~ N(0, S) given the others: 1 on average
    log_likelihood  log p(y_n | theta), datum by datum
    log_prior       log p(theta) of the blocks as they are declared
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from recipe_compiler.emit.support import constraints
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.constraints import VECTORS
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.data import Data
from recipe_compiler.run.evaluate import Point, evaluate_rows, extent, extents
from recipe_compiler.run.gradients import of_state
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.sample import Draws, known_values
from recipe_compiler.run.sizes import placed_blocks, potential_block
from recipe_compiler.spec.constraint import constrained
from recipe_compiler.spec.model import Build, RunSettings
from recipe_compiler.spec.transform import value

LARGEST = 1 << 26
"""Bytes of the log likelihood of all data at all draws, or of a field of them, up to which it is kept unasked."""

WORK = 2e9
"""The most entries of data for which U is computed at all draws without a request."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawEnergies:
    """What is known of every draw after warmup, `[chain, draw]`; None where it is unknown, NaN without a draw."""

    lp: Array | None = None
    energy: Array | None = None
    temperature: Array | None = None
    log_likelihood: Array | None = None
    """`[chain, draw, datum]`."""
    log_prior: Array | None = None
    left_out: tuple[str, ...] = ()
    """What there is not, and why, in sentences."""


def energies_of(
    module: Emitted, build: Build, inputs: Inputs, data: Data, draws: Draws, *, asked: bool | None
) -> DrawEnergies:
    """Return lp = -U, the energy H, the temperature, log likelihood and log prior of the draws after warmup.

    The temperature is r . dH/dr / d of a momentum r ~ N(0, S) given the others; its mean is 1 over exp(-H)
    (equipartition). U is that of all data, whatever the steps used.

    Args:
        module: emitted and imported.
        build: that was run.
        inputs: what its chains were given.
        data: the fields of the target.
        draws: what was drawn.
        asked: whether the log likelihood is wanted whatever it costs; None: where it is small; False: not at all.
    """
    if module.full_potential is None:
        why = "the gradient is code, which computes no U" if build.target.gradient else "no emitted code computes U"
        return DrawEnergies(left_out=(f"lp and energy are left out: {why}.",))
    read = draws.settings.chains * draws.settings.draws * inputs.rows * sum(a.shape[2] for a in draws.arrays)
    if read > WORK and not asked:
        why = f"U of all data at every draw would read {read:.0e} numbers"
        return DrawEnergies(left_out=(f"lp, energy and log_likelihood are left out: {why}; --log-likelihood does it.",))
    after = [array[:, draws.warmup :] for array in draws.arrays]
    at = partial(_at_draws, module, inputs, [kept - draws.warmup for kept in draws.kept])
    lp = -at(module.full_potential, after)
    rest = None if module.auxiliary_energy is None else at(module.auxiliary_energy, after)
    likelihood, left_out = None, tuple[str, ...]()
    if module.log_likelihood is not None and asked is not False:
        if asked or bytes_of(draws.settings, data) <= LARGEST:
            likelihood = at(module.log_likelihood, after, data.rows)
        else:
            why = f"it takes {bytes_of(draws.settings, data) / 1e6:.0f} MB"
            left_out = (f"log_likelihood is left out: {why}; --log-likelihood keeps it.",)
    return DrawEnergies(
        lp,
        None if rest is None else rest - lp,
        None if rest is None else _temperature(partial(at, module.auxiliary_energy), build, after, rest),
        likelihood,
        None if likelihood is None else _log_prior(build, draws, lp - likelihood.sum(axis=2)),
        left_out,
    )


def potential_of(module: Emitted, inputs: Inputs) -> Callable[[Array], float] | None:
    """Return U of all data as a function of theta alone; None where no emitted code computes it.

    Args:
        module: emitted and imported.
        inputs: what its chains are given.
    """
    if module.full_potential is None:
        return None
    call = of_state(module, inputs, module.full_potential)
    return lambda theta: float(call({module.potential_block: theta}))


def bytes_of(settings: RunSettings, data: Data) -> int:
    """Return the bytes of the log likelihood of all data at all draws that are kept."""
    return 8 * settings.chains * settings.draws * data.rows


def _at_draws(
    module: Emitted, inputs: Inputs, kept: Sequence[int], function: Callable[..., Any] | None,
    states: Sequence[Array], length: int | None = None,
) -> Array:  # fmt: skip
    """Return what a function of the state is at `[chain, draw]`, of `kept` draws of each: a number, or an array."""
    call, names = of_state(module, inputs, function), [name for name, _ in module.blocks]
    shape = states[0].shape[:2] if length is None else (*states[0].shape[:2], length)
    found = np.full(shape, np.nan)
    for chain, count in enumerate(kept):
        for draw in range(count):
            found[chain, draw] = call({n: array[chain, draw] for n, array in zip(names, states, strict=True)})
    return found


def _temperature(
    rest_at: Callable[[Sequence[Array]], Array], build: Build, states: Sequence[Array], rest: Array
) -> Array | None:
    """Return r . dH/dr / d of the momentum, 2 (H - H where it is zero)/d; None where none is known."""
    momentum = momentum_of(build)
    if momentum is None:
        return None
    place = [block.name for block in build.dynamics.declarations.blocks].index(momentum)
    still = [np.zeros_like(state) if k == place else state for k, state in enumerate(states)]
    return 2.0 * (rest - rest_at(still)) / states[place].shape[2]


def momentum_of(build: Build) -> str | None:
    """Return the block r ~ N(0, S), given all others, that Q couples to the block of U; None where there is none."""
    # Imported here because they bring SymPy's engine, which reading draws does without.
    from recipe_compiler.derive.recipe import derive
    from recipe_compiler.derive.refresh import conditional_law
    from recipe_compiler.spec.bind import bind

    derivation = derive(bind(build))
    blocks = derivation.declarations.blocks
    own = next((k for k, block in enumerate(blocks) if block.name == potential_block(build)), None)
    if own is None:
        return None
    for block, coupling in zip(blocks, derivation.Q[own], strict=True):
        like = block != blocks[own] and block.shape == blocks[own].shape
        if like and not coupling.is_zero and conditional_law(derivation, block.name) is not None:
            return block.name
    return None


def _log_prior(build: Build, draws: Draws, difference: Array) -> Array:
    """Return the log prior at `[chain, draw]` of the blocks as they are declared: without the Jacobian of transforms.

    Where there is no transform it is lp less the log likelihood of all data.
    """
    declared = build.target.declared or (build.target if constrained(build.target) else None)
    if declared is None:
        return difference
    if declared.log_prior is None:
        return np.zeros_like(difference)
    sizes = dict(draws.sizes)
    blocks = declared_blocks(draws.block(potential_block(build))[:, draws.warmup :], build, sizes)
    return np.where(np.isfinite(difference), at_draws(declared.log_prior, build, blocks, sizes), np.nan)


PIECE = 1 << 22
"""Entries of a square matrix of all coordinates, at some draws, that formulas may make at a time."""


def declared_blocks(array: Array, build: Build, sizes: Sizes) -> dict[str, Array]:
    """Return the target's blocks, on their own scales, cut from draws of the potential's block.

    theta = g(u) for a block that is sampled in an unbounded variable u; b = g(u) for one that lies in a set.

    Args:
        array: draws of the potential's block, chains x draws x coordinates.
        build: the build that was run.
        sizes: symbolic sizes.
    """
    transforms = {one.block.name: one for one in build.target.transforms}
    found: dict[str, Array] = {}
    for name, block, place in placed_blocks(build, sizes):
        values = array[:, :, place].reshape(*array.shape[:2], *(extent(n, sizes) for n in block.sampled.shape.sizes))
        with np.errstate(all="ignore"):  # a draw that is not finite is stored as it is, and reported
            if block.constraint is not None:
                size = () if block.constraint in VECTORS else (block.shape.rows,)
                values = getattr(constraints, f"_{block.constraint}")(values, *size)
            elif name in transforms:
                rows = {block.name: values.reshape(-1, *(extents(block.shape, sizes) or (1, 1)))}
                at = Point(known_values(build, sizes), sizes)
                values = evaluate_rows(value(transforms[name]), at, rows).reshape(values.shape)
        found[name] = values
    return found


def derived_formulas(build: Build) -> Mapping[str, Formula]:
    """Return name to formula: those of the target, then those of the build."""
    return dict((*build.target.derived, *build.derived))


def derived_draws(build: Build, blocks: Mapping[str, Array], sizes: Sizes) -> dict[str, Array]:
    """Return the derived quantities at draws `[chain, draw, ...]`, in the shapes of their formulas; NaN without a draw.

    Args:
        build: with its target, which state the formulas.
        blocks: draws of the target's blocks as they are declared.
        sizes: symbolic sizes.
    """
    return {name: at_draws(formula, build, blocks, sizes) for name, formula in derived_formulas(build).items()}


def at_draws(formula: Formula, build: Build, blocks: Mapping[str, Array], sizes: Sizes) -> Array:
    """Return a formula of the target's blocks at draws `[chain, draw, ...]` of them, in its shape; NaN without one."""
    declared = build.target.as_declared.declarations
    shapes = {block.name: extents(block.shape, sizes) or (1, 1) for block in declared.blocks}
    states = {name: blocks[name].reshape(-1, *shape) for name, shape in shapes.items()}
    finite = np.logical_and.reduce([np.isfinite(own).all(axis=(1, 2)) for own in states.values()])
    found = np.full((len(finite), *(extents(formula.shape, sizes) or (1, 1))), np.nan)
    known, width = Point(known_values(build, sizes), sizes), sum(math.prod(shape) for shape in shapes.values())
    step = max(PIECE // width**2, 1)
    for begin in range(0, len(finite), step):
        part = slice(begin, begin + step)
        found[part] = evaluate_rows(formula, known, {name: own[part] for name, own in states.items()})
    found[~finite] = np.nan
    length = next(iter(blocks.values())).shape[:2]
    return found.reshape(*length, *(extent(size, sizes) for size in formula.shape.sizes))
