"""SymPy's spellings of matrices: entry by entry, diagonal, and the constant ones of a stated size."""

from functools import reduce

from recipe_compiler.formula import tree
from recipe_compiler.formula.context import Context
from recipe_compiler.formula.shapes import Size
from recipe_compiler.formula.spelled_numbers import call, number, whole_of
from recipe_compiler.formula.tree import Call, Tree

MOST_ROWS = 1000
"""Rows or columns of a constant matrix whose size is a number."""
_CONSTANTS = {"eye": "I", "Identity": "I", "zeros": "0", "ZeroMatrix": "0", "ones": "1", "OneMatrix": "1"}


def matrix(part: Call, context: Context) -> Tree | None:
    """Matrix([[a, b], [c, d]]), Matrix([a, b]) (a column), Matrix(2, 2, [a, b, c, d])."""
    rows = _rows(part)
    if rows is None or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        hint = "write Matrix([[a, b], [c, d]]), a column Matrix([a, b])"
        context.fault(part, f"found no rows of one length in {part.name}(...)", hint)
        return None
    return tree.Explicit(rows, part.at)


def _rows(part: Call) -> tuple[tuple[Tree, ...], ...] | None:
    match part.args:
        case (tree.Group(items),) if all(isinstance(item, tree.Group) for item in items):
            return tuple(item.items for item in items if isinstance(item, tree.Group))
        case (tree.Group(items),):
            return tuple((item,) for item in items)
        case (height, width, tree.Group(items)):
            n, m = whole_of(height), whole_of(width)
            if n is None or m is None or m < 1 or n * m != len(items):
                return None
            return tuple(items[k : k + m] for k in range(0, len(items), m))
        case _:
            return None


def diagonal(part: Call, context: Context) -> Tree | None:
    """diag(a, b, ...) of numbers; of one vector it is the language's own."""
    n = len(part.args)
    if n == 1:
        return part
    zero = number(0, part.at)
    return tree.Explicit(tuple(tuple(part.args[i] if i == j else zero for j in range(n)) for i in range(n)), part.at)


def kronecker(part: Call, context: Context) -> Tree:
    """KroneckerProduct(A, B, ...)."""
    return reduce(lambda right, left: call("kron", part.at, left, right), reversed(part.args))


def constant(part: Call, context: Context) -> Tree | None:
    """eye(n), Identity(n), zeros(n, m), ones(n, m), ZeroMatrix(n, m), OneMatrix(n, m); zeros(n) is square."""
    name = _CONSTANTS[part.name]
    sizes = [_size(arg, context) for arg in part.args]
    if None in sizes or len(sizes) > (1 if part.name == "Identity" else 2):
        expected = f"a size of the document, or a number up to {MOST_ROWS}"
        context.fault(part, f"found another size in {part.name}(...), expected {expected}")
        return None
    if name == "I" and len({*sizes}) > 1:
        context.fault(part, f"found {part.name}(n, m) that is not square", "the identity is square")
        return None
    rows, cols = (None if size == 1 else size for size in (sizes[0], sizes[-1]))
    return tree.Sized(name, rows, cols, part.at)


def _size(part: Tree, context: Context) -> Size | None:
    if isinstance(part, tree.Name):
        return part.name if part.name in context.scope.declarations.sizes else None
    value = whole_of(part)
    return value if value is not None and 0 < value <= MOST_ROWS else None
