"""Data that are arrays in memory, as whoever runs a model from Python has them."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np

from recipe_compiler.formula.declaration import Datum
from recipe_compiler.run.columns import Data, Field, Floats
from recipe_compiler.run.errors import DataError
from recipe_compiler.spec.faults import nearest
from recipe_compiler.spec.model import Target


def data_of(arrays: Mapping[str, object], target: Target, dtype: str = "float64") -> Data:
    """Return the data of a target from arrays: the first axis of each counts the data, the rest is one datum.

    Args:
        arrays: field of the target to its numbers: an array, nested lists, a table's columns.
        target: declares the fields.
        dtype: in what they are stored, `float64` or `float32`.

    Raises:
        DataError: every field that is missing, unknown, of another shape, or holds what is no number it may.
    """
    declared = {datum.name: datum for datum in target.declarations.data}
    faults = [
        f"data: found `{name}`, expected a field of {target.name} ({', '.join(declared) or 'it has none'}) "
        f"{nearest(str(name), tuple(declared))}".rstrip()
        for name in arrays
        if name not in declared
    ]
    missing = [datum for datum in declared.values() if datum.name not in arrays]
    faults += [f"data: found no `{datum.name}`, expected {_wanted(datum)}" for datum in missing]
    if faults:
        raise DataError(faults)
    fields = [_field(datum, arrays[name], dtype, faults) for name, datum in declared.items()]
    known = [field for field in fields if field is not None]
    faults += _rows(known, declared)
    if faults:
        raise DataError(faults)
    return Data(tuple(known))


def _field(datum: Datum, given: object, dtype: str, faults: list[str]) -> Field | None:
    """Return one field as floats; None where a fault was added."""
    array = _numbers(given, dtype)
    problem = "found what is no array of real numbers" if array is None else _problem(datum, array)
    if array is None or problem:
        faults.append(f"data: {problem} for `{datum.name}`, expected {_wanted(datum)}")
        return None
    columns = getattr(given, "columns", None)
    if columns is not None and array.ndim == 2:
        names = tuple(str(column) for column in columns)
    else:
        names = tuple(f"{datum.name}_{k}" for k in range(array.shape[1])) if array.ndim == 2 else (datum.name,)
    return Field(datum.name, array, names)


def _numbers(given: object, dtype: str) -> Floats | None:
    """Return real numbers as a contiguous array; None for what holds others."""
    try:
        array = np.asarray(cast("Any", given))
    except ValueError:  # rows of different lengths
        return None
    if array.dtype.kind not in "buif":
        return None
    with np.errstate(over="ignore"):  # what float32 does not hold is infinite, and refused as such
        return np.ascontiguousarray(array, dtype=dtype)


def _problem(datum: Datum, array: Floats) -> str:
    """Return what is wrong with the numbers of a field, the empty string if nothing is."""
    sizes = datum.shape.sizes
    if array.ndim != 1 + len(sizes) or not array.shape[0]:
        return f"found an array of shape {array.shape}"
    if any(isinstance(size, int) and have != size for size, have in zip(sizes, array.shape[1:], strict=True)):
        return f"found an array of shape {array.shape}"
    allowed = np.isin(array, datum.values) if datum.values else np.isfinite(array)
    bad = np.argwhere(~allowed)
    return f"found {array[tuple(bad[0])]:g} in row {int(bad[0][0]) + 1}" if bad.size else ""


def _rows(fields: list[Field], declared: Mapping[str, Datum]) -> Iterator[str]:
    """Yield a fault for each field that has another number of data than is declared, or than the first has."""
    for field in fields:
        size, rows = declared[field.name].size, field.values.shape[0]
        expected = size if isinstance(size, int) else fields[0].values.shape[0]
        if rows != expected:
            why = "" if isinstance(size, int) else f" as `{fields[0].name}` has"
            yield f"data: found {rows} rows of `{field.name}`, expected {expected}{why}"


def _wanted(datum: Datum) -> str:
    sizes = ", ".join(str(size) for size in (datum.size, *datum.shape.sizes))
    values = f" of {', '.join(map(str, datum.values))}" if datum.values else " of finite numbers"
    return f"an array [{sizes}]{values}"
