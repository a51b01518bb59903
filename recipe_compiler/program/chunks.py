"""Pass: a step in which no entry depends on another becomes one loop over entries, in place, that runs chunk by chunk.

Gradient, drift and noise of an entry are computed together, so that the state passes through the processor once, and
the noise of a chunk stays in the nearest cache. In an iteration entries are scalars. Every statement reads and writes
entry i of arrays at its own i only, so neither the order of entries nor that of loops matters.

Worked example, SGLD on U = sum_i theta_i**4/4: the loops grad[i] = theta[i]**3 and theta_new[i] = theta[i] - eps
grad[i] + scale noise[i] become, for i in a chunk: g = theta[i]**3; theta[i] = theta[i] - eps g + scale noise[i].
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.program.loops import Array, Assign, Comment, For, Invoke, Kronecker, Ref, Scalar, Statement
from recipe_compiler.program.program import Program
from recipe_compiler.program.scalar_replacement import registers
from recipe_compiler.program.traverse import names_in, parts_of
from recipe_compiler.program.unroll import at_iteration

LEAST = 64
"""The shortest literal length that is cut into chunks: noise is drawn for 128 entries at once."""

ENTRIES = "entries"
"""The length of a chunk."""

SHAPE = (
    "Chunks: no entry touches another, so gradient, drift and noise of an entry are computed together, in place, and "
    "the noise of a chunk of entries at a time."
)


def chunks(program: Program, kernel: Kernel) -> Kernel:
    """Return the kernel with `step` in place on a chunk of entries; the same kernel if entries depend on each other.

    A step that shifts a block several times, carries its gradient on, takes it at several blocks, or computes with the
    number of entries is left unchanged. `gradient` then takes and returns the values of one entry.
    """
    size = _one_size(program)
    once = len(program.shifts) == len(program.blocks) and len(program.evaluations) < 2 and not program.carried
    if size is None or (isinstance(size, int) and size < LEAST) or not once:
        return kernel
    procedures = kernel.procedures
    if any(size in names_in(procedure.body) for procedure in procedures):
        return kernel  # it computes with their number, and a chunk is not as long
    arrays = {a.name: a for p in procedures for a in (*p.inputs, *p.outputs, *p.work) if a.sizes == (size,)}
    if not all(_is_own(statement, size, frozenset(arrays)) for p in procedures for statement in p.body):
        return kernel
    of_entry = registers(
        kernel.mapped(_iteration),
        tuple(Array(name, (1,)) for name in arrays),
        entry=_index(kernel.step),
    )
    step = _on_chunk(program, kernel.step, of_entry, frozenset(arrays))
    cut = tuple(array.name for array in (*step.outputs, *step.inputs) if array.sizes == (ENTRIES,))
    noises = tuple(Array(array.name, (ENTRIES,)) for array in kernel.noises)
    return replace(of_entry, step=step, noises=noises, registers=(), chunked=cut, shape=SHAPE)


def _one_size(program: Program) -> Size | None:
    """Return the length that all blocks have, None where they differ or where there are data."""
    shapes = {block.shape.sizes for block in program.blocks}
    if program.data or len(shapes) != 1:
        return None
    (sizes,) = shapes
    return sizes[0] if len(sizes) == 1 else None


def _is_own(statement: Statement, size: Size, arrays: frozenset[str]) -> bool:
    """Whether a statement is a loop over the entries, of which every iteration keeps to its own entry."""
    match statement:
        case For(index, count, body):
            return count == size and all(_keeps_to(inner, index, arrays) for inner in body)
        case Comment() | Invoke():
            return True
        case _:
            return False


def _keeps_to(statement: Statement, index: str, arrays: frozenset[str]) -> bool:
    """Whether a statement assigns a scalar, or entry `index` of an array, from such entries and from constants."""
    match statement:
        case Assign(target, value):
            own = not target.at or target.name in arrays
            return own and _reads_own(target, index, arrays) and _reads_own(value, index, arrays)
        case _:
            return False


def _reads_own(value: Scalar, index: str, arrays: frozenset[str]) -> bool:
    match value:
        case Ref(name, at):
            return at == (index,) if name in arrays else index not in at
        case Kronecker(left, right):
            return index not in (left, right)
        case _:
            return all(_reads_own(part, index, arrays) for part in parts_of(value))


def _index(step: Procedure) -> str:
    """Return the variable of the first loop, which clears every name of the module."""
    return next(statement.index for statement in step.body if isinstance(statement, For))


def _iteration(procedure: Procedure) -> Procedure:
    """Return what a procedure does for one entry, which stands at position 0."""
    return replace(procedure, body=tuple(_without_loops(procedure.body)))


def _without_loops(body: Iterable[Statement]) -> Iterator[Statement]:
    for statement in body:
        match statement:
            case For(index, _, inner):
                yield from (at_iteration(one, index, 0) for one in inner)
            case _:
                yield statement


def _on_chunk(program: Program, step: Procedure, of_entry: Kernel, arrays: frozenset[str]) -> Procedure:
    """Return the step as a loop over a chunk: entries are loaded, the iteration is done, the new state is stored."""
    index = _index(step)
    held = {name: of_entry.scalars(name)[0] for name in arrays}
    loads = tuple(Assign(Ref(held[a.name]), Ref(a.name, (index,))) for a in step.inputs if a.name in arrays)
    stores = tuple(Assign(Ref(shift.block.name, (index,)), Ref(held[shift.new])) for shift in program.shifts)
    blocks = {block.name for block in program.blocks}
    inputs = tuple(Array(a.name, (ENTRIES,)) if a.name in arrays else a for a in step.inputs)
    return Procedure(
        name=step.name,
        says=(f"one step ({program.scheme.replace('_', ' ')}) of a chunk of entries, in place; draw nothing.",),
        outputs=tuple(array for array in inputs if array.name in blocks),
        inputs=tuple(array for array in inputs if array.name not in blocks),
        work=(),
        body=(For(index, ENTRIES, (*loads, *of_entry.step.body, *stores)),),
    )
