"""Many chains at once: 64 chains side by side as the lanes of loops that become vector code.

Entry k of the state of lane l is at 64 k + l of one flat array, and so are its normals; word w of its random state is
at 64 w + l. All steps of 64 chains are done before the next 64: what they need stays in the nearest cache.
"""

from collections.abc import Iterator

from recipe_compiler.emit.chain_loop import LARGEST, RUN, ChainLoop, print_loop
from recipe_compiler.emit.print_body import call
from recipe_compiler.emit.print_procedure import LOOP
from recipe_compiler.emit.print_streams import draw_lanes, steps_at_once
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.program import Program

LANES = 64


def has_lanes(program: Program, kernel: Kernel) -> bool:
    """Whether a module can run its chains as lanes: its step is one of scalars, counts nothing, and carries nothing on.

    A numpy.random.Generator draws for one chain at a time.
    """
    alone = program.bit_generator == "numpy" or program.carried
    return bool(kernel.registers) and not kernel.step.work and not alone and kernel.cycle is None


def lanes_arguments(program: Program, kernel: Kernel) -> tuple[str, ...]:
    """Return the names of the arguments of `run_lanes`, in order."""
    return ("lanes", *_given(program, kernel), "eps", "thin", "noise_state", "kept", "lanes_draws")


def print_step_lanes(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `step_lanes`."""
    state, normals = _state(program, kernel), _normals(kernel)
    noise = ("lanes_noise",) if normals else ()
    yield LOOP
    yield from call("def step_lanes", ("lanes", *_given(program, kernel), *noise, "eps"), 0, ":")
    yield f'    """Advance {LANES} chains by one step, in place; draw nothing."""'
    yield f"    for lane in range(np.uint64({LANES})):"
    for array, names in (("lanes", state), *(("lanes_noise", normals) for _ in noise)):
        yield from (f"        {name} = {array}[{_place(k)}]" for k, name in enumerate(names))
    inputs = tuple(array.name for array in kernel.step.inputs)
    yield from call(f"        {', '.join(state)} = step", inputs, 8)
    yield from (f"        lanes[{_place(k)}] = {name}" for k, name in enumerate(state))


def print_run_lanes(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `run_lanes`."""
    state, count = _state(program, kernel), len(_normals(kernel))
    yield RUN
    yield from call("def run_lanes", lanes_arguments(program, kernel), 0, ":")
    yield f'    """Advance {LANES} chains and keep every thin-th state of each in a row of lanes_draws.'
    yield ""
    yield f"    Entry k of the state of lane l is lanes[{LANES} * k + l], in a row of lanes_draws too; word w of its"
    yield f"    random state is noise_state[{LANES} * w + l]. Each kept[l] counts its draws before it left the finite"
    yield "    numbers. Fastest where lanes and noise_state start at multiples of 512 bytes."
    yield '    """'
    yield "    _wide_vectors()"
    yield from print_loop(_lanes_loop(program, kernel, state, count))


def _lanes_loop(program: Program, kernel: Kernel, state: tuple[str, ...], count: int) -> ChainLoop:
    """Return the loop of chains side by side; `count` normals are drawn for a step of one."""
    steps = steps_at_once(program, count)
    rooms = (f"    lanes_noise = _empty_rows({count * steps + count * steps % 2})",) if count else ()
    drawn, noise = tuple[str, ...](), ("lanes_noise",) if count else ()
    if steps > 1:
        many = f"lanes_noise[: {LANES * count} * min({steps}, thin - turn)]"
        lines = (f"                {line}" for line in draw_lanes(program, many))
        drawn = (f"            if turn % {steps} == 0:", *lines)
        noise = (f"lanes_noise[{LANES * count} * (turn % {steps}) :]",)
    elif count:
        drawn = tuple(f"            {line}" for line in draw_lanes(program, "lanes_noise"))
    return ChainLoop(
        begin=(*rooms, "    kept[:] = 0"),
        draw="draw",
        rows="lanes_draws.shape[0]",
        turn="turn" if steps > 1 else "_",
        step=(*drawn, *call("            step_lanes", ("lanes", *_given(program, kernel), *noise, "eps"), 12)),
        keep=(
            f"        for lane in range(np.uint64({LANES})):",
            "            finite = kept[lane] == draw",
            *(f"            finite &= abs(lanes[{_place(k)}]) <= {LARGEST}" for k in range(len(state))),
            "            kept[lane] += finite",
            f"        for entry in range({LANES * len(state)}):",
            "            lanes_draws[draw, entry] = lanes[entry]",
        ),
    )


def _place(k: int) -> str:
    return f"np.uint64({LANES * k}) + lane" if k else "lane"


def _given(program: Program, kernel: Kernel) -> tuple[str, ...]:
    """Return the parameters and constants that a step reads."""
    read = {array.name for array in kernel.step.inputs}
    names = (*(p.name for p in program.parameters), *(array.name for array in kernel.prepare.outputs))
    return tuple(name for name in names if name in read)


def _state(program: Program, kernel: Kernel) -> tuple[str, ...]:
    return tuple(name for block in program.blocks for name in kernel.scalars(block.name))


def _normals(kernel: Kernel) -> tuple[str, ...]:
    return tuple(name for array in kernel.noises for name in kernel.scalars(array.name))
