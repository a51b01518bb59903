"""One step of an emitted module, called from outside: the state after it as a function of its draws, nothing drawn.

The state is all that a step passes on to the next: the blocks and, of a word whose last gradient is its next one's
first, that gradient, whose noise the two share.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.module import Module
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.loops import Array as Declared
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.load_module import Emitted

Array = NDArray[np.float64]
Sizes = dict[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class OneStep:
    """The `step` of a module with the values that a run gives it."""

    compiled: Module
    emitted: Emitted
    given: Mapping[str, Any]
    """Parameters, constants, data, the step size."""
    sizes: Sizes
    passed_on: tuple[tuple[str, str, int], ...]
    """What the step is given by the one before, what it leaves in its place, and how many numbers that is."""
    held: tuple[tuple[str, Array], ...] = ()
    """Blocks that are held where they are, and so are no part of the state; with their values."""

    @property
    def width(self) -> int:
        """How many numbers are passed on."""
        return sum(length for _, _, length in self.passed_on)

    @property
    def normals(self) -> int:
        """How many standard normals a step takes."""
        return sum(self._length(array) for array in self.compiled.kernel.noises)

    @property
    def noise_is_steady(self) -> bool:
        """Whether no covariance that is drawn from depends on the state."""
        program, held = self.compiled.program, dict(self.held)
        values = {block.name for block in program.blocks if block.name not in held}
        values |= {shift.new for shift in program.shifts if shift.block.name not in held}
        matrices = [matrix for noise in program.noises for matrix in (noise.two_D, noise.B_hat or ())]
        return all(values.isdisjoint(names_of(tensor)) for matrix in matrices for row in matrix for tensor in row)

    def place(self, name: str) -> slice:
        """Return where a block, or the gradient, stands in the state."""
        start = 0
        for own, _, length in self.passed_on:
            if own == name:
                return slice(start, start + length)
            start += length
        return slice(start, start)

    def holding(self, name: str, value: Array) -> "OneStep":
        """Return the step with a block held at a value."""
        left = tuple(one for one in self.passed_on if one[0] != name)
        return replace(self, passed_on=left, held=(*self.held, (name, value)))

    def after(self, z: Array, batch: NDArray[np.uint64], normals: Array) -> Array:
        """Return what a step makes of a state, from a batch of rows and standard normals."""
        values = self._made(z, batch, normals)
        return np.concatenate([self._left(values, old, new) for old, new, _ in self.passed_on])

    def held_after(self, z: Array, batch: NDArray[np.uint64], normals: Array) -> Array:
        """Return what a step would make of the blocks that are held."""
        values, left = self._made(z, batch, normals), self.compiled.program.passed_on
        return np.concatenate([self._left(values, name, left[name]) for name, _ in self.held])

    def _made(self, z: Array, batch: NDArray[np.uint64], normals: Array) -> dict[str, Any]:
        """Return all values that a step is given or makes, by name."""
        kernel = self.compiled.kernel
        values: dict[str, Any] = {**self.given, "batch": batch}
        values |= {name: z[self.place(name)].copy() for name, _, _ in self.passed_on}
        values |= {name: value.copy() for name, value in self.held}
        first = 0
        for array in kernel.noises:
            values[array.name] = normals[first : first + self._length(array)].copy()
            first += self._length(array)
        for name, scalars in kernel.registers:
            if name in values:
                values |= dict(zip(scalars, map(float, values[name]), strict=True))
        sizes = {**self.sizes, "batch_size": batch.size, "entries": max(length for _, _, length in self.passed_on)}
        step = kernel.step
        made = step.work if step.returns else (*step.outputs, *step.work)
        for array in (*made, *step.inputs):
            if array.name not in values:
                values[array.name] = np.zeros(tuple(_extent(size, sizes) for size in array.sizes))
        before = () if step.returns else step.outputs
        returned = cast("Any", self.emitted.step)(*(values[a.name] for a in (*before, *step.inputs, *step.work)))
        if step.returns:
            found = returned if isinstance(returned, tuple) else (returned,)
            values |= dict(zip((array.name for array in step.outputs), cast("tuple[float, ...]", found), strict=True))
        return values

    def _left(self, values: Mapping[str, Any], old: str, new: str) -> Array:
        """Return what a step leaves of a block: in scalars, in an array of its own, or in place."""
        scalars = self.compiled.kernel.scalars(new)
        if scalars:
            return np.array([values[name] for name in scalars])
        return np.atleast_1d(values[new if new in values else old])

    def _length(self, array: Declared) -> int:
        entries = max((length for _, _, length in self.passed_on), default=1)
        return int(np.prod([_extent(size, {**self.sizes, "entries": entries}) for size in array.sizes]))


def one_step(compiled: Module, emitted: Emitted, inputs: Inputs) -> OneStep:
    """Return one step of a module at the parameters, the step size and the data of a run.

    Raises:
        ValueError, numpy.linalg.LinAlgError: parameters, or a step size, for which there is no step.
    """
    program = compiled.program
    sizes: Sizes = dict(zip(emitted.sizes, inputs.numbers, strict=True))
    constants = emitted.prepare(*inputs.parameters, inputs.eps, *inputs.numbers)
    given: dict[str, Any] = {"eps": inputs.eps}
    given |= dict(zip(emitted.parameters, inputs.parameters, strict=True))
    given |= {name: _held(value) for name, value in zip(emitted.constants, constants, strict=True)}
    given |= dict(zip(emitted.data, inputs.data, strict=True))
    for array in (*compiled.kernel.step.inputs, *compiled.kernel.prepare.inputs):
        if array.name in given:
            sizes |= {
                size: number
                for size, number in zip(array.sizes, np.shape(given[array.name]), strict=True)
                if isinstance(size, str) and "+" not in size
            }
    blocks = {block.name: block for block in program.blocks}
    if program.gradient is not None and program.carried:
        blocks[program.gradient.name] = program.gradient.block
    passed_on = tuple(
        (old, new, int(np.prod([_extent(size, sizes) for size in blocks[old].shape.sizes])))
        for old, new in program.passed_on.items()
    )
    return OneStep(compiled, emitted, given, sizes, passed_on)


def _held(value: object) -> object:
    return float(cast("float", value)) if np.ndim(cast("float", value)) == 0 else np.ascontiguousarray(value)


def _extent(size: int | str, sizes: Mapping[str, int]) -> int:
    """Return a size as a number; of arrays joined end to end (`d+k`) the sum."""
    return size if isinstance(size, int) else sum(int(p) if p.isdigit() else sizes[p] for p in size.split("+"))
