"""The functions around a step: what they give it, what they keep of it, and what a chain begins with.

The step itself is read elsewhere: here it is a request to an oracle, of the state, normals and rows that are drawn for
it; everything else must be what the function was given.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_chain import carried, finite_scalars, reported_by, run_arguments
from recipe_compiler.emit.print_lanes import LANES, NOISE, lanes_state
from recipe_compiler.program.lower_draw import STREAM
from recipe_compiler.program.program import ROWS
from recipe_compiler.program.step_stats import REPORTED, TRIES
from recipe_compiler.readback.calls import (
    Calls,
    entries_of,
    rows_read,
    size_of,
    symbols_of,
)
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.names import BATCH, Names, Sizes
from recipe_compiler.readback.oracle import Entries, Oracle, same, same_trace
from recipe_compiler.readback.text import require


def check_run(module: Module, sizes: Sizes) -> None:
    """Check `run`, at sizes that are numbers, on a few draws of a few steps each, and that it ends with finite numbers.

    Every normal and row that a step gets is drawn for it; everything else is what `run` was given; the state of the
    next step is what the step returned; every draw is the state after as many steps as `thin` says, with the means of
    what its steps report; all streams have advanced by what was drawn.

    Raises:
        CompilerError: one of these does not hold; says which.
    """
    entries = len(_opened(module, sizes).given[module.program.blocks[0].name])
    rows, thin, *_ = (count for count in (2, 3, 4) if count != entries)  # one for another is seen
    _check_draws(module, sizes, rows, thin, rows)
    _check_draws(module, sizes, 2, 1, 3)


def _check_draws(module: Module, sizes: Sizes, rows: int, thin: int, asked: int) -> None:
    """Check draws of `run`: all that it is asked for, or some of which the last is not finite."""
    program, kernel = module.program, module.kernel
    calls, stated = _opened(module, sizes), Oracle()
    given, here = calls.given, calls.here
    ends, given["thin"] = asked > rows, thin
    reported, blocks = [name for name, _ in reported_by(kernel)], [block.name for block in program.blocks]
    lengths = {name: len(given[name]) for name in blocks} | dict.fromkeys(reported, 1)
    given |= {f"{name}_draws": np.full((asked, count), None, object) for name, count in lengths.items()}
    potential = program.cycle.potential if program.cycle else None
    bounded = [*blocks, *([potential.name] if potential and potential.name in _carried(module) else ())]
    if kernel.sums is not None:
        stated.ask(kernel.sums.name, {})

    def step(state: Mapping[str, Entries]) -> dict[str, Entries]:
        drawn = _batch(module, stated)
        for array in () if kernel.chunked else kernel.noises:
            drawn[array.name] = [stated.variate("N") for _ in range(size_of((array,), here.sizes))]
        return _step(module, stated, {**{name: state[name] for name in _carried(module)}, **drawn}, here)

    wanted = [*_draws({name: list(given[name]) for name in _carried(module)}, step, reported, rows, thin)]
    calls.reader.infinite = frozenset(wanted[-1][blocks[0]][:1] if ends else ())
    returned = calls.reader.call("run", given)
    same_trace(stated, calls.oracle, {}, here)
    for k, draw in enumerate(wanted[: rows - ends]):
        for name in lengths:
            same(draw[name], list(given[f"{name}_draws"][k]), f"the draws of {name}", here)
    require(returned == rows - ends, "does not return the number of draws")
    finite = {entry for draw in wanted for name in bounded for entry in draw[name]}
    require(ends or finite <= {*calls.reader.finite}, "keeps a draw without a look at whether it is finite")
    for name in () if ends else _carried(module):
        same(wanted[-1][name], list(given[name]), f"the {name} that is left for the next call", here)
    require(list(given[STREAM.name]) == calls.words, "does not keep the state of its noise")


def _draws(
    state: Mapping[str, Entries], step: Callable[[Mapping[str, Entries]], Mapping[str, Entries]],
    reported: Sequence[str], rows: int, thin: int, width: int = 1,
) -> Iterator[dict[str, Entries]]:  # fmt: skip
    """Yield the state after every `thin` steps of one chain, or of several, with the means of what they report."""
    for _ in range(rows):
        sums = {name: [sp.Integer(0)] * width for name in reported}
        for _ in range(thin):
            state = step(state)
            sums = {name: [a + b for a, b in zip(own, state[name], strict=True)] for name, own in sums.items()}
        tries = {name: sums.get(TRIES[name], [thin] * width) for name in sums if name in TRIES}
        means = {name: [a / b for a, b in zip(sums[name], own, strict=True)] for name, own in tries.items()}
        yield {**state, **sums, **means}


def check_first_values(module: Module, sizes: Sizes) -> None:
    """Check that `first_values` writes grad U and U at the state it is given, from a minibatch that it draws.

    Raises:
        CompilerError: it does not.
    """
    program = module.program
    calls, stated = _opened(module, sizes), Oracle()
    given, here = calls.given, calls.here
    at = {block.name: given[block.name] for block in program.blocks}
    at |= _batch(module, stated) if program.carries else {}
    wanted: dict[str, Entries] = {}
    for name in (array.name for array in carried(program)):
        what = "gradient" if program.gradient and name == program.gradient.name else "potential"
        is_count = program.cycle is not None and name == program.cycle.counter
        wanted[name] = [0] if is_count else stated.ask(what, at, len(given[name]))
    calls.reader.call("first_values", given)
    same_trace(stated, calls.oracle, {}, here)
    for name, values in wanted.items():
        require(list(given[name]) == values, f"does not write the first {name}")


def check_seeds(module: Module) -> None:
    """Check that `seed_streams` returns the first stream of each chain for the noise, the second for minibatches."""
    lanes = (module.kernel.chunked, module.program.variant == "minibatch" and module.program.replacement)
    stated, read, (seed, chains, first) = Oracle(), Oracle(), sp.symbols("seed, chains, first_chain")
    wanted = [
        stated.ask("_seed_words", {"arguments": [seed, chains, stream, 4 * (LANES if wide else 1), first]}, 1)[0]
        for stream, wide in enumerate(lanes)
    ]
    reader = Reader(module.text, fills={"_seed_words": lambda own: read.ask("_seed_words", {"arguments": own}, 1)[0]})
    returned = reader.call("seed_streams", {"seed": seed, "chains": chains, "first_chain": first})
    same_trace(stated, read, {}, Names(module.program, {}))
    require(list(returned) == wanted, "returns other streams of random numbers than its chains have")


def check_lanes(module: Module, sizes: Sizes) -> None:
    """Check that `step_lanes` makes of each lane what the step does, and `run_lanes` draws of it as `run` does.

    A lane whose state was not finite counts no draw from there on, whatever others do.

    Raises:
        CompilerError: a lane computes something else, or a lane is missing.
    """
    _check_step_of_lanes(module, sizes)
    _check_draws_of_lanes(module, sizes)


def _check_step_of_lanes(module: Module, sizes: Sizes) -> None:
    kernel = module.kernel
    calls, stated = _opened(module, sizes), Oracle()
    reports = reported_by(kernel)
    rows = {"lanes": lanes_state(module.program, kernel), "lanes_told": [x for _, x in reports]}
    rows["lanes_noise"] = [x for array in kernel.noises for x in kernel.scalars(array.name)]
    arrays = {name: symbols_of(name, (LANES * len(own),)) for name, own in rows.items()}
    lanes, sums, _ = (array.copy() for array in arrays.values())
    for lane in range(LANES):
        own = {x: arrays[name][LANES * k + lane] for name, scalars in rows.items() for k, x in enumerate(scalars)}
        names = (*_carried(module), *(array.name for array in kernel.noises))
        made = _step(module, stated, {name: [own[x] for x in kernel.scalars(name)] for name in names}, calls.here)
        lanes[lane::LANES] = [x for name in _carried(module) for x in made[name]]
        sums[lane::LANES] += np.array([made[name][0] for name, _ in reports], object)
    calls.reader.call("step_lanes", calls.given | arrays)
    same_trace(stated, calls.oracle, {}, calls.here)
    for name, wanted in {"lanes": lanes, "lanes_told": sums}.items():
        for k, (one, other) in enumerate(zip(wanted, arrays[name], strict=True)):
            require(one == other, f"differs from {kernel.chain_step.name} in lane {k % LANES} of step_lanes")


def _check_draws_of_lanes(module: Module, sizes: Sizes) -> None:
    program, kernel = module.program, module.kernel
    calls, stated = _opened(module, sizes), Oracle()
    names, reported = lanes_state(program, kernel), [name for name, _ in reported_by(kernel)]
    normals, reports = sum(len(kernel.scalars(array.name)) for array in kernel.noises), LANES * len(reported)
    kept = LANES * sum(len(kernel.scalars(block.name)) for block in program.blocks)
    rows, thin = 2, 3 + 2 * (4 // normals if normals else 0)  # one step more than normals are drawn for at once
    arrays = {"lanes": symbols_of("lanes", (LANES * len(names),)), "kept": np.full(LANES, None, object)}
    arrays["lanes_draws"] = np.full((rows, kept + reports), None, object)

    def step(state: Mapping[str, Entries]) -> dict[str, Entries]:
        given = {"lanes": state["lanes"], NOISE: [stated.variate("N") for _ in range(LANES * normals)]}
        made = stated.ask("step_lanes", given, len(given["lanes"]) + reports)
        of_moves = {name: made[LANES * (len(names) + k) :][:LANES] for k, name in enumerate(reported)}
        return {"lanes": made[: len(given["lanes"])], **of_moves}

    wanted = [*_draws({"lanes": list(arrays["lanes"])}, step, reported, rows, thin, LANES)]
    bounded = [names.index(name) for name in finite_scalars(program, kernel)]
    calls.reader.infinite = frozenset(wanted[0]["lanes"][LANES * k + lane] for lane, k in enumerate(bounded))
    calls.reader.call("run_lanes", calls.given | arrays | {"thin": thin})
    same_trace(stated, calls.oracle, {}, calls.here)
    for draw, read in zip(wanted, arrays["lanes_draws"], strict=True):
        own = [*draw["lanes"][:kept], *(entry for name in reported for entry in draw[name])]
        same(own, list(read), "a draw of lanes", calls.here)
    same(wanted[-1]["lanes"], list(arrays["lanes"]), "the lanes that are left for the next call", calls.here)
    counts = [0 if lane < len(bounded) else rows for lane in range(LANES)]
    require(list(arrays["kept"]) == counts, "does not count the draws of each lane while they are finite")
    require(list(calls.given[STREAM.name]) == calls.words, "does not keep the state of the noise of its lanes")


def _opened(module: Module, sizes: Sizes) -> Calls:
    """Return calls on symbols for all that a chain has, at the sizes of a build with few rows."""
    program, kernel = module.program, module.kernel
    here = Names(program, {**sizes, **rows_read(program)})
    calls = Calls(module, here, drawn=("batch", NOISE, *(array.name for array in kernel.noises)))
    calls.given |= {"batch_size": BATCH, ROWS: BATCH + 1, "clipped": symbols_of("clipped", (1,))}
    for name in {"batch_state", "permutation"}.intersection(run_arguments(program, kernel)):
        calls.given[name] = symbols_of(name, (4,))
    return calls


def _carried(module: Module) -> list[str]:
    """Return the names of what a step is given by the one before, and the chain by the call before."""
    return [block.name for block in module.program.blocks] + [array.name for array in carried(module.program)]


def _step(module: Module, stated: Oracle, given: Mapping[str, Entries], here: Names) -> dict[str, Entries]:
    """Return what one step makes of what it is given, by the names that the next one has for it, and its reports."""
    program, kernel, own = module.program, module.kernel, module.kernel.chain_step
    counts = {array.name: size_of((array,), here.sizes) for array in own.outputs}
    counts = {name: len(given[name]) for name in counts} if kernel.chunked else counts  # of all chunks, in place
    answer = iter(stated.ask(own.name, given, sum(counts.values())))
    made = {name: [next(answer) for _ in range(count)] for name, count in counts.items()}
    reported = {name: name for name in REPORTED if name in made or kernel.scalars(name)}
    left = {**program.left, **reported}
    return made if kernel.chunked else {name: entries_of(module, made, new) for name, new in left.items()}


def _batch(module: Module, stated: Oracle) -> dict[str, Entries]:
    return {"batch": stated.ask("rows", {}, BATCH)} if module.program.variant == "minibatch" else {}
