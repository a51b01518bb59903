"""A gradient that is code, called once before a chain is: its faults are its author's, and are said as such."""

from collections.abc import Callable, Mapping

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from recipe_compiler.run.errors import RunError
from recipe_compiler.run.load_module import load_gradient
from recipe_compiler.spec.model import Target

Array = NDArray[np.float64]

UNWRITTEN = float(np.nextafter(np.inf, 0.0))
"""What stands where nothing was written: no gradient is the largest of all numbers."""


def code_gradient(
    target: Target,
    width: int,
    parameters: Mapping[str, object],
    data: Mapping[str, object],
    batch: NDArray[np.uint64] | None,
) -> Callable[..., object] | None:
    """Return the function that computes a target's gradient, None where formulas do. It is run, once.

    Args:
        target: names the file and the function.
        width: coordinates of the potential's block.
        parameters: values by name, those of the target among them.
        data: arrays by name.
        batch: rows of a minibatch, None where the function takes all of them.

    Raises:
        RunError: the file has no such function, or it cannot be compiled, raises, or leaves entries unwritten.
    """
    if target.gradient is None:
        return None
    function = load_gradient(target.gradient)
    declared = target.declarations
    names = [*(p.name for p in declared.parameters), *(d.name for d in declared.data)]
    given = [{**parameters, **data}[name] for name in names]
    if batch is not None:
        names, given = [*names, "batch"], [*given, batch]
    call = f"{target.gradient.file}: {target.gradient.function}({', '.join(['out', 'theta', *names])})"
    out = np.full(width, UNWRITTEN)
    theta = np.full(width, 1.0 / (width + 1.0))  # inside every domain but intervals that begin elsewhere
    try:
        returned = function(out, theta, *given)
    except NumbaError as error:
        raise RunError(f"{call} cannot be compiled by numba: {_first_lines(error)}") from error
    except Exception as error:
        raise RunError(f"{call} raises {type(error).__name__} at theta = {theta[0]:g}: {error}") from error
    left = np.flatnonzero(out == UNWRITTEN)
    if left.size:
        hint = ", and returns a value, which nobody takes" if returned is not None else ""
        raise RunError(f"{call} leaves out[{left[0]}] unwritten{hint}: expected grad U in `out`, of {width} entries")
    return function


def _first_lines(error: NumbaError) -> str:
    """Return what numba found, without what it was doing then."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])
