"""Kernel to Kernel: the passes that give the loops a shape, in order, and the choice of the shape by the sizes."""

from dataclasses import replace

from recipe_compiler.program.blocks import BLOCK, blocks
from recipe_compiler.program.cast_float64 import widen
from recipe_compiler.program.chunks import chunks
from recipe_compiler.program.common_subexpressions import share
from recipe_compiler.program.flat_rows import flat_rows
from recipe_compiler.program.flatten_views import flat, without_views
from recipe_compiler.program.fuse import fuse
from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.program.loops import Invoke, Iterate, Statement
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.program.pack_minibatch import packs
from recipe_compiler.program.prefetch import reads_ahead
from recipe_compiler.program.program import Program
from recipe_compiler.program.scalar_replacement import registers
from recipe_compiler.program.split_long_lines import shorten
from recipe_compiler.program.unroll import unroll
from recipe_compiler.program.unroll_rows import has_small_rows, small_rows

COORDINATES = 16
"""The most coordinates of the state that are kept in scalars."""


def schedule(program: Program, kernel: Kernel) -> Kernel:
    """Return the kernel in the shape that its sizes allow; what it computes stays the same."""
    shaped = widen(program, _shaped(program, kernel))
    gradient = None if shaped.gradient is None else shorten(shaped.gradient)
    return replace(shaped, gradient=gradient, step=shorten(shaped.step))


def _shaped(program: Program, kernel: Kernel) -> Kernel:
    if program.gradient is not None and program.gradient.code:
        return kernel
    if _fits_registers(program, kernel):
        return _in_registers(program, kernel)
    cut = chunks(program, kernel)
    if not cut.chunked:
        return _by_rows(program, kernel)
    return replace(cut, step=_shared(cut.step), gradient=None if cut.gradient is None else _shared(cut.gradient))


def _fits_registers(program: Program, kernel: Kernel) -> bool:
    """Whether the state is small and everything a step computes has a literal size: a parameter's may be symbolic."""
    sizes = [size for block in program.blocks for size in (block.shape.sizes or (1,))]
    work = (*kernel.step.work, *(kernel.gradient.work if kernel.gradient else ()))
    known = all(isinstance(size, int) for size in (*sizes, *(size for array in work for size in array.sizes)))
    return not program.data and known and sum(size for size in sizes if isinstance(size, int)) <= COORDINATES


def _in_registers(program: Program, kernel: Kernel) -> Kernel:
    """Return the kernel with the state and all of a step in scalars; parameters stay as they are given."""
    step, gradient = kernel.step, kernel.gradient
    work = (*step.work, *((*gradient.work, *gradient.outputs) if gradient else ()))
    count = sum(len(array.sizes) and 1 for array in step.outputs)
    blocks = step.inputs[:count]
    whole = {CLIPPED, *_passed_on(step.body, gradient)}
    held = (*blocks, *step.outputs, *kernel.noises, *(array for array in work if array.name not in whole))
    straight = replace(
        kernel,
        gradient=None if gradient is None else replace(gradient, body=without_views(unroll(gradient.body))),
        step=replace(step, body=unroll(step.body)),
    )
    scalar = registers(straight, tuple(dict.fromkeys(held)))
    return replace(
        scalar,
        gradient=None if scalar.gradient is None else _shared(scalar.gradient),
        step=_shared(scalar.step),
        shape=(
            f"Registers: no data and {sum(len(scalar.scalars(block.name)) for block in program.blocks)} coordinates, "
            "so the state and all of a step are scalars."
        ),
    )


def _passed_on(body: tuple[Statement, ...], gradient: Procedure | None) -> frozenset[str]:
    """Return the names that a step gives to support functions: arrays stay arrays for them."""
    own = None if gradient is None else gradient.name
    every = (*body, *(s for loop in body if isinstance(loop, Iterate) for s in loop.advance))
    calls = (s for s in every if isinstance(s, Invoke) and s.procedure != own)
    return frozenset(name for call in calls for name in call.arguments)


def _by_rows(program: Program, kernel: Kernel) -> Kernel:
    """Return the kernel with its gradient in one loop over the rows of the data."""
    gradient = None if kernel.gradient is None else flat(kernel.gradient)
    fused = fuse(gradient) if gradient is not None else None
    if gradient is None or fused is None:
        return kernel
    if has_small_rows(gradient, fused):
        small = small_rows(gradient, fused)
        packed = packs(small)
        flat_view = small if program.narrow else flat_rows(small)
        says = "Small rows: one loop over the rows of the data, their features in scalars."
        if packed is not small:
            says = (
                "Small rows: those of a minibatch are copied side by side, a few columns to an array, then one loop "
                "over them with their features in scalars takes several rows at once."
            )
        shaped = flat_view if packed is small else packed
        return _with_gradient(kernel, gradient, _shared(shaped), says)
    blocked = blocks(gradient, fused) if gradient is kernel.gradient else None
    if blocked is None:
        return kernel
    says = f"Blocks of rows: {BLOCK} rows of the data at a time, summed while they are in the cache"
    says += ", the next ones asked for meanwhile." if reads_ahead(blocked) else "."
    return replace(_with_gradient(kernel, gradient, _shared(blocked), says), block=BLOCK)


def _with_gradient(kernel: Kernel, old: Procedure, new: Procedure, shape: str) -> Kernel:
    """Return the kernel with another gradient, its call and the work arrays of a step changed with it."""
    count = len(old.outputs) + len(old.inputs)
    dropped = {array.name for array in old.work}

    def called(statement: Statement) -> Statement:
        if isinstance(statement, Invoke) and statement.procedure == old.name:
            return replace(statement, arguments=(*statement.arguments[:count], *(a.name for a in new.work)))
        return statement

    work = (*(array for array in kernel.step.work if array.name not in dropped), *new.work)
    step = replace(kernel.step, work=work, body=tuple(called(statement) for statement in kernel.step.body))
    return replace(kernel, gradient=new, step=step, shape=shape)


def _shared(procedure: Procedure) -> Procedure:
    return replace(procedure, body=share(procedure.body, procedure.names))
