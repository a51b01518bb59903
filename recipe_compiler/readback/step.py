"""One step at small sizes, or at a point, as the emitted text computes it, held against what its Program states."""

from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp
from sympy.core.function import UndefinedFunction

from recipe_compiler.emit.module import Module
from recipe_compiler.program.lower_cycle import HEAT, REST
from recipe_compiler.readback.calls import Calls, Found, Value, chain_values, entries_of, execute
from recipe_compiler.readback.equations import Equations, ImplicitEquation
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.mean import ReadStep, guarded, stated_step
from recipe_compiler.readback.names import Names, known_numbers, rational_of
from recipe_compiler.readback.next_state import Cuts
from recipe_compiler.readback.noise import NoiseFactor, covariance_of, without_noise
from recipe_compiler.readback.oracle import Entries, Oracle, replaced, require, same
from recipe_compiler.readback.point import vanishes
from recipe_compiler.readback.propagators import matrices_of
from recipe_compiler.readback.transforms import transforms_of, undone
from recipe_compiler.tensor.scalars import Scalar

ENERGY = UndefinedFunction("energy")
"""H - U of all that its procedure is given, which is read by itself."""


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
    reader = Reader(
        module.text,
        matrices=matrices_of(names),
        known=known_numbers if names.digits else None,
        equations=_equations(module, cuts),
        cuts=cuts,
    )
    given = chain_values(module, names, reader)
    calls = Calls(
        module, names, given, Oracle(known={"gradient": [names.gradient(e.new) for e in program.evaluations]})
    )
    reader.fills = {
        "gradient": calls.fills["gradient"],
        REST: lambda arguments: ENERGY(*_flat(arguments[: len(kernel.rest.inputs) if kernel.rest else 0])),
    }
    reader.watched = frozenset(shift.new for shift in program.shifts)
    found = execute(module, names, reader, kernel.step, given)
    new = [entry for shift in program.shifts for entry in entries_of(module, found, shift.new)]
    if program.gradient is not None and program.carried:
        left = program.passed_on[program.gradient.name]
        require(entries_of(module, found, left) == names.gradient(left), "passes on a gradient of another state")
    _check_heat(module, names, found)
    block = program.gradient.block.name if program.gradient else ""
    evaluated = [asked[block] for asked in calls.oracle.trace.get("gradient", [])]
    return step_of(new, cuts, reader, [n for array in kernel.noises for n in given[array.name]], names, evaluated)


def step_of(
    entries: Entries, cuts: Cuts, reader: Reader, normals: Sequence[Scalar], names: Names,
    evaluated: Sequence[Entries] = (),
) -> ReadStep:  # fmt: skip
    """Return the step that was read, from the entries of its new values and those where the gradient is evaluated."""
    new, made = cuts.defined(entries)
    values = tuple(undone(made, transforms_of(names)))
    covariance = covariance_of(values, normals, used(reader.factors, values))
    numbers = {symbol: rational_of(symbol.name) for symbol in new} if names.at_point else {}
    read = ReadStep(
        tuple(replaced(new, numbers)),
        tuple(replaced(without_noise(values, normals), numbers)),
        {place: entry.xreplace(numbers) for place, entry in covariance.items()},
        tuple(replaced(at, numbers) for at in evaluated),
    )
    if names.at_point:
        _check_guards(names, read, replaced(reader.guarded, numbers))
    return read


def same_step(read: ReadStep, here: Names) -> None:
    """Compare a step with its Program, as a function of eps, state and normals: their moments then are the same too.

    Raises:
        CompilerError: they differ.
    """
    stated = stated_step(here, read.next)
    says = [f"{s.new}[{k}]" for s in here.program.shifts for k in range(len(here.block(s.block)))]
    for name, value, expected in zip(says, read.values, stated.values, strict=True):
        same([expected], [value], f"{name}, without its noise,", here)
    zero = sp.Integer(0)
    for a, b in sorted({*read.covariance, *stated.covariance}):
        if a >= b:
            own, other = (step.covariance.get((a, b), zero) for step in (stated, read))
            same([own], [other], f"the covariance of the noise of {says[a]}, {says[b]}", here)
    counts = len(read.evaluated), len(stated.evaluated)
    require(counts[0] == counts[1], f"evaluates the gradient {counts[0]} times, expected {counts[1]}")
    for own, other in zip(stated.evaluated, read.evaluated, strict=True):
        same(own, other, "where the gradient is evaluated", here)


def _check_guards(names: Names, read: ReadStep, positive: Sequence[Scalar]) -> None:
    """Check that all that the rates take reciprocals of was required to be positive."""
    left, moved = iter(read.next), dict[str, Entries]()
    for shift in names.program.shifts:
        asked = () if shift.implicit else guarded(shift, names, moved)
        right = all(any(vanishes(y - x) for x in positive) for y in asked)
        require(right, f"divides in {shift.new} by a value that is not required to be positive")
        moved[shift.new] = [next(left) for _ in names.block(shift.block)]


def used(factors: Sequence[NoiseFactor], values: Sequence[Scalar]) -> list[NoiseFactor]:
    """Return the factors that occur in some values; the others belong to other moves of a cycle."""
    symbols = {symbol for value in values for symbol in value.free_symbols}
    return [factor for factor in factors if not symbols.isdisjoint(factor.entries.ravel())]


def _flat(arguments: Sequence[Value]) -> list[Scalar]:
    return [entry for value in arguments for entry in np.asarray(value, object).ravel()]


def _equations(module: Module, cuts: Cuts) -> Equations:
    """Return the implicit shifts of a module's program; their unknowns are symbols of the cuts."""

    def kept_in(value: str) -> tuple[str, ...]:
        return module.kernel.scalars(value) or (value,)

    own = (shift for shift in module.program.shifts if shift.implicit)
    return Equations(
        [ImplicitEquation(kept_in(shift.old), kept_in(shift.new), cuts.unknown, cuts.solve, cuts.said) for shift in own]
    )


def _check_heat(module: Module, names: Names, found: Found) -> None:
    """Check that the heat of a step is what its letters with noise do to H, each from the values that it was given."""
    program, rest = module.program, module.kernel.rest
    if not program.heats or rest is None:
        return

    def energy(state: Sequence[str]) -> Scalar:
        own = {b.name: entries_of(module, found, v) for b, v in zip(program.blocks, state, strict=True)}
        scalars = {s: e for b in own for s, e in zip(module.kernel.scalars(b), own[b], strict=False)}
        given: Mapping[str, Value] = {**found, **own, **scalars}
        return ENERGY(*_flat([given[array.name] for array in rest.inputs]))

    stated = sp.Add(*(energy(heat.after) - energy(heat.before) for heat in program.heats))
    (read,) = entries_of(module, found, HEAT)
    require(sp.expand(read - stated) == 0, "does not sum the heat of its letters with noise")
