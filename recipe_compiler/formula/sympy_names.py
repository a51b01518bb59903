"""The names in a SymPy object, with the shapes and kinds that SymPy knows of them."""

from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from recipe_compiler.formula.python_declaration import Declared, checked_name, merged, refusal
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape, Size

Object = Any
"""An object of SymPy's, which ships no types; what is read off it here has one again."""


def sympy_names(obj: Object) -> tuple[Declared, ...]:
    """Return the symbols, matrix symbols and undefined functions of a SymPy object, by name.

    A symbol that occurs as the size of a matrix is a size and not declared; another one of its name, of which something
    else is assumed, is. Raises SpecError for a name that formulas cannot use, or one that stands for two things.
    """
    found: list[Declared] = []
    sized = obj.atoms(sympy.MatrixSymbol, sympy.Identity, sympy.ZeroMatrix, sympy.OneMatrix)
    sizes = {size for node in sized for size in node.shape}
    counted = {limit[0] for sum_ in obj.atoms(sympy.Sum) for limit in sum_.limits}
    for node in sympy.preorder_traversal(obj):
        if isinstance(node, sympy.MatrixSymbol):
            found.append(Declared(checked_name(str(node.name)), matrix_shape(node), stated=False))
        elif isinstance(node, AppliedUndef):
            blocks = tuple(block_name(arg) for arg in node.args)
            name = checked_name(type(node).__name__)
            found.append(Declared(name, SCALAR, symbol_kinds(node), of=blocks, stated=False, lost=_lost(node)))
        elif isinstance(node, sympy.Symbol) and node not in counted | sizes:
            kinds = symbol_kinds(node)
            found.append(Declared(checked_name(node.name), SCALAR, kinds, stated=False, lost=_lost(node)))
    functions = tuple(item for item in found if item.of is not None)
    others = tuple(item for item in found if item.of is None)
    matrices = {item.name for item in others if item.shape != SCALAR}
    # SymPy keeps the name of a matrix symbol as a plain symbol inside it; that one is not declared by itself.
    kept = [item for item in others if item.shape != SCALAR or item.name not in matrices]
    return merged(functions, tuple(kept))


def matrix_shape(node: Object) -> Shape:
    """Return the shape that formulas give a SymPy matrix: [d, 1] is a column, [1, d] a row, [1, 1] a scalar."""
    rows, cols = (_size(size) for size in node.shape)
    return Shape(None if rows == 1 else rows, None if cols == 1 else cols)


def symbol_kinds(symbol: Object) -> tuple[Kind, ...]:
    """Return the kind that a symbol's assumptions state."""
    if symbol.is_positive:
        return (Kind.POSITIVE,)
    if symbol.is_nonnegative:
        return (Kind.NONNEGATIVE,)
    return (Kind.NONZERO,) if symbol.is_nonzero else (Kind.REAL,)


_NAMED_FIRST = ("negative", "nonpositive", "zero", "integer", "rational", "irrational", "imaginary", "infinite")
"""Assumptions that declarations have no words for, the plainest first: they imply others."""
_KEPT = {
    Kind.POSITIVE: sympy.Symbol("kept", positive=True),
    Kind.NONNEGATIVE: sympy.Symbol("kept", nonnegative=True),
    Kind.NONZERO: sympy.Symbol("kept", nonzero=True),
    Kind.REAL: sympy.Symbol("kept", real=True),
}
"""What SymPy knows of a symbol of a kind: it has simplified by all that it knows, so nothing more may be known."""


def _lost(obj: Object) -> str:
    """Return an assumption of a symbol or function that a declaration could not keep, empty if there is none."""
    if isinstance(obj, sympy.Dummy | sympy.Wild):
        return f"a {type(obj).__name__}: another one than the symbol of its name"
    if isinstance(obj, AppliedUndef):  # of a matrix, it is not commutative: what was said of it is what counts
        obj = sympy.Symbol("said", **getattr(type(obj), "_kwargs", {}))
    (kind,) = symbol_kinds(obj)
    known, kept = obj.assumptions0, _KEPT[kind].assumptions0
    words = sorted(known, key=lambda word: (word not in _NAMED_FIRST, word))
    more = {word: known[word] for word in words if known[word] not in (None, kept.get(word))}
    return next((w for w, holds in more.items() if holds), next((f"not {w}" for w in more), ""))


def block_name(arg: Object) -> str:
    """Return the name of a block that an undefined function is of. Raises SpecError."""
    if isinstance(arg, sympy.Symbol | sympy.MatrixSymbol):
        return checked_name(str(arg.name))
    raise refusal(f"found a function of a {type(arg).__name__}, expected functions of whole blocks")


def means_its_name(kind: type) -> bool:
    """Whether a class is SymPy's or of this package: somebody else's may be called `exp` and be another function."""
    module = kind.__module__ or ""  # an undefined function has none
    return module.partition(".")[0] in ("sympy", __name__.partition(".")[0])


def is_one_by_one(node: Object) -> bool:
    """Whether a SymPy matrix expression is what formulas call a scalar."""
    return bool(getattr(node, "is_Matrix", False)) and matrix_shape(node) == SCALAR


def entry_positions(node: Object) -> tuple[int, ...]:
    """Return the positions of an entry, those along an axis of size 1 left out. Raises SpecError."""
    matrix = node.args[0]
    positions: list[int] = []
    for position, size in zip(node.args[1:], matrix.shape, strict=True):
        if not isinstance(position, sympy.Integer):
            raise refusal(f"found an entry at position {position}, expected an integer")
        if size != 1:
            positions.append(int(position))
    return tuple(positions)


def _size(size: Object) -> Size:
    if isinstance(size, sympy.Integer) and size > 0:
        return int(size)
    if isinstance(size, sympy.Symbol):
        return checked_name(size.name)
    raise refusal(f"found the size {size}, expected a symbol or a positive integer")
