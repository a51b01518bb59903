"""Kernel to Kernel: the passes that shape the loops, in order, and the choice between them by the sizes.

The first row that fits is taken:

    few coordinates, all sizes literal      everything in scalars, loops written out (`unroll`, `scalar_replacement`)
    entries independent of each other       one loop over entries, in place (`chunks`)
    sums over rows of data                  fused into one loop over the rows (`fuse`), then small rows in scalars,
                                            gathers, packed minibatches, or blocks of rows
    otherwise                               loops over arrays, as lowered
"""

from dataclasses import replace

from recipe_compiler.program.blocks import BLOCK, blocks
from recipe_compiler.program.cast_float64 import widen
from recipe_compiler.program.chunks import chunks
from recipe_compiler.program.common_subexpressions import share
from recipe_compiler.program.flat_rows import flat_rows
from recipe_compiler.program.flatten_views import flat, without_views
from recipe_compiler.program.fuse import fuse
from recipe_compiler.program.gather_rows import gather_rows, gathers
from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.program.loops import Invoke, Statement
from recipe_compiler.program.lower import GRADIENT
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.program.pack_minibatch import packs
from recipe_compiler.program.prefetch import reads_ahead
from recipe_compiler.program.program import Program
from recipe_compiler.program.scalar_replacement import registers
from recipe_compiler.program.split_long_lines import shorten
from recipe_compiler.program.step_stats import REPORTED
from recipe_compiler.program.traverse import every, flat_items, with_bodies
from recipe_compiler.program.unroll import unroll
from recipe_compiler.program.unroll_rows import has_small_rows, small_rows

COORDINATES = 16
"""The most coordinates of the state that are kept in scalars."""


def schedule(program: Program, kernel: Kernel) -> Kernel:
    """Return the kernel in the shape that its sizes allow; its result stays the same."""
    return widen(program, _shaped(program, kernel)).mapped(shorten)


def _shaped(program: Program, kernel: Kernel) -> Kernel:
    if program.gradient is not None and (program.gradient.code or program.gradient.recursion):
        return kernel
    if _fits_registers(program, kernel):
        return _in_registers(program, kernel)
    cut = kernel if program.cycle else chunks(program, kernel)
    return cut.mapped(_shared) if cut.chunked else _by_rows(program, kernel)


def _fits_registers(program: Program, kernel: Kernel) -> bool:
    """Whether the state is small and everything a step computes has a literal size: a parameter's may be symbolic."""
    sizes = [size for block in program.blocks for size in (block.shape.sizes or (1,))]
    work = tuple(array for procedure in kernel.procedures for array in procedure.work)
    known = all(isinstance(size, int) for size in (*sizes, *(size for array in work for size in array.sizes)))
    drawn = program.cycle is not None and program.cycle.begins_anew
    return (
        not program.data and not drawn and known and sum(size for size in sizes if isinstance(size, int)) <= COORDINATES
    )


def _in_registers(program: Program, kernel: Kernel) -> Kernel:
    """Return the kernel with the state and all of a step in scalars; parameters stay as they are given."""
    step = kernel.chain_step
    work = [array for own in kernel.procedures for array in (*own.work, *own.outputs)]
    count = sum(array.name not in REPORTED for array in step.outputs)
    whole = {CLIPPED, *_passed_on(kernel)}
    held = (*step.inputs[:count], *kernel.noises, *(a for a in work if a.sizes and a.name not in whole))
    straight = kernel.mapped(lambda own: replace(own, body=without_views(unroll(own.body))))
    scalar = registers(straight, tuple(dict.fromkeys(held)))
    return replace(
        scalar.mapped(lambda own: own if own == scalar.cycle else _shared(own)),
        shape=(
            f"Registers: no data and {sum(len(scalar.scalars(block.name)) for block in program.blocks)} coordinates, "
            "so the state and all of a step are scalars."
        ),
    )


def _passed_on(kernel: Kernel) -> frozenset[str]:
    """Return the names that procedures give to support functions: arrays stay arrays for them."""
    own = {procedure.name for procedure in kernel.procedures}
    bodies = [procedure.body for procedure in kernel.procedures]
    calls = (s for body in bodies for s in every(body) if isinstance(s, Invoke) and s.procedure not in own)
    return frozenset(item for call in calls for item in flat_items(call.arguments) if isinstance(item, str))


def _by_rows(program: Program, kernel: Kernel) -> Kernel:
    """Return the kernel with what it sums over the rows of the data in one loop over them."""
    for procedure in (kernel.gradient, kernel.potential):
        if procedure is not None:
            kernel = _rows_of(program, kernel, procedure)
    return kernel


def _rows_of(program: Program, kernel: Kernel, procedure: Procedure) -> Kernel:
    """Return the kernel with a procedure in one loop over the rows of the data, where that is known how."""
    if gathers(procedure):
        joined = gather_rows(procedure)
        says = "Rows that say positions: one loop over the rows of the data, which reads and adds where they say."
        return kernel if joined is None else _with(kernel, procedure, _shared(joined), says)
    gradient = flat(procedure)
    fused = fuse(gradient)
    if fused is None:
        return kernel
    if has_small_rows(gradient, fused):
        small = small_rows(gradient, fused)
        packed = packs(small)
        if packed is not small:
            says = (
                "Small rows: those of a minibatch are copied side by side, a few columns to an array, then one loop "
                "over them with their features in scalars takes several rows at once."
            )
            return _with(kernel, gradient, _shared(packed), says)
        says = "Small rows: one loop over the rows of the data, their features in scalars"
        if program.mapped:
            flat_view = small if program.narrow else flat_rows(small)
            return _with(kernel, gradient, _shared(flat_view), f"{says}.")
        matrices = tuple(dict.fromkeys((*kernel.column_major, *_matrices(program, small))))
        says += "; in Fortran order several rows at once." if matrices else "."
        return replace(_with(kernel, gradient, _shared(small), says), column_major=matrices)
    blocked = blocks(gradient, fused) if gradient is procedure and not procedure.returns else None
    if blocked is None:
        return kernel
    says = f"Blocks of rows: {BLOCK} rows of the data at a time, summed while they are in the cache"
    says += ", the next ones asked for meanwhile." if reads_ahead(blocked) else "."
    return replace(_with(kernel, gradient, _shared(blocked), says), block=BLOCK)


def _matrices(program: Program, procedure: Procedure) -> tuple[str, ...]:
    """Return the fields of the data with several columns that a procedure reads."""
    fields = {datum.name for datum in program.data}
    return tuple(array.name for array in procedure.inputs if array.name in fields and len(array.sizes) == 2)


def _with(kernel: Kernel, old: Procedure, new: Procedure, shape: str) -> Kernel:
    """Return the kernel with another gradient, or U, in the place of one: what calls it gives it other work arrays."""
    changed = {old.name: (old, new)}

    def called(statement: Statement) -> Statement:
        match statement:
            case Invoke(name, arguments) if name in changed:
                before, after = changed[name]
                given = arguments[: len(arguments) - len(before.work)]
                return replace(statement, arguments=(*given, *(array.name for array in after.work)))
            case _:
                return with_bodies(statement, lambda body: map(called, body))

    def relinked(procedure: Procedure) -> Procedure:
        if procedure.name == new.name:
            return new
        body = tuple(map(called, procedure.body))
        if body == procedure.body:
            return procedure
        dropped = {array for before, _ in changed.values() for array in before.work}
        added = (array for _, after in changed.values() for array in after.work)
        work = tuple(dict.fromkeys((*(array for array in procedure.work if array not in dropped), *added)))
        changed[procedure.name] = (procedure, replace(procedure, work=work, body=body))
        return changed[procedure.name][1]

    return replace(kernel.mapped(relinked), shape=shape if old.name == GRADIENT else kernel.shape)


def _shared(procedure: Procedure) -> Procedure:
    return replace(procedure, body=share(procedure.body, procedure.names))
