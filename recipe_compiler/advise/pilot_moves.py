"""Chains of moves that are accepted or refused while their settings are looked for: the module of the build itself."""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.budget import Budget
from recipe_compiler.advise.moved import Moved
from recipe_compiler.advise.pilot_chains import CHAINS, LEAST_ENTRIES, SEED
from recipe_compiler.errors import RunError
from recipe_compiler.run.chain import Chain, Inputs, advance, start_chain
from recipe_compiler.run.data import Data
from recipe_compiler.run.domain_check import bounded_blocks
from recipe_compiler.run.evaluate import Point
from recipe_compiler.run.initial import at_rest, first_states, stated_coordinates
from recipe_compiler.run.load_module import OF_KINDS, Emitted
from recipe_compiler.run.sample import (
    available_cores,
    known_values,
    parameter_names,
    prepare_inputs,
    stepping,
)
from recipe_compiler.run.sizes import potential_block, resolve_sizes
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.model import Build

Array = NDArray[np.float64]

PIECES = 50
"""Pieces of a chain, after each of which the budget is checked."""


@dataclass(frozen=True, eq=False)
class Pilots:
    """Chains of a build's own Metropolis moves, while its settings are looked for."""

    module: Emitted
    build: Build
    """With any values of what is to be chosen."""
    inputs: Inputs
    """What chains of it are given."""
    chains: tuple[Chain, ...]
    entries: int
    """What a gradient costs, in entries of the data that are read."""
    point: Point
    """Values of the names in formulas of parameters alone."""
    budget: Budget
    """What they may take."""
    steps: float = 1.0
    """Gradients of a move, on average."""

    @classmethod
    def begun(cls, module: Emitted, build: Build, data: Data, budget: Budget) -> "Pilots":
        """Return chains where those of a run of the build would begin, momenta at rest: moves draw them anew.

        Args:
            module: of the build.
            build: with any values of what is to be chosen.
            data: the fields of its target.
            budget: the processor time that they may take.
        """
        sizes = resolve_sizes(build, data)
        known = known_values(build, sizes)
        first = first_states(module, build, known, sizes)
        states = [at_rest(build, first(SEED, k)) for k in range(CHAINS)]
        inputs = prepare_inputs(module, build, build.run, data, 1)
        fields = sum(field.values.size for field in data.fields)
        entries, point = max(LEAST_ENTRIES, fields), Point(known, sizes)
        return cls(module, build, inputs, _chains(module, inputs, states, 0), entries, point, budget)

    def at(self, theta: Array, seed: int) -> "Pilots":
        """Return other chains, which stand at the rows of theta; their seed is counted from that of walks."""
        like, own = self.chains[0].state, self.module.potential_block
        rest = {name: np.zeros_like(like[name]) for name, _ in self.module.blocks}
        states = [{**rest, own: row} for row in theta]
        return replace(self, chains=_chains(self.module, self.inputs, states, seed))

    @property
    def width(self) -> int:
        """Coordinates of the potential's block."""
        return self._theta(self.chains[0]).size

    def moved(self, values: Mapping[str, Array], eps: float, thin: int, draws: int) -> Moved:
        """Return what the chains draw from where they are, and leave them there.

        Args:
            values: of the parameters that are chosen, by their names in the documents.
            eps: the step size; one that no noise can be drawn for is refused as a move is: nothing moves.
            thin: moves of a draw.
            draws: of each chain.

        Raises:
            RunError: U is not finite where a chain begins.
        """
        try:
            inputs = stepping(self.module, self._given(values), eps)
        except RunError:
            theta = np.stack([np.tile(self._theta(chain), (draws, 1)) for chain in self.chains])
            return Moved(theta, (np.zeros(theta.shape[:2]),))  # of all kinds
        inputs = replace(inputs, thin=thin)

        def walked(chain: Chain) -> Chain:
            room = {name: np.empty((draws, one.shape[1])) for name, one in chain.draws.items()}
            own = replace(chain, draws=room, done=0)
            for done in range(0, draws, piece := math.ceil(draws / PIECES)):
                advance(self.module, inputs, own, min(piece, draws - done))
                self.budget.demand()
                if own.diverging:
                    break
            return own

        first = walked(self.chains[0])  # compiles
        with ThreadPoolExecutor(min(available_cores(), len(self.chains))) as pool:
            found = [first, *pool.map(walked, self.chains[1:])]
        lost = next((k for k, chain in enumerate(found) if chain.done < draws), None)
        if lost is not None:
            raise RunError(
                f"step_size: auto: U is not finite where chain {lost + 1} of warm-up begins, so no move can be "
                "accepted or rejected; state an `init` where it is"
            )
        names = self.module.told
        theta = np.stack([chain.draws[f"{self.module.potential_block}_draws"] for chain in found])
        self.budget.keep(theta, self.steps * thin)
        if not names:  # draws by laws are always taken
            return Moved(theta, (np.ones(theta.shape[:2]),))
        own = [accepted for accepted, _ in OF_KINDS if accepted in names] or names[:1]
        kinds = ([chain.draws[name][:, 0] for chain in found] for name in own)
        return Moved(theta, tuple(np.nan_to_num(np.array(kind), nan=0.0) for kind in kinds))

    def restart(self, chain: int, other: int) -> None:
        """Let a chain go on from where another one is; its streams stay its own."""
        for name, _ in (*self.module.blocks, *self.module.carried):
            self.chains[chain].state[name][:] = self.chains[other].state[name]

    def around(self, starts: Array) -> "Pilots":
        """Return chains of which every second one is at a start around a mode, the others where they are.

        A mode need not be where the mass is: in the neck of a funnel all chains would be stuck. What the build states
        under `init` stays where it says; where the state is not all of a real space no chain is moved.
        """
        bounded = bounded_blocks(self.build.dynamics.declarations)
        whole = potential_block(self.build) in dict(self.build.init)
        if bounded or whole or discrete_blocks(self.build.target.declarations):
            return self
        first = first_states(self.module, self.build, self.point.names, self.point.sizes)
        stated, own = stated_coordinates(self.build, self.point.sizes), self.module.potential_block
        theta = np.array([self._theta(chain) for chain in self.chains])
        theta[::2] = [np.where(stated, first(SEED, k)[own], start) for k, start in enumerate(starts)]
        return self.at(theta, 0)

    def _theta(self, chain: Chain) -> Array:
        return chain.state[self.module.potential_block]

    def _given(self, values: Mapping[str, Array]) -> Inputs:
        """Return what chains are given with values in the place of those they had."""
        names = parameter_names(self.module, self.build)
        chosen = {
            names[name]: float(value) if value.ndim == 0 else np.ascontiguousarray(value)
            for name, value in values.items()
        }
        return replace(self.inputs, parameters={**self.inputs.parameters, **chosen})


def _chains(module: Emitted, inputs: Inputs, states: Sequence[Mapping[str, Array]], seed: int) -> tuple[Chain, ...]:
    """Return chains at states; their streams are of a seed that no run has."""
    noise, batch = module.seed_streams(SEED + seed, len(states))
    return tuple(start_chain(module, inputs, state, noise[k], batch[k]) for k, state in enumerate(states))
