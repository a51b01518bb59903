"""Blocks of a target as they are declared, of the variables that are sampled and back, as emitted files have it."""

from collections.abc import Callable, Mapping
from math import prod

import numpy as np

from recipe_compiler.emit.support import constraints
from recipe_compiler.errors import DataError
from recipe_compiler.formula.constraints import VECTORS, Constraint
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.run.chain import Array
from recipe_compiler.run.evaluate import Point, evaluate, extent, extents
from recipe_compiler.spec.discrete import is_counts
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Transform

FORWARD: Mapping[Constraint, Callable[..., Array]] = {c: getattr(constraints, f"_{c}") for c in Constraint}
BACK: Mapping[Constraint, Callable[[Array], Array]] = {c: getattr(constraints, f"_from_{c}") for c in Constraint}


def of_variables(block: Block, u: Array) -> Array:
    """Return b = g(u) for draws of the variables u of a block that lies in a set; the last axis of u holds them."""
    if block.constraint is None:
        return u
    if block.constraint in VECTORS:
        return FORWARD[block.constraint](u)
    return FORWARD[block.constraint](u, block.shape.rows)


def stated_blocks(build: Build) -> dict[str, Formula]:
    """Return the starting values stated for blocks of the target, as the target declares them."""
    own = {block.name for block in build.dynamics.declarations.blocks}
    return {name: formula for name, formula in build.init if name not in own}


def with_rows(start: Array, build: Build, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    """Return the start of the potential's block: rows of one_hot at a place that is drawn uniformly, counts at zero."""
    start, place = start.copy(), 0
    for block in build.target.declarations.blocks:
        shape = extents(block.sampled.shape, sizes)
        count = prod(shape)
        if block.domain.name is DomainName.ONE_HOT:
            rows, places = row_shape(block, sizes)
            start[place : place + count] = np.eye(places)[rng.integers(places, size=rows)].reshape(-1)
        if is_counts(block):
            start[place : place + count] = 0.0
        place += count
    return start


def row_shape(block: Block, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return how many rows a block of one_hot has, and how many places each; a column is one row."""
    *rows, places = (extent(size, sizes) for size in block.shape.sizes)
    return (rows[0] if rows else 1, places)


def with_stated(start: Array, build: Build, at: Point) -> Array:
    """Return the start of the potential's block with the starting values stated for blocks of the target put in.

    Raises:
        DataError: a value is not finite, or lies outside its block's domain.
    """
    stated, place = stated_blocks(build), 0
    transforms = {one.inner: one for one in build.target.transforms}
    start = start.copy()
    for block in build.target.declarations.blocks if stated else ():
        one = transforms.get(block.name)
        name = block.name if one is None else one.block.name
        count = prod(extents(block.sampled.shape, at.sizes))
        if name in stated:
            with np.errstate(all="ignore"):
                value = evaluate(stated[name], at)
                u = variables_of(block, value) if one is None else _back(one, value, at).reshape(-1)
            if block.domain.name is DomainName.ONE_HOT and not is_one_hot(u, row_shape(block, at.sizes)):
                expected = "a one at one place of each row, zeros elsewhere"
                raise DataError([f"init of `{name}`: found {value.reshape(-1)[:5]}, expected {expected}"])
            if is_counts(block) and not (is_whole(u) and (u <= _most(block, at)).all()):
                end = f"to {_most(block, at):g}" if np.isfinite(_most(block, at)) else "on"
                expected = f"whole numbers from 0 {end}"
                raise DataError([f"init of `{name}`: found {value.reshape(-1)[:5]}, expected {expected}"])
            if not np.isfinite(u).all():
                inside = "finite numbers" if one is None else "numbers inside its bounds"
                raise DataError([f"init of `{name}`: found {value.reshape(-1)[:5]}, expected {inside}"])
            start[place : place + count] = u
        place += count
    return start


def is_one_hot(entries: Array, shape: tuple[int, int]) -> bool:
    """Whether rows have a one at one place and zeros elsewhere."""
    rows = entries.reshape(shape)
    return bool(np.isin(rows, (0.0, 1.0)).all() and (rows.sum(axis=1) == 1.0).all())


def is_whole(counts: Array) -> bool:
    """Whether numbers are whole and not negative."""
    return bool(np.isfinite(counts).all() and (counts >= 0.0).all() and (counts == np.floor(counts)).all())


def _most(block: Block, at: Point) -> float:
    """Return the end of counts; infinity where they have none, or one that data say, which are not known here."""
    ends = [bound for bound in block.domain.bounds if not dependence(bound).data]
    return float(evaluate(ends[0], at)) if ends else np.inf


def _back(one: Transform, x: Array, at: Point) -> Array:
    """Return u with x = g(u), entry by entry (`spec/transform.py`)."""
    if one.via == "log":
        return np.log(x)
    if one.bound is not None:
        bound = float(evaluate(one.bound, at))
        return np.log(x - bound) if one.via == "lower" else np.log(bound - x)
    low, high = (float(evaluate(bound, at)) for bound in one.block.domain.bounds)
    return np.log((x - low) / (high - x))


def variables_of(block: Block, value: Array) -> Array:
    """Return the variables u with b = g(u) for one value b of a block.

    Raises:
        DataError: b does not lie in the set.
    """
    if block.constraint is None:
        return value.reshape(-1)
    kind = block.constraint
    x = value.reshape(-1) if kind in VECTORS else value

    def value_at(u: Array) -> Array:
        return of_variables(block, u)

    try:
        return constraints._variables_of(block.name, str(kind), x, BACK[kind], value_at)
    except ValueError as error:
        raise DataError([str(error)]) from error
