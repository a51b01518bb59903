"""The check of what a datum must be: of its field's shape, finite, of its kinds, among the values listed, storable."""

import re
from collections.abc import Callable
from decimal import Decimal
from math import prod
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError
from recipe_compiler.formula.declaration import Datum
from recipe_compiler.formula.shapes import Kind

MOST_WHOLE = 2**53
"""Whole numbers up to which doubles hold every one; beyond it they hold every second, fourth, ..."""
DIGITS_LOST = "whole numbers that doubles hold, all of those up to 2**53: subtract one of them from the column"
MOST_POSITION = 2**31 - 2
"""The largest position of an index field whose axis has no length yet: it fixes one."""
PIECE = 1 << 20
"""Numbers that are checked at a time: those of a mapped array may be more than memory holds."""


def stored(
    datum: Datum, given: NDArray[Any], dtype: str, origin: object, place: Callable[[tuple[int, ...]], str],
    first: int = 0,
) -> NDArray[Any]:  # fmt: skip
    """Return the numbers of a field as they are stored: in C order, positions as int64, counted from 0.

    An array that is so already is returned itself.

    Args:
        datum: declares the field.
        given: its real numbers, of any type.
        dtype: in what numbers are stored, `float64` or `float32`.
        origin: where they are from, for messages.
        place: says where the number at an index stands.
        first: what positions are counted from in what is given.

    Raises:
        DataError: another shape; or the first number that the field may not hold, or that its type has none for: a
            finite one that would become infinite, or one below the normal numbers of the type, of which it keeps few
            digits or none (what is stored exactly is held, however small). Emitted files refuse the same.
    """
    demand_shape(datum, given, origin)
    dtype = "int64" if datum.is_index else dtype
    ready = given.dtype == dtype and given.flags.c_contiguous and not first
    made = given if ready else np.empty(given.shape, dtype)
    step = max(PIECE // max(prod(given.shape[1:]), 1), 1)
    for begin in range(0, len(given), step):
        part = given[begin : begin + step]
        places, expected = _refused(datum, part, dtype, first)
        if places.size:
            at = tuple(map(int, places[0]))
            found = f"{part[at]:g}" if part.dtype.kind == "f" else part[at]
            where = place((begin + at[0], *at[1:]))
            raise DataError([f"{where}: found {found}, expected {expected} for `{datum.name}`"])
        if not ready:
            made[begin : begin + step] = part - first if first else part
    return made


def demand_shape(datum: Datum, given: NDArray[Any], origin: object) -> None:
    """Raise DataError for an array that has not the shape of a field, or not one number; says how it gets it."""
    sizes, shape = datum.axes, given.shape
    fixed = [n if isinstance(size, str) else size for size, n in zip(sizes, shape, strict=False)]
    if given.dtype.kind in "buifO" and len(sizes) == len(shape) and list(shape) == fixed and given.size:
        return
    hint = ""
    if len(sizes) == 1 and len(shape) == 2 and 1 in shape:
        hint = f": write `{datum.name}.ravel()`"
    elif len(sizes) == 2 and len(shape) == 1:
        hint = f": write `{datum.name}.reshape(-1, 1)` for one column"
    kind = "" if given.dtype.kind in "buifO" else f" of {given.dtype}"
    raise DataError(
        [f"{origin}: found an array{kind} of shape {shape} for `{datum.name}`, expected {wanted(datum)}{hint}"]
    )


def wanted(datum: Datum) -> str:
    """Say what the array of a field has to be: `an array [N, d] of finite numbers`."""
    return f"an array [{', '.join(map(str, datum.axes))}] of {says(datum).removeprefix('one of ')}"


def _refused(datum: Datum, part: NDArray[Any], dtype: str, first: int) -> tuple[NDArray[np.intp], str]:
    """Return the places of numbers that a field does not take, a row for each, in order, and what it takes there."""
    if (lost := places_of_lost_digits(part)).size:
        return lost, DIGITS_LOST
    if datum.is_index:
        return np.argwhere(~_are_positions(datum, part.astype(np.float64) - first)), positions(datum, first)
    with np.errstate(over="ignore", under="ignore"):
        made = part.astype(dtype, copy=False)
    if made.dtype != part.dtype:
        numbers = part.astype(np.float64, copy=False)
        small = (np.abs(made) < np.finfo(made.dtype).tiny) & (made != numbers)
        if (lost := np.argwhere(small | (np.isfinite(numbers) & ~np.isfinite(made)))).size:
            return lost, f"numbers that {dtype} holds"
    return np.argwhere(~_are_allowed(datum, made)), says(datum)


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
    lost = [place for place in far if not _is_double(int(numbers[place]))]
    return np.array(lost, np.intp).reshape(-1, numbers.ndim)


def _is_double(n: int) -> bool:
    return abs(n) < 2**1024 and int(float(n)) == n


def loses_digits(cell: str) -> bool:
    """Whether a text is a whole number, of digits and a sign, that reads otherwise as a double."""
    return re.fullmatch(r"[+-]?[0-9]+", cell.strip()) is not None and Decimal(repr(float(cell))) != Decimal(
        cell.strip()
    )


SIGNED = {Kind.POSITIVE: np.greater, Kind.NONNEGATIVE: np.greater_equal, Kind.NONZERO: np.not_equal}


def _are_allowed(datum: Datum, array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers a field may hold."""
    allowed = np.isin(array, datum.values) if datum.values else np.isfinite(array)
    for kind in datum.kinds:
        if kind in SIGNED:
            allowed &= SIGNED[kind](array, 0)
        elif kind is Kind.INTEGER:
            allowed &= array == np.floor(array)
        elif kind is Kind.INCREASING:
            after = np.diff(array, axis=-1)
            allowed &= np.insert(after > 0 if array.ndim > 1 else after >= 0, 0, values=True, axis=-1)
    return allowed


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


def says(datum: Datum) -> str:
    """Say what a field may hold: `positive integers`, `one of 0, 1`."""
    if datum.is_index:
        return positions(datum)
    if datum.values:
        return f"one of {', '.join(map(str, datum.values))}"
    rises = Kind.INCREASING in datum.kinds and not datum.axes[1:]
    kinds = [kind.value for kind in datum.kinds if kind is not Kind.REAL and not (rises and kind is Kind.INCREASING)]
    words = (", ".join(kinds) or ("" if rises else "finite"), "numbers", "that do not decrease" if rises else "")
    return " ".join(filter(None, words))
