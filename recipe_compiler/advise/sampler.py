"""The sampler of a build as plans, forecasts and diagnostics take it: its module, with what its chains are given."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recipe_compiler.emit.module import Module
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.data import Data
from recipe_compiler.run.domain_check import bounded_blocks
from recipe_compiler.run.energies import potential_of
from recipe_compiler.run.evaluate import Point
from recipe_compiler.run.gradients import Gradients, full_gradient, gradients
from recipe_compiler.run.initial import first_states, starts_of
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.map_estimate import Slope, Start
from recipe_compiler.run.sample import Draws, known_values, potential_place, prepare_inputs
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.run.stages import Ready
from recipe_compiler.run.store import sampled_names
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.model import Build


@dataclass(frozen=True, eq=False)
class Sampler:
    """A module at the values and data that its chains are given."""

    build: Build
    compiled: Module
    """As it was emitted."""
    module: Emitted
    """The same, imported."""
    data: Data
    inputs: Inputs
    names: tuple[str, ...]
    """The names of the coordinates of the potential's block."""

    @classmethod
    def of(cls, build: Build, compiled: Module, module: Emitted, data: Data) -> "Sampler":
        """Return the sampler of a build with the settings that it states. Errors are those of `prepare_inputs`."""
        names = sampled_names(build, data, resolve_sizes(build, data))
        return cls(build, compiled, module, data, prepare_inputs(module, build, build.run, data), names)

    @classmethod
    def of_run(cls, ready: Ready) -> "Sampler":
        """Return the sampler of a run."""
        run = ready.run
        return cls(run.build, run.compiled, run.module, run.data, ready.inputs, ready.names)

    @property
    def slope(self) -> Slope | None:
        """Theta to grad U of all data; None where no emitted code computes it, nor the target's own."""
        return full_gradient(self.module, self.inputs)

    @property
    def potential(self) -> Callable[[Array], float] | None:
        """Theta to U of all data; None where no emitted code computes it."""
        return potential_of(self.module, self.inputs)

    @property
    def gradients(self) -> Gradients:
        """The gradient estimated from minibatches. Raises RunError where there is none."""
        return gradients(self.compiled, self.module, self.inputs)

    def gradients_of_step(self, given: Mapping[str, Array] | None = None) -> float:
        """Return the gradients of one step: of a cycle, of all trajectories that are accepted or refused, on average.

        Args:
            given: the values of parameters that say how long they are, in place of the sampler's own.
        """
        cycle, values = self.compiled.program.cycle, {**self.inputs.parameters, **(given or {})}
        moves = cycle.accepted if cycle is not None else ()
        most = (math.ceil(float(values[n])) if isinstance(n := move.most, str) else n for move in moves)
        lengths = [move.least + longest for move, longest in zip(moves, most, strict=True)]
        return sum(lengths) / 2.0 if lengths else 1.0

    @property
    def point(self) -> Point:
        """Values of the names in formulas of parameters alone."""
        sizes = resolve_sizes(self.build, self.data)
        return Point(known_values(self.build, sizes), sizes)

    @cached_property
    def starts(self) -> tuple[Start, ...]:
        """Where a search for the mode begins: at that of control variates, else where `init` says, and elsewhere."""
        given = self.inputs.parameters
        modes = [given[own.mode] for own in self.build.control if own.mode in given]
        if modes:
            return (Start("the mode of the control variates", np.concatenate([*map(np.ravel, modes)])),)
        return starts_of(self.module, self.build, self.point.names, self.point.sizes)

    @property
    def first_states(self) -> Callable[[int, int], dict[str, Array]]:
        """Where chains of a run start: of its seed and the chain, by the module's names of blocks."""
        return first_states(self.module, self.build, self.point.names, self.point.sizes)

    @property
    def bounded(self) -> list[str]:
        """Blocks whose domain is not all of a real space."""
        return bounded_blocks(self.build.dynamics.declarations)

    @property
    def is_discrete(self) -> bool:
        """Whether blocks of the target count."""
        return bool(discrete_blocks(self.build.target.declarations))

    def theta(self, draws: Draws) -> Array:
        """Return draws of the potential's block, chain x draw x coordinate, warmup included."""
        return draws.arrays[potential_place(self.module)]
