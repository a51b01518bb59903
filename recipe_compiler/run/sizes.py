"""Values of parameters as arrays, their shapes and kinds checked before a chain starts; numbers of symbolic sizes."""

from collections.abc import Iterator, Mapping
from math import prod

import numpy as np

from recipe_compiler.emit.support import checks
from recipe_compiler.errors import DataError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.run.columns import open_array
from recipe_compiler.run.data import Data
from recipe_compiler.run.evaluate import Point, evaluate, extent, extents, nearest
from recipe_compiler.spec.build_checks import coordinates
from recipe_compiler.spec.constraint import sampled_blocks
from recipe_compiler.spec.model import Build, Value
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas

Source = tuple[str, int, str]
"""A symbolic size, its number, and the place that gave it."""


def declared_parameters(build: Build) -> tuple[Parameter, ...]:
    """Return the parameters of dynamics, target and build."""
    return (*build.dynamics.declarations.parameters, *build.target.declarations.parameters, *build.parameters)


def given_arrays(build: Build) -> dict[str, Array]:
    """Return the values the build gives, as written: 0-d, 1-d or 2-d arrays by the shapes declared."""
    shapes = {parameter.name: parameter.shape for parameter in declared_parameters(build)}
    return {name: _as_written(name, value, len(shapes[name].sizes)) for name, value in build.values if name in shapes}


def parameter_values(build: Build, names: tuple[str, ...], sizes: Sizes) -> dict[str, Array]:
    """Return the values of the parameters `names`: 0-d arrays, `[n]` and `[m, n]`, contiguous float64.

    Raises DataError with every parameter that has no value, or one of another shape or kind than declared.
    """
    declared = {parameter.name: parameter for parameter in declared_parameters(build)}
    given = given_arrays(build)
    found: dict[str, Array] = {}
    faults: list[str] = []
    for name in names:
        parameter = declared[name]
        value = given.get(name)
        if value is None and parameter.default is not None:
            value = evaluate(parameter.default, Point(found_columns(found, declared), sizes))
            value = value.reshape(-1) if len(parameter.shape.sizes) == 1 else value
        if value is None:
            faults.append(f"parameter `{name}`: found no value, expected one under `parameters:`")
            continue
        entry, expected = f"parameter `{name}`", [extent(size, sizes) for size in parameter.shape.sizes]
        kinds = () if name == build.estimated else parameter.kinds  # an estimate is of its kind up to rounding
        try:
            found[name] = checks._checked_array(entry, value, expected, {})
            _ = expected or checks._checked_number(entry, float(value))
            checks._check_kinds(entry, found[name], [kind.value for kind in kinds])
        except (TypeError, ValueError) as error:
            faults.append(str(error))
    if faults:
        raise DataError(faults)
    return found


def found_columns(values: Mapping[str, Array], declared: Mapping[str, Parameter]) -> dict[str, Array]:
    """Return values in the shapes that formulas work with: a column is n x 1."""
    return {
        name: value.reshape(-1, 1) if len(declared[name].shape.sizes) == 1 else value for name, value in values.items()
    }


def _as_written(name: str, value: Value, axes: int) -> Array:
    if value.numbers is not None:
        array = np.array([[nearest(number) for number in row] for row in value.numbers])
    elif value.file is not None and value.file.suffix == ".npy":
        array = np.array(open_array(value.file))  # no longer mapped
    else:
        raise DataError([f"parameter `{name}`: found `{value.file}`, expected numbers or a .npy file"])
    if axes == 0 and array.size == 1:
        return array.reshape(())
    if axes == 1 and (array.ndim == 1 or 1 in array.shape):
        return array.reshape(-1)
    return array


def resolve_sizes(build: Build, data: Data) -> dict[str, int]:
    """Return every symbolic size that the build, its data or its parameters' values fix.

    The potential's block of the dynamics is as long as all blocks of the target together. Raises DataError where two
    sources disagree.
    """
    sizes: dict[str, int] = {}
    said: dict[str, str] = {}
    faults: list[str] = []
    for name, number, where in (*_sources(build, data),):
        if name not in sizes:
            sizes[name], said[name] = number, where
        elif sizes[name] != number:
            faults.append(f"size {name}: found {sizes[name]} by {said[name]}, but {number} by {where}")
    faults += _positions(build, data, sizes, said)
    faults += _match_target(build, sizes)
    faults += _too_small(build, sizes, said)
    if faults:
        raise DataError(list(dict.fromkeys(faults)))  # both sizes of a square value
    return sizes


def _sources(build: Build, data: Data) -> Iterator[Source]:
    for name, number in build.sizes:
        yield name, number, "`sizes`"
    for datum, field in zip(build.target.declarations.data, data.fields, strict=True):
        for size, number in zip(datum.axes, field.values.shape, strict=True):
            if isinstance(size, str):
                yield size, number, f"the data of `{field.name}`"
    arrays = given_arrays(build)
    for parameter in declared_parameters(build):
        if parameter.name in arrays:
            for size, number in zip(parameter.shape.sizes, arrays[parameter.name].shape, strict=False):
                if isinstance(size, str):
                    yield size, number, f"the value of `{parameter.name}`"


def _positions(build: Build, data: Data, sizes: dict[str, int], said: Mapping[str, str]) -> Iterator[str]:
    """Let positions fix the length of an axis that nothing else fixes; yield a fault for each field beyond its axis."""
    fields = [(d, f) for d, f in zip(build.target.declarations.data, data.fields, strict=True) if d.is_index]
    least: dict[str, int] = {}
    for datum, field in fields:
        size = str(datum.shape.cols)
        least[size] = max(least.get(size, 1), int(field.values.max()) + 1)
    for datum, field in fields:
        size = str(datum.shape.cols)
        number = int(size) if size.isdigit() else sizes.setdefault(size, least[size])
        beyond = np.flatnonzero(field.values >= number)
        if beyond.size:
            row = int(beyond[0])
            where = f", as {size} is by {said[size]}" if size in said else ""
            problem = f"found position {field.values[row]} in row {row + 1}, expected 0 to {number - 1}{where}"
            yield f"data: {problem}, for `{datum.name}`; positions count from 0 (`from_one` where a file counts from 1)"


def _too_small(build: Build, sizes: Sizes, said: Mapping[str, str]) -> Iterator[str]:
    """Yield a fault for each size at which a position that a formula names does not exist."""
    stated = [formula for _, formula in (*build.bind, *build.init)]
    stated += [formula for score in build.scores for formula in score.formulas]
    stated += [build.V, *stated_formulas(build.dynamics), *stated_formulas(build.target)]
    for size, least in smallest_sizes(Declarations(), stated).items():
        if sizes.get(size, least) < least:
            where = said.get(size, f"the blocks of {build.target.name}")
            problem = f"size {size}: found {sizes[size]} by {where}, but a formula names position {least - 1}"
            yield f"{problem}, counted from 0; expected {size} >= {least}"


def _match_target(build: Build, sizes: dict[str, int]) -> Iterator[str]:
    """Let the target's blocks fix the size of the potential's block; yield a fault where they disagree."""
    potential = next((f for f in build.dynamics.declarations.functions if f.role == "potential"), None)
    if potential is None:
        return
    total = coordinates(sampled_blocks(build.target), sizes)
    block = next((b for b in build.dynamics.declarations.blocks if b.name == potential.of[0]), None)
    if block is None or not block.shape.sizes or isinstance(total, str):
        return
    size = block.shape.sizes[0]
    if isinstance(size, str):
        size = sizes.setdefault(size, total)
    if size != total:
        yield f"block `{block.name}`: found {size} entries, but the blocks of {build.target.name} have {total}"


def placed_blocks(build: Build, sizes: Sizes) -> Iterator[tuple[str, Block, slice]]:
    """Yield the blocks of the target, by the names that it declares, and where each is in the potential's block."""
    transforms, start = {one.inner: one.block.name for one in build.target.transforms}, 0
    for block in build.target.declarations.blocks:
        end = start + prod(extents(block.sampled.shape, sizes))
        yield transforms.get(block.name, block.name), block, slice(start, end)
        start = end


def potential_block(build: Build) -> str:
    """Return the name, in the documents, of the block that U is of; a module may call it otherwise."""
    return next((f.of[0] for f in build.dynamics.declarations.functions if f.role == "potential"), "")
