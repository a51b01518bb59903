"""The functions of an emitted module that compute U and its gradient, as plain Python: no compilation for few calls."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from emitted_file import module_of
from loaders import load_build
from plain_modules import plain_modules
from running import shipped

from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.run.load_module import load_text


@dataclass(frozen=True)
class Plain:
    """The functions, and what they take beside the state."""

    kernel: Kernel
    width: int
    given: Mapping[str, Any]
    functions: Mapping[str, Callable[..., Any]]

    def U(self, theta: np.ndarray) -> float:
        """Return U at a state of the potential's block."""
        assert self.kernel.potential is not None
        return float(self._called(self.kernel.potential, theta))

    def gradient(self, theta: np.ndarray) -> np.ndarray:
        """Return grad U there."""
        assert self.kernel.gradient is not None
        return np.ravel(self._called(self.kernel.gradient, theta))

    def _called(self, procedure: Procedure, theta: np.ndarray) -> Any:
        known: dict[str, Any] = {"theta": theta, **self.given}
        known |= dict(zip(dict(self.kernel.registers).get("theta", ()), theta, strict=False))
        for array in (*(() if procedure.returns else procedure.outputs), *procedure.work):
            known[array.name] = np.full([self.width if size == "d" else int(size) for size in array.sizes], np.nan)
        function = self.functions[procedure.name]
        with np.errstate(over="ignore"):
            returned = function(*(known[name] for name in inspect.signature(function).parameters))
        return returned if procedure.returns else known[procedure.outputs[0].name]


def plain(path: Path, width: int, **given: Any) -> Plain:
    """Return the functions of the module of a build that accepts by H; nothing is proved or read back.

    Args:
        path: of the build.
        width: coordinates of the potential's block.
        given: its parameters and data.
    """
    module = shipped(load_build(path))
    with plain_modules():
        return Plain(module.kernel, width, given, vars(module_of(load_text(module.name, module.loaded))))
