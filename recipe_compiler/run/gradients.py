"""The gradient that a chain uses, called from outside of it: of a batch, of a datum, of all data."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.support.checks import _constants
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.one_step import call_procedure, extent_of

LEAST_ROWS = 5_000
"""Entries of the sample that represents all rows."""

PIECE = 1 << 16
"""Data of one call: the numbers of their rows are in memory, they themselves need not be."""


@dataclass(frozen=True, slots=True, eq=False)
class Gradients:
    """The minibatch gradient of a target as emitted, prior + (N/n) sum over the batch (Ma, Chen, Fox 2015, Eq. 7)."""

    rows: int
    width: int
    """Entries of the gradient."""
    of_batch: Callable[[Array, NDArray[np.uint64]], Array]
    entries: int
    """Entries of the data that `full` reads."""

    def full(self, theta: Array) -> Array:
        """Return grad U, d numbers: the mean of estimates from batches that partition the data, weighted by size."""
        total = np.zeros(self.width)
        for first in range(0, self.rows, PIECE):
            batch = np.arange(first, min(first + PIECE, self.rows), dtype=np.uint64)
            total += self.of_batch(theta, batch) * (batch.size / self.rows)
        return total

    def of_few(self, most: float) -> Callable[[Array], Array] | None:
        """Return grad U by a sample of rows, as `sample` draws them; None where all are few."""
        sample = self.sample(most)
        return None if sample is None else lambda theta: self.of_batch(theta, sample)

    def sample(self, most: float) -> NDArray[np.uint64] | None:
        """Return rows drawn at random that represent all, with `most` entries of the data; None where all have fewer.

        With n rows, drawn without replacement, a Hessian is off by a relative error of about 1/sqrt(n).
        """
        few = max(LEAST_ROWS, int(self.rows * most / max(self.entries, 1)))
        if few >= self.rows:
            return None
        return np.sort(np.random.default_rng(0).permutation(self.rows)[:few]).astype(np.uint64)


def gradient_of_steps(module: Module, emitted: Emitted, inputs: Inputs) -> Callable[[Array], Array] | None:
    """Return grad U of all data by the gradient that steps take, as a function of theta; None where they take none.

    Args:
        module: as it was emitted.
        emitted: the same, imported.
        inputs: what its chains are given.
    """
    procedure, own = module.kernel.gradient, module.program.gradient
    if procedure is None or own is None or emitted.gradient is None:
        return None
    if module.kernel.chunked:  # it is of one entry, called after its array
        of_entry, arrays = np.vectorize(emitted.gradient, otypes=[float]), {f"{a}_i": a for a in module.kernel.chunked}
        names = [arrays.get(array.name, array.name) for array in procedure.inputs]
        block = own.block.name
        return lambda theta: of_entry(*({**inputs.given, block: theta}[name] for name in names))
    found = _gradients(module, emitted, inputs)
    if emitted.variant == "minibatch":
        return found.full
    return lambda theta: found.of_batch(theta, np.empty(0, dtype=np.uint64))


def gradients(module: Module, emitted: Emitted, inputs: Inputs) -> Gradients:
    """Return the gradient of a module that estimates it from minibatches.

    Args:
        module: as it was emitted.
        emitted: the same, imported.
        inputs: what its chains are given: parameters, constants, data.

    Raises:
        RunError: the module has no minibatch gradient.
    """
    if emitted.variant != "minibatch":
        raise RunError(f"{module.name}: found no minibatch gradient, expected one to estimate from")
    return _gradients(module, emitted, inputs)


def _gradients(module: Module, emitted: Emitted, inputs: Inputs) -> Gradients:
    procedure, program, call = module.kernel.gradient, module.program, emitted.gradient
    if procedure is None or program.gradient is None or call is None:
        raise RunError(f"{module.name}: found no gradient, expected one that steps take")
    block = program.gradient.block
    sizes = {**dict(program.heads), **inputs.sizes}
    for datum in program.data:
        shape = zip(datum.axes, np.shape(inputs.data[datum.name]), strict=True)
        sizes |= {size: number for size, number in shape if isinstance(size, str)}
    width = extent_of(block.shape.sizes[0], sizes) if block.shape.sizes else 1

    given = inputs.given

    @lru_cache(maxsize=4)
    def work(batch_size: int) -> dict[str, Array]:
        known = {**sizes, "batch_size": batch_size}
        return {array.name: np.zeros([extent_of(size, known) for size in array.sizes]) for array in procedure.work}

    def of_batch(theta: Array, batch: NDArray[np.uint64]) -> Array:
        values = {**given, **work(batch.size), block.name: theta, "batch": batch}
        call_procedure(procedure, call, module.kernel, values, sizes)
        return np.hstack([values[array.name] for array in procedure.outputs])

    return Gradients(inputs.rows, width, of_batch, sum(field.size for field in inputs.data.values()))


def full_gradient(module: Emitted, inputs: Inputs) -> Callable[[Array], Array] | None:
    """Return grad U of all data as a function of theta alone; None where the module has none.

    Args:
        module: emitted and imported. A gradient that is code takes the place of its own.
        inputs: what its chains are given.
    """
    if inputs.gradient is not None:
        return inputs.gradient.full
    if module.full_gradient is None:
        return None
    call = of_state(module, inputs, module.full_gradient)
    return lambda theta: np.asarray(call({module.potential_block: theta}), dtype=np.float64).reshape(-1)


def of_state(
    module: Emitted, inputs: Inputs, function: Callable[..., Any] | None
) -> Callable[[Mapping[str, Array]], Any]:
    """Return an emitted function of the state as one of its blocks by name: parameters, constants, data are put in."""
    prepare, constants, wanted = module.prepare_energies, module.energy_constants, _arguments(function)
    if function is module.full_gradient:
        there = {*dict(module.blocks), *inputs.parameters, *inputs.data}
        prepare, constants = module.prepare_full_gradient, tuple(name for name in wanted if name not in there)
    made = () if prepare is None else prepare(*inputs.parameters.values(), *inputs.sizes.values())
    known = {**inputs.parameters, **_constants(constants, made), **inputs.data}
    return lambda blocks: cast("Any", function)(*(blocks[n] if n in blocks else known[n] for n in wanted))


def _arguments(function: Callable[..., Any] | None) -> tuple[str, ...]:
    """Return the names of what a jitted function takes."""
    return tuple(inspect.signature(cast("Any", function)).parameters)
