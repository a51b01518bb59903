"""One step at small sizes, or at a point, as the emitted text computes it, held against what its Program states."""

from collections.abc import Sequence

import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.program.lower_cycle import HEAT
from recipe_compiler.readback.calls import Calls, entries_of
from recipe_compiler.readback.equations import Equations
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.mean import ReadStep, gradients_of, stated_step
from recipe_compiler.readback.names import Names, rational_of
from recipe_compiler.readback.next_state import Cuts
from recipe_compiler.readback.noise import covariance_of, without_noise
from recipe_compiler.readback.oracle import Entries, Oracle, replaced, same, same_covariance, same_trace
from recipe_compiler.readback.point import vanishes
from recipe_compiler.readback.text import require
from recipe_compiler.readback.transforms import transforms_of, undone
from recipe_compiler.tensor.scalars import Scalar


def read_step(module: Module, names: Names) -> ReadStep:
    """Return one step as the emitted `step` computes it, the gradient left as symbols.

    At a point every new value is a number in what follows, which its symbol determines: no number grows with how many
    shifts there are.

    Raises:
        CompilerError: the text cannot be read, a new value is not linear in the noise, or something else is carried on,
            divided by or summed up than the Program says.
    """
    program, kernel = module.program, module.kernel
    cuts = Cuts(frozenset(name.rstrip("_") for s in program.shifts for name in kernel.scalars(s.new)))
    oracle = gradients_of(names)
    calls = Calls(module, names, oracle)
    reader = calls.reader
    reader.cuts, reader.equations = cuts, _equations(module, cuts)
    reader.watched = frozenset(shift.new for shift in program.shifts)
    found = calls.execute(kernel.step)
    new = [entry for shift in program.shifts for entry in entries_of(module, found, shift.new)]
    passed: Entries = []
    if program.gradient is not None and program.carried:
        left = program.passed_on[program.gradient.name]
        passed = entries_of(module, found, left)
        is_noisy = any(own.noise for own in program.evaluations)
        require(is_noisy or passed == names.gradient(left), "passes on a gradient of another state")
        passed = passed if is_noisy else []
    heat = entries_of(module, found, HEAT) if program.heats else ()
    normals = [n for array in kernel.noises for n in found[array.name]]
    return step_of(new, cuts, reader, normals, names, oracle, heat, passed)


def step_of(
    entries: Entries, cuts: Cuts, reader: Reader, normals: Sequence[Scalar], names: Names, oracle: Oracle,
    heat: Sequence[Scalar] = (), passed: Sequence[Scalar] = (),
) -> ReadStep:  # fmt: skip
    """Return the step that was read, from the entries of its new values and what was asked for on the way.

    What is `passed` on beside them, a gradient with noise that is added, stands behind them.
    """
    new, made = cuts.defined(entries)
    values = (*undone(made, transforms_of(names)), *passed)
    covariance = covariance_of(values, normals, reader.factors)
    numbers = {symbol: rational_of(symbol.name) for symbol in new} if names.at_point else {}
    for given in (given for requests in oracle.trace.values() for given in requests):
        given |= {name: replaced(own, numbers) for name, own in given.items()}
    return ReadStep(
        tuple(replaced(new, numbers)),
        tuple(replaced(without_noise(values, normals), numbers)),
        {place: entry.xreplace(numbers) for place, entry in covariance.items()},
        oracle,
        heat,
        tuple(replaced(reader.guarded, numbers)),
    )


def same_step(read: ReadStep, here: Names) -> None:
    """Compare a step with its Program, as a function of eps, state and normals: their moments then are the same too.

    Raises:
        CompilerError: they differ.
    """
    stated = stated_step(here, read.next, with_gradients=True)
    says = [f"{s.new}[{k}]" for s in here.program.shifts for k in range(len(here.block(s.block)))]
    says += [f"entry {k} of the gradient that is passed on" for k in range(len(stated.values) - len(says))]
    for name, value, expected in zip(says, read.values, stated.values, strict=True):
        same([expected], [value], f"{name}, without its noise,", here)
    same_covariance(stated.covariance, read.covariance, "the noise", here)
    same([sp.Add(*stated.heat)], [sp.Add(*read.heat)], "the heat of its letters with noise", here)
    same_trace(stated.oracle, read.oracle, {}, here)
    right = all(any(vanishes(y - x) for x in read.positive) for y in stated.positive)
    require(right, "divides by a value that is not required to be positive")


def _equations(module: Module, cuts: Cuts) -> Equations:
    """Return the implicit shifts of a module's program; their unknowns are symbols of the cuts."""
    own = (shift for shift in module.program.shifts if shift.implicit)
    return Equations([tuple(module.kernel.scalars(x) or (x,) for x in (shift.old, shift.new)) for shift in own], cuts)
