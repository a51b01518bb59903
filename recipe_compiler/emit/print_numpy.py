"""What NumPy computes of a formula, an operation a row: as text of emitted files and as values, the same bits.

Values are stacks `[row, m, n]` of matrices, a scalar 1 x 1: of all rows of the data at once, or of one.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import parts
from recipe_compiler.formula.elementwise import FUNCTIONS, Elementwise, entrywise
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import SCALAR, Shape, Size
from recipe_compiler.program.combine import double

Stack = NDArray[np.float64]


class NotInNumpyError(Exception):
    """A formula that NumPy alone has no expression for; says what it has not."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How names of a formula are written."""

    size: Callable[[Size], str]
    """Returns a size, as an integer."""
    values: Mapping[str, str]
    """Expressions of parameters, blocks and functions, in the shape that formulas work with."""
    others: str = ""
    """Where functions that NumPy lacks are found by name; empty: nowhere."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What is computed of the parts of a node: of stacks, and as text; the text is empty where NumPy lacks it."""

    values: Callable[..., Stack]
    text: str = ""


def _power(base: Stack, exponent: Stack) -> Stack:
    """Return a power; NumPy squares and takes roots where the exponent is one number of no axes."""
    return base ** (exponent.reshape(()) if exponent.size == 1 else exponent)


def _explicit(rows: int, *entries: Stack) -> Stack:
    return np.concatenate(np.broadcast_arrays(*entries), axis=2).reshape(-1, rows, len(entries) // rows)


def _entry(at: tuple[int, ...], A: Stack) -> Stack:
    flat = A.reshape(len(A), -1)[:, at[0]] if len(at) == 1 else A[:, at[0], at[1]]
    return flat.reshape(-1, 1, 1)


def _diagonal(v: Stack) -> Stack:
    return np.where(np.eye(v.shape[1], dtype=bool), v, 0.0)


def _kronecker(A: Stack, B: Stack) -> Stack:
    """Return the products A_n kron B_n, one of which may stand for all n."""
    every = A[:, :, None, :, None] * B[:, None, :, None, :]
    return every.reshape(len(every), A.shape[1] * B.shape[1], A.shape[2] * B.shape[2])


def _numbers(function: Callable[[Stack], Any]) -> Callable[[Stack], Stack]:
    return lambda A: function(A).reshape(-1, 1, 1)


def _elementwise(row: Elementwise) -> Operation:
    """Return an elementwise function: NumPy's, that of the row, or that of `math` entry by entry."""
    if row.ufunc:
        return Operation(getattr(np, row.ufunc), f"np.{row.ufunc}({{}})")
    return Operation(row.array or entrywise(getattr(math, row.emitted.removeprefix("math."))))


OPERATIONS: Mapping[str, Operation] = {
    **{row.name: _elementwise(row) for row in FUNCTIONS.values()},
    "inv": Operation(np.linalg.inv, "np.linalg.inv({})"),
    "cholesky": Operation(np.linalg.cholesky, "np.linalg.cholesky({})"),
    "det": Operation(_numbers(np.linalg.det), "np.linalg.det({})"),
    "logdet": Operation(_numbers(lambda A: np.linalg.slogdet(A)[1]), "np.linalg.slogdet({})[1]"),
    "trace": Operation(_numbers(partial(np.trace, axis1=1, axis2=2)), "np.trace({})"),
    "sum": Operation(partial(np.sum, axis=(1, 2), keepdims=True), "np.sum({})"),
    "diag": Operation(_diagonal, "np.diag(({}).reshape(-1))"),
    "minimum": Operation(np.minimum, "np.minimum({}, {})"),
    "maximum": Operation(np.maximum, "np.maximum({}, {})"),
    "outer": Operation(lambda u, v: u * np.swapaxes(v, 1, 2), "np.outer({}, {})"),
    "kron": Operation(_kronecker, "np.kron({}, {})"),
    "where": Operation(np.where, "np.where({}, {}, {})"),
}  # fmt: skip
"""The functions that have values."""

_RELATIONS = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal, "==": np.equal}


def operation(node: Formula) -> Operation | None:
    """Return what is computed of a node's parts; None of a node that has none, or no value outside of an update."""
    match node:
        case ex.Add(terms):
            return Operation(lambda *values: reduce(add, values), f"({' + '.join(['{}'] * len(terms))})")
        case ex.Multiply():
            return Operation(np.multiply, "({} * {})")
        case ex.Power():
            return Operation(_power, "(np.asarray({}) ** np.asarray({}))")
        case ex.MatMul(_, _, shape):
            return Operation(np.matmul, "({} @ {})" + ".reshape(())" * (shape == SCALAR))
        case ex.Transpose():
            return Operation(lambda A: np.swapaxes(A, 1, 2), "{}.T")
        case ex.Explicit(rows):
            inner = ", ".join(f"[{', '.join(['float({})'] * len(row))}]" for row in rows)
            return Operation(partial(_explicit, len(rows)), f"np.array([{inner}])")
        case ex.Entry(_, at):
            flat = ".reshape(-1)" * (len(at) == 1)
            return Operation(partial(_entry, at), f"{{}}{flat}[{', '.join(map(str, at))}]")
        case ex.Compare(op):
            return Operation(_RELATIONS[op], f"np.asarray({{}}) {op} np.asarray({{}})")
        case ex.Apply(fn):
            return OPERATIONS.get(fn)
        case _:
            return None


def print_numpy(formula: Formula, by: Spelling) -> str:
    """Return a formula as a NumPy expression of its own shape: (), (n, 1), (1, n) or (m, n).

    Raises:
        NotInNumpyError: NumPy alone has no expression for it.
        ModelError: A number is beyond doubles.
    """
    match formula:
        case ex.Number(value):
            return repr(double(value))
        case ex.Pi():
            return "np.pi"
        case ex.Symbol(name, _, Role.SIZE):
            return f"float({by.size(name)})"
        case ex.Symbol(name) | ex.FunctionAt(name):
            if name not in by.values:
                raise NotInNumpyError(f"{name} has no value where chains start")
            return by.values[name]
        case ex.Identity(size):
            return f"np.eye({by.size(size)})"
        case ex.Filled(value, shape):
            return f"np.full({shape_numbers(shape, by)}, {float(value)})"
        case ex.Power(ex.Number(base), ex.Number(exponent)):
            return repr(float(np.asarray(double(base)) ** np.asarray(double(exponent))))
        case ex.Normal(cov):
            return f"_draw(rng, np.asarray({print_numpy(cov, by)}))"
        case _:
            found = operation(formula)
    spelled = found.text if found else ""
    if not spelled and isinstance(formula, ex.Apply):
        if not by.others:
            raise NotInNumpyError(f"NumPy has no {formula.fn}")
        spelled = f'{by.others}["{formula.fn}"].values({{}})'
    elif not spelled:
        raise NotInNumpyError("it has no value outside of an update")
    return spelled.format(*(print_numpy(part, by) for part in parts(formula)))


def shape_numbers(shape: Shape, by: Spelling) -> str:
    """Return the shape of the array that holds a value: (), (n, 1), (1, n) or (m, n)."""
    if shape == SCALAR:
        return "()"
    return f"({', '.join('1' if size is None else by.size(size) for size in (shape.rows, shape.cols))})"
