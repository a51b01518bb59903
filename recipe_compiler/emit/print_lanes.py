"""Many chains at once: 64 chains side by side as the lanes of loops that become vector code.

Entry k of the state of lane l is at 64 k + l of one flat array, and so are its normals, and what its moves tell; word w
of its random state is at 64 w + l. All steps of 64 chains are done before the next 64: what they need stays in the
nearest cache. A move that is refused stops no lane: both its ends are there, and one flag of each lane chooses.
"""

from collections.abc import Iterator
from textwrap import wrap

from recipe_compiler.emit.print_body import WIDTH, assigned, call
from recipe_compiler.emit.print_chain import (
    LARGEST,
    RUN,
    carried,
    entries,
    finite_scalars,
    indented,
    mean_of,
    print_loop,
    reported_by,
)
from recipe_compiler.emit.print_procedure import LOOP
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.lower_draw import STREAM
from recipe_compiler.program.program import Program

LANES = 64

NOISE, REPORTS = "lanes_noise", "lanes_told"
"""The normals of a step, and the sums since the draw before of what each step tells of its moves; a row of 64 each."""


def has_lanes(program: Program, kernel: Kernel) -> bool:
    """Whether a module can run its chains as lanes: its step is one of scalars, which calls nothing of the user's.

    A law takes as many random words as its draw needs, in each chain another number.
    """
    step = kernel.chain_step
    return bool(kernel.registers) and not (step.work or program.functions or STREAM in step.inputs)


def lanes_arguments(program: Program, kernel: Kernel) -> tuple[str, ...]:
    """Return the names of the arguments of `run_lanes`, in order."""
    return ("lanes", *_given(program, kernel), "eps", "thin", "noise_state", "kept", "lanes_draws")


def lanes_state(program: Program, kernel: Kernel) -> tuple[str, ...]:
    """Return the names of the scalars of a lane, in order: of the blocks, then of what a step passes on more them."""
    return tuple(name for *_, name in entries(kernel, (*program.blocks, *carried(program))))


def print_step_lanes(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `step_lanes`."""
    state, normals, reported = lanes_state(program, kernel), _normals(kernel), reported_by(kernel)
    step = kernel.chain_step
    yield LOOP
    yield from call("def step_lanes", _step_arguments(program, kernel), 0, ":")
    yield f'    """Advance {LANES} chains by one step, in place; draw nothing."""'
    yield f"    for lane in range(np.uint64({LANES})):"
    for array, names in (("lanes", state), (NOISE, normals)):
        yield from (f"        {name} = {array}[{_place(k)}]" for k, name in enumerate(names))
    targets = (*state, *(value for _, value in reported))
    yield from assigned(targets, step.name, step.arguments, 8)
    yield from (f"        lanes[{_place(k)}] = {name}" for k, name in enumerate(state))
    yield from (f"        {REPORTS}[{_place(k)}] += {value}" for k, (_, value) in enumerate(reported))


def print_run_lanes(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `run_lanes`."""
    yield RUN
    yield from call("def run_lanes", lanes_arguments(program, kernel), 0, ":")
    more = " What moves tell follows the blocks of a draw." if reported_by(kernel) else ""
    says = f"Entry k of the state of lane l is lanes[{LANES} * k + l], in a row of lanes_draws too; word w of its"
    says += (
        f" random state is noise_state[{LANES} * w + l].{more} Each kept[l] counts its draws before it left the finite"
    )
    says += " numbers. Fastest where lanes and noise_state start at multiples of 512 bytes."
    yield f'    """Advance {LANES} chains and keep every thin-th state of each in a row of lanes_draws.'
    yield ""
    yield from indented(4, wrap(says, WIDTH - 4))
    yield '    """'
    yield "    _wide_vectors()"
    yield from _lanes_loop(program, kernel)


def _lanes_loop(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the loop of chains side by side."""
    blocks, reported, count = len(entries(kernel, program.blocks)), reported_by(kernel), len(_normals(kernel))
    state = lanes_state(program, kernel)
    steps = max(8 // count, 1 + count % 2) if count else 1  # as rows come in pairs, and longer loops cost less
    rooms = (f"    {NOISE} = _empty_rows({count * steps + count * steps % 2})",) if count else ()
    rooms += (f"    {REPORTS} = _empty_rows({len(reported)})", f"    {REPORTS}[:] = 0.0") if reported else ()
    drawn, noise = tuple[str, ...](), NOISE
    if steps > 1:
        many = f"{NOISE}[: {LANES * count} * min({steps}, thin - turn)]"
        drawn = (f"            if turn % {steps} == 0:", f"                _fill_normals_lanes(noise_state, {many})")
        noise = f"{NOISE}[{LANES * count} * (turn % {steps}) :]"
    elif count:
        drawn = (f"            _fill_normals_lanes(noise_state, {NOISE})",)
    arguments = tuple(noise if name == NOISE else name for name in _step_arguments(program, kernel))
    return print_loop(
        begin=(*rooms, "    kept[:] = 0"),
        draw="draw",
        rows="lanes_draws.shape[0]",
        turn="turn" if steps > 1 else "_",
        step=(*drawn, *call("            step_lanes", arguments, 12)),
        keep=(
            f"        for lane in range(np.uint64({LANES})):",
            "            finite = kept[lane] == draw",
            *(f"            finite &= abs(lanes[{_place(state.index(name))}]) <= {LARGEST}"
              for name in finite_scalars(program, kernel)),
            "            kept[lane] += finite",
            *_kept_reports(kernel, blocks),
            f"        for entry in range({LANES * blocks}):",
            "            lanes_draws[draw, entry] = lanes[entry]",
        ),
    )  # fmt: skip


def _kept_reports(kernel: Kernel, blocks: int) -> Iterator[str]:
    """Yield the lines that write what the moves of a draw told behind its blocks, and begin anew."""
    names = tuple(name for name, _ in reported_by(kernel))
    for k, name in enumerate(names):
        mean = mean_of(kernel, name, lambda one: f"{REPORTS}[{_place(names.index(one))}]")
        yield f"            lanes_draws[draw, {_place(blocks + k)}] = {mean}"
    yield from (f"            {REPORTS}[{_place(k)}] = 0.0" for k in range(len(names)))


def _step_arguments(program: Program, kernel: Kernel) -> tuple[str, ...]:
    """Return the names of the arguments of `step_lanes`, in order."""
    noise = (NOISE,) if _normals(kernel) else ()
    return ("lanes", *((REPORTS,) if reported_by(kernel) else ()), *_given(program, kernel), *noise, "eps")


def _place(k: int) -> str:
    return f"np.uint64({LANES * k}) + lane" if k else "lane"


def _given(program: Program, kernel: Kernel) -> tuple[str, ...]:
    """Return the parameters and constants that a step reads."""
    read = {array.name for array in kernel.chain_step.inputs}
    names = (*(p.name for p in program.parameters), *(array.name for array in kernel.prepare.outputs))
    return tuple(name for name in names if name in read)


def _normals(kernel: Kernel) -> tuple[str, ...]:
    return tuple(name for *_, name in entries(kernel, kernel.noises))
