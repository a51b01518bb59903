"""Entries and rows at positions that the data say: `eta[g]`, `F[u]`, `F[u, 0]`, with index fields g and u.

An index field is the row with a one at its position and zeros elsewhere, so `eta[g]` is `g @ eta` and `F[u]` is
`u @ F`: what holds for every row holds for these. A row of a one_hot block is such a row, too: `mu[z]` is `z @ mu`.
"""

from recipe_compiler.errors import nearest
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula import tree
from recipe_compiler.formula.context import Context
from recipe_compiler.formula.declaration import Block, Datum
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import DISCRETE, SCALAR, DomainName, Shape, Size
from recipe_compiler.formula.syntax import NO_LETTERS


def entry_by_data(part: tree.Subscript, arg: Formula, context: Context) -> Formula | None:
    """Return an entry of a vector, a row of a matrix, or an entry of it, at positions of which the data say some.

    `F[u]` is the row u of F, `F[u, v]` and `F[u, 0]` are entries. None where a fault was noted: a name that is no index
    field of the data, one of an axis of another length, too many positions.
    """
    shape, positions = context.shape(arg), part.positions
    fields = [_field(part, position, context) for position in positions]
    if None in fields:
        return None
    axes = shape.sizes
    fewest = 1 if len(axes) == 2 else len(axes)
    if not fewest <= len(positions) <= len(axes):
        wanted = ("none: a scalar has no entries", "one position", "a row or two positions")[len(axes)]
        context.fault(part, f"found {len(positions)} positions in a {context.shown(arg)}, expected {wanted}")
        return None
    found: Formula | None = arg
    for position, size, axis in zip(positions, axes, range(2), strict=False):
        last = axis == 1 or len(axes) == 1
        found = found and _along(part, found, position, size, context, last=last)
    return found


def _field(part: tree.Subscript, position: tree.Position, context: Context) -> Datum | Block | int | None:
    """Return a position, or the index field or the row with a one that says it; None where a fault was noted."""
    if isinstance(position, int):
        return position
    declared = context.scope.declarations.find(position)
    if isinstance(declared, Datum) and declared.is_index:
        return declared
    if isinstance(declared, Block) and declared.domain.name is DomainName.ONE_HOT:
        return declared
    problem, hint = f"found {position}, expected a position 0, 1, 2, ...", NO_LETTERS
    if isinstance(declared, Datum):
        hint = f"declare it as an index: {position}: {{shape: {declared.size}, index_of: J}}, J the length of the axis"
    elif isinstance(declared, Block) and declared.domain.name in DISCRETE:
        problem = f"found the block {position} as a position, expected 0, 1, 2, ... or an index field of the data"
        hint = f"labels of the state are rows with a one: `{position}: {{shape: [N, K], domain: one_hot}}`"
    elif fields := tuple(datum.name for datum in context.scope.declarations.data if datum.is_index):
        problem, hint = f"{problem}, or an index field of the data", nearest(position, fields) or NO_LETTERS
    context.fault(part, problem, hint)
    return None


def field_of_positions(part: tree.Tree, call: str, context: Context) -> Formula | None:
    """Return an index field as its rows with a one; None where a fault was noted: it is none."""
    declared = context.scope.declarations.find(part.name) if isinstance(part, tree.Name) else None
    if isinstance(declared, Datum) and declared.is_index:
        return ex.Symbol(declared.name, declared.shape, Role.INDEX)
    said = f"`{declared.name}`" if isinstance(declared, Datum) else "a formula"
    hint = "declare it so in `data`: y: {shape: N, index_of: K}, K the number of classes"
    context.fault(part, f"found {said} in {call}, expected an index field of the data", hint)
    return None


def _along(
    part: tree.Subscript, arg: Formula, position: tree.Position, size: Size, context: Context, *, last: bool
) -> Formula | None:
    """Return what is left of a formula at one position along its first axis, or, with `last`, along its only one."""
    if isinstance(position, int):
        return _at_number(part, arg, position, size, context, last=last)
    declared = context.scope.declarations.find(position)
    own = declared.shape.sizes[-1] if isinstance(declared, Datum | Block) else None
    if not context.unknowns.same(own, size):
        problem = f"found {position}, an index of {own}, along an axis of length {size}"
        stated = f"index_of: {size}" if isinstance(declared, Datum) else f"shape: [N, {size}], domain: one_hot"
        context.fault(part, problem, f"declare {position}: {{{stated}}}, or give the axis the length {own}")
        return None
    if isinstance(declared, Datum) and declared.shape.rows is not None:
        hint = (
            f"declare {{shape: [{declared.size}, {own}], in: [0, 1]}}, a row for each datum, and write {position} @ A"
        )
        context.fault(
            part, f"found the index field {position} in a formula of all data at once, such as one under `laws`", hint
        )
        return None
    if isinstance(declared, Block) and len(declared.shape.sizes) == 2:
        hint = f"write {position} @ A for all data at once; {position} is one row in log_likelihood alone"
        context.fault(part, f"found the rows of {position} all at once as a position", hint)
        return None
    row = ex.Symbol(position, Shape(None, own), Role.INDEX)
    if isinstance(declared, Block):
        block = ex.Symbol(position, declared.shape, Role.BLOCK)
        row = block if declared.shape.rows is None else ex.Transpose(block, Shape(None, own))
    shape = context.shape(arg)
    if shape.rows is None:
        return ex.MatMul(arg, ex.Transpose(row, Shape(own)), SCALAR)
    return ex.MatMul(row, arg, Shape(None, None if last else shape.cols))


def _at_number(
    part: tree.Subscript, arg: Formula, position: int, size: Size, context: Context, *, last: bool
) -> Formula | None:
    if isinstance(size, int) and position >= size:
        context.fault(part, f"found position {position}, expected 0 to {size - 1} of {size}", "count from 0")
        return None
    if last:
        return ex.Entry(arg, (position,))
    context.fault(part, "found a number before an index field of the data", "write A.T[g, 0] for A[0, g]")
    return None
