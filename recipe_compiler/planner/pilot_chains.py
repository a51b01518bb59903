"""Chains of a build while its settings are looked for: its own module, walked with values that are tried in turn."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.run.chain import start_chain
from recipe_compiler.run.chains import run_chains
from recipe_compiler.run.data import Data
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.load_module import Emitted, users_name
from recipe_compiler.run.sample import NoStepError, available_cores, potential_place, prepare_inputs, unwatched
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.model import Build, Value

Array = NDArray[np.float64]

CHAINS = 8
"""Side by side, so that what one of them never reaches is seen in another."""

SEED = 2**40
"""The first of the seeds of walks: their own, so that a plan is the same for every seed of its run."""

LEAST_ENTRIES = 30
"""What a step costs at least, in entries of the data that are read."""


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The settings of a walk."""

    values: Mapping[str, Array]
    """Of the parameters that are chosen, by their names in the documents."""
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

    @cached_property
    def entries(self) -> float:
        """What a step costs, in entries of the data that are read."""
        fields = sum(field.values.size for field in self.data.fields)
        part = (self.build.run.batch_size or 1) / max(1, self.data.rows) if self.module.variant == "minibatch" else 1.0
        return max(float(LEAST_ENTRIES), fields * part)

    def walked(self, theta: Array, settings: Settings, draws: int, seed: int) -> Array:
        """Return draws of the potential's block, [chain, draw, coordinate]; NaN once a chain has become infinite.

        No numbers at all of a step size above eps_max. All other blocks start at zero: momenta at rest.

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
        place, widths = potential_place(self.module), self._widths
        found = np.full((len(theta), draws, widths[place]), np.nan)
        try:
            inputs = prepare_inputs(self.module, build, run, self.data, draws)
        except NoStepError:
            return found
        noise, batch = self.module.seed_streams(SEED + seed, len(theta))
        chains = [
            start_chain(
                self.module, inputs,
                tuple(at.copy() if b == place else np.zeros(width) for b, width in enumerate(widths)),
                noise[k], batch[k],
            )
            for k, at in enumerate(theta)
        ]  # fmt: skip
        stopped = run_chains(self.module, inputs, chains, available_cores(), unwatched)
        if stopped is not None:
            signal.raise_signal(stopped)  # it was meant for the whole run, not for the walk alone
        for k, chain in enumerate(chains):
            found[k, : chain.done] = chain.draws[place][: chain.done]
        return found

    @cached_property
    def _widths(self) -> tuple[int, ...]:
        """Numbers that each block has."""
        sizes = resolve_sizes(self.build, self.data)
        return tuple(extent(users_name(str(n), sizes) if isinstance(n, str) else n, sizes) or 1
                     for _, n in self.module.blocks)  # fmt: skip


def value_of(array: Array) -> Value:
    """Return numbers as a build has the value of a parameter."""
    return Value(tuple(tuple(Fraction(float(entry)) for entry in row) for row in np.atleast_2d(array)))
