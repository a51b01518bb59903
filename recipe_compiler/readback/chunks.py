"""One step of a module that takes its entries chunk by chunk: `sweep`, as it is emitted, with all that it calls."""

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.program.definition import LETTERS
from recipe_compiler.program.lower_draw import STREAM
from recipe_compiler.readback.calls import ROOM, Calls, Value
from recipe_compiler.readback.gradient import stated_gradient
from recipe_compiler.readback.interpreter import arguments_of
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.next_state import Cuts
from recipe_compiler.readback.oracle import Oracle, replaced, same
from recipe_compiler.readback.step import same_step, step_of
from recipe_compiler.readback.text import require
from recipe_compiler.tensor.scalars import Scalar


def check_sweep(module: Module, here: Names) -> None:
    """Compare a step that is taken chunk by chunk with its Program, and the gradient of every entry.

    Raises:
        CompilerError: it differs, reads what it has not set, or draws from another state.
    """
    program, normals, found = module.program, list[Scalar](), list[Scalar]()
    cuts = Cuts(frozenset(f"{shift.new}_{index}" for shift in program.shifts for index in LETTERS))
    calls = Calls(module, here)
    reader, given = calls.reader, calls.given
    reader.cuts = cuts

    def fill(arguments: list[Value]) -> None:
        state, out = arguments
        require(state is given[STREAM.name], "draws its noise from a state other than the given one")
        out[:] = fresh = [sp.Symbol(f"normal[{len(normals) + k}]", real=True) for k in range(out.size)]
        normals.extend(fresh)

    def gradient(arguments: list[Value]) -> Scalar:
        require(len(found) < len(here.gradient()), "computes the gradient of more entries than there are")
        names = arguments_of(reader.functions["gradient"])
        found.append(reader.call("gradient", dict(zip(names, arguments, strict=True))))
        return here.gradient()[len(found) - 1]

    reader.fills = {"_fill_normals_lanes": fill, "gradient": gradient}
    given |= {array.name: np.full(ROOM, None, object) for array in module.kernel.noises}
    given |= {block.name: cuts.array(here.block(block)) for block in program.blocks}
    reader.call("sweep", given)
    moved = {block.name: list(given[block.name]) for block in program.blocks}
    new = [entry for shift in program.shifts for entry in moved[shift.block.name]]
    oracle = Oracle()
    if (own := program.gradient) is not None:
        start = here.block(own.block)
        for at in (evaluation.at for evaluation in program.evaluations):
            point = start if at == own.block.name else moved[own.block.name]  # new: what the sweep leaves behind
            oracle.ask("gradient", {own.block.name: point})
            known = dict(zip(start, point, strict=True))
            same(replaced(stated_gradient(own, here, (), sp.Integer(1)), known), found, "the gradient", here)
    same_step(step_of(new, cuts, reader, normals, here, oracle), here)
