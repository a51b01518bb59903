"""Typed formulas as NumPy expressions, operation by operation those of `run/evaluate.py`: the same bits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Compare,
    Entry,
    Explicit,
    Filled,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Normal,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import SCALAR, Shape, Size
from recipe_compiler.program.combine import double


class NotInNumpyError(Exception):
    """A formula that NumPy alone has no expression for; says what it has not."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How names of a formula are written."""

    size: Callable[[Size], str]
    """Of a size, as an integer."""
    values: Mapping[str, str]
    """Of a parameter, block or function: an expression in the shape that formulas work with."""


_ONE = {
    "inv": "np.linalg.inv(#)", "det": "np.linalg.det(#)", "trace": "np.trace(#)", "sum": "np.sum(#)",
    "diag": "np.diag((#).reshape(-1))", "logdet": "np.linalg.slogdet(#)[1]",
}  # fmt: skip
_TWO = ("minimum", "maximum", "outer", "kron")


def print_numpy(formula: Formula, by: Spelling) -> str:
    """Return a formula as a NumPy expression of its own shape: (), (n, 1), (1, n) or (m, n).

    Operation by operation that of `run.evaluate.evaluate`, so that both give the same bits.

    Raises:
        NotInNumpyError: NumPy alone has no expression for it.
        ModelError: A number is beyond doubles.
    """

    def of(part: Formula) -> str:
        return print_numpy(part, by)

    match formula:
        case Number(value):
            return repr(double(value))
        case Pi():
            return "np.pi"
        case Symbol(name, _, Role.SIZE):
            return f"float({by.size(name)})"
        case Symbol(name) | FunctionAt(name):
            if name not in by.values:
                raise NotInNumpyError(f"{name} has no value where chains start")
            return by.values[name]
        case Identity(size):
            return f"np.eye({by.size(size)})"
        case Filled(value, shape):
            return f"np.full({shape_numbers(shape, by)}, {float(value)})"
        case Add(terms):
            return f"({' + '.join(map(of, terms))})"
        case Multiply(left, right):
            return f"({of(left)} * {of(right)})"
        case Power(Number(base), Number(exponent)):
            return repr(float(np.asarray(double(base)) ** np.asarray(double(exponent))))
        case Power(base, exponent):
            return f"(np.asarray({of(base)}) ** np.asarray({of(exponent)}))"
        case MatMul(left, right, shape):
            product = f"({of(left)} @ {of(right)})"
            return f"{product}.reshape(())" if shape == SCALAR else product
        case Transpose(arg):
            return f"{of(arg)}.T"
        case Explicit(rows):
            inner = ", ".join(f"[{', '.join(f'float({of(entry)})' for entry in row)}]" for row in rows)
            return f"np.array([{inner}])"
        case Entry(arg, (place,)):
            return f"{of(arg)}.reshape(-1)[{place}]"
        case Entry(arg, (row, column)):
            return f"{of(arg)}[{row}, {column}]"
        case Normal(cov):
            return f"_draw(rng, np.asarray({of(cov)}))"
        case Apply(fn, args):
            return _applied(fn, args, of)
        case _:
            raise NotInNumpyError("it has no value outside of an update")


def shape_numbers(shape: Shape, by: Spelling) -> str:
    """Return the shape of the array that holds a value: (), (n, 1), (1, n) or (m, n)."""
    if shape == SCALAR:
        return "()"
    return f"({', '.join('1' if size is None else by.size(size) for size in (shape.rows, shape.cols))})"


def _applied(fn: str, args: tuple[Formula, ...], of: Callable[[Formula], str]) -> str:
    match args:
        case (one,) if fn in _ONE:
            return _ONE[fn].replace("#", of(one))
        case (one,) if fn in FUNCTIONS and FUNCTIONS[fn].ufunc:
            return f"np.{FUNCTIONS[fn].ufunc}({of(one)})"
        case (one, two) if fn in _TWO:
            return f"np.{fn}({of(one)}, {of(two)})"
        case (Compare(op, left, right), yes, no) if fn == "where":
            return f"np.where(np.asarray({of(left)}) {op} np.asarray({of(right)}), {of(yes)}, {of(no)})"
        case _:
            raise NotInNumpyError(f"NumPy has no {fn}")
