"""Values of parameters as arrays, their shapes and kinds checked before a chain starts."""

from collections.abc import Callable, Mapping

import numpy as np

from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.run.errors import DataError
from recipe_compiler.run.evaluate import Array, Point, evaluate, extent
from recipe_compiler.spec.model import Build, Value
from recipe_compiler.spec.npy import mapped

_TOLERANCE = 1e-12
"""Relative rounding allowed when the kind of a matrix is checked."""


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
        array = np.array([[float(number) for number in row] for row in value.numbers])
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
    signs = {Kind.POSITIVE, Kind.NONNEGATIVE, Kind.NONZERO} if Kind.DIAGONAL in parameter.kinds else set[Kind]()
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
