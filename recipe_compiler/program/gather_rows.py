"""Pass: a gradient that gathers from and scatters to positions given by the data is one loop over rows, each read once.

What is read of the state, or summed, at the same places in every row is kept in scalars meanwhile: otherwise a store to
an entry that the data select would have to be taken for a change of all of them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import prod

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.definition import ROW, reads_position
from recipe_compiler.program.fuse import fuse
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array, For, Statement, View
from recipe_compiler.program.scalar_replacement import locally
from recipe_compiler.program.traverse import every, refs, targets
from recipe_compiler.program.unroll import unroll
from recipe_compiler.program.unroll_rows import SUMS


def gathers(procedure: Procedure) -> bool:
    """Whether a procedure reads or adds, in loops over the rows, at positions given by the data."""
    return any(map(reads_position, every(one for one in procedure.body if _is_of_rows(one))))


def _is_of_rows(statement: Statement) -> bool:
    return isinstance(statement, For) and statement.index == ROW


def gather_rows(procedure: Procedure) -> Procedure | None:
    """Return a procedure with its loops over the rows fused, None if they cannot be."""
    rows = (unroll((one,))[0] if _is_of_rows(one) else one for one in procedure.body)
    fused = fuse(replace(procedure, body=tuple(rows)))
    if fused is None:
        return None
    moving = _moving(fused.loop.body)
    before, after = (tuple(_straight(part, moving)) for part in (fused.before, fused.after))
    straight = (*before, *unroll((fused.loop,)), *after)
    views = tuple(statement for statement in straight if isinstance(statement, View))
    steps = tuple(statement for statement in straight if not isinstance(statement, View))
    fixed = _fixed(steps)
    small = tuple(array for array in _arrays(procedure, views) if array.name in fixed and _is_small(array))
    own = tuple(array for array in fused.local if array.sizes and array.name in fixed and _is_small(array))
    written = {ref.name for ref in targets(steps)}
    stores = tuple(array for array in small if array.name in written)
    loads = tuple(array for array in small if array.name not in written)
    taken = {*procedure.names, *(ref.name for ref in refs(steps)), *(str(at) for ref in refs(steps) for at in ref.at)}
    body = locally(steps, (*small, *own), taken, loads=loads, stores=stores)
    kept = tuple(array for array in fused.local if array.sizes and array not in own)
    return replace(procedure, body=(*views, *body), work=(*fused.work, *kept))


def _moving(body: Iterable[Statement]) -> frozenset[str]:
    """Return the arrays that are read or written at other places than numbers."""
    return frozenset(ref.name for ref in refs(body) if not all(isinstance(at, int) for at in ref.at))


def _straight(body: Iterable[Statement], moving: frozenset[str]) -> Iterator[Statement]:
    """Yield statements, their loops written out but for those over an array that moves: it stays an array."""
    for statement in body:
        own = {ref.name for ref in targets((statement,))}
        yield from (statement,) if own & moving else unroll((statement,))


def _fixed(body: Iterable[Statement]) -> frozenset[str]:
    """Return the arrays that are read and written at numbers alone."""
    return frozenset(ref.name for ref in refs(body) if ref.at) - _moving(body)


def _arrays(procedure: Procedure, views: tuple[View, ...]) -> Iterator[Array]:
    """Yield the state and the outputs of a procedure as its body names them: the parts that it cuts, or the wholes."""
    cut = {view.source for view in views}
    yield from (Array(view.name, view.sizes or (1,)) for view in views)
    yield from (array for array in procedure.outputs if array.name not in cut and array.sizes)


def _is_small(array: Array) -> bool:
    known: list[Size] = list(array.sizes)
    return (
        all(isinstance(size, int) for size in known) and prod(size for size in known if isinstance(size, int)) <= SUMS
    )
