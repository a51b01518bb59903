"""A target as it is emitted in Hamiltonian Monte Carlo: its text, and its gradient, U and log likelihood, called."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from loaders import load_build

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.lower_energies import lower_energies
from recipe_compiler.readback.names import Sizes
from recipe_compiler.readback.readback import read_back
from recipe_compiler.run.load_module import Emitted as Loaded
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sizes import with_sizes
from recipe_compiler.scheme.discretise import discretise, pinned_sizes
from recipe_compiler.spec.bind import bind

SPECS = Path(__file__).parents[2] / "specs"
BUILD = f"""
name: NAME
dynamics: {SPECS}/dynamics/hmc.yaml
target: target.yaml
bind: {{M: I}}
scheme: {{cycle: [{{refresh: r}}, {{metropolis: {{split: [B/2, A, B/2], steps: 2, flip: {{r: -r}}}}}}]}}
variant: full
data: {{file: data.csv, COLUMNS}}
run: {{step_size: 0.1}}
"""


@dataclass(frozen=True)
class Emitted:
    """A module with what it was made from."""

    module: Module
    derivation: Derivation
    pinned: dict[str, int]

    def read(self, change: Callable[[str], str] = lambda text: text) -> tuple[Sizes, ...]:
        """Read the text back, with a change."""
        return read_back(replace(self.module, text=change(self.module.text)), self.derivation, {}, self.pinned)

    @property
    def loaded(self) -> Loaded:
        return load_text(self.module.name, self.module.text)

    def called(self, procedure: str, theta: np.ndarray, data: Mapping[str, np.ndarray], **values: np.ndarray) -> Any:
        """Call an emitted procedure by the names of its arguments; `values` are the parameters'."""
        lowered = lower_energies(self.module.program)
        assert lowered is not None
        known = (*lowered.procedures, self.module.kernel.gradient)
        found = {one.name: one for one in known if one is not None}[procedure]
        out = np.full(theta.shape, np.nan)
        given: dict[str, Any] = {"theta": theta, "r": np.zeros(theta.shape), "grad_U": out, **values, **data}
        count = len(next(iter(data.values())))
        for array in found.work:
            given[array.name] = np.full(tuple(count if size == "N" else int(size) for size in array.sizes), np.nan)
        for array in found.inputs:
            given.setdefault(array.name, None)
        prepared = self.loaded.prepare_energies
        if prepared is not None:
            given |= dict(zip(self.loaded.energy_constants, prepared(*values.values()), strict=True))
        if procedure == "gradient":
            self.loaded.gradient(*(given[array.name] for array in (*found.outputs, *found.inputs, *found.work)))
            return out
        return getattr(self.loaded, procedure)(*(given[array.name] for array in found.inputs))


@cache
def emitted_target(name: str, target: str, columns: str, rows: str, more: str = "") -> Emitted:
    """Return a target, emitted.

    Args:
        name: of the target.
        target: the document, without its name.
        columns: what the build says of its data.
        rows: the file of the data.
        more: what else the build says.
    """
    folder = Path(mkdtemp())
    (folder / "target.yaml").write_text(f"name: {name}\n{target}")
    (folder / "data.csv").write_text(rows)
    text = BUILD.replace("NAME", name).replace("COLUMNS", columns)
    (folder / "build.yaml").write_text(f"{text}{more}")
    build = with_sizes(load_build(folder / "build.yaml"))
    program = discretise(build, derive(bind(build), stated=True))
    kernel = schedule(program, lower(program))
    module = emit_module(name, program, kernel, "A test.", "0" * 64)
    return Emitted(module, derive(bind(build)), pinned_sizes(build, program))
