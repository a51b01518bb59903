"""Pass: a loop over all rows of the data, in order, reads them from a flat view, whose rows have a literal length.

The compiler knows the length of a row of a matrix only when the loop runs: it then keeps a vector form of the loop for
one certain length and does not take it. With x[row, 0], x[row, 1], x[row, 2] read as flat[3*row], flat[3*row + 1],
flat[3*row + 2] the rows are read as vectors.
"""

from dataclasses import replace

from recipe_compiler.program.combine import free_name
from recipe_compiler.program.definition import ROW
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array, Assign, For, ForBlocks, Ref, Statement, Unsigned, View
from recipe_compiler.program.traverse import names_in, refs, with_refs


def flat_rows(procedure: Procedure) -> Procedure:
    """Return a procedure that reads matrices of data row by row from flat views; the same one if there are none."""
    loops = [(place, one) for place, one in enumerate(procedure.body) if isinstance(one, For) and one.index == ROW]
    if len(loops) != 1 or loops[0][1].position:
        return procedure
    place, loop = loops[0]
    taken = {*procedure.names, *names_in(procedure.body)}
    whole = [array for array in procedure.inputs if _read_whole(array, loop)]
    if not whole:
        return procedure
    views: list[Statement] = []
    reads: list[Statement] = []
    scalars: dict[Ref, Ref] = {}
    for array in whole:
        view = free_name(f"{array.name}_flat", taken)
        entries = {at: free_name("_".join((array.name, str(at[1]))), taken) for at in _entries(array)}
        scalars |= {Ref(array.name, at): Ref(name) for at, name in entries.items()}
        views.append(View(view, array.name, None, ()))
        elements = (Ref(view, (Unsigned((ROW, k), len(entries)),)) for k in range(len(entries)))
        reads += map(Assign, map(Ref, entries.values()), elements)
    inner = (with_refs(one, lambda ref: scalars.get(ref, ref)) for one in loop.body)
    iterations = ForBlocks(ROW, loop.count, 1, (*reads, *(one for one in inner if not _idle(one))))
    return replace(procedure, body=(*procedure.body[:place], *views, iterations, *procedure.body[place + 1 :]))


def _entries(array: Array) -> list[tuple[str | int, ...]]:
    columns = array.sizes[1]
    return [(ROW, k) for k in range(columns)] if isinstance(columns, int) else []


def _read_whole(array: Array, loop: For) -> bool:
    """Whether an iteration reads every column of a row of the matrix, and nothing else of it."""
    if len(array.sizes) != 2 or array.sizes[0] != loop.count:
        return False
    read = {ref.at for ref in refs(loop.body) if ref.name == array.name}
    return bool(read) and read == set(_entries(array))


def _idle(statement: Statement) -> bool:
    return isinstance(statement, Assign) and statement.target == statement.value
