"""The numbers that symbolic sizes stand for in a run."""

from collections.abc import Iterator, Mapping

from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.run.data import Data
from recipe_compiler.run.errors import DataError
from recipe_compiler.run.values import declared_parameters, given_arrays
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas

Source = tuple[str, int, str]
"""A symbolic size, the number found for it, and where."""


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
    faults += _match_target(build, sizes)
    faults += _too_small(build, sizes, said)
    if faults:
        raise DataError(faults)
    return sizes


def entries(shape: Shape, sizes: Mapping[str, int]) -> int | None:
    """Return the number of entries of a block, None if a size of it is not known."""
    count = 1
    for size in shape.sizes:
        number = sizes.get(size) if isinstance(size, str) else size
        if number is None:
            return None
        count *= number
    return count


def _sources(build: Build, data: Data) -> Iterator[Source]:
    for name, number in build.sizes:
        yield name, number, "`sizes`"
    for datum, field in zip(build.target.declarations.data, data.fields, strict=True):
        for size, number in zip((datum.size, *datum.shape.sizes), field.values.shape, strict=True):
            if isinstance(size, str):
                yield size, number, f"the data of `{field.name}`"
    arrays = given_arrays(build)
    for parameter in declared_parameters(build):
        if parameter.name in arrays:
            for size, number in zip(parameter.shape.sizes, arrays[parameter.name].shape, strict=False):
                if isinstance(size, str):
                    yield size, number, f"the value of `{parameter.name}`"


def _too_small(build: Build, sizes: Mapping[str, int], said: Mapping[str, str]) -> Iterator[str]:
    """Yield a fault for each size at which a position that a formula names does not exist."""
    stated = [formula for _, formula in (*build.bind, *build.init)]
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
    counts = [entries(block.shape, sizes) for block in build.target.declarations.blocks]
    block = next((b for b in build.dynamics.declarations.blocks if b.name == potential.of[0]), None)
    if block is None or not block.shape.sizes or None in counts:
        return
    total = sum(count for count in counts if count is not None)
    size = block.shape.sizes[0]
    if isinstance(size, str):
        size = sizes.setdefault(size, total)
    if size != total:
        yield f"block `{block.name}`: found {size} entries, but the blocks of {build.target.name} have {total}"
