"""Data as the arrays a target declares: from files, in memory or mapped, or from arrays of Python."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError, nearest, shown
from recipe_compiler.formula.declaration import Datum
from recipe_compiler.run.columns import Data, Field, Floats, fields_of, labels
from recipe_compiler.run.made_columns import scales_of, with_made
from recipe_compiler.run.mapped_data import Arrays, converted
from recipe_compiler.run.refused_numbers import (
    DIGITS_LOST,
    MOST_WHOLE,
    places_not_held,
    places_of_lost_digits,
    places_of_others,
    says,
    stored,
)
from recipe_compiler.run.table import Table, columns_of, open_array, read_table, table_pieces
from recipe_compiler.spec.model import DataFile, Target

__all__ = ["Data", "Field", "load_data"]
MOST_NAMED = 20
"""More columns are not named."""

PIECE = 1 << 20
"""Numbers in a piece of what is converted or checked."""


def data_of(given: object, target: Target, dtype: str = "float64") -> Data:
    """Return the data of a target from memory: the first axis of each field counts the data, the rest is one datum.

    Args:
        given: a mapping of each field to its numbers (an array, nested lists, a column or table of pandas, an array of
            xarray); a table or dataset that has the fields among its columns; of a target with one field, its numbers.
        target: declares the fields.
        dtype: in what they are stored, `float64` or `float32`.

    Raises:
        DataError: every field that is missing, unknown, of another shape, or holds what is no number it may.
    """
    declared = {datum.name: datum for datum in target.declarations.data}
    arrays, among = _by_field(given, declared)
    others = (name if isinstance(name, str) else shown(name) for name in arrays if name not in declared)
    faults = [
        f"data: found `{name}`, expected a field of {target.name} ({', '.join(declared) or 'it has none'}) "
        f"{nearest(name, tuple(declared))}".rstrip()
        for name in others
    ]
    missing = [datum for datum in declared.values() if datum.name not in arrays]
    faults += [f"data: found no `{datum.name}`{among}, expected {_wanted(datum)}" for datum in missing]
    if faults:
        raise DataError(faults)
    fields = [_field(datum, arrays[name], dtype, faults) for name, datum in declared.items()]
    known = [field for field in fields if field is not None]
    faults += _rows(known, declared)
    faults += _labelled_otherwise(arrays, {name: datum.size for name, datum in declared.items()})
    if faults:
        raise DataError(faults)
    return Data(tuple(known))


def _by_field(given: Any, declared: Mapping[str, Datum]) -> tuple[Mapping[str, object], str]:
    """Return field to what is given for it, and among which columns fields were looked for.

    A table or dataset may have more columns than fields; of two levels of columns, the first names the fields.
    """
    columns = getattr(given, "columns", getattr(given, "data_vars", None))
    if columns is not None:
        own = list(dict.fromkeys(column[0] if isinstance(column, tuple) else column for column in columns))
        if len(declared) == 1 and own and not declared.keys() & set(own) and hasattr(given, "columns"):
            return dict.fromkeys(declared, given), ""
        among = f" among the columns {', '.join(map(str, own))}" if len(own) <= MOST_NAMED else ""
        among += " (`data={'file': table, FIELD: COLUMNS, ...}` says which make which field)"
        return {name: given[name] for name in declared if name in own}, among
    if isinstance(given, Mapping):
        return cast("Mapping[str, object]", given), ""
    if len(declared) == 1:
        return dict.fromkeys(declared, given), ""
    found = type(given).__name__
    raise DataError([f"data: found {found}, expected a mapping of {', '.join(declared) or 'nothing'} to arrays"])


def is_statement(given: object, fields: Sequence[str]) -> bool:
    """Whether data are given as a build states them, by a `file` or `arrays` that are no field of the target."""
    return isinstance(given, Mapping) and any(key in given and key not in fields for key in ("file", "arrays"))


def data_of_table(given: object, file: DataFile, target: Target) -> Data:
    """Return the data of a target from a table in memory in the place of a file of a build.

    Args:
        given: a table of pandas, a dataset of xarray, or a mapping of columns' names to their numbers.
        file: which columns make which field, and how.
        target: declares the fields.

    Raises:
        DataError: a column is missing, or does not fit; says which.
    """
    columns: Any = given
    names = list(map(str, getattr(given, "data_vars", columns) if hasattr(given, "keys") else ()))
    if not names:
        raise DataError([f"data.file: found {type(given).__name__}, expected the name of a file or a table of columns"])
    faults = [
        f"data: found no column `{name}`, expected one of {', '.join(names[:MOST_NAMED])} "
        f"{nearest(name, tuple(names))}".rstrip()
        for name in file.read
        if name not in names
    ]
    found = {name: _numbers(columns[name]) for name in file.read if name in names}
    faults += [
        f"data: {_no_numbers(columns[name])} of column `{name}`, expected numbers{_as_numbers(columns[name])}"
        for name, numbers in found.items()
        if numbers is None
    ]
    faults += [
        f"data: found an array of shape {numbers.shape} in column `{name}`, expected one number a row"
        for name, numbers in found.items()
        if numbers is not None and numbers.ndim != 1
    ]
    faults += [
        f"data: {_found(numbers, lost)} of column `{name}`, {DIGITS_LOST}"
        for name, numbers in found.items()
        if numbers is not None and (lost := places_of_lost_digits(numbers)).size
    ]
    faults += _labelled_otherwise(columns, dict.fromkeys(found, "rows"))
    lengths = {name: len(numbers) for name, numbers in found.items() if numbers is not None}
    if len(set(lengths.values())) > 1:
        faults.append(f"data: found columns of {', '.join(f'{n} ({name})' for name, n in lengths.items())} rows")
    if faults:
        raise DataError(faults)
    if not lengths or not next(iter(lengths.values())):
        raise DataError(["data: found 0 rows, expected 1 or more"])
    values = np.stack([np.asarray(found[name], float) for name in file.read], axis=1)
    return _of_table(Table(file.file, file.read, values), file, target)


def _field(datum: Datum, given: object, dtype: str, faults: list[str]) -> Field | None:
    """Return one field as floats, or as positions; None where a fault was added."""
    numbers = _numbers(given)
    if numbers is None:
        faults.append(f"data: {_no_numbers(given)} for `{datum.name}`, expected {_wanted(datum)}{_as_numbers(given)}")
        return None
    array = stored(numbers, "float64" if datum.is_index else dtype)
    if problem := _lost(datum, given, numbers) or _problem(datum, numbers, array, _labels(given)):
        faults.append(f"data: {problem}")
        return None
    if datum.is_index:
        return Field(datum.name, array.astype(np.int64), (datum.name,))
    if array.ndim == 2:
        numbered = tuple(f"{datum.name}_{k}" for k in range(array.shape[1]))
        return Field(datum.name, array, _labels(given) or numbered)
    return Field(datum.name, array, (datum.name,))


def _labels(given: object) -> tuple[str, ...]:
    """Return the columns' names that a table of pandas or an array of xarray has; none where it has none."""
    columns = getattr(given, "columns", None)
    if columns is None:
        dims, coords = getattr(given, "dims", ()), getattr(given, "coords", {})
        columns = coords[dims[-1]].values if dims and dims[-1] in coords else ()
    return tuple(str(column) for column in columns)


def _labelled_otherwise(arrays: Any, sizes: Mapping[str, object]) -> Iterator[str]:
    """Yield a fault for each of the arrays whose rows have other labels than those of one of the same size before it.

    sizes: of each, how many rows it has, by name or in number.
    """
    first: dict[object, tuple[str, Any]] = {}
    for name, size in sizes.items():
        labels = _row_labels(arrays[name])
        if labels is None:
            continue
        other, known = first.setdefault(size, (name, labels))
        if len(labels) == len(known) and not labels.equals(known):
            row = next((k for k, pair in enumerate(zip(labels, known, strict=True)) if pair[0] != pair[1]), 0)
            yield (
                f"data: found row {row + 1} of `{name}` labelled {labels[row]} and of `{other}` {known[row]}, expected "
                f"rows in one order: in pandas {name}.reindex({other}.index), or .to_numpy() where labels mean nothing"
            )


def _row_labels(given: Any) -> Any:
    """Return the labels of the rows of a table or column of pandas, or of an array of xarray; None without any."""
    if isinstance(given, (list, tuple, np.ndarray)):
        return None
    dims = getattr(given, "dims", ())
    found = getattr(given, "indexes", {}).get(dims[0]) if dims else getattr(given, "index", None)
    return found if hasattr(found, "equals") else None


def _numbers(given: object) -> NDArray[Any] | None:
    """Return real numbers as an array of the type that they have; None for what holds others."""
    if isinstance(given, np.ma.MaskedArray):  # its mask would be lost
        return None
    try:
        array = np.asarray(_with_nan(given) if _may_lack_numbers(given) else cast("Any", given))
    except ValueError:  # rows of different lengths
        return None
    return np.atleast_1d(array) if array.dtype.kind in "buif" else None


def _may_lack_numbers(given: Any) -> bool:
    """Whether this is a column or table of pandas whose numbers are of its own types, which NumPy has no array for."""
    types = getattr(given, "dtypes", ())
    own = (types,) if getattr(given, "ndim", 0) == 1 else tuple(types)
    return any(not isinstance(one, np.dtype) for one in own) and all(getattr(one, "kind", "O") in "buif" for one in own)


def _with_nan(given: Any) -> Floats:
    """Return the numbers of pandas, NaN where there are none: that is refused with its row."""
    return given.to_numpy("float64", na_value=np.nan)


def _lost(datum: Datum, given: Any, numbers: NDArray[Any]) -> str:
    """Return which integer lost digits as it became a double, the empty string if none did.

    NumPy makes doubles of a list, or of a table, that holds integers beside others.
    """
    made = numbers
    if numbers.dtype.kind == "f" and not isinstance(given, np.ndarray) and (np.abs(numbers) >= MOST_WHOLE).any():
        made = np.atleast_1d(np.asarray(given.astype(object) if hasattr(given, "dtypes") else given, object))
    lost = places_of_lost_digits(made)
    return f"{_found(made, lost)} for `{datum.name}`, {DIGITS_LOST}" if lost.size else ""


def _no_numbers(given: Any) -> str:
    """Return what was found in the place of an array of real numbers: the first entry that is none, with its place."""
    if isinstance(given, np.ma.MaskedArray):
        return "found a masked array"
    try:
        kind = np.asarray(given).dtype
    except ValueError:
        return "found rows of different lengths"
    array = np.atleast_1d(np.asarray(given, object))
    others = (place for place, one in np.ndenumerate(array) if not isinstance(one, Real))
    place = next(others, None) if kind.kind in "OUS" else None
    if place is None:
        return f"found an array of the type {kind}"
    return f"found {shown(array[place])} in row {place[0] + 1}{_of_column(place, _labels(given))}"


def _as_numbers(given: Any) -> str:
    """Return what makes numbers of what holds nothing else, though its type may hold anything; empty for others."""
    if not hasattr(given, "astype"):
        return ""
    try:
        array = np.asarray(given)
        is_convertible = array.dtype.kind in "OUS" and np.isfinite(array.astype(float)).all()
    except (TypeError, ValueError):
        return ""
    return ': write `.astype("float64")`' if is_convertible else ""


def _of_column(place: Sequence[int], columns: Sequence[str]) -> str:
    """Return in which column of a table a place is; empty for what has no columns with names."""
    return f" of column `{columns[place[1]]}`" if len(place) == 2 and place[1] < len(columns) else ""


def _problem(datum: Datum, given: NDArray[Any], array: Floats, columns: Sequence[str]) -> str:
    """Return what is wrong with the numbers of a field as they are given and stored, the empty string if nothing is."""
    sizes = datum.axes[1:]
    if (
        array.ndim != 1 + len(sizes)
        or not array.shape[0]
        or any(isinstance(size, int) and have != size for size, have in zip(sizes, array.shape[1:], strict=True))
    ):
        hint = _in_shape(datum, array.shape)
        return f"found an array of shape {array.shape} for `{datum.name}`, expected {_wanted(datum)}{hint}"
    lost = places_not_held(given, array)
    if lost.size:
        return f"{_found(given, lost, columns)} for `{datum.name}`, expected numbers that {array.dtype} holds"
    bad = places_of_others(datum, array)
    return f"{_found(array, bad, columns)} for `{datum.name}`, expected {_wanted(datum)}" if bad.size else ""


def _in_shape(datum: Datum, shape: tuple[int, ...]) -> str:
    """Return how an array gets the axes of its field, where it is a column of one number each; empty for others."""
    axes = len(datum.axes)
    if axes == 1 and len(shape) == 2 and 1 in shape:
        return f": write `{datum.name}.ravel()`"
    if axes == 2 and len(shape) == 1:
        return f": write `{datum.name}.reshape(-1, 1)` for one column"
    return ""


def _found(array: NDArray[Any], places: NDArray[np.intp], columns: Sequence[str] = ()) -> str:
    place = tuple(map(int, places[0]))
    found, column = array[place], _of_column(place, columns)
    return f"found {found if array.dtype.kind in 'uiO' else f'{found:g}'} in row {place[0] + 1}{column}"


def _rows(fields: list[Field], declared: Mapping[str, Datum]) -> Iterator[str]:
    """Yield a fault for each field that has another number of data than is declared, or than most fields have.

    A table that has that number of columns is taken for one that is turned, and named.
    """
    counts = [field.values.shape[0] for field in fields if isinstance(declared[field.name].size, str)]
    turned = [field for field in fields if _is_turned(field, counts)]
    for field in turned:
        rows, shape = field.values.shape[1], field.values.shape
        other = next(one.name for one in fields if one.values.shape[0] == rows)
        yield (
            f"data: found an array of shape {shape} for `{field.name}`, expected {rows} rows as `{other}` has: write "
            f"`{field.name}.T`"
        )
    first = next((one for one in fields if one not in turned and isinstance(declared[one.name].size, str)), None)
    for field in (one for one in fields if one not in turned):
        size, rows = declared[field.name].size, field.values.shape[0]
        expected = rows if first is None else first.values.shape[0]
        expected = size if isinstance(size, int) else expected
        if rows != expected:
            why = "" if isinstance(size, int) or first is None else f" as `{first.name}` has"
            yield f"data: found {rows} rows of `{field.name}` (shape {field.values.shape}), expected {expected}{why}"


def _is_turned(field: Field, counts: Sequence[int]) -> bool:
    """Whether a table's columns, and not its rows, are as many as other fields have rows."""
    shape = field.values.shape
    return len(shape) == 2 and shape[0] != shape[1] and counts.count(shape[0]) == 1 and shape[1] in counts


def _wanted(datum: Datum) -> str:
    sizes = ", ".join(str(size) for size in datum.axes)
    values = f" of {', '.join(map(str, datum.values))}" if datum.values and not datum.is_index else f" of {says(datum)}"
    return f"an array [{sizes}]{values}"


def load_data(file: DataFile | None, target: Target) -> Data:
    """Return the data of a target: columns by name, standardised and with an intercept where the build says so.

    Parquet files, and others where the build says `memory_map`, are converted once and mapped, read-only; arrays of
    the wanted type are mapped as they are. Rows are shuffled where the build gives a seed for it.

    Raises DataError with every column that is missing or does not fit, or the first bad row and column.
    """
    declared = target.declarations.data
    if not declared:
        return Data()
    if file is None:
        names = ", ".join(datum.name for datum in declared)
        raise DataError([f"{target.name}: found no data, expected columns for {names}: add a `data:` section"])
    if file.arrays:
        return _mapped_arrays(file, target)
    columns = dict(file.columns)
    missing = [f"{file.file}: found no columns for `{d.name}`" for d in declared if not columns.get(d.name)]
    if missing:
        raise DataError(missing)
    if not file.read:
        raise DataError([f"{file.file}: found no column that is read, expected one: it says how many rows there are"])
    _refuse_made_twice(file)
    if file.is_mapped:
        return _mapped_table(file, target)
    return _of_table(read_table(file.file, file.read, file.names), file, target)


def _of_table(table: Table, file: DataFile, target: Target) -> Data:
    _check_rows(table.rows, file.file, target.declarations.data)
    scales = scales_of(lambda: (table,), file)
    return _shuffled(Data(fields_of(with_made(table, file, scales), target, file, scales)), file)


def _refuse_made_twice(file: DataFile) -> None:
    """Raise DataError for columns that are made, and are in the file too."""
    if file.made and os.path.isfile(file.file):
        own = set(columns_of(file.file, file.names))
        twice = [column.name for column in file.made if column.name in own and not column.whole]
        found = "expected names of made columns that the file does not have"
        if twice:
            raise DataError([f"{file.file}: found a column `{name}`, which the build makes: {found}" for name in twice])


def _check_rows(rows: int, file: Path, declared: tuple[Datum, ...]) -> None:
    if rows == 0:
        raise DataError([f"{file}: found 0 rows, expected 1 or more"])
    faults = [
        f"{file}: found {rows} rows, expected {datum.size} for `{datum.name}`"
        for datum in declared
        if isinstance(datum.size, int) and datum.size != rows
    ]
    if faults:
        raise DataError(faults)


def _shuffled(data: Data, file: DataFile) -> Data:
    """Return the data with their rows in the order of the build."""
    if file.shuffle is None:
        return data
    order = _order(data.rows, file.shuffle)
    return Data(tuple(Field(field.name, field.values[order], field.columns) for field in data.fields))


def _order(rows: int, seed: int) -> NDArray[np.int64]:
    """Return an order of rows that the seed alone determines, uniform over all orders."""
    return np.random.default_rng(seed).permutation(rows)


def columns_read(file: DataFile) -> tuple[tuple[str, NDArray[np.float64]], ...]:
    """Return the columns of a file that fields are made of, their rows in the order of the data."""
    table = read_table(file.file, file.read, file.names)
    order = slice(None) if file.shuffle is None else _order(table.rows, file.shuffle)
    return tuple((name, table.column(name)[order]) for name in table.names)


def _refuse_shuffle(file: DataFile) -> None:
    if file.shuffle is not None:
        hint = "shuffle the file once and say `shuffled: true`"
        raise DataError([f"{file.file}: found `shuffle` of mapped data, which is not supported: {hint}"])


def _mapped_table(file: DataFile, target: Target) -> Data:
    """Return the fields of a table, converted now or before."""
    declared, rows = target.declarations.data, max(PIECE // max(len(file.read) + len(file.made), 1), 1)

    def pieces() -> Iterator[Table]:
        return table_pieces(file.file, file.read, file.names, rows)

    def parts() -> Iterator[Arrays]:
        scales = scales_of(pieces, file)
        for table in pieces():
            whole = with_made(table, file, scales)
            yield {field.name: field.values for field in fields_of(whole, target, file, scales)}

    _refuse_shuffle(file)
    if not os.path.isfile(file.file):
        raise DataError([f"{file.file}: found no such file"])
    how = {**asdict(file), "file": "", "arrays": "", "fields": repr(declared), "made": repr(file.made)}
    arrays = converted(file.file, how, parts)
    _check_rows(next(iter(arrays.values())).shape[0], file.file, declared)
    return Data(tuple(Field(datum.name, arrays[datum.name], labels(datum, file)) for datum in declared))


def _mapped_arrays(file: DataFile, target: Target) -> Data:
    """Return fields that are arrays of their own: mapped as they are where their type is the wanted one."""
    _refuse_shuffle(file)
    declared, paths = target.declarations.data, dict(file.arrays)
    fields = tuple(_mapped_array(datum, paths[datum.name], file.dtype) for datum in declared)
    for datum, field in zip(declared, fields, strict=True):
        _check_rows(field.values.shape[0], paths[datum.name], declared)
        rows, expected = field.values.shape[0], fields[0].values.shape[0]
        if rows != expected:
            found = f"found {rows} rows, expected {expected} as `{fields[0].name}` has"
            raise DataError([f"{paths[datum.name]}: {found}"])
    return Data(fields)


def _mapped_array(datum: Datum, path: Path, dtype: str) -> Field:
    if path.suffix.lower() != ".npy" or not os.path.isfile(path):
        raise DataError([f"{path}: found no .npy file, expected one for `{datum.name}`"])
    array, sizes = open_array(path), datum.axes[1:]
    dtype = "int64" if datum.is_index else dtype
    if array.dtype.kind not in "buif" or array.ndim != 1 + len(sizes):
        found = f"found {array.dtype} numbers of {array.ndim} dimensions"
        raise DataError([f"{path}: {found}, expected real ones of {1 + len(sizes)} for `{datum.name}`"])
    for axis, size in enumerate(sizes, 1):
        if isinstance(size, int) and array.shape[axis] != size:
            raise DataError([f"{path}: found {array.shape[axis]} columns for `{datum.name}`, expected {size}"])
    ready = array.dtype == np.dtype(dtype) and array.flags.c_contiguous
    if array.dtype == np.float32 and dtype == "float64":
        raise DataError([f"{path}: found float32 numbers, expected float64: say `dtype: float32`"])
    if ready:
        for _ in _checked(datum, path, dtype):
            pass
    else:
        how = {"field": repr(datum), "dtype": dtype}
        pieces = partial(_checked, datum, path, dtype)
        array = converted(path, how, lambda: ({datum.name: part} for part in pieces()))[datum.name]
    columns = tuple(f"{datum.name}_{k}" for k in range(array.shape[1])) if sizes else (datum.name,)
    return Field(datum.name, array, columns)


def _checked(datum: Datum, path: Path, dtype: str) -> Iterator[NDArray[Any]]:
    """Yield the rows of an array, piece by piece, in another type; each is mapped for itself, then let go."""
    shape = open_array(path).shape
    step = max(PIECE // max(int(np.prod(shape[1:])), 1), 1)
    for first in range(0, shape[0], step):
        rows = open_array(path)[first : first + step]
        part = rows if datum.is_index else stored(rows, dtype)
        lost = places_not_held(rows, part)
        if lost.size:
            row, found = first + int(lost[0][0]) + 1, rows[tuple(lost[0])]
            expected = f"a number that {dtype} holds"
            raise DataError([f"{path}, row {row}: found {found:g}, expected {expected} for `{datum.name}`"])
        bad = places_of_others(datum, part)
        if bad.size:
            expected = says(datum, f"a number that {dtype} holds")
            row, found = first + int(bad[0][0]) + 1, part[tuple(bad[0])]
            raise DataError([f"{path}, row {row}: found {found:g}, expected {expected} for `{datum.name}`"])
        yield part.astype(dtype, copy=False)
