"""Columns that a build makes of those of its file, computed row by row, in doubles, and what of them is of all rows.

Rows may come in pieces: mean and standard deviation of a column are known when all pieces have been seen, so that what
is made of them takes another pass.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import frexp, sqrt

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError
from recipe_compiler.formula.expression import Compare
from recipe_compiler.formula.show import text
from recipe_compiler.run.evaluate import RELATIONS, Array, Point, evaluate
from recipe_compiler.run.table import Table
from recipe_compiler.spec.model import DataFile, MadeColumn

Column = NDArray[np.float64]

MOST_EXPONENT = 1022
"""The exponent of a unit: it and one over it are normal doubles, and numbers in it are at most 4."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Mean and standard deviation (divided by N) of all rows of a column, in a unit, and its range, in none.

    The unit is a power of two near the largest number. To divide by it is exact, and no square of what was divided
    overflows, or underflows where it counts.
    """

    unit: float
    mean: float
    sd: float
    lowest: float
    highest: float

    def centred(self, values: Column) -> Column:
        """Return values less their mean."""
        return (values / self.unit - self.mean) * self.unit

    def standardised(self, values: Column) -> Column:
        """Return values less their mean, over their standard deviation."""
        return (values / self.unit - self.mean) / self.sd


Scales = Mapping[str, Scale]
"""Column to the scale of what is measured of it."""


def scales_of(pieces: Callable[[], Iterable[Table]], file: DataFile) -> Scales:
    """Return mean and standard deviation (divided by N) of the columns that are standardised, and where one is made of.

    Args:
        pieces: gives the rows of the file, piece after piece, as often as it is called.
        file: what is made of its columns.

    Raises:
        DataError: a column is the same in every row, or nearly so, and to be standardised; its standard deviation is
            asked for and no double; or a made one has no value in a row.
    """
    measured: dict[str, Scale] = {}
    wholes = {column.name: column for column in file.made if column.whole}
    while left := {name: column for name, column in wholes.items() if name not in measured}:
        known = _known(file, measured)
        ready = {name: column for name, column in left.items() if set(column.uses) <= known}
        tables = (with_made(table, file, measured) for table in pieces())
        found = _measured(((t, {name: _values(column, t) for name, column in ready.items()}) for t in tables), file)
        _check_spread({name: found[name] for name, column in ready.items() if column.whole == "standardise"}, file)
        _check_sd({name: found[name] for name, column in ready.items() if column.whole == "sd"}, file)
        measured |= found
    own = [n for field, taken in file.columns for n in taken if field in file.standardise or n in file.standardise]
    if own:
        tables = (with_made(table, file, measured) for table in pieces())
        found = _measured(((t, {name: _finite(t, name) for name in own}) for t in tables), file)
        _check_spread(found, file)
        measured |= found
    return measured


def with_made(table: Table, file: DataFile, scales: Scales) -> Table:
    """Return a table with the derived columns added to those it has, as far as what they need was measured.

    Raises DataError for the first row in which one has no value: where it stands, by which formula, of what.
    """
    known = _known(file, scales)
    for column in file.made:
        if column.name in known:
            values = _values(column, table)
            values = _of_all_rows(column.whole, values, scales[column.name]) if column.whole else values
            _check_values(column, table, values)
            table = replace(
                table, names=(*table.names, column.name), values=np.concatenate([table.values, values[:, None]], axis=1)
            )
    return table


def _known(file: DataFile, measured: Scales) -> set[str]:
    """Return the columns whose values are known when those in `measured` are measured."""
    known = set(file.read)
    for column in file.made:
        if set(column.uses) <= known and (not column.whole or column.name in measured):
            known.add(column.name)
    return known


def _of_all_rows(whole: str, values: Column, scale: Scale) -> Column:
    with np.errstate(over="ignore"):  # what is not finite is refused
        match whole:
            case "mean":
                return np.full_like(values, scale.mean) * scale.unit
            case "sd":
                return np.full_like(values, scale.sd) * scale.unit
            case "centre":
                return scale.centred(values)
            case _:
                return scale.standardised(values)


def _values(column: MadeColumn, table: Table) -> Column:
    """Return the values of a column's formula, all finite. Raises DataError."""
    columns = {name: _finite(table, name) for name in column.uses}
    at = Point(columns, {})
    with np.errstate(all="ignore"):
        try:
            found = _evaluated(column, at)
        except (ValueError, OverflowError):  # functions that are computed number by number: to be found row by row
            rows = [{name: own[row] for name, own in columns.items()} for row in range(table.rows)]
            found = np.array([_one(column, numbers) for numbers in rows])
    values = np.array(np.broadcast_to(found, (table.rows,)), dtype=np.float64)
    _check_values(column, table, values)
    return values


def _evaluated(column: MadeColumn, at: Point) -> Array:
    if isinstance(column.formula, Compare):
        left, right = (evaluate(side, at) for side in (column.formula.left, column.formula.right))
        return RELATIONS[column.formula.op](left, right).astype(np.float64)
    return evaluate(column.formula, at)


def _one(column: MadeColumn, numbers: Mapping[str, float]) -> float:
    """Return the value in one row; NaN where there is none."""
    try:
        return float(_evaluated(column, Point({name: np.asarray(number) for name, number in numbers.items()}, {})))
    except (ValueError, OverflowError):
        return float("nan")


def _check_values(column: MadeColumn, table: Table, values: Column) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        row = int(bad[0])
        at = ", ".join(f"{name} = {table.column(name)[row]:g}" for name in column.uses)
        more = f", and {bad.size - 1} more rows" if bad.size > 1 else ""
        by = f"found {values[row]} by {text(column.formula)}{f' at {at}' if at else ''}"
        raise DataError([f"{table.where(row, column.name)}: {by}, expected a number{more}"])


def _finite(table: Table, name: str) -> Column:
    values = table.column(name)
    check_finite(values[:, None], (name,), table)
    return values


def check_finite(values: NDArray[np.float64], names: tuple[str, ...], table: Table) -> None:
    """Raise DataError with the first row and column of a table whose number is not finite."""
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        row, column = (int(k) for k in bad[0])
        more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
        raise DataError([f"{table.where(row, names[column])}: found {values[row, column]}, expected a number{more}"])


@dataclass(frozen=True, slots=True)
class _Moments:
    """Mean of some rows and the sum of squares around it, in a unit, and their range, in none."""

    rows: int
    unit: float
    mean: float
    squares: float
    lowest: float
    highest: float


def _measured(pieces: Iterator[tuple[Table, Mapping[str, Column]]], file: DataFile) -> dict[str, Scale]:
    """Return the scales of columns, piece after piece."""
    found: dict[str, _Moments] = {}
    rows = 0
    for table, columns in pieces:
        rows += table.rows
        for name, column in columns.items() if table.rows else ():
            own = _moments(column)
            found[name] = _joined(found[name], own) if name in found else own
    if rows == 0:
        raise DataError([f"{file.file}: found 0 rows, expected 1 or more"])
    return {
        name: Scale(own.unit, own.mean, sqrt(own.squares / own.rows), own.lowest, own.highest)
        for name, own in found.items()
    }


def _moments(column: Column) -> _Moments:
    lowest, highest = float(column.min()), float(column.max())
    unit = _unit(max(-lowest, highest))
    scaled = column / unit
    mean = float(scaled.mean())
    return _Moments(column.size, unit, mean, column.size * float(np.mean((scaled - mean) ** 2)), lowest, highest)


def _unit(largest: float) -> float:
    """Return a power of two near a number; for 0 the least, so that any other row's is taken."""
    exponent = frexp(largest)[1] if largest else -MOST_EXPONENT
    return 2.0 ** max(-MOST_EXPONENT, min(exponent, MOST_EXPONENT))


def _joined(some: _Moments, more: _Moments) -> _Moments:
    """Return the moments of all rows, by the rule of Chan, Golub, LeVeque (1983): no square loses its digits."""
    rows, unit = some.rows + more.rows, max(some.unit, more.unit)
    to_some, to_more = some.unit / unit, more.unit / unit
    apart = more.mean * to_more - some.mean * to_some
    added = more.squares * to_more**2 + apart**2 * some.rows * more.rows / rows
    return _Moments(
        rows,
        unit,
        some.mean * to_some + apart * more.rows / rows,
        some.squares * to_some**2 + added,
        min(some.lowest, more.lowest),
        max(some.highest, more.highest),
    )


def _check_spread(scales: Scales, file: DataFile) -> None:
    for name, scale in scales.items():
        if scale.sd > 1e-12 * abs(scale.mean):
            continue
        found = f"every row is {scale.lowest:g}, so it cannot be standardised"
        if scale.lowest != scale.highest:
            expected = "expected a standard deviation above 1e-12 of the mean: subtract a number near it first"
            found = f"found rows from {scale.lowest!r} to {scale.highest!r}, {expected}"
        raise DataError([f"{file.file}, column `{name}`: {found}"])


def _check_sd(scales: Scales, file: DataFile) -> None:
    for name, scale in scales.items():
        if scale.sd * scale.unit == 0 and scale.lowest != scale.highest:
            found = f"found rows from {scale.lowest!r} to {scale.highest!r}, whose standard deviation is 0 as a double"
            raise DataError([f"{file.file}, column `{name}`: {found}, expected one above 0"])
