"""Values of parameters as arrays, their shapes and kinds checked before a chain starts; numbers of symbolic sizes."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from recipe_compiler.errors import DataError
from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.shapes import SIGNS, Kind, Shape
from recipe_compiler.run.data import Data
from recipe_compiler.run.evaluate import Array, Point, evaluate, extent, nearest
from recipe_compiler.spec.model import Build, Value
from recipe_compiler.spec.npy import mapped
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas

_TOLERANCE = 1e-12
"""Relative rounding allowed when the kind of a matrix is checked."""

Source = tuple[str, int, str]
"""A symbolic size, its number, and the place that gave it."""


def declared_parameters(build: Build) -> tuple[Parameter, ...]:
    """Return the parameters of dynamics, target and build."""
    return (*build.dynamics.declarations.parameters, *build.target.declarations.parameters, *build.parameters)


def given_arrays(build: Build) -> dict[str, Array]:
    """Return the values the build gives, as written: 0-d, 1-d or 2-d arrays by the shapes declared."""
    shapes = {parameter.name: parameter.shape for parameter in declared_parameters(build)}
    return {name: _as_written(name, value, len(shapes[name].sizes)) for name, value in build.values if name in shapes}


def parameter_values(build: Build, names: tuple[str, ...], sizes: Mapping[str, int]) -> dict[str, Array]:
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
            value = _flat(evaluate(parameter.default, Point(found_columns(found, declared), sizes)), parameter)
        if value is None:
            faults.append(f"parameter `{name}`: found no value, expected one under `parameters:`")
            continue
        faults += _misfits(parameter, value, sizes)
        found[name] = np.ascontiguousarray(value, dtype=np.float64).reshape(value.shape)
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
    else:
        array = _read_array(name, value)
    if axes == 0 and array.size == 1:
        return array.reshape(())
    if axes == 1 and (array.ndim == 1 or 1 in array.shape):
        return array.reshape(-1)
    return array


def _read_array(name: str, value: Value) -> Array:
    if value.file is None or value.file.suffix != ".npy":
        raise DataError([f"parameter `{name}`: found `{value.file}`, expected numbers or a .npy file"])
    try:
        array = mapped(value.file)
    except (OSError, ValueError, EOFError) as error:
        raise DataError([f"parameter `{name}`: {value.file} cannot be read as an array of numbers: {error}"]) from error
    if array.dtype.kind not in "buif" or array.ndim > 2:
        raise DataError([f"parameter `{name}`: found {array.dtype} of {array.ndim} dimensions in {value.file}"])
    return np.array(array, dtype=np.float64)  # no longer mapped


def _flat(value: Array, parameter: Parameter) -> Array:
    return value.reshape(-1) if len(parameter.shape.sizes) == 1 else value


def _misfits(parameter: Parameter, value: Array, sizes: Mapping[str, int]) -> list[str]:
    expected = tuple(extent(size, sizes) for size in parameter.shape.sizes)
    entry = f"parameter `{parameter.name}`"
    if value.shape != expected:
        return [f"{entry}: found {_shape(value.shape)}, expected {_shape(expected)}: declared {parameter.shape}"]
    if not np.isfinite(value).all():
        return [f"{entry}: found a value that is not finite"]
    signs = SIGNS if Kind.DIAGONAL in parameter.kinds else ()
    kinds = [k for k in parameter.kinds if not _KINDS[k](np.diag(value) if k in signs else value)]
    return [f"{entry}: found a value that is not {kind.value}, as declared" for kind in kinds]


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(str(n) for n in shape) or "a number"


def _symmetric(value: Array) -> bool:
    return np.abs(value - value.T).max(initial=0.0) <= _TOLERANCE * np.abs(value).max(initial=0.0)


def _smallest(value: Array) -> float:
    """Return the smallest eigenvalue over the largest, of the symmetric part."""
    values = np.linalg.eigvalsh((value + value.T) / 2)
    return float(values[0] / max(np.abs(values).max(), np.finfo(float).tiny))


_KINDS: Mapping[Kind, Callable[[Array], bool]] = {
    Kind.REAL: lambda _: True,
    Kind.POSITIVE: lambda v: bool((v > 0).all()),
    Kind.NONNEGATIVE: lambda v: bool((v >= 0).all()),
    Kind.NONZERO: lambda v: bool((v != 0).all()),
    Kind.SYMMETRIC: _symmetric,
    Kind.SKEW: lambda v: np.abs(v + v.T).max(initial=0.0) <= _TOLERANCE * np.abs(v).max(initial=0.0),
    Kind.PSD: lambda v: _symmetric(v) and _smallest(v) >= -_TOLERANCE,
    Kind.PD: lambda v: _symmetric(v) and _smallest(v) > 0.0,
    Kind.DIAGONAL: lambda v: not np.any(v - np.diag(np.diag(v))),
}


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
    counts = [entries(block.sampled.shape, sizes) for block in build.target.declarations.blocks]
    block = next((b for b in build.dynamics.declarations.blocks if b.name == potential.of[0]), None)
    if block is None or not block.shape.sizes or None in counts:
        return
    total = sum(count for count in counts if count is not None)
    size = block.shape.sizes[0]
    if isinstance(size, str):
        size = sizes.setdefault(size, total)
    if size != total:
        yield f"block `{block.name}`: found {size} entries, but the blocks of {build.target.name} have {total}"


def potential_block(build: Build) -> str:
    """Return the name, in the documents, of the block that U is of; a module may call it otherwise."""
    return next((f.of[0] for f in build.dynamics.declarations.functions if f.role == "potential"), "")
