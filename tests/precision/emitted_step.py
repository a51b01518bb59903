"""The step of an emitted text as plain Python: every operation that it states, in doubles, rounded once."""

import math
import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from recipe_compiler.program.kernel import Kernel


def plain_module(text: str) -> dict[str, Any]:
    """Return the functions of a module, run by plain Python."""
    space: dict[str, Any] = {"__name__": "plain"}
    plain = re.sub(
        "(?m)^from numba import njit.*$", "def njit(*_, **__):\n    return lambda function: function\n", text
    )
    plain = re.sub("(?m)^from numba.extending import intrinsic$", "types, intrinsic = None, njit()", plain)
    exec(compile(plain, "plain", "exec"), space)
    space["_exp"] = math.exp
    return space


@dataclass(frozen=True)
class Step:
    """One step of a kernel at given sizes."""

    kernel: Kernel
    text: str
    sizes: dict[str, int]

    def __call__(self, state: dict[str, np.ndarray], values: dict[str, Any], eps: float, normal: int) -> np.ndarray:
        """Return the new state for normals that are 0 but for one of them, 2**200; for all of them 0 where it is -1."""
        space, step = plain_module(self.text), self.kernel.step
        given = dict(values) | state | {"eps": eps}
        constants = space["prepare"](*values.values(), eps, *(self.sizes[name] for name in space["SIZES"]))
        given |= dict(zip(space["CONSTANTS"], constants, strict=True))
        counts = [self._shape(array.sizes) for array in self.kernel.noises]
        for array, shape in zip(self.kernel.noises, counts, strict=True):
            given[array.name] = np.zeros(shape)
        flat = [(array.name, k) for array, shape in zip(self.kernel.noises, counts, strict=True) for k in range(*shape)]
        if normal >= 0:
            name, k = flat[normal]
            given[name][k] = 2.0**200
        for array in (*step.outputs, *step.work):
            given.setdefault(array.name, np.zeros(self._shape(array.sizes)))
        given["clipped"] = np.zeros(1, np.int64)
        for name, scalars in self.kernel.registers:
            given |= dict(zip(scalars, given[name], strict=True)) if name in given else {}
        code = space["step"].__code__
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            returned = space["step"](*(given[name] for name in code.co_varnames[: code.co_argcount]))
        if returned is not None:
            return np.array(returned if isinstance(returned, tuple) else (returned,))
        return np.concatenate([given[array.name] for array in step.outputs])

    @property
    def normals(self) -> int:
        """The number of normals that a step takes."""
        return sum(math.prod(self._shape(array.sizes)) for array in self.kernel.noises)

    def _shape(self, sizes: tuple[int | str, ...]) -> list[int]:
        return [
            size if isinstance(size, int) else sum(int(self.sizes.get(part, part)) for part in size.split("+"))
            for size in sizes
        ]
