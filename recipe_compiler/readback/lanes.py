"""Chains side by side: every lane of `step_lanes` does what `step` does, with state and normals of its own chain."""

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_lanes import LANES
from recipe_compiler.errors import CompilerError
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.step import prepared


def check_lanes(module: Module, names: Names) -> None:
    """Check `step_lanes` at numbers that differ from place to place, against `step`, which is read back itself.

    Raises:
        CompilerError: a lane computes something else, or the lanes are not all there.
    """
    kernel = module.kernel
    state = [name for block in module.program.blocks for name in kernel.scalars(block.name)]
    normals = [name for array in kernel.noises for name in kernel.scalars(array.name)]
    reader = Reader(module.text, invert=names.invert, factor=_unit)
    given = prepared(module, names, reader)
    lanes, noise = _numbers(0, len(state)), _numbers(len(state), len(normals))
    before = lanes.copy()
    reader.call("step_lanes", {**given, "lanes": lanes, "lanes_noise": noise})
    for lane in range(LANES):
        own = dict(zip(state, before[lane::LANES], strict=True)) | dict(zip(normals, noise[lane::LANES], strict=True))
        returned = reader.call("step", given | own)
        expected = list(returned) if isinstance(returned, tuple) else [returned]
        if expected != list(lanes[lane::LANES]):
            raise CompilerError(f"the emitted step_lanes was read back and differs from step in lane {lane}")


def _numbers(first: int, rows: int) -> np.ndarray:
    """Return rows of 64 rational numbers in (0, 2) of which no two, and none of other rows, are the same."""
    return np.array([sp.Rational(1 + LANES * first + k, 1024) for k in range(LANES * rows)], object)


def _unit(covariance: sp.Matrix) -> np.ndarray:
    """Return what stands for a factor of the noise: lanes and `step` are given the same."""
    return np.array(sp.eye(covariance.rows).tolist(), object)
