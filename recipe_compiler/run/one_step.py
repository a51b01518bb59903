"""One step of an emitted module, called from outside: the state after it as a function of its draws, nothing drawn.

The state is all that a step passes on to the next: the blocks and, of a word whose last gradient is its next one's
first, that gradient, whose noise the two share.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.support.checks import _constants
from recipe_compiler.program.loops import Array as Declared
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.load_module import Emitted

Array = NDArray[np.float64]
Sizes = dict[str, int]
Drawn = Array | NDArray[np.uint64]
"""The rows of a batch, or the shift of the gradient of a quadratic."""


@dataclass(frozen=True, slots=True, eq=False)
class OneStep:
    """The `step` of a module at the values that a run gives it, as a function of the state and what it draws."""

    compiled: Module
    emitted: Emitted
    given: Mapping[str, Any]
    """Parameters, constants, data, the step size."""
    sizes: Sizes
    passed_on: tuple[tuple[str, str, int], ...]
    """What the step is given by the one before, what it leaves in its place, and how many numbers that is."""
    held: tuple[tuple[str, Array], ...] = ()
    """Blocks that are held where they are, and so are no part of the state; with their values."""
    drawn: str = "batch"
    """The argument that differs from step to step beside state and normals."""

    @property
    def width(self) -> int:
        """How many numbers are passed on."""
        return sum(length for _, _, length in self.passed_on)

    @property
    def normals(self) -> int:
        """How many standard normals a step takes."""
        return sum(self.length(array) for array in self.compiled.kernel.noises)

    def place(self, name: str) -> slice:
        """Return where a block, or the gradient, is in the state."""
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

    def after(self, z: Array, drawn: Drawn, normals: Array) -> Array:
        """Return the state after a step, n numbers, from a state, what is `drawn`, and standard normals."""
        plan = _plan(self, drawn.size)
        return plan.read(plan.left, self._made(plan, z, drawn, normals))

    def held_after(self, z: Array, drawn: Drawn, normals: Array) -> Array:
        """Return what a step would make of the blocks that are held."""
        plan = _plan(self, drawn.size)
        return plan.read(plan.left_of_held, self._made(plan, z, drawn, normals))

    def _made(self, plan: "_Plan", z: Array, drawn: Drawn, normals: Array) -> list[Any]:
        """Return all values that a step is given or makes, in the order of a plan: a forecast asks thousands of times.

        Arrays are copies, as a step may write into what it is given.
        """
        values: list[Any] = [*plan.fixed]
        values[plan.drawn] = drawn.item() if plan.is_number else drawn
        z, normals = z.copy(), normals.copy()
        for at, place in plan.places:
            values[at] = z[place]
        for at, value in plan.held:
            values[at] = value.copy()
        for at, place in plan.noises:
            values[at] = normals[place]
        for at, scalars in plan.registers:
            for scalar, number in zip(scalars, values[at].tolist(), strict=True):
                values[scalar] = number
        for at, shape in plan.empty:
            values[at] = np.zeros(shape)
        returned = cast("Any", self.emitted.step)(*values[: plan.taken])
        if plan.returned:
            for at, value in zip(plan.returned, returned if isinstance(returned, tuple) else (returned,), strict=True):
                values[at] = value
        return values

    def length(self, array: Declared) -> int:
        """Return how many numbers an array of normals has."""
        entries = max((length for _, _, length in self.passed_on), default=1)
        return int(np.prod([_extent(size, {**self.sizes, "entries": entries}) for size in array.sizes]))


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Places of the values of a step in a list, and where they come from: the same at every state."""

    fixed: tuple[Any, ...]
    """What is the same at every state; None where it is not. What a step takes comes first, in its order."""
    taken: int
    """How many it takes."""
    drawn: int
    is_number: bool
    """Whether what is drawn is no array: the shift of a scalar block."""
    places: tuple[tuple[int, slice], ...]
    """Places of blocks in the state."""
    held: tuple[tuple[int, Array], ...]
    """Blocks that are held, with their values."""
    noises: tuple[tuple[int, slice], ...]
    """In the normals."""
    empty: tuple[tuple[int, tuple[int, ...]], ...]
    """Arrays that a step writes into, with their shapes."""
    registers: tuple[tuple[int, tuple[int, ...]], ...]
    """What the step takes in scalars, with these."""
    returned: tuple[int, ...]
    """Scalars that it returns; none where it writes into arrays."""
    left: tuple[tuple[int, ...], ...]
    """What it leaves of each part of the state: scalars, or one array."""
    left_of_held: tuple[tuple[int, ...], ...]
    """What it would leave in the place of each block that is held."""

    def read(self, left: tuple[tuple[int, ...], ...], values: list[Any]) -> Array:
        """Return what is left of some parts, end to end."""
        return np.concatenate([_one(values, places) for places in left])


def _one(values: list[Any], places: tuple[int, ...]) -> Array:
    first, *others = places
    found = values[first]
    if isinstance(found, np.ndarray) and found.ndim:
        return cast("Array", found)
    return np.array([found, *(values[at] for at in others)])


@lru_cache(maxsize=32)
def _plan(step: OneStep, batch_size: int) -> _Plan:
    kernel, noises, first = step.compiled.kernel, list[tuple[str, slice]](), 0
    for array in kernel.noises:
        last = first + step.length(array)
        noises.append((array.name, slice(first, last)))
        first = last
    sizes = {**step.sizes, "batch_size": batch_size, "entries": max(length for _, _, length in step.passed_on)}
    own = kernel.step
    written = () if own.returns else own.outputs
    given = {*step.given, step.drawn, *(name for name, _, _ in step.passed_on), *(name for name, _ in step.held)}
    given |= {array.name for array in kernel.noises}
    registers = tuple((name, scalars) for name, scalars in kernel.registers if name in given)
    given |= {scalar for _, scalars in registers for scalar in scalars}
    made = {a.name: a.sizes for a in (*written, *own.work, *own.inputs) if a.name not in given}
    returned = tuple(array.name for array in own.outputs) if own.returns else ()
    known = {*given, *made, *returned}

    def left(old: str, new: str) -> tuple[str, ...]:
        """Return the names of what a step leaves: in scalars, in an array of its own, or in place."""
        return kernel.scalars(new) or ((new,) if new in known else (old,))

    taken = tuple(array.name for array in (*written, *own.inputs, *own.work))
    at = {name: place for place, name in enumerate(dict.fromkeys((*taken, *sorted(known))))}
    held_by_name = step.compiled.program.passed_on
    return _Plan(
        fixed=tuple(step.given.get(name) for name in at),
        taken=len(taken),
        drawn=at[step.drawn],
        is_number=np.ndim(step.given.get(step.drawn, np.empty(0))) == 0,
        places=tuple((at[name], step.place(name)) for name, _, _ in step.passed_on),
        held=tuple((at[name], value) for name, value in step.held),
        noises=tuple((at[name], place) for name, place in noises),
        empty=tuple((at[name], tuple(_extent(size, sizes) for size in shape)) for name, shape in made.items()),
        registers=tuple((at[name], tuple(at[scalar] for scalar in scalars)) for name, scalars in registers),
        returned=tuple(at[name] for name in returned),
        left=tuple(tuple(at[name] for name in left(old, new)) for old, new, _ in step.passed_on),
        left_of_held=tuple(tuple(at[one] for one in left(name, held_by_name[name])) for name, _ in step.held),
    )


def one_step(compiled: Module, emitted: Emitted, inputs: Inputs) -> OneStep:
    """Return one step of a module at the parameters, the step size and the data of a run.

    Raises:
        ValueError, numpy.linalg.LinAlgError: parameters, or a step size, for which there is no step.
    """
    program = compiled.program
    sizes: Sizes = {**inputs.sizes}
    constants = emitted.prepare(*inputs.parameters.values(), inputs.eps, *sizes.values())
    given = {"eps": inputs.eps, **inputs.parameters, **_constants(emitted.constants, constants), **inputs.data}
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


def _extent(size: int | str, sizes: Mapping[str, int]) -> int:
    """Return a size as a number; of arrays joined end to end (`d+k`) the sum."""
    return size if isinstance(size, int) else sum(int(p) if p.isdigit() else sizes[p] for p in size.split("+"))
