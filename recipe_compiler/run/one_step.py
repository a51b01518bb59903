"""One step of an emitted module, called from outside: the state after it as a function of its draws, nothing drawn.

The state is all that a step passes on to the next: the blocks and, of a word whose last gradient is its next one's
first, that gradient, whose noise the two share.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.support.checks import _constants
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.load_module import Emitted

Values = dict[str, Any]
Drawn = Array | NDArray[np.uint64]
"""The rows of a batch, or the shift of the gradient of a quadratic."""


def call_procedure(
    procedure: Procedure, function: Callable[..., Any] | None, kernel: Kernel, values: Values, sizes: Sizes
) -> None:
    """Call an emitted function with values by name, into some of which it may write; what it makes is put among them.

    Args:
        procedure: what it was printed from; arrays that it writes into and that have no value yet are made.
        function: the same, imported.
        kernel: says which arrays it takes in scalars.
        values: of arrays, and of scalars that stand for themselves.
        sizes: symbolic sizes.
    """
    for name, scalars in kernel.registers:
        if name in values:
            values.update(zip(scalars, values[name].tolist(), strict=True))
    taken = (*(() if procedure.returns else procedure.outputs), *procedure.inputs, *procedure.work)
    for array in taken:
        if array.name not in values:
            values[array.name] = np.zeros([extent_of(size, sizes) for size in array.sizes])
    assert function is not None, procedure.name
    returned = function(*(values[array.name] for array in taken))
    if procedure.returns:
        found = returned if isinstance(returned, tuple) else (returned,)
        values.update(zip((array.name for array in procedure.outputs), found, strict=True))


@dataclass(frozen=True, eq=False)
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

    @cached_property
    def _noises(self) -> dict[str, slice]:
        sizes = {**self.sizes, "entries": self._longest}
        arrays = self.compiled.kernel.noises
        return _joined((array.name, prod(extent_of(size, sizes) for size in array.sizes)) for array in arrays)

    @cached_property
    def _parts(self) -> dict[str, slice]:
        return _joined((name, length) for name, _, length in self.passed_on)

    @cached_property
    def normals(self) -> int:
        """How many standard normals a step takes."""
        return max((place.stop for place in self._noises.values()), default=0)

    def place(self, name: str) -> slice:
        """Return where a block, or the gradient, is in the state."""
        return self._parts.get(name, slice(self.width, self.width))

    def holding(self, name: str, value: Array) -> "OneStep":
        """Return the step with a block held at a value."""
        left = tuple(one for one in self.passed_on if one[0] != name)
        return replace(self, passed_on=left, held=(*self.held, (name, value)))

    def after(self, z: Array, drawn: Drawn, normals: Array) -> Array:
        """Return the state after a step, n numbers, from a state, what is `drawn`, and standard normals."""
        return self._left(((old, new) for old, new, _ in self.passed_on), self._made(z, drawn, normals))

    def held_after(self, z: Array, drawn: Drawn, normals: Array) -> Array:
        """Return what a step would make of the blocks that are held."""
        passed_on = self.compiled.program.passed_on
        return self._left(((name, passed_on[name]) for name, _ in self.held), self._made(z, drawn, normals))

    def _left(self, names: Iterable[tuple[str, str]], values: Values) -> Array:
        """Return what a step leaves, end to end: in scalars, in an array of its own, or in place."""
        scalars = dict(self.compiled.kernel.registers)
        own = (scalars.get(new) or ((new,) if new in values else (old,)) for old, new in names)
        return np.hstack([values[name] for names in own for name in names])

    def _made(self, z: Array, drawn: Drawn, normals: Array) -> Values:
        """Return all values that a step is given or makes. Arrays are copies, as a step may write into them."""
        is_number = np.ndim(self.given.get(self.drawn, drawn)) == 0  # the shift of a scalar block
        values = {**self.given, self.drawn: drawn.item() if is_number else drawn}
        values |= {name: value.copy() for name, value in self.held}
        values |= {name: z[place].copy() for name, place in self._parts.items()}
        values |= {name: normals[place].copy() for name, place in self._noises.items()}
        kernel, sizes = self.compiled.kernel, {**self.sizes, "batch_size": drawn.size, "entries": self._longest}
        call_procedure(kernel.step, self.emitted.step, kernel, values, sizes)
        return values

    @cached_property
    def _longest(self) -> int:
        return max((length for _, _, length in self.passed_on), default=1)


def _joined(lengths: Iterable[tuple[str, int]]) -> dict[str, slice]:
    """Return where arrays are that stand end to end."""
    end = 0
    return {name: slice(end, end := end + length) for name, length in lengths}


def one_step(compiled: Module, emitted: Emitted, inputs: Inputs) -> OneStep:
    """Return one step of a module at the parameters, the step size and the data of a run.

    Raises:
        ValueError, numpy.linalg.LinAlgError: parameters, or a step size, for which there is no step.
    """
    program, sizes = compiled.program, {**inputs.sizes}
    constants = emitted.prepare(*inputs.parameters.values(), inputs.eps, *sizes.values())
    given = {"eps": inputs.eps, **inputs.parameters, **_constants(emitted.constants, constants), **inputs.data}
    for array in (*compiled.kernel.step.inputs, *compiled.kernel.prepare.inputs):
        if array.name in given:
            shape = zip(array.sizes, np.shape(given[array.name]), strict=True)
            sizes |= {size: number for size, number in shape if isinstance(size, str) and "+" not in size}
    blocks = {block.name: block for block in program.blocks}
    if program.gradient is not None and program.carried:
        blocks[program.gradient.name] = program.gradient.block
    passed_on = tuple(
        (old, new, prod(extent_of(size, sizes) for size in blocks[old].shape.sizes))
        for old, new in program.passed_on.items()
    )
    return OneStep(compiled, emitted, given, sizes, passed_on)


def extent_of(size: int | str, sizes: Sizes) -> int:
    """Return a size as a number; of arrays joined end to end (`d+k`) the sum."""
    return size if isinstance(size, int) else sum(int(p) if p.isdigit() else sizes[p] for p in size.split("+"))
