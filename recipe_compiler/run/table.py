"""Tables with named columns, read from CSV and NumPy files; nothing in them is ever executed."""

import csv
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.run.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The wanted columns of a file."""

    file: Path
    names: tuple[str, ...]
    values: NDArray[np.float64]
    """One row per datum, one column per name."""
    lines: tuple[int, ...] = ()
    """Line of the file of every row, if it has lines."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.values.shape[0]

    def column(self, name: str) -> NDArray[np.float64]:
        """Return a copy of the column called `name`."""
        return self.values[:, self.names.index(name)].copy()

    def where(self, row: int, name: str) -> str:
        """Say where a value stands; rows are counted from 1."""
        line = f" (line {self.lines[row]})" if self.lines else ""
        return f"{self.file}, row {row + 1}{line}, column `{name}`"


def read_table(file: Path, wanted: tuple[str, ...]) -> Table:
    """Read the columns `wanted` of a `.csv` file with a header line, or of a `.npy` array.

    The columns of a plain two-dimensional array are called "0", "1", ...; those of a structured one by its fields.
    Raises DataError for a file that cannot be read, for missing columns, and at the first cell that is no number.
    """
    if not file.is_file():
        raise DataError([f"{file}: found no such file"])
    try:
        match file.suffix.lower():
            case ".csv":
                return _read_csv(file, wanted)
            case ".npy":
                return _read_npy(file, wanted)
            case suffix:
                raise DataError([f"{file}: found the ending `{suffix}`, expected .csv or .npy"])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError([f"{file}: cannot be read: {error}"]) from error


def _read_csv(file: Path, wanted: tuple[str, ...]) -> Table:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream)
        header = [name.strip() for name in next(reader, [])]
        places = _places(file, header, wanted)
        cells, lines = array("d"), array("q")
        for row in _full_rows(reader, file, len(header)):
            try:
                cells.extend(float(row[place]) for place in places)
            except ValueError:
                raise _not_a_number(file, row, header, places, len(lines), reader.line_num) from None
            lines.append(reader.line_num)
    values = np.array(cells, dtype=np.float64).reshape(len(lines), len(places))
    return Table(file, wanted, values, tuple(lines))


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
            float(row[place])
        except ValueError:
            found = f"`{row[place][:40]}`" if row[place].strip() else "an empty cell"
            column = f"row {count + 1} (line {line}), column `{header[place]}`"
            return DataError([f"{file}, {column}: found {found}, expected a number"])
    return DataError([f"{file}, row {count + 1} (line {line}): found something else than numbers"])


def _read_npy(file: Path, wanted: tuple[str, ...]) -> Table:
    try:
        loaded = cast("NDArray[Any]", np.load(file, mmap_mode="r", allow_pickle=False))
    except ValueError as error:
        raise DataError([f"{file}: found no plain array of numbers (objects are never unpickled): {error}"]) from error
    if loaded.dtype.names is not None:
        columns = [loaded[name] for name in loaded.dtype.names]
        header = list(loaded.dtype.names)
    else:
        if loaded.ndim != 2:
            raise DataError([f"{file}: found an array of {loaded.ndim} dimensions, expected 2: rows and columns"])
        columns = [loaded[:, k] for k in range(loaded.shape[1])]
        header = [str(k) for k in range(loaded.shape[1])]
    places = _places(file, header, wanted)
    for place in places:
        if columns[place].ndim != 1 or columns[place].dtype.kind not in "buif":
            raise DataError([f"{file}, column `{header[place]}`: found {columns[place].dtype}, expected numbers"])
    return Table(file, wanted, np.stack([columns[place].astype(np.float64) for place in places], axis=1))


def _places(file: Path, header: list[str], wanted: tuple[str, ...]) -> tuple[int, ...]:
    """Return where the wanted columns are; all that are missing, or there twice, at once."""
    faults: list[str] = []
    for name in wanted:
        if header.count(name) > 1:
            faults.append(f"{file}: found column `{name}` {header.count(name)} times, expected once")
        elif name not in header:
            near = get_close_matches(name, header, 1)
            hint = f": did you mean `{near[0]}`?" if near else f": it has {', '.join(header[:12]) or 'none'}"
            faults.append(f"{file}: found no column `{name}`{hint}")
    if faults:
        raise DataError(faults)
    return tuple(header.index(name) for name in wanted)
