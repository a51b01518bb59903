"""The second engine: a typed formula, entry by entry at fixed sizes, as SymPy scalars.

Every entry is a scalar expression in the coordinates of the state, the entries of the parameters and undefined
functions of the coordinates; derivatives are SymPy's scalar derivatives of those entries. Nothing here knows of index
notation: this engine and the index calculus share the typed formula and nothing else, so that a fault in one is seen
by the other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import mul

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars import elementwise, matrices
from recipe_compiler.algebra.scalars.derivatives import slope_off_kinks as slope
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.sign_cells import chosen
from recipe_compiler.algebra.scalars.symbols import component, coordinate, coordinates, extent, length, positions
from recipe_compiler.formula.declaration import Block, Declarations
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
from recipe_compiler.formula.shapes import Shape, Sizes


class NotScalarisableError(Exception):
    """A formula that has no scalar entries in the second engine; a claim that needs them is undecided."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The declarations that give names their meaning, and the integers for symbolic sizes."""

    declarations: Declarations
    sizes: Sizes


def scalar(formula: Formula, declarations: Declarations, sizes: Sizes) -> Expr:
    """Return a scalar formula as a SymPy scalar.

    Raises:
        NotScalarisableError, matrices.TooLargeError: as for `rows`.
    """
    return rows(formula, Setting(declarations, sizes))[0][0]


def rows(formula: Formula, at: Setting) -> Rows:
    """Return the entries of a formula as rows: 1 x 1 of a scalar, n x 1 of a column, 1 x n of a row.

    Raises:
        NotScalarisableError: a node that has no entries (draws and updated blocks of claimed updates).
        matrices.TooLargeError: the inverse or determinant of a symbolic matrix beyond what cofactors can do.
    """
    match formula:
        case Number(value):
            return ((rational(value),),)
        case Pi():
            return ((sympy.pi,),)
        case Symbol() | FunctionAt():
            return _read_declared_name(formula, at)
        case Identity(size):
            return matrices.identity(length(size, at.sizes))
        case Filled(value, shape):
            return matrices.filled(*extent(shape, at.sizes), value)
        case Add(terms):
            return matrices.add(tuple(rows(term, at) for term in terms))
        case Multiply(left, right):
            return _map_entrywise(mul, rows(left, at), rows(right, at))
        case Power(base, exponent):
            return _map_entrywise(_raise, rows(base, at), rows(exponent, at))
        case MatMul(left, right):
            return matrices.product(rows(left, at), rows(right, at))
        case Transpose(arg):
            return matrices.transpose(rows(arg, at))
        case Explicit(written):
            return tuple(tuple(rows(entry, at)[0][0] for entry in row) for row in written)
        case Entry(arg, position):
            return ((_pick_entry(rows(arg, at), arg.shape, position),),)
        case Apply(fn, args, _):
            return _apply_function(fn, args, at)
        case Compare() | Normal() | Next() | GradTilde():
            raise NotScalarisableError(f"{type(formula).__name__} has no entries")


def _raise(base: Expr, exponent: Expr) -> Expr:
    """Return a power; one by what is no number is exp(exponent log base), whose base is not taken apart."""
    return base**exponent if exponent.is_number else sympy.exp(exponent * sympy.log(base))


def _arrange_in_rows(items: list[Expr], shape: Shape, at: Setting) -> Rows:
    """Return entries, given row by row, in the rows of a shape."""
    height, width = extent(shape, at.sizes)
    return tuple(tuple(items[i * width : (i + 1) * width]) for i in range(height))


def _read_declared_name(symbol: Symbol | FunctionAt, at: Setting) -> Rows:
    """Return the entries of a declared name."""
    if isinstance(symbol, Symbol) and symbol.role is Role.SIZE:
        return ((sympy.Integer(at.sizes[symbol.name]),),)
    if isinstance(symbol, Symbol) and symbol.role in {Role.STEP, Role.NOISE}:
        return _read_update_symbol(symbol, at)
    item = at.declarations.find(symbol.name)
    if item is None:
        raise NotScalarisableError(f"{symbol.name} is not declared")
    places = positions(symbol.shape, at.sizes)
    if isinstance(item, Block):
        return _arrange_in_rows([coordinate(item, place) for place in places], symbol.shape, at)
    found = [component(item, place, at.declarations, at.sizes) for place in places]
    return _arrange_in_rows(found, symbol.shape, at)


def _read_update_symbol(symbol: Symbol, at: Setting) -> Rows:
    """Return the step size as a positive symbol, a declared draw as real ones."""
    if symbol.role is Role.STEP:
        return ((sympy.Symbol(symbol.name, positive=True),),)
    places = positions(symbol.shape, at.sizes)
    names = [f"{symbol.name}[{','.join(map(str, place))}]" if place else symbol.name for place in places]
    return _arrange_in_rows([sympy.Symbol(name, real=True) for name in names], symbol.shape, at)


def _pick_entry(a: Rows, shape: Shape, position: tuple[int, ...]) -> Expr:
    """Return one entry, counted from 0."""
    if len(position) == 2:
        return a[position[0]][position[1]]
    return a[0][position[0]] if shape.rows is None else a[position[0]][0]


def _map_entrywise(f: Callable[..., Expr], *sides: Rows) -> Rows:
    """Return a function of scalars entry by entry; a side of one entry goes with every entry of the others."""
    height, width = max(map(len, sides)), max(len(side[0]) for side in sides)
    full = [side if len(side) * len(side[0]) > 1 else ((side[0][0],) * width,) * height for side in sides]
    return tuple(tuple(f(*(side[i][j] for side in full)) for j in range(width)) for i in range(height))


def _apply_function(fn: str, args: tuple[Formula, ...], at: Setting) -> Rows:
    """Return the entries of a function of the language at its arguments."""
    if fn in elementwise.FUNCTIONS:
        return _map_entrywise(elementwise.FUNCTIONS[fn].scalar, rows(args[0], at))
    match fn:
        case "minimum" | "maximum":
            return _map_entrywise(elementwise.minimum if fn == "minimum" else elementwise.maximum, *_read_all(args, at))
        case "where":
            return _apply_where(args, at)
        case "grad" | "div" | "hessian":
            return _differentiate(fn, args, at)
        case _ if fn in _OF_ONE:
            return _OF_ONE[fn](rows(args[0], at))
        case _ if fn in _OF_TWO:
            return _OF_TWO[fn](*_read_all(args, at))
        case _:
            raise NotScalarisableError(f"{fn} of {len(args)} arguments is not known to the second engine")


def _apply_where(args: tuple[Formula, ...], at: Setting) -> Rows:
    """Return `where(left op right, yes, no)`."""
    condition = args[0]
    if not isinstance(condition, Compare):
        raise NotScalarisableError("`where` without a comparison")
    return _map_entrywise(partial(chosen, condition.op), *_read_all((condition.left, condition.right, *args[1:]), at))


def _read_all(formulas: tuple[Formula, ...], at: Setting) -> list[Rows]:
    """Return the rows of several formulas."""
    return [rows(formula, at) for formula in formulas]


def _flatten(a: Rows) -> list[Expr]:
    """Return the entries of a matrix row by row, in one list."""
    return [x for row in a for x in row]


def _wrap_scalar(x: Expr) -> Rows:
    """Return a scalar as a 1 x 1 matrix."""
    return ((x,),)


def _diagonal_matrix(a: Rows) -> Rows:
    """Return the square matrix with the entries of a vector on its diagonal."""
    flat, zero = _flatten(a), sympy.Integer(0)
    return tuple(tuple(x if i == j else zero for j in range(len(flat))) for i, x in enumerate(flat))


_OF_ONE: Mapping[str, Callable[[Rows], Rows]] = {
    "inv": matrices.inverse,
    "cholesky": matrices.cholesky,
    "det": lambda a: _wrap_scalar(matrices.determinant(a)),
    "logdet": lambda a: _wrap_scalar(sympy.log(matrices.determinant(a))),
    "trace": lambda a: _wrap_scalar(matrices.total([a[i][i] for i in range(len(a))])),
    "sum": lambda a: _wrap_scalar(matrices.total(_flatten(a))),
    "diag": _diagonal_matrix,
    "norm2": lambda a: _wrap_scalar(matrices.total([x**2 for x in _flatten(a)])),
}
_OF_TWO: Mapping[str, Callable[[Rows, Rows], Rows]] = {
    "outer": lambda a, b: tuple(tuple(x * y for y in _flatten(b)) for x in _flatten(a)),
    "kron": matrices.kronecker,
    "dot": lambda a, b: _wrap_scalar(matrices.dot(_flatten(a), _flatten(b))),
}
"""Functions of whole matrices or vectors."""


def _differentiate(fn: str, args: tuple[Formula, ...], at: Setting) -> Rows:
    """Return `grad(s, b)`, `hessian(s, b)` or `div(A, b)_i = sum_j dA_ij/db_j`."""
    block = args[1]
    item = at.declarations.find(block.name) if isinstance(block, Symbol) else None
    if not isinstance(item, Block):
        raise NotScalarisableError(f"{fn} needs a block of the state")
    z = coordinates(item, at.sizes)
    a = rows(args[0], at)
    match fn:
        case "grad":
            return _arrange_in_rows([slope(a[0][0], x) for x in z], item.shape, at)
        case "hessian":
            return tuple(tuple(slope(slope(a[0][0], x), y) for y in z) for x in z)
        case _:
            lines = matrices.transpose(a) if args[0].shape.cols is None and len(z) == len(a) else a
            return tuple((matrices.total([slope(x, y) for x, y in zip(line, z, strict=True)]),) for line in lines)
