"""Columns that a build makes of those of its file, computed row by row, in doubles, and what of them is of all rows.

Rows may come in pieces: mean and standard deviation of a column are known when all pieces have been seen, so that what
is made of them takes another pass.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError
from recipe_compiler.formula.expression import Compare
from recipe_compiler.formula.show import text
from recipe_compiler.run.evaluate import RELATIONS, Array, Point, evaluate
from recipe_compiler.run.table import Table
from recipe_compiler.spec.model import DataFile, MadeColumn

Scales = Mapping[str, tuple[float, float]]
"""Column to the mean and standard deviation of what is measured of it."""

Column = NDArray[np.float64]


def scales_of(pieces: Callable[[], Iterable[Table]], file: DataFile) -> Scales:
    """Return mean and standard deviation (divided by N) of the columns that are standardised, and where one is made of.

    Args:
        pieces: gives the rows of the file, piece after piece, as often as it is called.
        file: what is made of its columns.

    Raises:
        DataError: a column is the same in every row, and to be standardised; or a made one has no value in a row.
    """
    measured: dict[str, tuple[float, float]] = {}
    wholes = {column.name: column for column in file.made if column.whole}
    while left := {name: column for name, column in wholes.items() if name not in measured}:
        known = _known(file, measured)
        ready = {name: column for name, column in left.items() if set(column.uses) <= known}
        tables = (with_made(table, file, measured) for table in pieces())
        found = _measured(((t, {name: _values(column, t) for name, column in ready.items()}) for t in tables), file)
        _check_spread({name: found[name] for name, column in ready.items() if column.whole == "standardise"}, file)
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
            values = _of_all_rows(column.whole, values, *scales[column.name]) if column.whole else values
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


def _of_all_rows(whole: str, values: Column, mean: float, sd: float) -> Column:
    match whole:
        case "mean":
            return np.full_like(values, mean)
        case "sd":
            return np.full_like(values, sd)
        case "centre":
            return values - mean
        case _:
            return (values - mean) / sd


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


def _measured(pieces: Iterator[tuple[Table, Mapping[str, Column]]], file: DataFile) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of columns, piece after piece.

    Pieces are joined by the rule of Chan, Golub, LeVeque (1983), so that no sum of squares loses its digits.
    """
    rows, means, squares = 0, dict[str, float](), dict[str, float]()
    for table, columns in pieces:
        total = rows + table.rows
        for name, column in columns.items() if table.rows else ():
            mean = float(column.mean())
            apart = mean - means.get(name, mean)
            squares[name] = squares.get(name, 0.0)
            squares[name] += table.rows * float(np.mean((column - mean) ** 2)) + apart**2 * rows * table.rows / total
            means[name] = mean if rows == 0 else means[name] + apart * table.rows / total
        rows = total
    if rows == 0:
        raise DataError([f"{file.file}: found 0 rows, expected 1 or more"])
    return {name: (means[name], float(np.sqrt(squares[name] / rows))) for name in means}


def _check_spread(scales: Scales, file: DataFile) -> None:
    for name, (mean, sd) in scales.items():
        if not sd > 1e-12 * max(abs(mean), 1e-300):
            found = f"every row is {mean:g}, so it cannot be standardised"
            raise DataError([f"{file.file}, column `{name}`: {found}"])
