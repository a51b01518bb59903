"""Columns of Parquet files, by pyarrow, which is an optional dependency: `pip install recipe_compiler[parquet]`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.run.errors import DataError

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
        yield from _joined(opened.iter_batches(batch_size=rows or total, columns=list(wanted)), wanted, rows or total)


def _joined(batches: Iterator[Any], wanted: tuple[str, ...], rows: int) -> Iterator[NDArray[np.float64]]:
    """Yield pieces of `rows` rows, the last with what is left: batches end where row groups do."""
    waiting: list[NDArray[np.float64]] = []
    count = 0
    for batch in batches:
        columns = [batch.column(batch.schema.get_field_index(name)) for name in wanted]
        values = np.stack([_numbers(column) for column in columns], axis=1)
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
