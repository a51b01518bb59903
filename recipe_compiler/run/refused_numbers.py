"""Numbers of data that are refused: by the kinds of their field, and by the type that they are stored in.

A field may hold finite numbers, of its kinds, among the values it lists; a type does not hold all of them.
"""

import re
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.declaration import Datum
from recipe_compiler.formula.shapes import Kind

MOST_WHOLE = 2**53
"""Whole numbers up to which doubles hold every one; beyond it they hold every second, fourth, ..."""
DIGITS_LOST = "expected whole numbers that doubles hold, all of those up to 2**53: subtract one of them from the column"
MOST_POSITION = 2**31 - 2
"""The largest position of an index field whose axis has no length yet: it fixes one."""


def stored(numbers: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Return numbers in another type: infinite where it has none so large, 0 where it has none so small."""
    with np.errstate(over="ignore", under="ignore"):  # to be refused by `places_not_held`
        return np.ascontiguousarray(numbers, dtype=dtype)


def places_not_held(numbers: NDArray[Any], made: NDArray[Any]) -> NDArray[np.intp]:
    """Return the places of numbers that are other ones, not rounded ones, as they are stored; a row for each, in order.

    Those are finite numbers that became infinite, and those below the normal numbers of the type, of which it keeps few
    digits or none: with 32 bits 1e-46 is 0 and 3e-45 is 2.8e-45. What is stored exactly is held, however small. Emitted
    files, which have nothing of ours, refuse the same by code of their own (`emit/support/checks.py`).
    """
    if made.dtype == numbers.dtype:
        return np.empty((0, numbers.ndim), np.intp)
    if (lost := places_of_lost_digits(numbers)).size:
        return lost
    small = (np.abs(made) < np.finfo(made.dtype).tiny) & (made != numbers)
    return np.argwhere(small | (np.isfinite(numbers) & ~np.isfinite(made)))


def places_of_lost_digits(numbers: NDArray[Any]) -> NDArray[np.intp]:
    """Return the places of integers that no double is, as 2**53 + 1 is none, a row for each, in order."""
    if numbers.dtype.kind not in "uiO":
        return np.empty((0, numbers.ndim), np.intp)
    if numbers.dtype.kind == "O":
        far = [
            place for place, one in np.ndenumerate(numbers) if isinstance(one, Integral) and abs(int(one)) > MOST_WHOLE
        ]
    else:
        far = list(map(tuple, np.argwhere((numbers > MOST_WHOLE) | (numbers < -MOST_WHOLE))))
    lost = [place for place in far if int(float(n := int(numbers[place]))) != n]
    return np.array(lost, np.intp).reshape(-1, numbers.ndim)


def loses_digits(cell: str) -> bool:
    """Whether a text is a whole number that reads otherwise as a double."""
    return is_plain(cell) and abs(value := float(cell)) >= MOST_WHOLE and Decimal(repr(value)) != Decimal(cell.strip())


def is_plain(cell: str) -> bool:
    """Whether a text is a whole number, written with the digits 0 to 9 and a sign alone."""
    return re.fullmatch(r"[+-]?[0-9]+", cell.strip()) is not None


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
