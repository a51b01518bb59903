"""Fields of a target, made of the columns of a table: checked, standardised, with an intercept."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError
from recipe_compiler.formula.declaration import Datum
from recipe_compiler.run.made_columns import Scales, check_finite
from recipe_compiler.run.refused_numbers import places_not_held, places_of_others, positions, says, stored
from recipe_compiler.run.table import Table
from recipe_compiler.spec.model import DataFile, Target

Floats = NDArray[np.floating[Any]]
"""float64 or float32; arithmetic is done in float64."""

Integers = NDArray[np.int64]
"""Positions, of index fields."""

INTERCEPT = "intercept"
"""The name of the column of ones."""

MAX_INDICATOR_BYTES = 8 * 2**30


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of the data: `[N]` for a scalar datum, `[N, k]` for a vector, contiguous, float64 or float32.

    Positions of an index field are int64.
    """

    name: str
    values: Floats | Integers
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The fields of a target, in the order declared."""

    fields: tuple[Field, ...] = ()

    @property
    def rows(self) -> int:
        """The number of data."""
        return self.fields[0].values.shape[0] if self.fields else 0


def fields_of(table: Table, target: Target, file: DataFile, scales: Scales) -> tuple[Field, ...]:
    """Return the fields that the rows of a table make.

    Raises DataError with what does not fit, or the first bad row and column.
    """
    declared = target.declarations.data
    indicators = dict(file.indicators)
    vectors = [datum.name for datum in declared if datum.axes[1:] and datum.name not in indicators]
    if file.intercept and len(vectors) != 1:
        raise DataError([f"{file.file}: `intercept` needs one field of vectors, found {len(vectors)}"])
    return tuple(_stored(_field(datum, table, file, scales), table, file) for datum in declared)


def labels(datum: Datum, file: DataFile) -> tuple[str, ...]:
    """Return the names of the columns of a field, including those made from the file: indicators and the intercept."""
    names, width = dict(file.columns)[datum.name], dict(file.indicators).get(datum.name)
    if width is not None:
        return tuple(f"{names[0]}_{k}" for k in range(width))
    return (INTERCEPT, *names) if file.intercept and datum.axes[1:] else names


def _stored(field: Field, table: Table, file: DataFile) -> Field:
    if file.dtype == "float64" or field.values.dtype.kind == "i":
        return field
    values = stored(field.values, file.dtype)
    bad = places_not_held(field.values, values)
    if bad.size:
        row, found = int(bad[0][0]), field.values[tuple(bad[0])]
        where = table.where(row, field.columns[int(bad[0][-1])] if values.ndim == 2 else field.columns[0])
        raise DataError([f"{where}: found {found:g}, expected a number that {file.dtype} holds"])
    return Field(field.name, values, field.columns)


def _field(datum: Datum, table: Table, file: DataFile, scales: Scales) -> Field:
    sizes, names = datum.shape.sizes, dict(file.columns)[datum.name]
    if len(sizes) > 1:
        raise DataError([f"{table.file}: `{datum.name}` has a matrix for every datum; columns can fill only a vector"])
    values = np.stack([table.column(name) for name in names], axis=1)
    check_finite(values, names, table)
    if datum.is_index:
        return Field(datum.name, _positions(datum, values[:, 0], names[0], table, file), names)
    if datum.name in dict(file.indicators):
        return Field(datum.name, _indicator(datum, values[:, 0], names[0], table, file), labels(datum, file))
    if datum.values:
        _check_allowed(values, names, datum, table)
    for k, name in enumerate(names):
        if datum.name in file.standardise or name in file.standardise:
            values[:, k] = scales[name].standardised(values[:, k])
    if not datum.values:
        _check_allowed(values, names, datum, table)
    if sizes:
        if file.intercept:
            values = np.concatenate([np.ones((table.rows, 1)), values], axis=1)
        if isinstance(sizes[0], int) and sizes[0] != values.shape[1]:
            found = f"found {values.shape[1]} columns for `{datum.name}`, expected {sizes[0]}"
            raise DataError([f"{table.file}: {found}"])
        return Field(datum.name, np.ascontiguousarray(values), labels(datum, file))
    if len(names) != 1:
        raise DataError([f"{table.file}: found {len(names)} columns for `{datum.name}`, expected 1: it is a scalar"])
    return Field(datum.name, np.ascontiguousarray(values[:, 0]), names)


def _positions(datum: Datum, column: NDArray[np.float64], name: str, table: Table, file: DataFile) -> Integers:
    """Return the positions that a column counts, from 0 or from 1, counted from 0. Raises DataError."""
    first = int(datum.name in file.from_one)
    bad = places_of_others(datum, column - first)
    if bad.size:
        row = int(bad[0][0])
        where, found = table.where(row, name), column[row]
        raise DataError([f"{where}: found {found:g}, expected {positions(datum, first)} for `{datum.name}`"])
    return column.astype(np.int64) - first


def _indicator(datum: Datum, column: NDArray[np.float64], name: str, table: Table, file: DataFile) -> Floats:
    """Return a one at the place that a column counts from 0, zeros elsewhere, row by row."""
    width = dict(file.indicators)[datum.name]
    bad = np.flatnonzero((column != np.floor(column)) | (column < 0) | (column >= width))
    if bad.size:
        row = int(bad[0])
        expected = f"a whole number from 0 to {width - 1}"
        raise DataError([f"{table.where(row, name)}: found {column[row]:g}, expected {expected} for `{datum.name}`"])
    if 8 * column.size * width > MAX_INDICATOR_BYTES:
        raise DataError(
            [f"{table.file}: `{datum.name}` would hold {column.size} x {width} numbers, expected 8 GiB at most"]
        )
    values = np.zeros((column.size, width))
    values[np.arange(column.size), column.astype(np.int64)] = 1.0
    return values


def _check_allowed(values: NDArray[np.float64], names: tuple[str, ...], datum: Datum, table: Table) -> None:
    bad = places_of_others(datum, values)
    if bad.size:
        row, column = (int(k) for k in bad[0])
        found = f"found {values[row, column]:g}, expected {says(datum)} for `{datum.name}`"
        raise DataError([f"{table.where(row, names[column])}: {found}"])
