"""Data files as the arrays a target declares."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.declaration import Datum
from recipe_compiler.run.errors import DataError
from recipe_compiler.run.table import Table, read_table
from recipe_compiler.spec.model import DataFile, Target

INTERCEPT = "intercept"
"""The name of the column of ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of the data: `[N]` for a scalar datum, `[N, k]` for a vector, contiguous float64."""

    name: str
    values: NDArray[np.float64]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The fields of a target, in the order declared."""

    fields: tuple[Field, ...] = ()

    @property
    def rows(self) -> int:
        """The number of data."""
        return self.fields[0].values.shape[0] if self.fields else 0


def load_data(file: DataFile | None, target: Target) -> Data:
    """Return the data of a target: columns by name, standardised and with an intercept where the build says so.

    Raises DataError with every column that is missing or does not fit, or the first bad row and column.
    """
    declared = target.declarations.data
    if not declared:
        return Data()
    if file is None:
        names = ", ".join(datum.name for datum in declared)
        raise DataError([f"{target.name}: found no data, expected columns for {names}: add a `data:` section"])
    columns = dict(file.columns)
    missing = [f"{file.file}: found no columns for `{d.name}`" for d in declared if not columns.get(d.name)]
    if missing:
        raise DataError(missing)
    wanted = tuple(dict.fromkeys(name for datum in declared for name in columns[datum.name]))
    table = read_table(file.file, wanted)
    _check_rows(table, declared)
    data = Data(tuple(_field(datum, columns[datum.name], table, file) for datum in declared))
    return _with_intercept(data, file) if file.intercept else data


def _check_rows(table: Table, declared: tuple[Datum, ...]) -> None:
    if table.rows == 0:
        raise DataError([f"{table.file}: found 0 rows, expected 1 or more"])
    faults = [
        f"{table.file}: found {table.rows} rows, expected {datum.size} for `{datum.name}`"
        for datum in declared
        if isinstance(datum.size, int) and datum.size != table.rows
    ]
    if faults:
        raise DataError(faults)


def _field(datum: Datum, names: tuple[str, ...], table: Table, file: DataFile) -> Field:
    sizes = datum.shape.sizes
    if len(sizes) > 1:
        raise DataError([f"{table.file}: `{datum.name}` has a matrix for every datum; columns can fill only a vector"])
    values = np.stack([table.column(name) for name in names], axis=1)
    _check_finite(values, names, table)
    if datum.values:
        _check_allowed(values, names, datum, table)
    standardised = [datum.name in file.standardise or name in file.standardise for name in names]
    for k, name in enumerate(names):
        if standardised[k]:
            values[:, k] = _standardise(values[:, k], name, table)
    if sizes:
        width = len(names) + (1 if file.intercept else 0)
        if isinstance(sizes[0], int) and sizes[0] != width:
            raise DataError([f"{table.file}: found {width} columns for `{datum.name}`, expected {sizes[0]}"])
        return Field(datum.name, np.ascontiguousarray(values), names)
    if len(names) != 1:
        raise DataError([f"{table.file}: found {len(names)} columns for `{datum.name}`, expected 1: it is a scalar"])
    return Field(datum.name, np.ascontiguousarray(values[:, 0]), names)


def _check_finite(values: NDArray[np.float64], names: tuple[str, ...], table: Table) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        row, column = (int(k) for k in bad[0])
        more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
        raise DataError([f"{table.where(row, names[column])}: found {values[row, column]}, expected a number{more}"])


def _check_allowed(values: NDArray[np.float64], names: tuple[str, ...], datum: Datum, table: Table) -> None:
    bad = np.argwhere(~np.isin(values, datum.values))
    if bad.size:
        row, column = (int(k) for k in bad[0])
        allowed = ", ".join(str(value) for value in datum.values)
        found = f"found {values[row, column]:g}, expected one of {allowed} for `{datum.name}`"
        raise DataError([f"{table.where(row, names[column])}: {found}"])


def _standardise(column: NDArray[np.float64], name: str, table: Table) -> NDArray[np.float64]:
    """Return (x - mean) / sd, with the sd of the rows themselves (divided by N)."""
    centred = column - column.mean()
    sd = np.sqrt(np.mean(centred**2))
    if not sd > 1e-12 * max(abs(float(column.mean())), 1e-300):
        raise DataError([f"{table.file}, column `{name}`: every row is {column[0]:g}, so it cannot be standardised"])
    return centred / sd


def _with_intercept(data: Data, file: DataFile) -> Data:
    """Put a column of ones before the others of the one vector field."""
    vectors = [field.name for field in data.fields if field.values.ndim == 2]
    if len(vectors) != 1:
        raise DataError([f"{file.file}: `intercept` needs one field of vectors, found {len(vectors)}"])

    def extended(field: Field) -> Field:
        if field.values.ndim != 2:
            return field
        ones = np.ones((data.rows, 1))
        return Field(field.name, np.concatenate([ones, field.values], axis=1), (INTERCEPT, *field.columns))

    return Data(tuple(extended(field) for field in data.fields))
