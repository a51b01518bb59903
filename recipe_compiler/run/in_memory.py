"""Arrays, tables and columns of Python: their numbers, the names of their columns, the labels of their rows."""

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError, shown
from recipe_compiler.run.check_numbers import MOST_WHOLE


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
