"""Formulas at the rows of the data: sums of functions of the state, each times a column of exact numbers.

    x @ beta + a[g]     beta_0 x_0 + beta_1 x_1 + ... + a_0 1{g = 0} + a_1 1{g = 1} + ...

Doubles are read as the rational numbers that they are; what is no rational function of them is enclosed in balls.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from recipe_compiler import limits
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Compare,
    Entry,
    Explicit,
    Filled,
    Formula,
    Identity,
    MatMul,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import SCALAR, Size, Sizes
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Guards

CLEAR = 1e-9
"""Relative size below which a difference of doubles may be rounding."""

Atom = tuple[str, int, int]
"""A coordinate: block, row, column; or a function of the state by its text, and an entry of it."""
Key = tuple[Atom, ...]
"""A product of coordinates and functions of the state, in order; the empty one is 1."""
Column = Any
"""A number for all rows, or an array of one for each: `fmpq` or `arb`."""
Sum = dict[Key, Column]
"""Function of the state to the column that it is multiplied by."""
Entries = list[list[Sum]]


class NotReadError(ValueError):
    """A formula is not read at the data, by why."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Sizes, parameters and data at which formulas are read."""

    declarations: Declarations
    sizes: Sizes
    parameters: Mapping[str, Sequence[Sequence[fmpq]]]
    data: Mapping[str, Sequence[Sequence[Column]]]
    """Field to the columns of the entries of a datum."""
    count: int
    is_whole: bool = True
    """Whether these are all rows, and not some of them."""
    clear: float = CLEAR
    """Relative size below which a difference may be rounding: larger for floats of 32 bits."""

    def select_rows(self, guards: Guards) -> "Rows":
        """Return the rows in which conditions on the data are as stated.

        Raises:
            NotReadError: a condition is not certain, or one of rows that are not read may meet it alone.
        """
        kept = np.ones(self.count, dtype=bool)
        for condition, holds in guards:
            kept &= self.truth(condition) == holds
        if not (kept.any() or self.is_whole):
            raise NotReadError("a condition that no row that is read meets")
        return self if kept.all() else self.at(np.flatnonzero(kept))

    def at(self, rows: "np.ndarray[Any, np.dtype[np.int64]]") -> "Rows":
        """Return some of the rows."""
        data = {name: [[x[rows] for x in line] for line in lines] for name, lines in self.data.items()}
        return replace(self, data=data, count=len(rows))

    def take_one_row(self) -> "Rows":
        """Return one of the rows, for what does not depend on the data."""
        return self.at(np.arange(1))

    def truth(self, condition: Compare) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """Return in which rows a comparison holds; NotReadError where rounding may decide it."""
        left, right = (fill_column(self.number(side), self.count) for side in (condition.left, condition.right))
        exact = all(isinstance(side, Symbol | Number) for side in (condition.left, condition.right))
        less = np.array([float(a) - float(b) for a, b in zip(left, right, strict=True)])
        scale = np.array([max(abs(float(a)), abs(float(b))) for a, b in zip(left, right, strict=True)])
        if not exact and (np.abs(less) <= self.clear * scale).any():
            raise NotReadError(f"rounding decides {text(condition)}")
        return _COMPARED[condition.op](less, 0.0)

    def number(self, formula: Formula) -> Column:
        """Return the value of a scalar that the data alone determine, in every row."""
        found = self.sum(formula)
        if found.keys() - {()}:
            raise NotReadError(f"{text(formula)} depends on the state")
        return found.get((), fmpq(0))

    def sum(self, formula: Formula) -> Sum:
        """Return a scalar formula as functions of the state times columns."""
        if formula.shape != SCALAR:
            raise NotReadError(f"{text(formula)} is no scalar")
        ((found,),) = self.entries(formula)
        return found

    def length(self, size: Size | None) -> int:
        """Return a size as a number, 1 where there is no axis."""
        if size is None or isinstance(size, int):
            return 1 if size is None else size
        if size not in self.sizes:
            raise NotReadError(f"the size {size} is not known")
        return self.sizes[size]

    def entries(self, formula: Formula) -> Entries:
        """Return the entries of a formula, row by row.

        Raises:
            NotReadError: it is no sum of functions of the state times columns of the data.
        """
        uses = dependence(formula)
        if not {*uses.blocks} <= {block.name for block in self.declarations.blocks}:
            raise NotReadError("a state of a recursion is another in every row")
        if uses.blocks and not uses.data and not isinstance(formula, _TAKEN_APART):
            shape = self.length(formula.shape.rows), self.length(formula.shape.cols)
            return _make_matrix(*shape, lambda i, j: {((text(formula), i, j),): fmpq(1)})
        shape = formula.shape
        match formula:
            case Number(value):
                return [[_make_constant(_to_fmpq(value))]]
            case Pi():
                return [[_make_constant(arb.pi())]]
            case Filled(value):
                one = _make_constant(fmpq(value))
                return _make_matrix(self.length(shape.rows), self.length(shape.cols), lambda i, j: one)
            case Identity(size):
                return _make_matrix(
                    self.length(size), self.length(size), lambda i, j: _make_constant(fmpq(int(i == j)))
                )
            case Symbol(name, _, Role.BLOCK):
                return _make_matrix(
                    self.length(shape.rows), self.length(shape.cols), lambda i, j: {((name, i, j),): fmpq(1)}
                )
            case Symbol(name, _, Role.DATUM | Role.INDEX) if name in self.data:
                return [[_make_constant(x) for x in line] for line in self.data[name]]
            case Symbol(name, _, Role.PARAMETER) if name in self.parameters:
                return [[_make_constant(x) for x in line] for line in self.parameters[name]]
            case Symbol(name, _, Role.SIZE):
                return [[_make_constant(fmpq(self.length(name)))]]
            case Add(terms):
                return _add_matrices([self.entries(term) for term in terms])
            case Multiply(left, right):
                return _multiply_entrywise(self.entries(left), self.entries(right))
            case MatMul(left, right):
                return _multiply_matrices(self.entries(left), self.entries(right))
            case Transpose(arg):
                return [list(column) for column in zip(*self.entries(arg), strict=True)]
            case Entry(arg, at):
                rows = self.entries(arg)
                return [[_take_entry(rows, at)]]
            case Explicit(lines):
                return [[self.sum(entry) for entry in line] for line in lines]
            case Apply(fn, args):
                return self._read_function(fn, args)
            case Power(base, Number(n)):
                return self._read_power(base, n)
            case _:
                raise NotReadError(f"{text(formula)} is not read")

    def _read_power(self, base: Formula, n: Fraction) -> Entries:
        """Return base**n, entry by entry."""
        if n.denominator > 1 or not 0 < n <= limits.POWER:
            return self._map_numbers(base, lambda x: _raise_number(x, n))
        found = own = self.entries(base)
        for _ in range(int(n) - 1):
            found = _multiply_entrywise(found, own)
        return found

    def _read_function(self, fn: str, args: tuple[Formula, ...]) -> Entries:
        """Return the entries of a function of formulas."""
        match fn, args:
            case "sum", (arg,):
                return [[_add_sums([entry for line in self.entries(arg) for entry in line])]]
            case "trace", (arg,):
                return [[_add_sums([line[k] for k, line in enumerate(self.entries(arg))])]]
            case "dot", (left, right):
                return [
                    [
                        _add_sums(
                            [x for line in _multiply_entrywise(self.entries(left), self.entries(right)) for x in line]
                        )
                    ]
                ]
            case "where", (Compare() as condition, yes, no) if condition.shape == SCALAR:
                holds = np.array([fmpq(int(x)) for x in self.truth(condition)], dtype=object)
                pieces = [(yes, holds), (no, np.array([1 - x for x in holds], dtype=object))]
                return _add_matrices(
                    [_multiply_entrywise(self.entries(piece), [[_make_constant(mask)]]) for piece, mask in pieces]
                )
            case "maximum" | "minimum", (left, right):
                pick = max if fn == "maximum" else min
                pairs = zip(
                    fill_column(self.number(left), self.count), fill_column(self.number(right), self.count), strict=True
                )
                return [[_make_constant(np.array([pick(a, b) for a, b in pairs], dtype=object))]]
            case "abs", (arg,):
                return self._map_numbers(arg, abs)
            case _, (arg,) if hasattr(arb, fn):
                return self._map_numbers(arg, lambda x: _require_finite(getattr(arb(x), fn)()))
            case _:
                raise NotReadError(f"{fn} is not read")

    def _map_numbers(self, formula: Formula, function: Callable[[Any], Any]) -> Entries:
        """Apply a function to every entry; they must be determined by the data alone."""
        found = self.entries(formula)
        if any(one.keys() - {()} for line in found for one in line):
            raise NotReadError(f"a function of {text(formula)}, which holds state and data, is not read")
        return [[_make_constant(_map_column(one.get((), fmpq(0)), function)) for one in line] for line in found]


_TAKEN_APART = Add | Multiply | MatMul | Transpose | Entry | Explicit | Symbol
"""Formulas of the state alone that are read part by part; all others are functions of their own."""
_COMPARED: Mapping[str, Any] = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
                                "==": np.equal, "!=": np.not_equal}  # fmt: skip


def fill_column(x: Column, count: int) -> Any:
    """Return a column with a number for every row."""
    return x if isinstance(x, np.ndarray) else np.array([x] * count, dtype=object)


def _to_fmpq(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def _require_finite(x: arb) -> arb:
    if not x.is_finite():
        raise NotReadError("a number computed from the data that no ball encloses")
    return x


def _raise_number(x: Any, n: Fraction) -> Any:
    if x == 0 and n < 0:
        raise NotReadError("a quotient by zero")
    return x ** int(n) if n.denominator == 1 else _require_finite(arb(x) ** _to_fmpq(n))


def _map_column(x: Column, function: Callable[[Any], Any]) -> Column:
    return np.array([function(one) for one in x], dtype=object) if isinstance(x, np.ndarray) else function(x)


def _make_constant(x: Column) -> Sum:
    return {} if not isinstance(x, np.ndarray) and x == 0 else {(): x}


def _make_matrix(rows: int, cols: int, entry: Callable[[int, int], Sum]) -> Entries:
    return [[entry(i, j) for j in range(cols)] for i in range(rows)]


def _take_entry(rows: Entries, at: tuple[int, ...]) -> Sum:
    if len(at) == 2:
        return rows[at[0]][at[1]]
    return rows[at[0]][0] if len(rows[0]) == 1 else rows[0][at[0]]


def _add_sums(terms: Sequence[Sum]) -> Sum:
    found: Sum = {}
    for term in terms:
        for key, x in term.items():
            known = found.get(key)
            found[key] = x if known is None else known + x if isinstance(known, np.ndarray) else x + known
    return found


def _multiply_sums(one: Sum, other: Sum) -> Sum:
    return _add_sums([
        {tuple(sorted((*key, *more))): x * y if isinstance(x, np.ndarray) else y * x}
        for key, x in one.items() for more, y in other.items()
    ])  # fmt: skip


def _add_matrices(terms: Sequence[Entries]) -> Entries:
    rows, cols = max(len(one) for one in terms), max(len(one[0]) for one in terms)
    return _make_matrix(rows, cols, lambda i, j: _add_sums([_broadcast_entry(one, i, j) for one in terms]))


def _broadcast_entry(one: Entries, i: int, j: int) -> Sum:
    return one[0][0] if len(one) == len(one[0]) == 1 else one[i][j]


def _multiply_entrywise(left: Entries, right: Entries) -> Entries:
    rows, cols = max(len(left), len(right)), max(len(left[0]), len(right[0]))
    return _make_matrix(
        rows, cols, lambda i, j: _multiply_sums(_broadcast_entry(left, i, j), _broadcast_entry(right, i, j))
    )


def _multiply_matrices(left: Entries, right: Entries) -> Entries:
    inner = range(len(right))
    return _make_matrix(
        len(left), len(right[0]), lambda i, j: _add_sums([_multiply_sums(left[i][k], right[k][j]) for k in inner])
    )
