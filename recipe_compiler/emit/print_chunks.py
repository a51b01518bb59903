"""The loop of a chain whose entries do not touch one another: `sweep` takes them a chunk at a time."""

from collections.abc import Iterator

from recipe_compiler.emit.print_body import call
from recipe_compiler.emit.print_procedure import LOOP
from recipe_compiler.emit.print_streams import draw_chunk, end_step
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.program import Program

CHUNK = 512
"""Entries of a chunk: their noise stays in the first cache, beside the state."""


def print_sweep(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `sweep`, one step of all entries."""
    step = kernel.step
    noises = tuple(array.name for array in kernel.noises)
    others = tuple(array.name for array in (*step.outputs, *step.inputs) if array.name not in (*noises, "eps"))
    length, chunk = f"{program.blocks[0].name}.shape[0]", f"{noises[0]}.shape[0]" if noises else str(CHUNK)
    yield LOOP
    yield from call("def sweep", (*others, *(("noise_state", *noises) if noises else ()), "eps"), 0, ":")
    yield '    """Advance all entries by one step, in place, as many at a time as have room for their noise."""'
    yield f"    for first in range(0, {length}, {chunk}):"
    yield f"        last = min(first + {chunk}, {length})"
    yield from (f"        {line}" for line in draw_chunk(program, kernel, length))
    given = (*step.outputs, *step.inputs)
    cut = {name: f"{name}[first:last]" for name in kernel.chunked if name not in noises}
    yield from call("        step", tuple(cut.get(array.name, array.name) for array in given), 8)


def print_chunks_run(program: Program, kernel: Kernel, first: str) -> Iterator[str]:
    """Yield the body of `run`."""
    step = kernel.step
    noises = tuple(array.name for array in kernel.noises)
    names = tuple(array.name for array in (*step.outputs, *step.inputs) if array.name not in (*noises, "eps"))
    length = f"{program.blocks[0].name}.shape[0]"
    yield from (f"    {name} = _empty_rows({CHUNK // 64})" for name in noises)
    yield f"    for kept in range({first}.shape[0]):"
    yield "        for _ in range(thin):"
    yield from call("            sweep", (*names, *(("noise_state", *noises) if noises else ()), "eps"), 12)
    yield from (f"            {line}" for line in end_step(program, kernel))
    yield "        finite = 0"
    yield f"        for entry in range({length}):"
    for block in program.blocks:
        yield f"            {block.name}_draws[kept, entry] = {block.name}[entry]"
        yield f"            finite += abs({block.name}[entry]) <= 1.7976931348623157e308"
    total = f"{len(program.blocks)} * {length}" if len(program.blocks) > 1 else length
    yield f"        if finite < {total}:"
    yield "            return kept"
    yield f"    return {first}.shape[0]"
