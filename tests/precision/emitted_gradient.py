"""Modules of builds, emitted without asking for verdicts, and the arguments of their gradients."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from emitted_file import module_of

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import emit_module
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.run.load_module import load_text
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Value


@dataclass(frozen=True)
class Emitted:
    """A module as it would be shipped, imported."""

    module: Any
    kernel: Kernel

    @property
    def space(self) -> dict[str, Any]:
        return vars(module_of(self.module))

    def constants(self, values: list[Any], sizes: dict[str, int]) -> dict[str, Any]:
        """Return what the module computes once for a chain: inverses of matrices."""
        module = self.module
        computed = module.prepare(*values, 0.01, *(sizes[name] for name in module.sizes))
        return dict(zip(module.constants, computed, strict=True))

    def gradients(self, known: dict[str, Any], z: np.ndarray, rows: int) -> dict[str, np.ndarray]:
        """Return grad U of all rows as the step computes it, and as `full_gradient` does where there is one."""
        block = self.module.potential_block
        known = known | {block: z} | dict(zip(dict(self.kernel.registers).get(block, ()), z, strict=False))
        found = {"gradient": self._own(known, z, rows)} if "gradient" in self.space else {}
        if (whole := self.space.get("full_gradient")) is not None:
            found["full_gradient"] = np.ravel(whole(*(known[name] for name in _arguments(whole))))
        return found

    def _own(self, known: dict[str, Any], z: np.ndarray, rows: int) -> np.ndarray:
        procedure, function = self.kernel.gradient, self.space["gradient"]
        assert procedure is not None
        known = known | {"batch": np.arange(rows, dtype=np.uint64)}
        sizes = {"batch_size": rows} | {n: len(known[n]) for n in self.module.data} | {"N": rows}
        out = () if procedure.returns else procedure.outputs
        for array in (*out, *procedure.work):
            known[array.name] = np.empty([_length(size, sizes) for size in array.sizes])
        returned = function(*(known[name] for name in _arguments(function)))
        return np.ravel(returned if procedure.returns else known[procedure.outputs[0].name])


def emitted(build: Build) -> Emitted:
    """Return the emitted module of a build; verdicts are not asked for."""
    program = discretise(build, derive(bind(build), stated=True))
    shipped = rename(program, dict(build.sizes))
    kernel = schedule(shipped, lower(shipped))
    module = emit_module(build.name, shipped, kernel, "A test.", "0" * 64)
    return Emitted(load_text(build.name, module.text), kernel)


def known_noise(build: Build, sizes: dict[str, int]) -> Build:
    """Return the build with a value of the noise it would estimate, which the gradient does not ask for."""
    shapes = {p.name: p.shape for p in build.parameters if p.name == build.estimated}
    zeros = tuple((n, np.zeros([sizes.get(s, s) for s in shape.sizes])) for n, shape in shapes.items())
    values = tuple((n, Value(tuple(tuple(Fraction(0) for _ in row) for row in np.atleast_2d(v)))) for n, v in zeros)
    return replace(build, values=(*build.values, *values))


def _arguments(function: Any) -> tuple[str, ...]:
    code = function.py_func.__code__
    return code.co_varnames[: code.co_argcount]


def _length(size: int | str, sizes: dict[str, int]) -> int:
    return size if isinstance(size, int) else sum(int(sizes.get(part, part)) for part in size.split("+"))
