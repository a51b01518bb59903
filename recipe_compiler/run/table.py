"""Tables with named columns, read from CSV, NumPy and Parquet files; nothing in them is ever executed.

Parquet is read by pyarrow, an optional dependency: `pip install recipe_compiler[parquet]`.
"""

import csv
import os
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError, nearest
from recipe_compiler.run.refused_numbers import DIGITS_LOST, MOST_WHOLE, is_plain, loses_digits, places_of_lost_digits
from recipe_compiler.spec.npy import mapped

BUFFER = 1 << 20
"""Bytes read at a time from each column: a row group as a whole may be larger than memory."""


def parquet_columns(file: Path) -> list[str]:
    """Return the names of the columns. Raises DataError for what is no Parquet file, and without pyarrow."""
    with _opened(file) as opened:
        return list(opened.schema_arrow.names)


def parquet_pieces(file: Path, wanted: tuple[str, ...], rows: int | None = None) -> Iterator[NDArray[np.float64]]:
    """Yield the columns `wanted` (which must be there), at most `rows` rows at a time; one empty piece without any.

    A missing value is NaN. Raises DataError for a column that does not hold numbers.
    """
    with _opened(file) as opened:
        arrow_types = dict(zip(opened.schema_arrow.names, opened.schema_arrow.types, strict=True))
        for name in wanted:
            if not _is_number(arrow_types[name]):
                raise DataError([f"{file}, column `{name}`: found {arrow_types[name]}, expected numbers"])
        total: int = opened.metadata.num_rows
        if total == 0:
            yield np.empty((0, len(wanted)))
            return
        yield from _joined(
            file, opened.iter_batches(batch_size=rows or total, columns=list(wanted)), wanted, rows or total
        )


def _joined(file: Path, batches: Iterator[Any], wanted: tuple[str, ...], rows: int) -> Iterator[NDArray[np.float64]]:
    """Yield pieces of `rows` rows, the last with what is left: batches end where row groups do."""
    import pyarrow

    waiting: list[NDArray[np.float64]] = []
    count = read = 0
    for batch in batches:
        columns = [batch.column(batch.schema.get_field_index(name)) for name in wanted]
        for name, column in zip(wanted, columns, strict=True):
            if pyarrow.types.is_integer(column.type):
                _demand_digits(file, name, column.fill_null(0).to_numpy(zero_copy_only=False), read)
        values = np.stack([_numbers(column) for column in columns], axis=1)
        read += len(values)
        while count + len(values) >= rows:
            yield np.concatenate([*waiting, values[: rows - count]])
            values, waiting, count = values[rows - count :], [], 0
        waiting.append(values)
        count += len(values)
    if count:
        yield np.concatenate(waiting)


def _numbers(column: Any) -> NDArray[np.float64]:
    import pyarrow

    if pyarrow.types.is_boolean(column.type):
        column = column.cast(pyarrow.int8())
    return column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)


def _is_number(arrow_type: Any) -> bool:
    from pyarrow import types

    kinds = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    return any(kind(arrow_type) for kind in kinds)


def _opened(file: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        hint = "install it with `pip install recipe_compiler[parquet]`"
        raise DataError([f"{file}: reading Parquet needs pyarrow, found none: {hint}"]) from error
    try:
        return pyarrow.parquet.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False)
    except pyarrow.ArrowInvalid as error:
        raise DataError([f"{file}: found no Parquet file: {error}"]) from error


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The wanted columns of a file, or of consecutive rows of it."""

    file: Path
    names: tuple[str, ...]
    values: NDArray[np.float64]
    """One row per datum, one column per name."""
    first: int = 0
    """How many rows of the file stand before these."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.values.shape[0]

    def column(self, name: str) -> NDArray[np.float64]:
        """Return a copy of the column called `name`."""
        return self.values[:, self.names.index(name)].copy()

    def where(self, row: int, name: str) -> str:
        """Say where a value stands; rows are counted from 1."""
        number = _line_of(self.file, self.first + row + 1) if self.file.suffix.lower() == ".csv" else 0
        line = f" (line {number})" if number else ""
        return f"{self.file}, row {self.first + row + 1}{line}, column `{name}`"


def read_table(file: Path, wanted: tuple[str, ...], names: tuple[str, ...] = ()) -> Table:
    """Read the columns `wanted` of a file as a whole; arguments and errors as of `table_pieces`."""
    (table,) = table_pieces(file, wanted, names)
    return table


def columns_of(file: Path, names: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the names of the columns of a table, in order. Errors are those of `table_pieces`."""
    try:
        match file.suffix.lower():
            case ".npy":
                return tuple(_npy_header(file, names))
            case ".parquet":
                return tuple(parquet_columns(file))
            case ".csv":
                with file.open(encoding="utf-8-sig", newline="") as stream:
                    return tuple(name.strip() for name in next(csv.reader(stream), ()))
            case suffix:
                raise DataError([f"{file}: found the ending `{suffix}`, expected .csv, .npy or .parquet"])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError([f"{file}: cannot be read: {error}"]) from error


def table_pieces(
    file: Path, wanted: tuple[str, ...], names: tuple[str, ...] = (), rows: int | None = None
) -> Iterator[Table]:
    """Yield the columns `wanted` of a file, `rows` rows at a time, or all at once; one empty table where it has none.

    Args:
        file: a `.csv` file with a header line, a `.npy` array, or a `.parquet` file.
        wanted: names of columns. Those of a structured array are its fields.
        names: of all columns of a plain two-dimensional array, which else are called "0", "1", ... .
        rows: the most rows of a piece; None: all.

    Raises:
        DataError: the file cannot be read, columns are missing, or a cell is no number (the first such is named).
    """
    if not os.path.isfile(file):
        raise DataError([f"{file}: found no such file"])
    suffix = file.suffix.lower()
    if names and suffix != ".npy":
        raise DataError([f"{file}: found `names`, expected none: this file names its columns itself"])
    try:
        match suffix:
            case ".csv":
                yield from _csv_pieces(file, wanted, rows)
            case ".npy":
                yield from _npy_pieces(file, wanted, names, rows)
            case ".parquet":
                _places(file, parquet_columns(file), wanted)
                first = 0
                for values in parquet_pieces(file, wanted, rows):
                    yield Table(file, wanted, values, first=first)
                    first += values.shape[0]
            case _:
                raise DataError([f"{file}: found the ending `{suffix}`, expected .csv, .npy or .parquet"])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError([f"{file}: cannot be read: {error}"]) from error


def _csv_pieces(file: Path, wanted: tuple[str, ...], rows: int | None) -> Iterator[Table]:
    """Yield pieces by NumPy's reader; from the first piece that it does not take on, row by row.

    What NumPy takes are rows of the width of the header with a plain number in every wanted cell, which are those that
    are taken row by row, too; whatever else is there is read again to be named, or because it is a number after all.
    (Quicker readers fill short rows up, or pass over what is no text, and would take files that are refused here.)
    """
    with file.open(encoding="utf-8-sig", newline="") as stream:
        header = [name.strip() for name in next(csv.reader(stream), [])]
        places = _places(file, header, wanted)
        columns = np.dtype([(str(k), "f8" if k in places else "U1") for k in range(len(header))])
        first, lines = 0, (line for line in stream if line.strip("\r\n"))
        while (line := next(lines, None)) is not None:
            try:
                found: Any = np.loadtxt(
                    chain([line], lines), columns, comments=None, delimiter=",", quotechar='"', max_rows=rows, ndmin=1
                )
            except ValueError:
                yield from _csv_by_rows(file, wanted, rows, first)
                return
            values = np.stack([found[str(place)] for place in places], axis=1)
            if (np.isfinite(values) & (np.abs(values) >= MOST_WHOLE)).any():  # of which digits may be lost
                yield from _csv_by_rows(file, wanted, rows, first)
                return
            yield Table(file, wanted, values, first)
            first += values.shape[0]
        if first == 0:
            yield Table(file, wanted, np.empty((0, len(places))))


def _csv_by_rows(file: Path, wanted: tuple[str, ...], rows: int | None, skip: int) -> Iterator[Table]:
    """Yield pieces from a row on; the first cell that is no number is named."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream)
        header = [name.strip() for name in next(reader, [])]
        places = _places(file, header, wanted)
        first, cells = skip, array("d")
        for count, row in enumerate(_full_rows(reader, file, len(header))):
            if count < skip:
                continue
            if count - first == rows:
                yield Table(file, wanted, np.array(cells).reshape(-1, len(places)), first)
                first, cells = count, array("d")
            try:
                cells.extend(_number(row[place]) for place in places)
            except ValueError:
                raise _not_a_number(file, row, header, places, count, reader.line_num) from None
        yield Table(file, wanted, np.array(cells, dtype=np.float64).reshape(-1, len(places)), first)


def _number(cell: str) -> float:
    """Return the number in a cell, written with the digits 0 to 9; ValueError for any other, and lost digits."""
    if "_" in cell or not cell.strip().isascii():  # Python takes 1_0 for 10, and the digits of every script
        raise ValueError
    if loses_digits(cell):
        raise ValueError
    return float(cell)


def _line_of(file: Path, row: int) -> int:
    """Return the line of a CSV file at which a row ends, both counted from 1; 0 where a cell is longer than any is."""
    with file.open(encoding="utf-8-sig", newline="") as stream, suppress(csv.Error):
        reader = csv.reader(stream)
        next(reader, None)
        for _ in islice(filter(None, reader), row):
            pass
        return reader.line_num
    return 0


def _full_rows(reader: Iterator[list[str]], file: Path, width: int) -> Iterator[list[str]]:
    """Yield the rows that are not blank; a row with more or fewer cells than the header is an error."""
    for count, row in enumerate(filter(None, reader)):
        if len(row) != width:
            raise DataError([f"{file}, row {count + 1}: found {len(row)} cells, expected {width} as in the header"])
        yield row


def _not_a_number(
    file: Path, row: list[str], header: list[str], places: tuple[int, ...], count: int, line: int
) -> DataError:
    """Return the error for the first wanted cell of a row that is not a number."""
    for place in places:
        try:
            _number(row[place])
        except ValueError:
            found = f"`{row[place][:40]}`" if row[place].strip() else "an empty cell"
            column = f"row {count + 1} (line {line}), column `{header[place]}`"
            expected = DIGITS_LOST if is_plain(row[place]) else "expected a number"
            return DataError([f"{file}, {column}: found {found}, {expected}"])
    return DataError([f"{file}, row {count + 1} (line {line}): found something else than numbers"])


def _npy_pieces(file: Path, wanted: tuple[str, ...], names: tuple[str, ...], rows: int | None) -> Iterator[Table]:
    header = _npy_header(file, names)
    places = _places(file, header, wanted)
    count, first = open_array(file).shape[0], 0
    step = rows or max(count, 1)
    for first in range(0, max(count, 1), step):
        # Mapped anew for every piece: what was read of the one before counts as memory only as long as it is mapped.
        columns = _npy_columns(open_array(file))
        for place in places:
            if columns[place].ndim != 1 or columns[place].dtype.kind not in "buif":
                raise DataError([f"{file}, column `{header[place]}`: found {columns[place].dtype}, expected numbers"])
        whole = [columns[place][first : first + step] for place in places]
        for place, column in zip(places, whole, strict=True):
            _demand_digits(file, header[place], column, first)
        part = [column.astype(np.float64) for column in whole]
        yield Table(file, wanted, np.stack(part, axis=1), first=first)


def _demand_digits(file: Path, name: str, column: NDArray[Any], first: int) -> None:
    """Raise DataError for the first integer of a column, which begins at row `first`, that no double is."""
    lost = places_of_lost_digits(column)
    if lost.size:
        row = int(lost[0][0])
        raise DataError([f"{file}, row {first + row + 1}, column `{name}`: found {column[row]}, {DIGITS_LOST}"])


def open_array(file: Path) -> NDArray[Any]:
    """Return the array of a `.npy` file, mapped and read-only. Raises DataError for anything but an array."""
    try:
        return mapped(file)
    except (ValueError, EOFError) as error:
        raise DataError([f"{file}: found no plain array of numbers (objects are never unpickled): {error}"]) from error


def _npy_header(file: Path, names: tuple[str, ...]) -> list[str]:
    array = open_array(file)
    if array.dtype.names is not None:
        if names:
            raise DataError([f"{file}: found `names`, expected none: the fields of the array have their own"])
        if array.ndim != 1:
            raise DataError([f"{file}: found an array of {array.ndim} dimensions, expected 1: it has named fields"])
        return list(array.dtype.names)
    if array.ndim != 2:
        raise DataError([f"{file}: found an array of {array.ndim} dimensions, expected 2: rows and columns"])
    if names and len(names) != array.shape[1]:
        raise DataError([f"{file}: found {array.shape[1]} columns, expected {len(names)}: one for each of `names`"])
    return list(names) or [str(k) for k in range(array.shape[1])]


def _npy_columns(array: NDArray[Any]) -> list[NDArray[Any]]:
    if array.dtype.names is not None:
        return [array[name] for name in array.dtype.names]
    return [array[:, k] for k in range(array.shape[1])]


def _places(file: Path, header: list[str], wanted: tuple[str, ...]) -> tuple[int, ...]:
    """Return where the wanted columns are; all that are missing, or there twice, at once."""
    faults: list[str] = []
    for name in wanted:
        if header.count(name) > 1:
            faults.append(f"{file}: found column `{name}` {header.count(name)} times, expected once")
        elif name not in header:
            hint = nearest(name, header) or f"it has {', '.join(header[:12]) or 'none'}"
            faults.append(f"{file}: found no column `{name}`: {hint}")
    if faults:
        raise DataError(faults)
    return tuple(header.index(name) for name in wanted)
