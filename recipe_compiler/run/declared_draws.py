"""Draws as documents state them: the blocks of the target on their own scales, and what is derived of them."""

import math
from collections.abc import Mapping

import numpy as np

from recipe_compiler.emit.support import constraints
from recipe_compiler.formula.constraints import VECTORS
from recipe_compiler.formula.expression import Formula
from recipe_compiler.run.chain import Array
from recipe_compiler.run.evaluate import Point, evaluate, evaluate_rows, extent, extents
from recipe_compiler.run.sample import known_values
from recipe_compiler.run.sizes import placed_blocks
from recipe_compiler.spec.model import Build, Transform

PIECE = 1 << 22
"""Entries of a square matrix of all coordinates, at some draws, that formulas may make at a time."""


def declared_blocks(array: Array, build: Build, sizes: Mapping[str, int]) -> dict[str, Array]:
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
                rows = () if block.constraint in VECTORS else (block.shape.rows,)
                values = getattr(constraints, f"_{block.constraint}")(values, *rows)
            elif name in transforms:
                values = _turned_back(values, transforms[name], build, sizes)
        found[name] = values
    return found


def _turned_back(u: Array, one: Transform, build: Build, sizes: Mapping[str, int]) -> Array:
    """Return theta = g(u) (`spec/transform.py`)."""
    if one.via == "log":
        return np.exp(u)
    at = Point(known_values(build, sizes), sizes)
    if one.bound is not None:
        bound = float(evaluate(one.bound, at))
        return bound + np.exp(u) if one.via == "lower" else bound - np.exp(u)
    low, high = (float(evaluate(bound, at)) for bound in one.block.domain.bounds)
    return low + (high - low) / (1.0 + np.exp(-u))


def derived_formulas(build: Build) -> Mapping[str, Formula]:
    """Return name to formula: those of the target, then those of the build."""
    return dict((*build.target.derived, *build.derived))


def derived_draws(build: Build, blocks: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
    """Return the derived quantities at draws `[chain, draw, ...]`, in the shapes of their formulas; NaN without a draw.

    Args:
        build: with its target, which state the formulas.
        blocks: draws of the target's blocks as they are declared.
        sizes: symbolic sizes.
    """
    return {name: at_draws(formula, build, blocks, sizes) for name, formula in derived_formulas(build).items()}


def at_draws(formula: Formula, build: Build, blocks: Mapping[str, Array], sizes: Mapping[str, int]) -> Array:
    """Return a formula of the target's blocks at draws `[chain, draw, ...]` of them, in its shape; NaN without one."""
    declared = (build.target.declared or build.target).declarations
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
