"""One step of a module that takes its entries chunk by chunk: `sweep`, as it is emitted, with all that it calls.

It is read with room for the noise of two entries, so that at three entries there is a full chunk and a remainder.
"""

from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.definition import LETTERS
from recipe_compiler.readback.gradient import stated_gradient
from recipe_compiler.readback.interpreter import Reader, Value
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.next_state import Cuts
from recipe_compiler.readback.propagators import matrices_of
from recipe_compiler.readback.step import ReadStep, prepared, step_of
from recipe_compiler.tensor.scalars import Scalar

ROOM = 2
"""Entries of a chunk while it is read."""


STATE = object()
"""Stands for the random state, which no formula reads."""


@dataclass(slots=True)
class SweepReader(Reader):
    """Executes `sweep` on symbols: each array of noise gets fresh normals, calls of the gradient are recorded."""

    symbols: list[Scalar] = field(default_factory=list)
    """What stands for the gradient, entry by entry."""
    gradients: list[Scalar] = field(default_factory=list)
    """What `gradient` computed, call by call."""
    normals: list[sp.Symbol] = field(default_factory=list)

    def call(self, name: str, arguments: dict[str, Value]) -> Value:
        """Execute a function; for the gradient, record its value and return the symbol of the next entry."""
        value = Reader.call(self, name, arguments)
        if name != "gradient":
            return value
        if len(self.gradients) == len(self.symbols):
            raise CompilerError("the emitted sweep computes the gradient of more entries than there are")
        self.gradients.append(value)
        return self.symbols[len(self.gradients) - 1]

    def fill(self, arguments: list[Value]) -> None:
        """Fill an array with normals."""
        state, out = arguments
        if state is not STATE:
            raise CompilerError("the emitted sweep draws its noise from a state other than the given one")
        fresh = [sp.Symbol(f"normal[{len(self.normals) + k}]", real=True) for k in range(out.size)]
        out[:] = fresh
        self.normals += fresh


@dataclass(frozen=True, slots=True)
class Sweep:
    """One step of all entries, as read from the text."""

    step: ReadStep
    gradients: tuple[tuple[Scalar, Scalar], ...]
    """Entry by entry, the gradient the text computes and the one its Program states, at the point it is taken."""


def read_sweep(module: Module, names: Names) -> Sweep:
    """Return dz as the emitted `sweep` computes it, the gradient left as symbols.

    Raises:
        CompilerError: it reads what it has not set, draws from another state, or is not linear in its noise.
    """
    reader = SweepReader(module.text, symbols=names.gradient(), matrices=matrices_of(names))
    reader.fills = {"_fill_normals_lanes": reader.fill}
    given = prepared(module, names, reader) | {"noise_state": STATE}
    for array in module.kernel.noises:
        given[array.name] = np.full(ROOM, None, object)
    start: dict[str, list[Scalar]] = {block.name: names.block(block) for block in module.program.blocks}
    cuts = reader.cuts = Cuts(frozenset(f"{u.new}_{index}" for u in module.program.shifts for index in LETTERS))
    given |= {name: cuts.array(entries) for name, entries in start.items()}
    reader.call("sweep", given)
    moved = {name: list(np.asarray(given[name])) for name in start}
    entries = [entry for shift in module.program.shifts for entry in moved[shift.block.name]]
    step = step_of(entries, cuts, reader.factors, reader.normals, names)
    return Sweep(step, _gradients(reader, names, start, moved))


def _gradients(
    reader: SweepReader, names: Names, start: dict[str, list[Scalar]], moved: dict[str, list[Scalar]]
) -> tuple[tuple[Scalar, Scalar], ...]:
    gradient = names.program.gradient
    if gradient is None:
        return ()
    if len(reader.gradients) != len(reader.symbols):
        raise CompilerError("the emitted sweep does not compute the gradient of every entry")
    stated = stated_gradient(gradient, names, (), sp.Integer(1))
    at = {evaluation.at for evaluation in names.program.evaluations}
    if at - {gradient.block.name}:  # at the new value, which is what the sweep leaves behind
        new = dict(zip(start[gradient.block.name], moved[gradient.block.name], strict=True))
        stated = [value.xreplace(new) for value in stated]
    return tuple(zip(reader.gradients, stated, strict=True))
