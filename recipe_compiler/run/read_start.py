"""Where a file starts a chain, executed and compared with what the documents say: `init`, own laws, spreads."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.derive.refresh import OwnLaw, own_laws
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import Block, Domain
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.readback.text import require
from recipe_compiler.run.energies import declared_blocks
from recipe_compiler.run.evaluate import Point, evaluate, extent, extents
from recipe_compiler.run.initial import SPREAD, stated_blocks
from recipe_compiler.run.sample import known_values
from recipe_compiler.run.sizes import placed_blocks, potential_block
from recipe_compiler.spec.discrete import is_counts
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build

SEED, CHAINS = 3, (0, 2)
"""At which starts are compared."""


def check_starts(loaded: dict[str, Any], build: Build, derivation: Derivation, names: Mapping[str, str]) -> None:
    """Check that `first_state` returns, for a seed and two chains, what the documents say of a start.

    A block whose start nothing can state may be NaN, which `sample` refuses.

    Args:
        loaded: what the file defines; in the place of the law of a Gaussian block its energy is compared.
        build: with sizes and values of all parameters.
        derivation: of the bound dynamics.
        names: the user's names that had to be changed, with what they became.

    Raises:
        CompilerError: a block starts elsewhere.
    """
    first, at = loaded["first_state"], Point(known_values(build, dict(build.sizes)), dict(build.sizes))
    loaded["_draw_law"] = _draw_along
    told = {names.get(name, name): value for name, value in (*at.sizes.items(), *at.names.items())}
    given = [told[name] for name in [*inspect.signature(first).parameters][2:]]
    for chain in CHAINS:
        rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(chain, 2)))
        found, wanted = first(SEED, chain, *given), _starts(build, derivation, replace(at, rng=rng))
        require([*found] == [names.get(name, name) for name in wanted], "starts other blocks than the state has")
        for (name, own), other in zip(wanted.items(), found.values(), strict=True):
            require(other.shape == own.shape, f"starts {name} at {other.shape} entries, expected {own.shape}")
            if not np.isnan(other).all():  # of such `sample` asks for another start
                same = np.isnan(own) | np.isclose(own, other, 1e-9, 1e-12)
                require(bool(same.all()), f"starts {name} elsewhere than its documents say")
                _check_parts(build, name, other, at)


def _draw_along(rng: np.random.Generator, length: int, energy: Callable[[Array], float]) -> Array:
    """Return what tells one energy from another: this stands for a draw by its law."""
    draw = rng.standard_normal(length)
    return draw * (energy(draw) - energy(np.zeros(length)))


def _starts(build: Build, derivation: Derivation, at: Point) -> dict[str, Array]:
    """Return where the blocks of the state start, as `init` says, by their own laws, or spread out."""
    init, found = dict(build.init), dict[str, Array]()
    rng = at.rng or np.random.default_rng()
    laws = own_laws(derivation, (b.name for b in build.dynamics.declarations.blocks if b.shape.cols is None))
    for block in build.dynamics.declarations.blocks:
        length = prod(extents(block.shape, at.sizes))
        is_target = block.name == potential_block(build)
        if block.name in init:
            found[block.name] = evaluate(init[block.name], at).reshape(-1)
        elif is_target or block.domain.name is not DomainName.REAL:
            found[block.name] = _spread(rng.uniform(-SPREAD, SPREAD, length), block.domain, at)
        elif block.name in laws:
            is_normal = laws[block.name] is OwnLaw.NORMAL
            energy = partial(_energy, derivation, block, at)
            found[block.name] = rng.standard_normal(length) if is_normal else _draw_along(rng, length, energy)
        else:
            found[block.name] = np.zeros(length)
        if is_target:
            _state_parts(build, found[block.name], at, rng)
    return found


def _spread(real: Array, domain: Domain, at: Point) -> Array:
    """Return a point of a domain from one of the real line."""
    ends = [float(evaluate(bound, at)) for bound in domain.bounds] or [0.0, 2.0 * np.pi]
    match domain.name:
        case DomainName.REAL:
            return real
        case DomainName.POSITIVE | DomainName.NONNEGATIVE:
            return np.exp(real)
        case DomainName.INTERVAL | DomainName.CIRCLE:
            return ends[0] + (ends[1] - ends[0]) / (1.0 + np.exp(-real))
        case _:
            return np.exp(real) / (1.0 + np.exp(real).sum())


def _energy(derivation: Derivation, block: Block, at: Point, value: Array) -> float:
    """Return H as a function of one block: all others stand at one, functions at zero."""
    declared = derivation.declarations
    others = {b.name: np.ones(extents(b.shape, at.sizes)) for b in declared.blocks}
    others |= {f.name: np.zeros(extents(f.shape, at.sizes)) for f in declared.functions}
    own = {block.name: value.reshape(extents(block.shape, at.sizes))}
    return float(evaluate(derivation.dynamics.H, replace(at, names=others | dict(at.names) | own)))


def _state_parts(build: Build, start: Array, at: Point, rng: np.random.Generator) -> None:
    """Put what is said of the target's blocks, as they are declared, into the potential's block."""
    stated = stated_blocks(build)
    for name, block, place in placed_blocks(build, at.sizes):
        if block.domain.name is DomainName.ONE_HOT:
            kinds = extent(block.shape.sizes[-1], at.sizes)
            rows = (place.stop - place.start) // kinds
            start[place] = np.eye(kinds)[rng.integers(kinds, size=rows)].reshape(-1)
        if is_counts(block):
            start[place] = 0.0
        if name in stated:
            start[place] = np.nan  # compared on its own scale


def _check_parts(build: Build, block: str, start: Array, at: Point) -> None:
    """Check that the target's blocks start where `init` says, on their own scales."""
    parts = declared_blocks(start.reshape(1, 1, -1), build, at.sizes) if block == potential_block(build) else {}
    for name, formula in stated_blocks(build).items():
        if name in parts and not dependence(formula).draws:
            same = np.allclose(parts[name].reshape(-1), evaluate(formula, at).reshape(-1), 1e-6, 1e-12)
            require(same, f"starts {name} elsewhere than `init` says")
