"""The loop of a chain: draws what a step needs, calls `step`, keeps every thin-th state.

Where the entries of the state do not touch one another, `sweep` takes them a chunk at a time.
"""

from collections.abc import Callable, Iterable, Iterator
from textwrap import wrap

from recipe_compiler.emit.print_body import WIDTH, assigned, call
from recipe_compiler.emit.print_procedure import LOOP, shape_text, size_lines
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.combine import block_array
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.loops import STREAM_WORDS, Array
from recipe_compiler.program.lower import GRADIENT
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.program.program import Program
from recipe_compiler.program.step_stats import REPORTED, TRIES

RUN = '@njit(nogil=True, cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)'
"""What the function around the loop is compiled with."""

LARGEST = "1.7976931348623157e308"
"""The largest finite number: above it is what is infinite, and what is no number compares as false."""

CHUNK = 512
"""Entries of a chunk: their noise stays in the first cache, beside the state."""


Lines = tuple[str, ...]


def _values_at_start(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines that evaluate the gradient, and U, at the state that the first step is given."""
    if program.carries and program.gradient is not None:
        own, code = kernel.gradient, (program.gradient.name, *program.gradient.given)
        taken = f"{', '.join(array.name for array in own.outputs)} = " if own and own.returns else ""
        yield from call(f"    {taken}{GRADIENT}", own.arguments if own else code, 4)
    for energy in _energy(program):
        if kernel.potential is None:
            raise CompilerError(f"{energy.name} is carried on, and there is nothing that computes it")
        yield from call(f"    {_number(kernel, energy.name)} = potential", kernel.potential.arguments, 4)
    yield from (f"    {_number(kernel, array.name)} = 0.0" for array in _count(program))


def _number(kernel: Kernel, name: str) -> str:
    """Return what holds a number: a scalar, or the first entry of an array."""
    return next(iter(kernel.scalars(name)), f"{name}[0]")


def print_sweep(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `sweep`, one step z' = z + eps f + noise of all entries, a chunk at a time."""
    noises = tuple(array.name for array in kernel.noises)
    length, chunk = f"{program.blocks[0].name}.shape[0]", f"{noises[0]}.shape[0]" if noises else str(CHUNK)
    yield LOOP
    yield from call("def sweep", _of_sweep(kernel), 0, ":")
    yield '    """Advance all entries by one step, in place, as many at a time as have room for their noise."""'
    yield f"    for first in range(0, {length}, {chunk}):"
    yield f"        last = min(first + {chunk}, {length})"
    yield from (f"        _fill_normals_lanes(noise_state, {name}[: last - first])" for name in noises)
    cut = {name: f"{name}[first:last]" for name in kernel.chunked if name not in noises}
    yield from call("        step", tuple(cut.get(name, name) for name in kernel.step.arguments), 8)


def _of_sweep(kernel: Kernel) -> tuple[str, ...]:
    """Return the names of the arguments of `sweep`, in order."""
    noises = tuple(array.name for array in kernel.noises)
    others = (name for name in kernel.step.arguments if name not in (*noises, "eps"))
    return (*others, *(("noise_state", *noises) if noises else ()), "eps")


def print_loop(
    begin: Lines, step: Lines, keep: Lines, end: Lines = (), *, rows: str, draw: str = "kept", turn: str = "_"
) -> Iterator[str]:
    """Yield the body of the function that advances a chain, or chains side by side; parts have their indentation.

    Args:
        begin: room for what a step works with, and the state where the loop holds it.
        step: what is drawn for a step, and the step.
        keep: the state written down, and what is done where it is not finite.
        end: what the caller is given back.
        rows: how many draws there are to make.
        draw: the number of a draw.
        turn: the number of a step since the draw before.
    """
    yield from (*begin, f"    for {draw} in range({rows}):", f"        for {turn} in range(thin):")
    yield from (*step, *keep, *end)


def _chunks_loop(program: Program, kernel: Kernel, rows: str) -> Iterator[str]:
    """Yield the loop of a chain whose step is taken a chunk of entries at a time, in place."""
    length = f"{program.blocks[0].name}.shape[0]"
    keep = ["        finite = 0", f"        for entry in range({length}):"]
    for block in program.blocks:
        keep.append(f"            {block.name}_draws[kept, entry] = {block.name}[entry]")
        keep.append(f"            finite += abs({block.name}[entry]) <= {LARGEST}")
    total = f"{len(program.blocks)} * {length}" if len(program.blocks) > 1 else length
    return print_loop(
        begin=tuple(f"    {array.name} = _empty_rows({CHUNK // 64})" for array in kernel.noises),
        rows=rows,
        step=tuple(call("            sweep", _of_sweep(kernel), 12)),
        keep=(*keep, f"        if finite < {total}:", "            return kept"),
        end=(f"    return {rows}",),
    )


def _registers_loop(program: Program, kernel: Kernel, rows: str) -> Iterator[str]:
    """Yield the loop of a chain of scalars: state and random state are read once, and written back at the end."""
    step, reported = kernel.chain_step, reported_by(kernel)
    rooms = (f"{a.name} = np.empty({shape_text(a.sizes)})" for a in step.work if a.name != CLIPPED)
    blocks, state = (entries(kernel, of) for of in (program.blocks, (*program.blocks, *carried(program))))
    words = tuple(("noise_state", k, word.name) for k, word in enumerate(STREAM_WORDS))
    drawn = ", ".join(word.name for word in STREAM_WORDS)
    targets = (*(name for _, _, name in state), *(value for _, value in reported))
    return print_loop(
        begin=(
            *indented(4, rooms),
            *(f"    {name} = {array}[{k}]" for array, k, name in state),
            *(f"    {summed(name)} = 0.0" for name, _ in reported),
            *(f"    {name} = {array}[{k}]" for array, k, name in words),
            f"    done = {rows}",
        ),
        rows=rows,
        step=(
            *(f"            {name}, {drawn} = _next_normal({drawn})" for *_, name in entries(kernel, kernel.noises)),
            *assigned(targets, step.name, step.arguments, 12),
            *(f"            {summed(name)} += {value}" for name, value in reported),
        ),
        keep=(
            *(f"        {block}_draws[kept, {k}] = {name}" for block, k, name in blocks),
            *_kept_reports(kernel),
            "        finite = True",
            *(f"        finite = finite and abs({name}) <= {LARGEST}" for name in finite_scalars(program, kernel)),
            "        if not finite:",
            "            done = kept",
            "            break",
        ),
        end=(
            *(f"    {array}[{k}] = {name}" for array, k, name in (*state, *words)),
            "    return done",
        ),
    )


def run_arguments(program: Program, kernel: Kernel) -> tuple[str, ...]:
    """Return the names of the arguments of `run`, in order."""
    minibatch = program.variant == "minibatch"
    shuffled = () if program.replacement or program.contiguous else ("permutation",)
    return (
        *program.functions,
        *(block.name for block in program.blocks),
        *(array.name for array in carried(program)),
        *(parameter.name for parameter in program.parameters),
        *(array.name for array in kernel.prepare.outputs),
        *(datum.name for datum in program.data),
        *((program.rest,) if program.rest else ()),
        *((program.rows,) if program.rest and minibatch and not shuffled else ()),
        *(("batch_size",) if minibatch else ()),
        "eps",
        "thin",
        "noise_state",
        *(("batch_state", *shuffled) if minibatch else ()),
        *((CLIPPED,) if _clips(kernel) else ()),
        *(f"{block.name}_draws" for block in program.blocks),
        *(f"{name}_draws" for name, _ in reported_by(kernel)),
    )


def summed(name: str) -> str:
    """Return the name under which `run` sums, between two draws, what each step reports."""
    return f"{name}_sum"


def reported_by(kernel: Kernel) -> tuple[tuple[str, str], ...]:
    """Return what a step reports of its moves (acceptance, refusals), by name, and the scalar that holds it."""
    given = {array.name for array in kernel.chain_step.outputs}
    return tuple((name, _number(kernel, name)) for name in REPORTED if kernel.scalars(name) or name in given)


def mean_of(kernel: Kernel, reported: str, sums: Callable[[str], str]) -> str:
    """Return the mean of a statistic over moves or steps, its sum where it is a count; `sums` says where sums are."""
    if (count := TRIES.get(reported)) is None:
        return sums(reported)
    return f"{sums(reported)} / {sums(count) if count in dict(reported_by(kernel)) else 'thin'}"


def finite_scalars(program: Program, kernel: Kernel) -> tuple[str, ...]:
    """Return the scalars without which a state is none: the blocks, and U where it is carried on."""
    return tuple(name for *_, name in entries(kernel, (*program.blocks, *_energy(program))))


def _kept_reports(kernel: Kernel) -> Iterator[str]:
    """Yield the lines that write down the mean acceptance since the draw before, and how many moves were guarded."""
    for name, _ in reported_by(kernel):
        yield f"        {name}_draws[kept, 0] = {mean_of(kernel, name, summed)}"
        yield f"        {summed(name)} = 0.0"


def first_values_arguments(program: Program, kernel: Kernel) -> tuple[str, ...]:
    """Return the names of the arguments of `first_values`, in order."""
    given = run_arguments(program, kernel)
    return given[: given.index("eps")] + tuple(name for name in ("batch_state", "permutation") if name in given)


def print_first_values(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `first_values`: what the first step of a chain needs besides its state."""
    yield RUN
    yield from call("def first_values", first_values_arguments(program, kernel), 0, ":")
    names = _listed(program)
    of_batch = program.variant == "minibatch" and program.carries
    batch = ", of a minibatch that is drawn for it" if of_batch else ""
    says = f"Write {names} at the state{batch}: what the first step of a chain begins with."
    yield from indented(4, wrap(f'"""{says}"""', WIDTH - 4))
    evaluated = (kernel.gradient if program.carries else None, kernel.potential if _energy(program) else None)
    yield from _rooms(program, dict.fromkeys(array for one in evaluated if one for array in one.work))
    yield from indented(4, _draw_batch(program) if of_batch else ())
    read = entries(kernel, (program.gradient.block,) if program.gradient else program.blocks)
    yield from (f"    {name} = {block}[{k}]" for block, k, name in read)
    yield from _values_at_start(program, kernel)
    yield from (f"    {array}[{k}] = {name}" for array, k, name in entries(kernel, carried(program)))


def print_run(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `run`."""
    yield RUN
    yield from call("def run", run_arguments(program, kernel), 0, ":")
    yield '    """Advance a chain and keep every thin-th state; return how many draws were kept.'
    yield ""
    yield "    State and random states are updated in place. A chain that leaves the finite numbers stops there: fewer"
    yield "    draws are kept than asked for, the last of them its last finite state."
    yield ""
    yield from indented(4, wrap(_contract(program), WIDTH - 4))
    yield ""
    yield from indented(4, wrap(kernel.shape, WIDTH - 4))
    yield '    """'
    if not kernel.registers:
        yield "    _wide_vectors()"
    loop = _registers_loop if kernel.registers else _chunks_loop if kernel.chunked else _arrays_loop
    yield from loop(program, kernel, f"{program.blocks[0].name}_draws.shape[0]")


def _contract(program: Program) -> str:
    """Return what `run` takes on trust: jitted code looks at neither lengths nor places."""
    data = ", the data of float64 or float32" if program.data else ""
    data += ", positions of int64" if any(datum.is_index for datum in program.data) else ""
    said = f"`sample` checks what it is given, nothing is checked here: arrays are contiguous and of float64{data};"
    said += " a block is as long as BLOCKS says, a scalar, which has 0 there, of length 1; its draws have a row for"
    said += " each that is asked for, as wide as the block; random states are rows of what `seed_streams` returns."
    names = [array.name for array in carried(program)]
    if names:
        begin, pass_on = ("begins", "it is") if len(names) == 1 else ("begin", "they are")
        said += f" {_listed(program)} {begin} as `first_values` writes {'it' if len(names) == 1 else 'them'};"
        said += f" from call to call {pass_on} passed on."
    if program.variant != "minibatch":
        return said
    most = "1 or more" if program.replacement else "from 1 to N"
    shuffled = (
        "" if program.replacement or program.contiguous else ", permutation begins as np.arange(N, dtype=np.uint64)"
    )
    said += f" batch_size is {most}{shuffled}."
    return said


def _arrays_loop(program: Program, kernel: Kernel, rows: str) -> Iterator[str]:
    """Yield the loop of a chain whose new state is written beside the old one, and copied."""
    step, reported = kernel.chain_step, reported_by(kernel)
    work = (array for array in (*step.outputs, *step.work, *kernel.noises) if array.name != CLIPPED)
    return print_loop(
        begin=(
            *_rooms(program, (*work, *(kernel.sums.outputs if kernel.sums else ()))),
            *(call("    sums", kernel.sums.arguments, 4) if kernel.sums else ()),
            *(f"    {summed(name)} = 0.0" for name, _ in reported),
        ),
        rows=rows,
        step=(
            *indented(12, _draw_batch(program)),
            *(f"            _fill_normals(noise_state, {array.name})" for array in kernel.noises),
            *call(f"            {step.name}", step.arguments, 12),
            *_moved_on(program, kernel),
            *(f"            {summed(name)} += {value}" for name, value in reported),
        ),
        keep=(*_kept_reports(kernel), *_keep(program)),
        end=(f"    return {rows}",),
    )


def _moved_on(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines that make the new state the old one, and the last gradient that which the next step is given."""
    outputs = kernel.chain_step.outputs
    for count, blocks in _alike(program):
        yield f"            for entry in range({count}):"
        for block in blocks:
            yield f"                {block.name}[entry] = {outputs[program.blocks.index(block)].name}[entry]"
    for array in carried(program):
        yield f"            for entry in range({array.sizes[0]}):"
        yield f"                {array.name}[entry] = {program.left[array.name]}[entry]"


def indented(by: int, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines with more spaces before them."""
    yield from (f"{' ' * by}{line}" for line in lines)


def _rooms(program: Program, arrays: Iterable[Array]) -> Iterator[str]:
    """Yield the lines that make room for arrays, and for a minibatch."""
    work = tuple(arrays)
    wanted = frozenset(part for array in work for size in array.sizes for part in str(size).split("+"))
    sources = (
        *(Array(block.name, block.shape.sizes or (1,)) for block in program.blocks),
        *(Array(parameter.name, parameter.shape.sizes) for parameter in program.parameters),
        *(Array(datum.name, datum.axes) for datum in program.data),
    )
    yield from size_lines(sources, wanted)
    for array in work:
        yield f"    {array.name} = np.empty({shape_text(array.sizes)})"
    if program.variant == "minibatch":
        yield "    batch = np.empty(batch_size, np.uint64)"


def print_work(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `work`, for loops of a user's own: all that the step writes into, and its normals."""
    step = kernel.chain_step
    arrays = {array.name: array for array in (*step.outputs, *step.work, *kernel.noises)}
    sizes = dict.fromkeys(part for array in arrays.values() for size in array.sizes for part in str(size).split("+"))
    minibatch = program.variant == "minibatch"
    names = (*(size for size in sizes if not size.isdigit()), *(("batch_size",) if minibatch else ()))
    rooms = [f'"{name}": np.empty({shape_text(array.sizes or (1,))})' for name, array in arrays.items()]
    rooms += ['"batch": np.empty(batch_size, np.uint64)'] if minibatch else []
    yield from call("def work", names, 0, ":")
    normals = ", ".join(array.name for array in kernel.noises)
    says = (
        f"Return what `{step.name}` takes beside state and constants, by name: room for what it computes, and for what"
    )
    says += (
        f" is drawn before each call: {normals}, of N(0, 1){', and batch, rows' if minibatch else ''}. It is called as"
    )
    says += (
        f" {step.name}(*[own[name] for name in STEP_ARGUMENTS]); STEP_LEAVES says which of these are the next state."
    )
    yield from indented(4, wrap(f'"""{says}"""', WIDTH - 4))
    yield from call("    return ", tuple(rooms), 4, brackets="{}")


def _listed(program: Program) -> str:
    """Return the names of what is carried on for readers: `grad_U, U and cycles`."""
    *first, last = (array.name for array in carried(program))
    return f"{', '.join(first)} and {last}" if first else last


def carried(program: Program) -> tuple[Array, ...]:
    """Return what a step is given besides the state: the last gradient of the step before, U, a count of cycles.

    It is part of the chain's state, which `run` takes and returns: a minibatch gradient cannot be computed from the
    state alone, and recomputing a value elsewhere may change its last bits.
    """
    values = (*_energy(program), *_count(program))
    if program.gradient is None or not program.carries:
        return values
    return (block_array(program.gradient.name, program.gradient.block.shape), *values)


def _energy(program: Program) -> tuple[Array, ...]:
    """Return U where a step is given it."""
    potential = program.cycle.potential if program.cycle else None
    return (Array(potential.name, (1,)),) if potential is not None and potential.name in program.left else ()


def _count(program: Program) -> tuple[Array, ...]:
    """Return the number of cycles before a step where not all moves are done in each."""
    counter = program.cycle.counter if program.cycle else ""
    return (Array(counter, (1,)),) if counter else ()


def entries(kernel: Kernel, arrays: Iterable[Array | Block]) -> tuple[tuple[str, int, str], ...]:
    """Return array, place and scalar of what arrays have in registers."""
    return tuple((a.name, k, name) for a in arrays for k, name in enumerate(kernel.scalars(a.name)))


def _clips(kernel: Kernel) -> bool:
    return any(array.name == CLIPPED for array in kernel.chain_step.work)


def _draw_batch(program: Program) -> Iterator[str]:
    """Yield the line that draws a minibatch; its stream moves on."""
    if program.variant == "minibatch":
        if program.contiguous:
            yield f"_block_indices(batch_state, {program.rows}, batch)"
        elif program.replacement:
            yield f"_fill_indices(batch_state, {program.rows}, batch)"
        else:
            yield "_shuffle_indices(batch_state, permutation, batch)"


def _keep(program: Program) -> Iterator[str]:
    """Yield the end of an iteration: the state is written down, and counts only if it is finite."""
    pad = " " * 8
    yield f"{pad}finite = True"
    for count, blocks in _alike(program):
        yield f"{pad}for entry in range({count}):"
        for block in blocks:
            yield f"{pad}    {block.name}_draws[kept, entry] = {block.name}[entry]"
            yield f"{pad}    finite = finite and abs({block.name}[entry]) <= {LARGEST}"
    yield from (f"{pad}finite = finite and abs({array.name}[0]) <= {LARGEST}" for array in _energy(program))
    yield f"{pad}if not finite:"
    yield f"{pad}    return kept"


def _alike(program: Program) -> Iterator[tuple[Size, tuple[Block, ...]]]:
    """Yield the lengths of blocks, each with the blocks that have it: one loop serves them all."""
    lengths = [block.shape.sizes[0] if block.shape.sizes else 1 for block in program.blocks]
    for length in dict.fromkeys(lengths):
        yield length, tuple(b for b, own in zip(program.blocks, lengths, strict=True) if own == length)


def print_seed_streams(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `seed_streams`: 4 words for one generator, 256 for 64 of them side by side."""
    noise = f"_seed_words(seed, chains, 0, {256 if kernel.chunked else 4}, first_chain)"
    batch = 256 if program.variant == "minibatch" and program.replacement else 4
    yield "def seed_streams(seed, chains, first_chain=0):"
    says = "Return the states of the noise and of the minibatch stream of chains; no two streams are the same."
    yield f'    """{says}"""'
    yield f"    return {noise}, _seed_words(seed, chains, 1, {batch}, first_chain)"
