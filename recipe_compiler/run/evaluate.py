"""Typed formulas as NumPy arrays: initial values, defaults of parameters, energies at a point."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recipe_compiler.emit.print_numpy import operation
from recipe_compiler.emit.support.starts import _draw
from recipe_compiler.errors import DataError
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.build import parts
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import SCALAR, Shape, Sizes
from recipe_compiler.formula.show import text


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Values of the names in a formula. Scalars are 0-d arrays, columns n x 1, rows 1 x n."""

    names: Mapping[str, Array]
    """Blocks, parameters and functions."""
    sizes: Sizes
    rng: np.random.Generator | None = None
    """Where `N(0, cov)` draws from."""


def nearest(number: Fraction | int) -> float:
    """Return the double nearest to an exact number; infinity, which callers refuse, where it is beyond 1.8e308."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def evaluate(formula: Formula, at: Point) -> Array:
    """Return the value of a formula at a point, an array of the formula's own shape; oo or nan where it has none.

    (), (n, 1), (1, n) or (m, n).

    Raises:
        DataError: for what has no value: an unknown name, a draw without a generator, derivatives, `next`.
    """
    return evaluate_rows(formula, at, {}).reshape(extents(formula.shape, at.sizes))


def _stack(formula: Formula, at: Point) -> Array:
    """Return the values of a formula in all rows, `[row, m, n]`, or those of one that stand for all rows."""
    match formula:
        case ex.Number(value):
            return np.full((1, 1, 1), nearest(value))
        case ex.Pi():
            return np.full((1, 1, 1), math.pi)
        case ex.Symbol(name, _, Role.SIZE):
            return np.full((1, 1, 1), float(at.sizes[name]))
        case ex.Symbol(name) | ex.FunctionAt(name):
            if name not in at.names:
                raise DataError([f"`{name}` has no value here"])
            return _first_axis(at.names[name])
        case ex.Identity(size):
            return np.eye(extent(size, at.sizes))[None]
        case ex.Filled(value, shape):
            return _first_axis(np.full(extents(shape, at.sizes), nearest(value)))
        case ex.Multiply(left, ex.Power(base, ex.Number(value))) if value == -1:  # rounded once: x/10, not x times 0.1
            return _stack(left, at) / _stack(base, at)
        case ex.Multiply(ex.Number(value), arg) | ex.Multiply(arg, ex.Number(value)) if abs(value.numerator) == 1:
            return _stack(arg, at) / nearest(1 / value)
        case ex.Normal(cov):
            return _first_axis(_drawn(evaluate(cov, at), at))
        case _ if found := operation(formula):
            return found.values(*(_stack(part, at) for part in parts(formula)))
        case _:
            raise DataError([f"found {text(formula)}, which has no value outside of an update"])


def _drawn(cov: Array, at: Point) -> Array:
    """Return a draw of N(0, cov)."""
    if at.rng is None:
        raise DataError(["a draw N(0, cov) has no value here"])
    try:
        return _draw(at.rng, cov)
    except ValueError as error:
        raise DataError([str(error)]) from error


def evaluate_rows(formula: Formula, at: Point, rows: Mapping[str, Array]) -> Array:
    """Return the values of a formula of ONE datum at every row of the data: `[row, ...]`, a scalar as 1 x 1.

    Args:
        formula: of blocks, parameters and fields of the data.
        at: blocks and parameters.
        rows: fields of the data, `[row, 1, column]`.

    Raises:
        DataError: it contains what no formula of a datum has, a derivative or a draw.
    """
    with np.errstate(all="ignore"):
        return _stack(formula, Point({**at.names, **rows}, at.sizes, at.rng))


def _first_axis(value: Array) -> Array:
    return value if value.ndim == 3 else value.reshape((1, *value.shape) if value.ndim == 2 else (1, 1, 1))


def extent(size: str | int, sizes: Sizes) -> int:
    """Return a size as a number. Raises DataError for a symbolic size that nothing fixes."""
    if isinstance(size, str) and size not in sizes:
        raise DataError([f"nothing fixes the size {size}: give it under `sizes:`"])
    return sizes[size] if isinstance(size, str) else size


def extents(shape: Shape, sizes: Sizes) -> tuple[int, ...]:
    """Return the shape of the array that holds a value of `shape`: (), (n, 1), (1, n) or (m, n)."""
    if shape == SCALAR:
        return ()
    return tuple(1 if size is None else extent(size, sizes) for size in (shape.rows, shape.cols))
