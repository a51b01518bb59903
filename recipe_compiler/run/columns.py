"""Tables with named columns, read from CSV, NumPy and Parquet files or from memory; nothing in them is ever executed.

Parquet is read by pyarrow, an optional dependency: `pip install recipe_compiler[parquet]`. Columns that a build makes
of those of its file are computed row by row, in doubles, and what of them is of all rows.
"""

import csv
import os
from array import array
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from math import frexp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError, nearest
from recipe_compiler.formula.show import text
from recipe_compiler.run.check_numbers import DIGITS_LOST, MOST_WHOLE, loses_digits, places_of_lost_digits
from recipe_compiler.run.evaluate import Point, evaluate_rows
from recipe_compiler.spec.model import MadeColumn
from recipe_compiler.spec.npy import mapped

Column = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]
Header = tuple[tuple[str, ...], Callable[[Sequence[str]], Arrays]]
"""The names of all columns of a file, and what reads some of them."""
MOST_NAMED = 20
"""Columns of a table that a message names."""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The wanted columns of a table: equally long, not empty, every number finite."""

    origin: Path
    header: tuple[str, ...]
    """The names of all columns of the table."""
    values: Mapping[str, Column]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values.values())))

    def place(self, row: int, name: str) -> str:
        """Say where a number stands."""
        return place_of(self.origin, row, name)


def place_of(origin: Path, row: int, column: str = "") -> str:
    """Say where a number stands: in which row, counted from 1, at which line of a CSV file, in which column."""
    line = f" (line {_line_of(origin, row + 1)})" if origin.suffix.lower() == ".csv" else ""
    return f"{origin}, row {row + 1}{line}{f', column `{column}`' if column else ''}"


def columns_of(file: Path, names: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the names of the columns of a table, in order. Arguments and errors are those of `read_columns`."""
    with _said(file):
        return _opened(file, names)[0]


def read_columns(file: Path, wanted: Sequence[str], names: tuple[str, ...] = ()) -> Columns:
    """Return columns of a file.

    Args:
        file: a `.csv` file with a header line, a `.npy` array, or a `.parquet` file.
        wanted: names of columns. Those of a structured array are its fields.
        names: of all columns of a plain two-dimensional array, which else are called "0", "1", ... .

    Raises:
        DataError: the file cannot be read; every column that is missing, or is not of finite numbers.
    """
    with _said(file):
        header, read = _opened(file, names)
        demand_columns(file, header, wanted)
        return columns_from(file, header, read(wanted))


def columns_from(origin: Path, header: Sequence[str], found: Arrays) -> Columns:
    """Return columns as doubles. Raises DataError for each that is not of finite numbers, or of another length."""
    if not found:
        raise DataError([f"{origin}: found no column that is read, expected one: it says how many rows there are"])
    faults = [fault for name, numbers in found.items() for fault in _misfits(origin, name, numbers)]
    lengths = {name: len(numbers) for name, numbers in found.items()}
    if len(set(lengths.values())) > 1:
        faults.append(f"{origin}: found columns of {', '.join(f'{n} ({name})' for name, n in lengths.items())} rows")
    elif not max(lengths.values()):
        faults.append(f"{origin}: found 0 rows, expected 1 or more")
    if faults:
        raise DataError(faults)
    return Columns(origin, tuple(header), {name: np.array(own, np.float64) for name, own in found.items()})


def _misfits(origin: Path, name: str, numbers: NDArray[Any]) -> list[str]:
    if numbers.ndim != 1 or numbers.dtype.kind not in "buifO":
        return [f"{origin}, column `{name}`: found {numbers.dtype} of shape {numbers.shape}, expected a number a row"]
    lost = places_of_lost_digits(numbers)
    bad = lost if lost.size else np.argwhere(~np.isfinite(numbers.astype(np.float64)))
    if not bad.size:
        return []
    row, more = int(bad[0][0]), f", and {len(bad) - 1} more" if len(bad) > 1 else ""
    expected = DIGITS_LOST if lost.size else "a number"
    return [f"{place_of(origin, row, name)}: found {numbers[row]}, expected {expected}{more}"]


def demand_columns(origin: Path, header: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise DataError for all wanted columns that a table does not have, or has twice."""
    has = f"it has {', '.join(header[:MOST_NAMED]) or 'none'}"
    faults = [
        f"{origin}: found column `{name}` {header.count(name)} times, expected once"
        if name in header
        else f"{origin}: found no column `{name}`: {nearest(name, header) or has}"
        for name in wanted
        if header.count(name) != 1
    ]
    if faults:
        raise DataError(faults)


@contextmanager
def _said(file: Path) -> Generator[None]:
    """Raise DataError in the place of what is raised where a file cannot be read."""
    try:
        yield
    except (OSError, ValueError, csv.Error) as error:
        raise DataError([f"{file}: cannot be read: {error}"]) from error


def _opened(file: Path, names: tuple[str, ...]) -> Header:
    if not os.path.isfile(file):
        raise DataError([f"{file}: found no such file"])
    suffix = file.suffix.lower()
    if names and suffix != ".npy":
        raise DataError([f"{file}: found `names`, expected none: this file names its columns itself"])
    match suffix:
        case ".csv":
            return _open_csv(file)
        case ".npy":
            return _open_npy(file, names)
        case ".parquet":
            return _open_parquet(file)
        case _:
            raise DataError([f"{file}: found the ending `{suffix}`, expected .csv, .npy or .parquet"])


def _open_csv(file: Path) -> Header:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        header = tuple(name.strip() for name in next(csv.reader(stream), ()))
    return header, lambda wanted: _read_csv(file, header, wanted)


def _read_csv(file: Path, header: Sequence[str], wanted: Sequence[str]) -> Arrays:
    """Return columns cell by cell. Raises DataError for the first that is no number written with the digits 0 to 9."""
    places, cells = [header.index(name) for name in wanted], array("d")
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream)
        next(reader, None)
        for count, row in enumerate(filter(None, reader)):
            if len(row) != len(header):
                found = f"found {len(row)} cells, expected {len(header)} as in the header"
                raise DataError([f"{place_of(file, count)}: {found}"])
            for place in places:
                cell = row[place]
                try:
                    number = float(cell)
                    lost = abs(number) >= MOST_WHOLE and loses_digits(cell)
                    fits = not lost and "_" not in cell and cell.strip().isascii()  # Python takes 1_0, every digit
                except ValueError:
                    lost = fits = False
                if not fits:
                    shown = f"`{cell[:40]}`" if cell.strip() else "an empty cell"
                    expected = DIGITS_LOST if lost else "a number"
                    raise DataError([f"{place_of(file, count, header[place])}: found {shown}, expected {expected}"])
                cells.append(number)
    values = np.array(cells).reshape(-1, len(places))
    return {name: values[:, k] for k, name in enumerate(wanted)}


def _line_of(file: Path, row: int) -> int:
    """Return the line of a CSV file at which a row ends, both counted from 1."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream)
        next(reader, None)
        for _ in islice(filter(None, reader), row):
            pass
        return reader.line_num


def open_array(file: Path) -> NDArray[Any]:
    """Return the array of a `.npy` file, mapped and read-only. Raises DataError for anything but an array."""
    if not os.path.isfile(file):
        raise DataError([f"{file}: found no such file"])
    try:
        return mapped(file)
    except (ValueError, EOFError) as error:
        raise DataError([f"{file}: found no plain array of numbers (objects are never unpickled): {error}"]) from error


def _open_npy(file: Path, names: tuple[str, ...]) -> Header:
    array = open_array(file)
    fields = array.dtype.names
    if fields is not None and names:
        raise DataError([f"{file}: found `names`, expected none: the fields of the array have their own"])
    if array.ndim != (2 if fields is None else 1):
        expected = "2: rows and columns" if fields is None else "1: it has named fields"
        raise DataError([f"{file}: found an array of {array.ndim} dimensions, expected {expected}"])
    if fields is not None:
        return fields, lambda wanted: {name: array[name] for name in wanted}
    if names and len(names) != array.shape[1]:
        raise DataError([f"{file}: found {array.shape[1]} columns, expected {len(names)}: one for each of `names`"])
    header = names or tuple(map(str, range(array.shape[1])))
    return header, lambda wanted: {name: array[:, header.index(name)] for name in wanted}


def _open_parquet(file: Path) -> Header:
    try:
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        hint = "install it with `pip install recipe_compiler[parquet]`"
        raise DataError([f"{file}: reading Parquet needs pyarrow, found none: {hint}"]) from error
    opened: Any = pyarrow.parquet.ParquetFile(file)
    return tuple(opened.schema_arrow.names), lambda wanted: _read_parquet(file, opened.read(columns=list(wanted)))


def _read_parquet(file: Path, table: Any) -> Arrays:
    """Return columns, integers as they are; a missing value is NaN. Raises DataError for one that is not of numbers."""
    import pyarrow
    from pyarrow import types

    found: dict[str, NDArray[Any]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not types.is_integer(column.type) or column.null_count:
            if not any(
                is_(column.type) for is_ in (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
            ):
                raise DataError([f"{file}, column `{name}`: found {column.type}, expected numbers"])
            column = column.cast(pyarrow.float64(), safe=False)
        found[name] = column.to_numpy()
    return found


MOST_EXPONENT = 1022
"""The exponent of a unit: it and one over it are normal doubles, and numbers in it are at most 4."""


def with_made(columns: Columns, made: tuple[MadeColumn, ...], like: Columns | None = None) -> Columns:
    """Return columns with those added that are made of them, each after those it uses.

    What is computed of all rows is computed of those of `like`, which has made ones, where these are others.

    Raises DataError for made ones that the table has itself, and for the first row in which one has no value: where it
    stands, by which formula, of what.
    """
    expected = "which the build makes: expected names of made columns that the file does not have"
    twice = [column.name for column in made if column.name in columns.header and not column.whole]
    if twice:
        raise DataError([f"{columns.origin}: found a column `{name}`, {expected}" for name in twice])
    for column in made:
        values = _values(column, columns)
        if column.whole:
            own = None if like is None else _values(column, like)
            values = over_rows(column.whole, values, column.name, columns.origin, own)
            _demand_finite(column, columns, values)
        columns = replace(columns, values={**columns.values, column.name: values})
    return columns


def over_rows(whole: str, values: Column, name: str, origin: Path, like: Column | None = None) -> Column:
    """Return `mean`, `sd` (divided by N), `centre` or `standardise` of all rows of a column called `name`.

    Mean and sd are those of the rows `like`, where these are others.

    They are computed in a unit, a power of two near the largest number: to divide by it is exact, and no square of what
    was divided overflows, or underflows where it counts.

    Raises:
        DataError: the column is the same in every row, or nearly so, and to be standardised; its standard deviation is
            asked for and no double.
    """
    own = values if like is None else like
    lowest, highest = float(own.min()), float(own.max())
    exponent = frexp(max(-lowest, highest))[1]
    unit = 2.0 ** max(-MOST_EXPONENT, min(exponent, MOST_EXPONENT))
    scaled = values / unit
    base = scaled if like is None else like / unit
    mean = float(base.mean())
    sd = sqrt(np.mean((base - mean) ** 2))
    found = f"{origin}, column `{name}`: found rows from {lowest!r} to {highest!r}"
    if whole == "standardise" and sd <= 1e-12 * abs(mean):
        if lowest == highest:
            raise DataError([f"{origin}, column `{name}`: every row is {lowest:g}, so it cannot be standardised"])
        expected = "expected a standard deviation above 1e-12 of the mean: subtract a number near it first"
        raise DataError([f"{found}, {expected}"])
    if whole == "sd" and sd * unit == 0 and lowest != highest:
        raise DataError([f"{found}, whose standard deviation is 0 as a double, expected one above 0"])
    with np.errstate(over="ignore"):  # what is not finite is refused
        match whole:
            case "mean":
                return np.full_like(values, mean) * unit
            case "sd":
                return np.full_like(values, sd) * unit
            case "centre":
                return (scaled - mean) * unit
            case _:
                return (scaled - mean) / sd


def _values(column: MadeColumn, columns: Columns) -> Column:
    """Return the values of a column's formula, all finite. Raises DataError."""
    rows = {name: columns.values[name].reshape(-1, 1, 1) for name in column.uses}
    found = evaluate_rows(column.formula, Point({}, {}), rows).reshape(-1)
    values = np.array(np.broadcast_to(found, (columns.rows,)), dtype=np.float64)
    _demand_finite(column, columns, values)
    return values


def _demand_finite(column: MadeColumn, columns: Columns, values: Column) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        row = int(bad[0])
        at = ", ".join(f"{name} = {columns.values[name][row]:g}" for name in column.uses)
        more = f", and {bad.size - 1} more rows" if bad.size > 1 else ""
        by = f"found {values[row]} by {text(column.formula)}{f' at {at}' if at else ''}"
        raise DataError([f"{columns.place(row, column.name)}: {by}, expected a number{more}"])
