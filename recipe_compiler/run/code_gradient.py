"""A gradient that is code: called once before it is tried, and a chain is given it; its faults are its author's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.run.load_module import load_function
from recipe_compiler.run.user_code import call_once
from recipe_compiler.spec.model import Target

Array = NDArray[np.float64]
Batch = NDArray[np.uint64]

UNWRITTEN = float(np.nextafter(np.inf, 0.0))
"""What stands where nothing was written: no gradient is the largest of all numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class CodeGradient:
    """The function of a target's author, and what it is given."""

    function: Callable[..., object]
    """Jitted; writes into its first argument."""
    call: str
    """How it is called, for messages."""
    given: tuple[Any, ...]
    """Parameters and data, in the order it takes them."""
    width: int
    """Entries of the gradient."""
    rows: int
    batch_size: int | None
    """Rows of a minibatch, None where the function takes all of them."""

    def of_batch(self, theta: Array, batch: Batch | None) -> Array:
        """Return what the function makes of a batch of rows; of None where it takes all."""
        out = np.full(self.width, UNWRITTEN)
        self.function(out, theta, *self.given, *(() if batch is None else (batch,)))
        return out

    def full(self, theta: Array) -> Array:
        """Return grad U of all data."""
        every = None if self.batch_size is None else np.arange(self.rows, dtype=np.uint64)
        return self.of_batch(np.ascontiguousarray(theta, dtype=np.float64), every)


def code_gradient(
    target: Target,
    width: int,
    parameters: Mapping[str, object],
    data: Mapping[str, object],
    rows: int,
    batch_size: int | None,
) -> CodeGradient | None:
    """Return the function that computes a target's gradient, None where formulas do. It is run, once.

    Args:
        target: names the file and the function.
        width: coordinates of the potential's block.
        parameters: values by name, those of the target among them.
        data: arrays by name.
        rows: the number of data.
        batch_size: rows of a minibatch, None where the function takes all of them.

    Raises:
        RunError: the file has no such function, or it cannot be compiled, raises, or leaves entries unwritten.
    """
    if target.gradient is None:
        return None
    declared = target.declarations
    names = [*(p.name for p in declared.parameters), *(d.name for d in declared.data)]
    given = tuple({**parameters, **data}[name] for name in names)
    arguments = ", ".join(["out", "theta", *names, *(() if batch_size is None else ("batch",))])
    call = f"{target.gradient.file}: {target.gradient.function}({arguments})"
    made = CodeGradient(load_function(target.gradient), call, given, width, rows, batch_size)
    _call_once(made)
    return made


def _call_once(gradient: CodeGradient) -> None:
    out = np.full(gradient.width, UNWRITTEN)
    theta = np.full(gradient.width, 1.0 / (gradient.width + 1.0))  # inside every domain but intervals elsewhere
    size = gradient.batch_size
    batch = () if size is None else (np.arange(size, dtype=np.uint64) % gradient.rows,)
    where = f"at theta = {theta[0]:g}"
    returned = call_once(gradient.call, where, lambda: gradient.function(out, theta, *gradient.given, *batch))
    left = np.flatnonzero(out == UNWRITTEN)
    if left.size:
        hint = ", and returns a value, which is ignored" if returned is not None else ""
        expected = f"expected grad U in `out`, of {gradient.width} entries"
        raise RunError(f"{gradient.call} leaves out[{left[0]}] unwritten{hint}: {expected}")
