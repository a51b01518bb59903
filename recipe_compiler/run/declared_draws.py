"""Draws as documents state them: the blocks of the target on their own scales, and what is derived of them."""

from collections.abc import Mapping

import numpy as np

from recipe_compiler.emit.support import constraints
from recipe_compiler.formula.constraints import VECTORS
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.run.chain import Array
from recipe_compiler.run.evaluate import Point, evaluate, extents
from recipe_compiler.run.sample import known_values
from recipe_compiler.run.sizes import declared_parameters, entries, found_columns, parameter_values
from recipe_compiler.spec.model import Build, Transform


def declared_blocks(array: Array, build: Build, sizes: Mapping[str, int]) -> dict[str, Array]:
    """Return the target's blocks, on their own scales, cut from draws of the potential's block.

    theta = g(u) for a block that is sampled in an unbounded variable u; b = g(u) for one that lies in a set.

    Args:
        array: draws of the potential's block, chains x draws x coordinates.
        build: the build that was run.
        sizes: symbolic sizes.
    """
    transforms = {one.inner: one for one in build.target.transforms}
    found: dict[str, Array] = {}
    start = 0
    for block in build.target.declarations.blocks:
        moved = block.sampled
        length = entries(moved.shape, sizes) or 0
        shape = tuple(sizes[size] if isinstance(size, str) else size for size in moved.shape.sizes)
        values = array[:, :, start : start + length].reshape(*array.shape[:2], *shape)
        one = transforms.get(block.name)
        if block.constraint is not None:
            with np.errstate(all="ignore"):
                rows = () if block.constraint in VECTORS else (block.shape.rows,)
                found[block.name] = getattr(constraints, f"_{block.constraint}")(values, *rows)
        elif one is None:
            found[block.name] = values
        else:
            with np.errstate(over="ignore"):  # a draw that is not finite is stored as it is, and reported
                found[one.block.name] = _turned_back(values, one, build, sizes)
        start += length
    return found


def _turned_back(u: Array, one: Transform, build: Build, sizes: Mapping[str, int]) -> Array:
    """Return theta = g(u) (`spec/transform.py`)."""
    if one.via == "log":
        return np.exp(u)
    declared = {parameter.name: parameter for parameter in declared_parameters(build)}
    names = tuple(p.name for p in build.target.declarations.parameters)
    at = Point(found_columns(parameter_values(build, names, sizes), declared), sizes)
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
    formulas = derived_formulas(build)
    if not formulas:
        return {}
    declared = (build.target.declared or build.target).declarations
    known = known_values(build, sizes)
    shapes = {block.name: extents(block.shape, sizes) for block in declared.blocks}
    length = next(iter(blocks.values())).shape[:2]
    found = {name: np.full((*length, *_axes(formula.shape, sizes)), np.nan) for name, formula in formulas.items()}
    for place in np.ndindex(*length):
        own = {name: blocks[name][place].reshape(shape) for name, shape in shapes.items()}
        if not all(np.isfinite(value).all() for value in own.values()):
            continue
        at = Point({**known, **own}, sizes)
        for name, formula in formulas.items():
            with np.errstate(all="ignore"):
                found[name][place] = np.asarray(evaluate(formula, at)).reshape(found[name].shape[2:])
    return found


def _axes(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sizes[size] if isinstance(size, str) else size for size in shape.sizes)
