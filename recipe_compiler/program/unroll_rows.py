"""Pass: a gradient over rows of few features is one loop over the rows, with all features in scalars.

Nothing is written to memory inside the loop, so that it can take several rows at once with vector instructions.
"""

from dataclasses import replace

from recipe_compiler.program.fuse import Fused
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array, Assign, Ref, View
from recipe_compiler.program.scalar_replacement import locally, positions
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
    stores = tuple(Assign(Ref(out.name, at), Ref(out.name, at)) for out in procedure.outputs for at in positions(out))
    sums = tuple(Array(array.name, array.sizes) for array in (*procedure.outputs, *fused.local) if array.sizes)
    taken = procedure.names - {out.name for out in procedure.outputs} | {ref.name for ref in refs(straight)}
    body = locally((*straight, *stores), sums, taken)
    made = (statement for statement in body[len(straight) :] if isinstance(statement, Assign))
    kept = (replace(own, target=store.target) for own, store in zip(made, stores, strict=True))
    stored = tuple(own for own in kept if own.value != own.target)  # what is returned as a scalar is not stored
    return replace(procedure, body=(*body[: len(straight)], *stored), work=fused.work)
