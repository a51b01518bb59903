"""The loop of a chain whose state is kept in scalars, random bits included."""

from collections.abc import Iterator

from recipe_compiler.emit.print_body import call
from recipe_compiler.emit.print_procedure import shape_text
from recipe_compiler.emit.print_streams import WORDS, draw_scalars
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.program.program import Program


def print_registers_run(program: Program, kernel: Kernel, first: str) -> Iterator[str]:
    """Yield the body of `run`: state and random state are read once, and written back at the end."""
    step = kernel.step
    work = (array for array in step.work if array.name != CLIPPED)
    yield from (f"    {array.name} = np.empty({shape_text(array.sizes)})" for array in work)
    state = tuple(
        (block.name, k, name) for block in program.blocks for k, name in enumerate(kernel.scalars(block.name))
    )
    for block, k, name in state:
        yield f"    {name} = {block}[{k}]"
    words = tuple(enumerate(WORDS[program.bit_generator]))
    yield from (f"    {name} = noise_state[{k}]" for k, name in words)
    yield f"    done = {first}.shape[0]"
    yield f"    for kept in range({first}.shape[0]):"
    yield "        for _ in range(thin):"
    normals = tuple(name for array in kernel.noises for name in kernel.scalars(array.name))
    yield from (f"            {line}" for line in draw_scalars(program, normals))
    targets = ", ".join(name for _, _, name in state)
    yield from call(f"            {targets} = step", tuple(a.name for a in (*step.inputs, *step.work)), 12)
    for block, k, name in state:
        yield f"        {block}_draws[kept, {k}] = {name}"
    yield "        finite = True"
    for _, _, name in state:
        yield f"        finite = finite and abs({name}) <= 1.7976931348623157e308"
    yield "        if not finite:"
    yield "            done = kept"
    yield "            break"
    for block, k, name in state:
        yield f"    {block}[{k}] = {name}"
    yield from (f"    noise_state[{k}] = {name}" for k, name in words)
    yield "    return done"
