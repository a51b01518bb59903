"""Draws of the potential's block as the target declares its blocks: on their own scales, in their shapes."""

from collections.abc import Mapping

import numpy as np

from recipe_compiler.run.chain import Array
from recipe_compiler.run.constrained import of_variables
from recipe_compiler.run.evaluate import Point, evaluate
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
                found[block.name] = of_variables(block, values)
        elif one is None:
            found[block.name] = values
        else:
            with np.errstate(over="ignore"):  # a draw that is not finite is stored as it is, and told
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
