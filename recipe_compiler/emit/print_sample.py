"""`sample` of an emitted file: plain Python that looks at all it is given, and draws what `recipe run` draws."""

from collections.abc import Iterator, Mapping
from json import dumps
from textwrap import wrap

from recipe_compiler.emit.print_body import FILLED, WIDTH, call, filled
from recipe_compiler.emit.print_chain import carried, reported_by, run_arguments
from recipe_compiler.emit.print_numpy import NotInNumpyError, Spelling, print_numpy
from recipe_compiler.emit.print_start import bare
from recipe_compiler.emit.sampler import Keyword, Sampler, shape_text
from recipe_compiler.formula.shapes import Kind, Size
from recipe_compiler.formula.show import text
from recipe_compiler.program.atoms import smallest_sizes
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.program.program import REST, ROWS, symbolic_sizes
from recipe_compiler.spec.formulas import is_of_data
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.open_target import GRADIENT, POTENTIAL

BOUNDS = {Kind.POSITIVE: "above=0", Kind.NONNEGATIVE: "least=0", Kind.NONZERO: "nonzero=True"}
"""What is asked of numbers of a kind."""


def print_sample(own: Sampler) -> Iterator[str]:
    """Yield the lines of `sample`."""
    required = [name for name, default in own.keywords if not default]
    stated = [f"{name}={default}" for name, default in own.keywords if default]
    yield from call("def sample", (*own.data, "*", *required, *stated), 0, ":")
    first, *others = _says(own)
    yield f'    """{first}'
    yield from (f"    {line}" if line else "" for line in others)
    yield '    """'
    if own.build.mark is not None:
        said = '"a negative control, refuted: " + "; ".join(claim.partition(": ")[0] for claim in REFUTED)'
        yield from call("    warnings.warn", (said, "stacklevel=2"), 4)
    yield "    sizes = {}"
    for line in (*_checks(own), *_prepared(own), *_chains(own), *_returned(own)):
        yield f"    {line}" if line else ""


def _says(own: Sampler) -> Iterator[str]:
    yield "Return draws by name, as arrays of shape (chain, draw, ...); the first `warmup` draws are dropped."
    yield ""
    taken = [f"{datum.name} {shape_text(datum.axes)}" for datum in own.program.data]
    taken += [f"{one.parameter.name} {shape_text(one.parameter.shape.sizes)}" for one in own.given if not one.held]
    said = f"{', '.join(taken)}. " if taken else ""
    blocks = " or ".join(block.name for block in own.program.blocks)
    capped = own.batch_default == "None" and own.build.run.batch_size is not None
    batch = f"batch_size: None means {own.build.run.batch_size}, or all rows if there are fewer. " if capped else ""
    yield from wrap(
        f"{said}help({own.build.name}) describes the arguments and the draws. Every `thin`-th state is kept. {batch}"
        f"init: initial states, a dict with any of {blocks}, each (size,) for all chains or (chain, size). progress: "
        "True reports on stderr; a function is called as progress(chain, draws, total, phase), phase being warmup or "
        "draws. threads: None uses all cores; the draws depend on the seed only, not on the number of threads. "
        "first_chain: the number of the first chain, whose streams depend on it and the seed alone. callback: called "
        "a few times a second with the draws so far, as they are returned. return_state: returns (draws, state); with "
        "init=state, warmup=0 chains go on from there, bit for bit as one long run.",
        WIDTH - 8,
    )
    yield ""
    yield "Raises TypeError or ValueError for invalid arguments; warns of chains that ended early."


def _size(size: Size) -> str:
    return f'sizes["{size}"]' if isinstance(size, str) else str(size)


def _checks(own: Sampler) -> Iterator[str]:
    """Yield lines that look at all arguments, and make of them what jitted code takes."""
    program, run = own.program, own.build.run
    for name, default in own.sizes:
        if default == "None":
            blocks = [block.name for block in program.blocks if block.shape.sizes == (name,)]
            yield f'{name} = _told_size("{name}", {name}, init, {dumps(blocks)})'
        yield f'sizes["{name}"] = _checked_number("{name}", {name}, whole=True, least=1)'
    yield from _functions(own)
    for datum in program.data:
        values = f"values={list(datum.values)}" if datum.values else ""
        if datum.is_index:
            continue
        yield from _array(datum.name, datum.axes, values, by="_narrow_array" if program.narrow else "_checked_array")
        if said := [kind.value for kind in datum.kinds if kind is not Kind.REAL]:
            yield f'_check_numbers("{datum.name}", {datum.name}, {dumps(said)})'
        if datum.name in own.kernel.column_major:
            yield f"{datum.name} = np.asfortranarray({datum.name})  # as the loop over its rows reads it fastest"
    for datum in program.data:
        if datum.is_index and datum.shape.cols is not None:
            said = f'"{datum.name}", {datum.name}, "{datum.size}", {_size(datum.shape.cols)}, sizes'
            yield f"{datum.name} = _checked_positions({said})"
    yield from _assumed_of_data(own)
    for one in own.given:
        if not one.by_formula:
            yield from _parameter(one)
    yield from _totals(own)
    for one in own.given:
        if one.by_formula:
            yield from _parameter(one)
    least = {size: n for size, n in smallest_sizes(program).items() if n > 1}
    if least:
        yield f"_check_sizes(sizes, {dumps(least)})"
    yield "eps = " + _number("step_size", "step_size", "above=0").split(" = ", 1)[1]
    for name, bound in (("draws", 1), ("warmup", 0), ("thin", 1), ("chains", 1), ("seed", 0), ("first_chain", 0)):
        yield _number(name, name, "whole=True", f"least={bound}")
    if program.variant == "minibatch":
        rows = program.rows
        most = () if program.replacement else (f"most={rows}",)
        if most and run.batch_size is not None:
            yield "if batch_size is None:"
            yield f"    batch_size = min({run.batch_size}, {rows})"
        yield _number("batch_size", "batch_size", "whole=True", "least=1", *most)
    if run.schedule.name == "cyclic":
        yield f'_checked_number("thin", thin, whole=True, most={run.schedule.period - 1})'
    yield "tell = _checked_progress(progress, warmup)"
    yield "if threads is not None:"
    yield "    " + _number("threads", "threads", "whole=True", "least=1")


def _functions(own: Sampler) -> Iterator[str]:
    """Yield lines that look at the functions of a user, and make of those of any U what a chain calls."""
    if own.program.rest:
        yield f"{REST} = _checked_data({REST})"
    for function in own.program.functions:
        name = own.argument(function)
        if name == function:
            yield f'_check_jitted("{name}", {name})'
            continue
        role = f"{name} of a batch" if name == GRADIENT and own.program.variant == "minibatch" else name
        yield f'{name} = _jitted("{name}", {name})'
        yield f'{function} = _adapted("{role}", {name}, typeof({REST}))'
    if own.program.rest:
        if "potential" not in own.program.functions:
            yield f'{POTENTIAL} = None if {POTENTIAL} is None else _jitted("{POTENTIAL}", {POTENTIAL})'
        if own.program.variant == "minibatch":
            yield _number(ROWS, ROWS, "whole=True", "least=1")


def _assumed_of_data(own: Sampler) -> Iterator[str]:
    """Yield lines that look at what is assumed of fields of numbers, row by row."""
    target = own.build.target.as_declared
    fields = zip(target.declarations.data, own.program.data, strict=True)
    by = Spelling(_size, {declared.name: field.name for declared, field in fields if not declared.shape.sizes})
    for condition in target.declarations.assume:
        if not is_of_data(condition):
            continue
        try:
            left, right = print_numpy(condition.left, by), print_numpy(condition.right, by)
        except NotInNumpyError:  # of vectors, or with parameters: the top of the file lists it as given
            continue
        held = f"{bare(left)} {condition.op} {bare(right)}"
        yield from call("_check_rows", (held, f'"{text(condition)}"'), 0)


def _parameter(one: Keyword) -> Iterator[str]:
    name, kinds = one.parameter.name, one.parameter.kinds
    if one.held:
        yield from one.made or (f"{name} = {one.default}",)
        if one.ready or not (one.parameter.shape.sizes or one.by_formula):
            return
    elif one.made:
        yield f"if {name} is None:"
        yield from (f"    {line}" for line in one.made)
    if one.parameter.shape.sizes:
        said = [kind.value for kind in kinds if kind is not Kind.REAL]
        yield from _array(name, one.parameter.shape.sizes)
        if said:
            yield f'_check_kinds("{name}", {name}, {dumps(said)})'
    else:
        value = f"float({name})" if one.by_formula else name
        yield _number(name, value, *(BOUNDS[kind] for kind in kinds if kind in BOUNDS))


def _array(name: str, sizes: tuple[Size, ...], *more: str, by: str = "_checked_array") -> Iterator[str]:
    shape = ", ".join(f'"{size}"' if isinstance(size, str) else str(size) for size in sizes)
    arguments = (f'"{name}"', name, f"({shape}{',' if len(sizes) == 1 else ''})", "sizes", *(m for m in more if m))
    yield from call(f"{name} = {by}", arguments, 0)


def _number(name: str, value: str, *bounds_: str) -> str:
    said = ", ".join((dumps(name), value, *bounds_))
    return f"{name} = _checked_number({said})"


def _totals(own: Sampler) -> Iterator[str]:
    """Yield the line that finds, or checks, the length of the block that the target's blocks stand in."""
    block = own.program.gradient.block if own.program.gradient else None
    if block is None or not own.total or not block.shape.sizes or _size(block.shape.sizes[0]) == own.total:
        return
    size = block.shape.sizes[0]
    if isinstance(size, str) and size not in own.of_arguments:
        yield f"{_size(size)} = {own.total}"
    elif not (isinstance(size, int) and own.total.isdigit()):
        yield f'_check_total("{block.name}", {_size(size)}, {own.total})'


def _prepared(own: Sampler) -> Iterator[str]:
    """Yield lines that make what all chains are given."""
    names = (
        *own.program.functions,
        *(p.name for p in own.program.parameters),
        *(d.name for d in own.program.data),
        *((REST,) if own.program.rest else ()),
        *((ROWS,) if own.program.rest and own.program.variant == "minibatch" else ()),
        *(("batch_size",) if own.program.variant == "minibatch" else ()),
        "eps",
        "thin",
    )
    constants = own.kernel.prepare.outputs
    rest = {REST: f"_addresses_of({REST})"} if own.program.rest else {}
    yield from _dict("given = ", dict(zip(names, names, strict=True)) | rest)
    sizes = tuple(f'sizes["{size}"]' for size in symbolic_sizes(own.program))
    prepare = (*(array.name for array in own.kernel.prepare.inputs), *sizes)
    if own.build.run.schedule.name != "constant":
        yield "first_eps, made = eps, np.zeros(1)"
        yield ""
        yield "def of_draw(draw):"
        yield f"    eps = {_falling(own.build)}"
        made = f"**_constants(CONSTANTS, prepare({', '.join(prepare)}))" if constants else ""
        entries = ", ".join(part for part in (dumps("eps") + ": eps", made) if part)
        yield f"    return {{{entries}}}"
        yield ""
        yield "given.update(of_draw(0))"
    elif constants:
        yield f"given.update(_constants(CONSTANTS, prepare({', '.join(prepare)})))"


def _falling(build: Build) -> str:
    schedule = build.run.schedule
    if schedule.name == "power":
        return f"first_eps * (1.0 + (made[0] + draw) * thin / {schedule.b!r}) ** -{schedule.c!r}"
    period = schedule.period
    return f"first_eps * (1.0 + math.cos(math.pi * ((made[0] + draw) * thin % {period}) / {period})) / 2.0"


def _dict(head: str, entries: Mapping[str, str], indent: int = 4) -> Iterator[str]:
    """Yield a dict, an entry a line where it is too long for one; lines are indented by so much later."""
    parts = [f'"{name}": {value}' for name, value in entries.items()]
    line = f"{head}{{{', '.join(parts)}}}"
    if len(line) + indent <= WIDTH:
        yield line
        return
    yield f"{head}{{"
    yield from (one[indent - 4 :] for one in filled(parts, indent))
    yield f"}}{FILLED}"


def _chains(own: Sampler) -> Iterator[str]:
    """Yield lines that start the chains, and run them."""
    arguments = run_arguments(own.program, own.kernel)
    parameters = {one.parameter.name for one in own.given}
    told = tuple(name if name in parameters else f'sizes["{name}"]' for name in own.start.arguments)
    first, each = (f"first_state({', '.join(('seed', chain, *told))})" for chain in ("0", "first_chain + chain"))
    yield f"drawn = _room({first}, chains, warmup + draws)"
    yield from _listed("starts", each, "for chain in range(chains)")
    yield "starts = _checked_starts(starts, init)"
    for name, inside in own.domains:
        yield f'_check_starts_inside("{name}", starts, {inside})'
    if own.program.rest:
        block = own.program.gradient.block.name if own.program.gradient else ""
        counts = ("batch_size", ROWS) if own.program.variant == "minibatch" else ("0", "0")
        at = f'[start["{block}"] for start in starts]'
        yield from call("try_draws = _try_given", (GRADIENT, POTENTIAL, REST, at, *counts, "check"), 0)
    for name, _ in reported_by(own.kernel):
        yield f'drawn["{name}"] = np.empty((chains, warmup + draws, 1))'
    batches = "batches" if "batch_state" in arguments else "_"
    yield f"noise, {batches} = seed_streams(seed, chains, first_chain)"
    entries = ["**starts[chain]", '"noise_state": noise[chain]']
    if "batch_state" in arguments:
        entries.append('"batch_state": batches[chain]')
    if "permutation" in arguments:
        entries.append(f'"permutation": np.arange({own.program.rows}, dtype=np.uint64)')
    entries += [f'"{array.name}": np.empty({_size(array.sizes[0])})' for array in carried(own.program)]
    if own.build.run.schedule.name != "constant":
        entries.append('"made": np.zeros(1)')
    if CLIPPED in arguments:
        entries.append(f'"{CLIPPED}": np.zeros(1)')
    if own.program.rest:
        entries.append('"seed": np.array([seed])')
    yield from _listed("states", f"{{{', '.join(entries)}}}", "for chain in range(chains)", entries)
    yield from _begun(own)
    falling = ("of_draw",) if own.build.run.schedule.name != "constant" else ()
    lanes = own.build.run.lanes
    function, order = ("run_lanes", "LANES_ARGUMENTS") if lanes else ("run", "ARGUMENTS")
    head = f"done = _{'run_lanes' if lanes else 'run_chains'}"
    function = f"_by_address({function})" if own.program.rest else function
    passed = tuple(one.name for one in (*own.program.blocks, *carried(own.program)))
    beside = (dumps(list(passed)),) if lanes else ()
    settings = ("given", "states", "drawn", "threads", "tell", *falling)
    yield from call(head, (function, order, *beside, *settings), 0)
    if CLIPPED in arguments:
        yield f'_tell_clipped([state["{CLIPPED}"] for state in states])'
    yield "drawn = _after_warmup(drawn, done, warmup)"
    if own.program.gradient is not None:
        said = f'"{own.program.gradient.block.name}", drawn["{own.program.gradient.block.name}"]'
        yield f"_tell_still({said})"
        yield from [f"try_draws({said})"] if own.program.rest else []


def _begun(own: Sampler) -> Iterator[str]:
    """Yield lines that give chains what they begin with, or what they were left with, and that tell of their draws."""
    is_any, is_anew = own.program.rest, own.program.rest and own.program.variant == "full"
    yield "_goes_on(states, init)" if is_anew or not carried(own.program) else "if not _goes_on(states, init):"
    if carried(own.program):
        function = "_by_address(first_values)" if is_any else "first_values"
        lines = (
            "for state in states:" + ("  # anew, for a state may be of another U" if is_anew else ""),
            "    own = {**given, **state}",
            f"    {function}(*[own[name] for name in FIRST_ARGUMENTS])",
        )
        yield from (line if is_anew else f"    {line}" for line in lines)
    if is_any:
        yield f"_tell_seed(seed, {dict(own.keywords)['seed']}, states)"
    if own.build.run.schedule.name != "constant":
        yield 'made[0] = states[0]["made"][0]'
    yield ""
    yield "def cut(drawn):"
    yield from (f"    {line}" for line in _cut(own))
    yield ""
    yield "tell = _telling(tell, callback, cut, drawn, warmup)"


def _listed(name: str, each: str, over: str, parts: list[str] | None = None) -> Iterator[str]:
    if len(name) + len(each) + len(over) + 10 <= WIDTH:
        yield f"{name} = [{each} {over}]"
        return
    yield f"{name} = ["
    if len(each) + len(over) + 9 <= WIDTH:
        yield f"    {each} {over}"
        yield "]"
        return
    if parts is None or len(each) + 8 <= WIDTH:
        yield f"    {each}"
    else:
        yield from ("    {", *(f"        {part}," for part in parts), "    }")
    yield f"    {over}"
    yield "]"


def _cut(own: Sampler) -> Iterator[str]:
    """Yield lines that cut draws into the target's blocks, on their own scales, and return them by name."""
    found = {piece.name: piece.drawn for piece in own.pieces}
    found |= {name: f'drawn["{name}"][:, :, 0]' for name, _ in reported_by(own.kernel)}
    exponential = any(piece.exponential for piece in own.pieces)
    lines = [*_dict("return ", found, 12 if exponential else 8)]
    if any(".reshape(chains, draws" in drawn for drawn in found.values()):
        yield f'draws = drawn["{own.program.blocks[0].name}"].shape[1]'
    if exponential:
        yield 'with np.errstate(over="ignore"):  # a draw that is not finite stays so'
        lines = [f"    {line}" for line in lines]
    yield from lines


def _returned(own: Sampler) -> Iterator[str]:
    """Yield lines that look at the draws, and return them, with the state if it is asked for."""
    for name, inside in own.domains:
        yield f'_tell_outside("{name}", drawn["{name}"], {inside})'
    yield "found = cut(drawn)"
    if own.build.run.schedule.name != "constant":
        yield 'found["step_size"] = np.array([[of_draw(warmup + k)["eps"] for k in range(draws)]] * chains)'
        yield "for state in states:"
        yield '    state["made"] += warmup + draws'
    yield "return (found, _left(states)) if return_state else found"
