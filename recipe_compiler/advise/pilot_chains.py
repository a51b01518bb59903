"""Chains of a build while its settings are looked for: its own module, walked with values that are tried in turn."""

import math
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.budget import Budget
from recipe_compiler.advise.metric import Metric, metric_of
from recipe_compiler.advise.roles import Open
from recipe_compiler.formula.declaration import Block
from recipe_compiler.run.chain import start_chain
from recipe_compiler.run.chains import run_chains
from recipe_compiler.run.data import Data
from recipe_compiler.run.domain_check import UNBOUNDED, leaves
from recipe_compiler.run.evaluate import Point
from recipe_compiler.run.initial import at_rest, first_states
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.sample import (
    NoStepError,
    available_cores,
    known_values,
    prepare_inputs,
)
from recipe_compiler.run.sizes import potential_block, resolve_sizes
from recipe_compiler.spec.model import Build, Value

Array = NDArray[np.float64]

CHAINS = 8
"""Side by side: another may reach what one never does."""

SEED = 2**40
"""The first of the seeds of walks: their own, so that a plan is the same for every seed of its run."""

LEAST_ENTRIES = 30
"""What a step costs at least, in entries of the data that are read."""


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The settings of a walk."""

    values: Mapping[str, Array]
    """Values of the chosen parameters, by their names in the documents."""
    eps: float
    thin: int


@dataclass(frozen=True, eq=False)
class Walker:
    """A compiled build whose chains can be walked with any values of what is to be chosen."""

    module: Emitted
    build: Build
    data: Data
    damping: float = 1.0
    """Friction over that of one time of the bulk."""
    budget: Budget = field(default_factory=lambda: Budget(math.inf))
    """What its chains may take."""

    @cached_property
    def entries(self) -> float:
        """What a step costs, in entries of the data that are read."""
        fields = sum(field.values.size for field in self.data.fields)
        part = (self.build.run.batch_size or 1) / max(1, self.data.rows) if self.module.variant == "minibatch" else 1.0
        return max(float(LEAST_ENTRIES), fields * part)

    def metric(self, open_ones: tuple[Open, ...]) -> Metric:
        """Return what its step multiplies forces by, where a plan chooses parameters."""
        return metric_of(self.build, self._at, open_ones)

    @cached_property
    def begun(self) -> Array:
        """Where chains of a run that states nothing would begin, chain by chain."""
        return np.array([self._started(k)[self.module.potential_block] for k in range(CHAINS)])

    @cached_property
    def _rest(self) -> Mapping[str, Array]:
        """Where other blocks start: at zero, momenta at rest; where zero is outside of their domain, inside of it."""
        return self._started(0)

    def _started(self, chain: int) -> Mapping[str, Array]:
        first = first_states(self.module, self.build, self._at.names, self._at.sizes)
        return at_rest(self.build, first(SEED, chain))

    def walked(self, theta: Array, settings: Settings, draws: int, seed: int) -> Array:
        """Return draws of the potential's block, [chain, draw, coordinate]; NaN once a chain has become infinite.

        So it is once a chain has left the domain of its equation, or where it begins outside of it; and all of it with
        a step size above eps_max. All other blocks start at zero, momenta at rest, or where their domain lets them.

        Args:
            theta: where each chain starts.
            settings: the values and the step size.
            draws: of each chain, `thin` steps apart.
            seed: counted from `SEED`.
        """
        chosen = tuple((name, value_of(value)) for name, value in settings.values.items())
        kept = tuple((name, value) for name, value in self.build.values if name not in settings.values)
        run = replace(self.build.run, step_size=settings.eps, thin=settings.thin)
        build = replace(self.build, values=(*kept, *chosen), run=run, stated_step_size=Fraction(settings.eps))
        name = self.module.potential_block
        found = np.full((len(theta), draws, theta.shape[1]), np.nan)
        try:
            inputs = prepare_inputs(self.module, build, run, self.data, draws)
        except NoStepError:
            return found
        noise, batch = self.module.seed_streams(SEED + seed, len(theta))
        chains = [
            start_chain(self.module, inputs, {**self._rest, name: at}, noise[k], batch[k]) for k, at in enumerate(theta)
        ]
        stopped = run_chains(self.module, inputs, chains, available_cores(), self._watched)
        if stopped is not None:
            signal.raise_signal(stopped)  # it was meant for the whole run, not for the walk alone
        for k, chain in enumerate(chains):
            found[k, : chain.done] = chain.draws[f"{name}_draws"][: chain.done]
        if np.isfinite(found).all():
            self.budget.keep(found, settings.thin)
        if self._block.domain.name not in UNBOUNDED:
            bind, at = dict(self.build.bind), self._at
            first = leaves(self._block, bind, at, theta[:, None])
            found[np.logical_or.accumulate(first | leaves(self._block, bind, at, found), axis=1)] = np.nan
        return found

    def _watched(self, done: Sequence[int], total: int) -> None:
        self.budget.say(f"pilot chains: {min(done)} of {total} draws")
        self.budget.demand()

    @cached_property
    def _block(self) -> Block:
        own = potential_block(self.build)
        return next(block for block in self.build.dynamics.declarations.blocks if block.name == own)

    @cached_property
    def _at(self) -> Point:
        """Values of the names in formulas of parameters alone."""
        sizes = resolve_sizes(self.build, self.data)
        return Point(known_values(self.build, sizes), sizes)


def value_of(array: Array) -> Value:
    """Return numbers as a build has the value of a parameter."""
    return Value(tuple(tuple(Fraction(float(entry)) for entry in row) for row in np.atleast_2d(array)))
