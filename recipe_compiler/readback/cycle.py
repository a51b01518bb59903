"""The moves of a cycle as they are emitted, held against those of its Program.

Other readings check the procedures that a cycle calls: here a call is a request to an oracle, with its arguments.
"""

from collections.abc import Mapping
from functools import partial
from math import lcm

import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_chain import reported_by
from recipe_compiler.program.program import Cycle
from recipe_compiler.readback.calls import Calls, entries_of
from recipe_compiler.readback.moves import Gaussian, MovesMean
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.noise import covariance_of, without_noise
from recipe_compiler.readback.oracle import Entries, replaced, same, same_covariance, same_trace
from recipe_compiler.readback.text import require
from recipe_compiler.tensor.scalars import Scalar


def check_cycle(module: Module, here: Names) -> None:
    """Check that the emitted cycle makes the moves of its Program, in order, each from what the one before left.

    For every combination of moves that are due together (`lcm` of their schedules). Compared are, as functions of the
    state, the parameters and the draws: refreshes b' = c b + N(0, (1 - c**2) S), what each draw and step is given, the
    log ratio by which a move is accepted, and what stays after a refusal. U, H - U and the step itself stand for
    symbols; they are read separately.

    Raises:
        CompilerError: it makes another cycle; names what differs.
    """
    cycle = module.program.cycle
    if cycle is None:
        return
    seen = dict[tuple[bool, ...], int]()
    for before in range(lcm(*cycle.schedules)):
        seen.setdefault(tuple(before % every == 0 for every in cycle.schedules), before)
    for before in seen.values():
        _check_one(module, here, cycle, before)


def _check_one(module: Module, here: Names, cycle: Cycle, before: int) -> None:
    """Check the emitted cycle after a number of others: moves that are not due leave their blocks as they are."""
    calls = Calls(module, here, before=before)
    names = (*module.program.left, *(block.name for block in module.program.blocks))
    stated = MovesMean(here, cycle, before, {name: list(calls.given[name]) for name in names})
    stated.make()
    calls.reader.watched = frozenset((*cycle.names, *module.program.left.values()))
    made = calls.execute(module.kernel.chain_step)
    found = partial(entries_of, module, made)
    known: dict[Scalar, Scalar] = {}
    for own in stated.drawn:
        _same_gaussian(own, found(own.name), known, calls, here)
        known |= dict(zip(own.symbols, found(own.name), strict=True))
    same_trace(stated.oracle, calls.oracle, known, here)
    for name, new in module.program.left.items():
        same(replaced(stated.values[new], known), found(new), f"what is left of {name}", here)
    reported = [name for name, _ in reported_by(module.kernel)]
    require(set(reported) == stated.stats.keys(), f"reports {', '.join(reported)}")
    for name, value in stated.stats.items():
        same([value.xreplace(known)], found(name), f"the reported {name}", here)
    require(len(set(calls.normals)) == len(calls.normals), f"uses normals twice: {', '.join(calls.normals)}")


def _same_gaussian(stated: Gaussian, read: Entries, known: Mapping[Scalar, Scalar], calls: Calls, here: Names) -> None:
    """Check the mean and the covariance of a value that is drawn, of normals that no value before it has."""
    require(all(entry is not None for entry in read), f"does not draw {stated.name}")
    symbols = frozenset[sp.Basic]().union(*((sp.Integer(0) + entry).free_symbols for entry in read))
    arrays = [
        a.name
        for a in calls.module.kernel.noises
        if a.name not in calls.normals and not symbols.isdisjoint(calls.given[a.name])
    ]
    normals = [normal for name in arrays for normal in calls.given[name]]
    calls.normals += arrays
    mean = without_noise(read, normals)
    same(replaced(stated.mean, known), mean, f"the mean of {stated.name}", here)
    noise = [a - b for a, b in zip(read, mean, strict=True)]
    covariance = covariance_of(noise, normals, calls.reader.factors)
    wanted = {at: entry.xreplace(known) for at, entry in stated.covariance.items()}
    same_covariance(wanted, covariance, stated.name, here)
