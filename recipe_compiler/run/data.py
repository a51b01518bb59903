"""Data as the arrays that a target declares: from files, or from arrays and tables of Python, through one door."""

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError, nearest, shown
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import Datum, Declarations
from recipe_compiler.formula.shapes import Kind, Shape, Sizes
from recipe_compiler.run.check_numbers import MOST_WHOLE, stored, wanted
from recipe_compiler.run.columns import (
    MOST_NAMED,
    Columns,
    columns_from,
    demand_columns,
    open_array,
    over_rows,
    place_of,
    read_columns,
    with_made,
)
from recipe_compiler.run.evaluate import extents
from recipe_compiler.spec.model import Build, Data, DataFile, Field, HeldOut, Target

Floats = NDArray[np.floating[Any]]
"""float64 or float32; arithmetic is done in float64."""

Integers = NDArray[np.int64]
"""Positions, of index fields."""

T = TypeVar("T")

INTERCEPT = "intercept"
"""The name of the column of ones."""

MAX_INDICATOR_BYTES = 8 * 2**30
IN_MEMORY = Path("data")
"""What messages call data that are given in Python."""


def load_data(file: DataFile | None, target: Target, test: HeldOut | None = None) -> Data:
    """Return the data of a target from files: columns by name, standardised and so on where the build says so.

    Rows that are held out are made as the others are: what is computed of all rows is so of the others alone.

    Arrays of the wanted type are mapped as they are; all else is held in memory. Rows are shuffled where the build
    gives a seed for it.

    Raises DataError with every column that is missing or does not fit, or the first bad row of each field.
    """
    declared = target.declarations.data
    if not declared:
        return Data()
    if file is None:
        names = ", ".join(datum.name for datum in declared)
        raise DataError([f"{target.name}: found no data, expected columns for {names}: add a `data:` section"])
    try:
        if file.arrays:
            data = _whole_fields(dict(file.arrays), target, file.dtype)
            other = () if test is None or test.file is None else test.file.arrays
            data = with_test(data, _whole_fields(dict(other), target, file.dtype) if other else test)
        else:
            data = _of_table(read_columns(file.file, file.read, file.names), file, target, test)
    except MemoryError as error:
        hint = "give fields as .npy files under `arrays`, which are mapped"
        raise DataError([f"{file.file}: found more than memory holds: {hint}"]) from error
    return replace(data, file=file.file.name)


def _of_table(columns: Columns, file: DataFile, target: Target, test: HeldOut | None) -> Data:
    every = _fields_of(columns, file, target)  # with all rows, so that faults name them as they are numbered
    if test is None:
        return every
    if test.file is not None:
        return replace(
            every, test=_fields_of(read_columns(test.file.file, file.read, file.names), file, target, columns)
        )
    is_held = _drawn_rows(columns.rows, test)
    kept, held = (
        replace(columns, values={name: own[rows] for name, own in columns.values.items()})
        for rows in (~is_held, is_held)
    )
    return replace(_fields_of(kept, file, target), test=_fields_of(held, file, target, kept))


@contextmanager
def of_test() -> Generator[None]:
    """Let faults that are raised meanwhile of data be said of held-out rows."""
    try:
        yield
    except DataError as error:
        raise DataError([re.sub(r"^data\b", "test", fault) for fault in error.faults]) from error


def with_test(data: Data, test: HeldOut | Data | None) -> Data:
    """Return data with rows that are held out: others, or a share of their own, which they then lack."""
    if not isinstance(test, HeldOut):
        return replace(data, test=test)
    is_held = _drawn_rows(data.rows, test)
    kept, held = (
        replace(data, fields=tuple(replace(own, values=own.values[rows]) for own in data.fields))
        for rows in (~is_held, is_held)
    )
    return replace(kept, test=held)


def _drawn_rows(rows: int, test: HeldOut) -> NDArray[np.bool_]:
    """Return which rows are held out, a share that is rounded. Raises DataError where that is none or all."""
    share = float(test.share or 0)
    count = round(share * rows)
    if not 0 < count < rows:
        raise DataError([f"test: found a share of {share:g} of {rows} rows, expected one row or more, and not all"])
    found = np.zeros(rows, bool)
    found[np.random.default_rng(test.seed).permutation(rows)[:count]] = True
    return found


def data_of_table(table: Any, file: DataFile, target: Target, test: HeldOut | None = None) -> Data:
    """Return the data of a target from a table in memory in the place of a file of a build.

    Args:
        table: a data frame, a dataset of xarray, or a mapping of columns' names to their numbers.
        file: which columns make which field, and how.
        target: declares the fields.
        test: rows that are held out.

    Raises:
        DataError: a column is missing, or does not fit; says which.
    """
    names = tuple(map(str, getattr(table, "columns", table) if hasattr(table, "__getitem__") else ()))
    if not names or isinstance(table, np.ndarray):
        raise DataError([f"data.file: found {type(table).__name__}, expected the name of a file or a table of columns"])
    demand_columns(IN_MEMORY, names, file.read)
    found = _each(partial(numbers_of, table[name], f"column `{name}`") for name in file.read)
    _raise(misfit_labels(table, dict.fromkeys(file.read, "rows")))
    columns = columns_from(IN_MEMORY, names, dict(zip(file.read, found, strict=True)))
    return _of_table(columns, file, target, test)


def data_of(given: object, target: Target, dtype: str = "float64") -> Data:
    """Return the data of a target from memory: the first axis of each field counts the data, the rest is one datum.

    Args:
        given: a mapping of each field to its numbers (an array, nested lists, a column or table of a data frame, an
            array of xarray); a table or dataset that has the fields among its columns; of a target with one field, its
            numbers.
        target: declares the fields.
        dtype: in what they are stored, `float64` or `float32`.

    Raises:
        DataError: every field that is missing, unknown, of another shape, or holds what is no number it may.
    """
    declared = {datum.name: datum for datum in target.declarations.data}
    arrays, among = _by_field(given, declared)
    expected = f"a field of {target.name} ({', '.join(declared) or 'it has none'})"
    faults = [
        f"data: found `{name}`, expected {expected} {nearest(str(name), tuple(declared))}".rstrip()
        for name in arrays
        if name not in declared
    ]
    missing = [datum for datum in declared.values() if datum.name not in arrays]
    _raise([*faults, *(f"data: found no `{datum.name}`{among}, expected {wanted(datum)}" for datum in missing)])
    return _whole_fields(arrays, target, dtype)


def data_for(build: Build, given: object) -> Data:
    """Return data that are given to a build in Python: `{"file": table}` in the place of its file, or its fields.

    Args:
        build: states which columns of the table make which field, and in what they are stored.
        given: as of `data_of`, or a mapping of `file` alone to what `data_of_table` takes.

    Raises:
        DataError: as they do.
    """
    table = cast("Mapping[str, object]", given).get("file") if isinstance(given, Mapping) else None
    if table is None or build.data is None or build.data.arrays:
        held = build.observed.test if isinstance(build.observed, Data) and build.test is None else build.test
        return with_test(data_of(given, build.target, "float64" if build.data is None else build.data.dtype), held)
    if others := [name for name in cast("Mapping[str, object]", given) if name != "file"]:
        raise DataError([f"data: found `{others[0]}` beside `file`, expected none: the build states its columns"])
    return data_of_table(table, build.data, build.target, build.test)


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


def rows_of(data: Data, declared: Declarations, sizes: Sizes) -> dict[str, Array]:
    """Return the fields with their rows as formulas of one datum name them, `[datum, 1, ...]`."""
    return {field.name: field_rows(declared, field.name, field.values, sizes) for field in data.fields}


def field_rows(declared: Declarations, name: str, values: NDArray[Any], sizes: Sizes) -> Array:
    """Return values of a field as `rows_of` does: in the place of a position, a row with a one there."""
    datum = declared.find(name)
    if isinstance(datum, Datum) and datum.is_index:
        values = np.eye(extents(datum.shape, sizes)[-1])[values.astype(int)]
    return np.asarray(values, dtype=np.float64).reshape(len(values), 1, -1)


def _each(made: Iterable[Callable[[], T]]) -> list[T]:
    """Return what is made. Raises DataError with the faults of all."""
    found, faults = list[T](), list[str]()
    for make in made:
        try:
            found.append(make())
        except DataError as error:
            faults += error.faults
    _raise(faults)
    return found


def _raise(faults: Iterable[str]) -> None:
    if found := list(faults):
        raise DataError(found)


def _whole_fields(given: Mapping[str, object], target: Target, dtype: str) -> Data:
    """Return fields that are given as a whole: by the names of `.npy` files, which are mapped, or by arrays."""
    declared = {datum.name: datum for datum in target.declarations.data}
    fields = _each(partial(_whole_field, datum, given[name], dtype) for name, datum in declared.items())
    labels = misfit_labels(given, {name: datum.size for name, datum in declared.items()})
    _raise([*_misfit_rows(fields, declared), *labels])
    return Data(tuple(fields))


def _whole_field(datum: Datum, given: object, dtype: str) -> Field:
    if isinstance(given, Path):
        return _field(datum, open_array(given), dtype, (), given)
    numbers = numbers_of(given, f"`{datum.name}`")
    return _field(datum, numbers, dtype, labels_of(given) if numbers.ndim == 2 else (), IN_MEMORY)


def _field(
    datum: Datum, numbers: NDArray[Any], dtype: str, labels: tuple[str, ...], origin: Path, first: int = 0
) -> Field:
    """Return a field that was checked; labels: the names of its columns, where it has any."""

    def place(at: tuple[int, ...]) -> str:
        return place_of(origin, at[0], labels[at[1] if len(at) == 2 else 0] if labels else "")

    values = stored(datum, numbers, dtype, origin, place, first)
    numbered = tuple(f"{datum.name}_{k}" for k in range(values.shape[1])) if values.ndim == 2 else (datum.name,)
    return Field(datum.name, values, labels or numbered)


def _misfit_rows(fields: list[Field], declared: Mapping[str, Datum]) -> Iterator[str]:
    """Yield a fault for each field that has another number of data than most fields have.

    A table that has as many columns as another field has rows is taken for one that is turned.
    """
    free = [field for field in fields if isinstance(declared[field.name].size, str)]
    counts = [len(field.values) for field in free]
    columns = {field.values.shape[1] for field in free if field.values.ndim == 2}
    rows = next((count for count in counts if count in columns), next(iter(counts), 0))
    for field in free:
        if (shape := field.values.shape)[0] != rows:
            hint = f": write `{field.name}.T`" if rows in shape else ""
            expected = f"expected {rows} as `{free[counts.index(rows)].name}` has{hint}"
            yield f"data: found {shape[0]} rows of `{field.name}` (shape {shape}), {expected}"


def _fields_of(columns: Columns, file: DataFile, target: Target, like: Columns | None = None) -> Data:
    """Return the fields that columns make, their rows in the order of the build.

    What is computed of all rows is computed of those of `like`, where these are others.
    """
    like = None if like is None else with_made(like, file.made)
    made = with_made(columns, file.made, like)
    fields = _each(partial(_field_of, datum, made, file, like) for datum in target.declarations.data)
    if file.shuffle is not None:
        order = np.random.default_rng(file.shuffle).permutation(columns.rows)
        fields = [replace(field, values=field.values[order]) for field in fields]
    return Data(tuple(fields), columns=columns.values if file.made else {})


def _field_of(datum: Datum, columns: Columns, file: DataFile, like: Columns | None) -> Field:
    names = dict(file.columns)[datum.name]
    width = dict(file.indicators).get(datum.name)
    values = np.stack([columns.values[name] for name in names], axis=1)
    if width is not None:
        place = replace(datum, is_index=True, shape=Shape(None, width), values=(), kinds=(Kind.REAL,))
        positions = cast("Integers", _field(place, values[:, 0], "float64", names, columns.origin).values)
        if 8 * positions.size * width > MAX_INDICATOR_BYTES:
            found = f"`{datum.name}` would hold {positions.size} x {width} numbers, expected 8 GiB at most"
            raise DataError([f"{columns.origin}: {found}"])
        ones = np.zeros((positions.size, width), file.dtype)
        ones[np.arange(positions.size), positions] = 1.0
        return Field(datum.name, ones, tuple(f"{names[0]}_{k}" for k in range(width)))
    if datum.name in file.standardise:
        if datum.values:  # they are of what the file has
            _field(replace(datum, shape=Shape(None, len(names))), values, "float64", names, columns.origin)
            datum = replace(datum, values=(), kinds=(Kind.REAL,))
        base = {} if like is None else like.values
        own = [over_rows("standardise", columns.values[n], n, columns.origin, base.get(n)) for n in names]
        values = np.stack(own, axis=1)
    if file.intercept and datum.axes[1:]:
        values, names = np.concatenate([np.ones((len(values), 1)), values], axis=1), (INTERCEPT, *names)
    numbers = values[:, 0] if values.shape[1] == 1 and not datum.axes[1:] else values
    return _field(datum, numbers, file.dtype, names, columns.origin, int(datum.name in file.from_one))


def numbers_of(given: Any, entry: str) -> NDArray[Any]:
    """Return real numbers as they are: an array of objects where one of numbers would lose digits, or lacks some.

    Args:
        given: an array, nested lists, a column or table of a data frame, an array of xarray.
        entry: what they are given for.

    Raises:
        DataError: it holds something else; says what, and in which row.
    """
    if isinstance(given, np.ma.MaskedArray):  # its mask would be lost
        raise DataError([f"data: found a masked array for {entry}, expected real numbers"])
    try:
        array = np.atleast_1d(np.asarray(given))
    except ValueError as error:
        raise DataError([f"data: found rows of different lengths for {entry}, expected an array"]) from error
    kind = array.dtype.kind
    if kind == "f" and not isinstance(given, np.ndarray) and (np.abs(array) >= MOST_WHOLE).any():
        # NumPy makes doubles of a list, or of a table, that holds integers beside others.
        array = np.atleast_1d(np.asarray(given.astype(object) if hasattr(given, "astype") else given, object))
    elif kind in "OUST":
        array = array.astype(object)
        for place, one in np.ndenumerate(array):
            if not isinstance(one, Real):
                columns = labels_of(given) if array.ndim == 2 else ()
                column = f", column `{columns[place[1]]}`" if columns else ""
                raise DataError([f"data, row {place[0] + 1}{column}: found {shown(one)}, expected numbers for {entry}"])
    elif kind not in "buif":
        raise DataError([f"data: found an array of the type {array.dtype} for {entry}, expected real numbers"])
    return array


def labels_of(given: object) -> tuple[str, ...]:
    """Return the columns' names that a data frame or an array of xarray has; none where it has none."""
    columns = getattr(given, "columns", None)
    if columns is None:
        dims, coords = getattr(given, "dims", ()), getattr(given, "coords", {})
        columns = coords[dims[-1]].values if dims and dims[-1] in coords else ()
    return tuple(str(column) for column in columns)


def misfit_labels(arrays: Any, sizes: Mapping[str, object]) -> Iterator[str]:
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
