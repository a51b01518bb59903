"""The functions around a step: what they give it, what they keep of it, and what a chain begins with.

The step itself is read elsewhere: here it is a request to an oracle, of the state, normals and rows that are drawn for
it; everything else must be what the function was given.
"""

from collections.abc import Mapping

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_chain import carried, run_arguments, told_by
from recipe_compiler.emit.print_lanes import LANES, lanes_state
from recipe_compiler.program.lower_draw import STREAM
from recipe_compiler.program.step_stats import TOLD, TRIES
from recipe_compiler.readback.calls import (
    Calls,
    entries_of,
    rows_read,
    size_of,
    symbols_of,
)
from recipe_compiler.readback.names import BATCH, Names, Sizes
from recipe_compiler.readback.oracle import Entries, Oracle, require, same, same_trace
from recipe_compiler.tensor.scalars import Scalar


def check_run(module: Module, sizes: Sizes) -> None:
    """Check `run`, at sizes that are numbers, on a few draws of a few steps each, which stay finite.

    Every normal and row that a step gets is drawn for it; everything else is what `run` was given; the state of the
    next step is what the step returned; every draw is the state after as many steps as `thin` says, with the means of
    what its steps report; all streams have advanced by what was drawn.

    Raises:
        CompilerError: one of these does not hold; says which.
    """
    program, kernel = module.program, module.kernel
    calls, stated = _opened(module, sizes), Oracle()
    given, here = calls.given, calls.here
    entries = len(given[program.blocks[0].name])
    rows, thin, *_ = (count for count in (2, 3, 4) if count != entries)  # one for another is seen
    given["thin"] = thin
    reported, bounded = [name for name, _ in told_by(kernel)], [block.name for block in program.blocks]
    lengths = {name: len(given[name]) for name in bounded} | dict.fromkeys(reported, 1)
    given |= {f"{name}_draws": np.full((rows, count), None, object) for name, count in lengths.items()}
    potential = program.cycle.potential if program.cycle else None
    bounded += [potential.name] if potential is not None and potential.name in _carried(module) else []
    state = {name: list(given[name]) for name in _carried(module)}
    if kernel.sums is not None:
        stated.ask(kernel.sums.name, {})
    draws, finite = dict[str, list[Entries]](), set[Scalar]()
    for _ in range(rows):
        sums = dict.fromkeys(reported, sp.Integer(0))
        for _ in range(thin):
            drawn = _batch(module, stated)
            for array in () if kernel.chunked else kernel.noises:
                drawn[array.name] = [stated.variate("N") for _ in range(size_of((array,), here.sizes))]
            state = _step(module, stated, {**{name: state[name] for name in _carried(module)}, **drawn}, here)
            sums = {name: total + state[name][0] for name, total in sums.items()}
        kept = {name: [total / sums.get(TRIES[name], thin) if name in TRIES else total] for name, total in sums.items()}
        kept |= {block.name: state[block.name] for block in program.blocks}
        for name, entries in kept.items():
            draws.setdefault(name, []).append(entries)
        finite |= {entry for name in bounded for entry in state[name]}
    returned = calls.reader.call("run", given)
    same_trace(stated, calls.oracle, {}, here)
    for name, wanted in draws.items():
        for own, read in zip(wanted, given[f"{name}_draws"], strict=True):
            same(own, list(read), f"the draws of {name}", here)
    require(returned == rows, "does not return the number of draws")
    require(finite <= {*calls.reader.finite}, "keeps a draw without a look at whether it is finite")
    for name in _carried(module):
        same(state[name], list(given[name]), f"the {name} that is left for the next call", here)
    require(list(given[STREAM.name]) == calls.words, "does not keep the state of its noise")


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


def check_lanes(module: Module, sizes: Sizes) -> None:
    """Check that `step_lanes` passes each lane's state and normals to the step, and keeps the result in that lane.

    Raises:
        CompilerError: a lane computes something else, or a lane is missing.
    """
    kernel = module.kernel
    calls, stated = _opened(module, sizes), Oracle()
    told = told_by(kernel)
    rows = {"lanes": lanes_state(module.program, kernel), "lanes_told": [x for _, x in told]}
    rows["lanes_noise"] = [x for array in kernel.noises for x in kernel.scalars(array.name)]
    arrays = {name: symbols_of(name, (LANES * len(own),)) for name, own in rows.items()}
    lanes, sums, _ = (array.copy() for array in arrays.values())
    for lane in range(LANES):
        own = {x: arrays[name][LANES * k + lane] for name, scalars in rows.items() for k, x in enumerate(scalars)}
        names = (*_carried(module), *(array.name for array in kernel.noises))
        made = _step(module, stated, {name: [own[x] for x in kernel.scalars(name)] for name in names}, calls.here)
        lanes[lane::LANES] = [x for name in _carried(module) for x in made[name]]
        sums[lane::LANES] += np.array([made[name][0] for name, _ in told], object)
    calls.reader.call("step_lanes", calls.given | arrays)
    same_trace(stated, calls.oracle, {}, calls.here)
    for name, wanted in {"lanes": lanes, "lanes_told": sums}.items():
        for k, (one, other) in enumerate(zip(wanted, arrays[name], strict=True)):
            require(one == other, f"differs from {kernel.chain_step.name} in lane {k % LANES} of step_lanes")


def _opened(module: Module, sizes: Sizes) -> Calls:
    """Return calls on symbols for all that a chain has, at the sizes of a build with few rows."""
    program, kernel = module.program, module.kernel
    here = Names(program, {**sizes, **rows_read(program)})
    calls = Calls(module, here, drawn=("batch", *(array.name for array in kernel.noises)))
    calls.given |= {"batch_size": BATCH, "clipped": symbols_of("clipped", (1,))}
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
    reported = {name: name for name in TOLD if name in made or kernel.scalars(name)}
    left = {**program.left, **reported}
    return made if kernel.chunked else {name: entries_of(module, made, new) for name, new in left.items()}


def _batch(module: Module, stated: Oracle) -> dict[str, Entries]:
    return {"batch": stated.ask("rows", {}, BATCH)} if module.program.variant == "minibatch" else {}
