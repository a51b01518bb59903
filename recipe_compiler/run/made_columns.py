"""Columns that a build makes of those of its file, computed row by row, in doubles, and what of them is of all rows."""

from dataclasses import replace
from math import frexp, sqrt
from pathlib import Path

import numpy as np

from recipe_compiler.errors import DataError
from recipe_compiler.formula.show import text
from recipe_compiler.run.columns import Column, Columns
from recipe_compiler.run.evaluate import Point, evaluate_rows
from recipe_compiler.spec.model import MadeColumn

MOST_EXPONENT = 1022
"""The exponent of a unit: it and one over it are normal doubles, and numbers in it are at most 4."""


def with_made(columns: Columns, made: tuple[MadeColumn, ...]) -> Columns:
    """Return columns with those added that are made of them, each after those it uses.

    Raises DataError for made ones that the table has itself, and for the first row in which one has no value: where it
    stands, by which formula, of what.
    """
    expected = "which the build makes: expected names of made columns that the file does not have"
    twice = [column.name for column in made if column.name in columns.header and not column.whole]
    if twice:
        raise DataError([f"{columns.origin}: found a column `{name}`, {expected}" for name in twice])
    for column in made:
        values = _values(column, columns)
        if column.whole:
            values = over_rows(column.whole, values, column.name, columns.origin)
            _demand_finite(column, columns, values)
        columns = replace(columns, values={**columns.values, column.name: values})
    return columns


def over_rows(whole: str, values: Column, name: str, origin: Path) -> Column:
    """Return `mean`, `sd` (divided by N), `centre` or `standardise` of all rows of a column called `name`.

    They are computed in a unit, a power of two near the largest number: to divide by it is exact, and no square of what
    was divided overflows, or underflows where it counts.

    Raises:
        DataError: the column is the same in every row, or nearly so, and to be standardised; its standard deviation is
            asked for and no double.
    """
    lowest, highest = float(values.min()), float(values.max())
    exponent = frexp(max(-lowest, highest))[1]
    unit = 2.0 ** max(-MOST_EXPONENT, min(exponent, MOST_EXPONENT))
    scaled = values / unit
    mean = float(scaled.mean())
    sd = sqrt(np.mean((scaled - mean) ** 2))
    found = f"{origin}, column `{name}`: found rows from {lowest!r} to {highest!r}"
    if whole == "standardise" and sd <= 1e-12 * abs(mean):
        if lowest == highest:
            raise DataError([f"{origin}, column `{name}`: every row is {lowest:g}, so it cannot be standardised"])
        expected = "expected a standard deviation above 1e-12 of the mean: subtract a number near it first"
        raise DataError([f"{found}, {expected}"])
    if whole == "sd" and sd * unit == 0 and lowest != highest:
        raise DataError([f"{found}, whose standard deviation is 0 as a double, expected one above 0"])
    with np.errstate(over="ignore"):  # what is not finite is refused
        match whole:
            case "mean":
                return np.full_like(values, mean) * unit
            case "sd":
                return np.full_like(values, sd) * unit
            case "centre":
                return (scaled - mean) * unit
            case _:
                return (scaled - mean) / sd


def _values(column: MadeColumn, columns: Columns) -> Column:
    """Return the values of a column's formula, all finite. Raises DataError."""
    rows = {name: columns.values[name].reshape(-1, 1, 1) for name in column.uses}
    found = evaluate_rows(column.formula, Point({}, {}), rows).reshape(-1)
    values = np.array(np.broadcast_to(found, (columns.rows,)), dtype=np.float64)
    _demand_finite(column, columns, values)
    return values


def _demand_finite(column: MadeColumn, columns: Columns, values: Column) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        row = int(bad[0])
        at = ", ".join(f"{name} = {columns.values[name][row]:g}" for name in column.uses)
        more = f", and {bad.size - 1} more rows" if bad.size > 1 else ""
        by = f"found {values[row]} by {text(column.formula)}{f' at {at}' if at else ''}"
        raise DataError([f"{columns.place(row, column.name)}: {by}, expected a number{more}"])
