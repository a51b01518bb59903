"""Typed formulas as NumPy arrays: initial values, defaults of parameters, energies at a point."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.support.starts import _draw
from recipe_compiler.errors import DataError
from recipe_compiler.formula.elementwise import FUNCTIONS, Elementwise, entrywise
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Compare,
    Entry,
    Explicit,
    Filled,
    Formula,
    FunctionAt,
    GradTilde,
    Identity,
    MatMul,
    Multiply,
    Next,
    Normal,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.show import text

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Values of the names in a formula. Scalars are 0-d arrays, columns n x 1, rows 1 x n."""

    names: Mapping[str, Array]
    """Blocks, parameters and functions."""
    sizes: Mapping[str, int]
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
    with np.errstate(all="ignore"):
        return _value(formula, at)


def _value(formula: Formula, at: Point) -> Array:
    match formula:
        case Number(value):
            return np.asarray(nearest(value))
        case Pi():
            return np.asarray(math.pi)
        case Symbol(name, _, Role.SIZE):
            return np.asarray(float(at.sizes[name]))
        case Symbol(name) | FunctionAt(name):
            if name not in at.names:
                raise DataError([f"`{name}` has no value here"])
            return at.names[name]
        case Identity(size):
            return np.eye(extent(size, at.sizes))
        case Filled(value, shape):
            return np.full(extents(shape, at.sizes), nearest(value))
        case Add(terms):
            return np.asarray(sum((_value(term, at) for term in terms[1:]), _value(terms[0], at)))
        case Multiply(left, right):
            return _product(left, right, at)
        case Power(base, exponent):
            return np.asarray(_value(base, at) ** _value(exponent, at))
        case MatMul(left, right, shape):
            product = _value(left, at) @ _value(right, at)
            return product.reshape(()) if shape == SCALAR else product
        case Transpose(arg):
            return _value(arg, at).T
        case Explicit(rows):
            return np.array([[float(_value(entry, at)) for entry in row] for row in rows])
        case Entry(arg, place):
            value = _value(arg, at)
            return np.asarray(value[place] if len(place) == 2 else value.reshape(-1)[place[0]])
        case Apply(fn, args):
            return _apply(fn, args, at)
        case Normal(cov):
            return _drawn(cov, at)
        case Compare() | Next() | GradTilde():
            raise DataError(["a comparison, `next` or `grad_tilde` has no value outside of an update"])


def _product(left: Formula, right: Formula, at: Point) -> Array:
    """Return a product; a quotient is rounded once, as `x/10` is, where x times 1/10 is rounded twice."""
    match left, right:
        case _, Power(base, Number(value)) if value == -1:
            return np.asarray(_value(left, at) / _value(base, at))
        case (Number(value), arg) | (arg, Number(value)) if abs(value.numerator) == 1:
            return np.asarray(_value(arg, at) / nearest(1 / value))
        case _:
            return np.asarray(_value(left, at) * _value(right, at))


def _drawn(cov: Formula, at: Point) -> Array:
    """Return a draw of N(0, cov)."""
    if at.rng is None:
        raise DataError(["a draw N(0, cov) has no value here"])
    try:
        return _draw(at.rng, _value(cov, at))
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
    names = {name: _first_axis(value) for name, value in at.names.items()}
    with np.errstate(all="ignore"):
        found = _over_rows(formula, Point({**names, **rows}, at.sizes))
    if found is None:
        raise DataError([f"found {text(formula)}, which has no value at the rows of the data"])
    return found


def _over_rows(formula: Formula, at: Point) -> Array | None:
    """Return values with a first axis for the rows, scalars 1 x 1; None for what has no value."""

    def values(*parts: Formula) -> list[Array] | None:
        found = [_over_rows(part, at) for part in parts]
        return None if any(value is None for value in found) else [value for value in found if value is not None]

    match formula:
        case Symbol(name, _, Role.BLOCK | Role.PARAMETER | Role.DATUM | Role.INDEX) if name in at.names:
            return at.names[name]
        case Add(terms) if (found := values(*terms)) is not None:
            return sum(found[1:], found[0])
        case Multiply(left, right) if (found := values(left, right)) is not None:
            return found[0] * found[1]
        case Power(base, exponent) if (found := values(base, exponent)) is not None:
            return found[0] ** found[1]
        case MatMul(left, right) if (found := values(left, right)) is not None:
            return found[0] @ found[1]
        case Transpose(arg) if (found := values(arg)) is not None:
            return np.swapaxes(found[0], 1, 2)
        case Entry(arg, place) if (found := values(arg)) is not None:
            flat = found[0].reshape(len(found[0]), -1)
            own = found[0][:, place[0], place[1]] if len(place) == 2 else flat[:, place[0]]
            return own.reshape(-1, 1, 1)
        case Explicit(entries) if (found := values(*(x for row in entries for x in row))) is not None:
            length = max(map(len, found))
            whole = np.stack([np.broadcast_to(x.reshape(-1), (length,)) for x in found], axis=1)
            return whole.reshape(length, len(entries), -1)
        case Apply("where", (Compare(op, left, right), yes, no)) if (found := values(left, right, yes, no)) is not None:
            return np.where(RELATIONS[op](found[0], found[1]), found[2], found[3])
        case Apply(fn, args) if fn in _OF_STACKS and (found := values(*args)) is not None:
            return _OF_STACKS[fn](*found)
        case Number() | Pi() | Symbol(_, _, Role.SIZE) | Identity() | Filled():
            return _first_axis(_value(formula, at))
        case _:
            return None


def _first_axis(value: Array) -> Array:
    return value.reshape((1, *value.shape) if value.ndim == 2 else (1, 1, 1))


def extent(size: str | int, sizes: Mapping[str, int]) -> int:
    """Return a size as a number. Raises DataError for a symbolic size that nothing fixes."""
    if isinstance(size, str) and size not in sizes:
        raise DataError([f"nothing fixes the size {size}: give it under `sizes:`"])
    return sizes[size] if isinstance(size, str) else size


def extents(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of the array that holds a value of `shape`: (), (n, 1), (1, n) or (m, n)."""
    if shape == SCALAR:
        return ()
    return tuple(1 if size is None else extent(size, sizes) for size in (shape.rows, shape.cols))


def _diagonal(v: Array) -> Array:
    return np.diag(v.reshape(-1))


def _kronecker(A: Array, B: Array) -> Array:
    """Return the products A_n kron B_n of stacks of matrices, one of which may stand for all n."""
    every = A[:, :, None, :, None] * B[:, None, :, None, :]
    return every.reshape(len(every), A.shape[1] * B.shape[1], A.shape[2] * B.shape[2])


def _logdet(A: Array) -> Array:
    return np.asarray(np.linalg.slogdet(A)[1])


def _of_arrays(row: Elementwise) -> Callable[[Array], Array]:
    """Return an elementwise function of arrays: NumPy's, that of the row, or that of `math` entry by entry."""
    if row.ufunc:
        return getattr(np, row.ufunc)
    return row.array or entrywise(getattr(math, row.emitted.removeprefix("math.")))


_ONE: Mapping[str, Callable[..., Any]] = {
    **{row.name: _of_arrays(row) for row in FUNCTIONS.values()},
    "inv": np.linalg.inv, "det": np.linalg.det, "trace": np.trace, "sum": np.sum,
    "diag": _diagonal, "logdet": _logdet,
}  # fmt: skip
"""Functions of one argument."""

_TWO: Mapping[str, Callable[..., Any]] = {
    "minimum": np.minimum, "maximum": np.maximum, "outer": np.outer, "kron": np.kron,
}  # fmt: skip

_OF_STACKS: Mapping[str, Callable[..., Array]] = {
    **{name: _ONE[name] for name in (*FUNCTIONS, "inv")}, "minimum": np.minimum, "maximum": np.maximum,
    "sum": lambda A: A.sum(axis=(1, 2), keepdims=True),
    "trace": lambda A: np.trace(A, axis1=1, axis2=2).reshape(-1, 1, 1),
    "det": lambda A: np.linalg.det(A).reshape(-1, 1, 1),
    "logdet": lambda A: np.linalg.slogdet(A)[1].reshape(-1, 1, 1),
    "diag": lambda v: np.eye(v.shape[1]) * v,
    "outer": lambda u, v: u @ np.swapaxes(v, 1, 2),
    "kron": _kronecker,
}  # fmt: skip
"""Functions of matrices, row by row of the data."""

RELATIONS: Mapping[str, Callable[[Array, Array], NDArray[np.bool_]]] = {
    ">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal, "==": np.equal,
}  # fmt: skip


def _apply(fn: str, args: tuple[Formula, ...], at: Point) -> Array:
    match args:
        case (one,) if fn in _ONE:
            return np.asarray(_ONE[fn](_value(one, at)))
        case (one, two) if fn in _TWO:
            return np.asarray(_TWO[fn](_value(one, at), _value(two, at)))
        case (Compare(op, left, right), yes, no) if fn == "where":
            condition = RELATIONS[op](_value(left, at), _value(right, at))
            return np.where(condition, _value(yes, at), _value(no, at))
        case _:
            raise DataError([f"`{fn}` has no value here"])
