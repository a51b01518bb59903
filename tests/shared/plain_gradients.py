"""The functions of an emitted module that compute U and its gradient, as plain Python: no compilation for few calls."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from loaders import load_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind


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
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        with np.errstate(over="ignore"):
            returned = function(*(known[name] for name in names))
        return returned if procedure.returns else known[procedure.outputs[0].name]


def plain(path: Path, width: int, **given: Any) -> Plain:
    """Return the functions of the module of a build that accepts by H; nothing is proved or read back.

    Args:
        path: of the build.
        width: coordinates of the potential's block.
        given: its parameters and data.
    """
    build = load_build(path)
    program = rename(discretise(build, derive(bind(build), stated=True)), dict(build.sizes))
    kernel = schedule(program, lower(program))
    text = emit_module(build.name, program, kernel, "A test.", "0" * 64).text
    lines: list[str] = []
    for block in text.split("\n\n\n"):
        if "def gradient(" in block or "def potential(" in block:
            lines += [line for line in block.split("\n") if not line.startswith("@")]
    space: dict[str, Any] = {"math": math, "np": np, "_exp": _exp, "_softplus": _softplus}
    exec(compile("\n".join(lines), "emitted", "exec"), space)
    return Plain(kernel, width, given, space)


def _exp(x: float) -> float:
    return float(np.exp(x))


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
