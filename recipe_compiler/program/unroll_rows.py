"""Pass: a gradient over rows of few features is one loop over the rows, with all features in scalars.

Nothing is written to memory inside the loop, so that it can take several rows at once with vector instructions.
"""

from dataclasses import replace

from recipe_compiler.program.fuse import Fused
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import View
from recipe_compiler.program.scalar_replacement import locally
from recipe_compiler.program.traverse import counts_in, refs
from recipe_compiler.program.unroll import ITERATIONS, written_out

SUMS = 32
"""The most entries that are summed in scalars: what no register is left for costs a load and a store in every row."""


def has_small_rows(procedure: Procedure, fused: Fused) -> bool:
    """Whether every loop within a row has few iterations, and what is summed has few entries, under its own name."""
    if any(isinstance(statement, View) for statement in procedure.body):
        return False
    summed = [size for array in procedure.outputs for size in array.sizes]
    within = [*(size for array in fused.local for size in array.sizes), *counts_in(fused.loop.body)]
    return all(
        isinstance(size, int) and size <= most
        for sizes, most in ((summed, SUMS), (within, ITERATIONS))
        for size in sizes
    )


def small_rows(procedure: Procedure, fused: Fused) -> Procedure:
    """Return the procedure with its sums in scalars, stored to its outputs at the end."""
    scalars = {array.name for array in (*procedure.outputs, *fused.local)}
    straight = written_out((*fused.before, fused.loop, *fused.after), scalars)
    sums = tuple(array for array in (*procedure.outputs, *fused.local) if array.sizes)
    taken = procedure.names - {out.name for out in procedure.outputs} | {ref.name for ref in refs(straight)}
    stores = (out for out in procedure.outputs if out.sizes)  # what is returned as a scalar is not stored
    return replace(procedure, body=locally(straight, sums, taken, stores=stores), work=fused.work)
