"""Which numbers a field of the data may hold: finite ones, of its kinds, among the values it lists."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.declaration import Datum
from recipe_compiler.formula.shapes import Kind

MOST_POSITION = 2**31 - 2
"""The largest position of an index field whose axis has no length yet: it fixes one."""


def places_of_others(datum: Datum, array: NDArray[Any]) -> NDArray[np.intp]:
    """Return the places of numbers that a field may not hold, a row for each, in order."""
    if datum.is_index:
        return np.argwhere(~_are_positions(datum, array))
    allowed = np.isin(array, datum.values) if datum.values else np.isfinite(array)
    for kind in datum.kinds:
        match kind:
            case Kind.POSITIVE:
                allowed &= array > 0
            case Kind.NONNEGATIVE:
                allowed &= array >= 0
            case Kind.NONZERO:
                allowed &= array != 0
            case Kind.INTEGER:
                allowed &= array == np.floor(array)
            case _:
                pass
    return np.argwhere(~allowed)


def _are_positions(datum: Datum, array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are positions along the axis of an index field, as far as its length is known."""
    length = datum.shape.cols
    most = length - 1 if isinstance(length, int) else MOST_POSITION
    with np.errstate(invalid="ignore"):
        return (array == np.floor(array)) & (array >= 0) & (array <= most)


def positions(datum: Datum, first: int = 0) -> str:
    """Say what the numbers of an index field have to be, counted from `first`."""
    length = datum.shape.cols
    last = f"{length + first - 1}" if isinstance(length, int) else f"{length} - 1" if not first else str(length)
    return f"a whole number from {first} to {last}"


def says(datum: Datum, finite: str = "finite numbers") -> str:
    """Say what a field may hold: `positive integers`, `numbers of 0, 1`."""
    if datum.is_index:
        return positions(datum)
    if datum.values:
        return f"one of {', '.join(map(str, datum.values))}"
    kinds = [kind.value for kind in datum.kinds if kind is not Kind.REAL]
    return f"{', '.join(kinds)} numbers" if kinds else finite
