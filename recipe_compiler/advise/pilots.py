"""Chains of a build while its settings are looked for: its own module, with values that are tried in turn.

What is accepted or refused goes on from where its last moves left it (`moved`); walks of steps, which may run off,
begin anew each time (`walked`).
"""

import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from recipe_compiler.advise.budget import Budget
from recipe_compiler.advise.metric import Metric, metric_of
from recipe_compiler.advise.roles import Open
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import by_name
from recipe_compiler.program.step_stats import ACCEPTANCE, of_kind
from recipe_compiler.run.chain import Chain, advance, start_chain
from recipe_compiler.run.chains import run_chains
from recipe_compiler.run.domain_check import UNBOUNDED, leaves
from recipe_compiler.run.initial import at_rest, stated_coordinates
from recipe_compiler.run.sample import (
    NoStepError,
    available_cores,
    stepping,
    with_parameters,
)
from recipe_compiler.run.sizes import potential_block
from recipe_compiler.spec.model import MOST_MOVES, Value

CHAINS = 8
"""Side by side: another may reach what one never does."""

SEED = 2**40
"""The first of the seeds of walks: their own, so that a plan is the same for every seed of its run."""

LEAST_ENTRIES = 30
"""What a step costs at least, in entries of the data that are read."""


BRIEF = 1e6
"""Entries of the data that all chains read in some milliseconds, one after the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The settings of a walk."""

    values: Mapping[str, Array]
    """Values of the chosen parameters, by their names in the documents."""
    eps: float
    thin: int


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """What chains of moves that are accepted or refused drew."""

    theta: Array
    """Chain x draw x coordinate of the potential's block."""
    kinds: tuple[Array, ...]
    """The mean probability that moves of a draw were accepted with, of each kind that a cycle has: chain x draw; 0
    where it is no number."""

    @property
    def mean(self) -> float:
        """The mean probability of all, of several kinds that of the one that is accepted least."""
        return min(float(kind.mean()) for kind in self.kinds)

    @property
    def typical(self) -> float:
        """The same of the median chain: a chain that is stuck where it begins says nothing of a step size."""
        return min(float(np.median(kind.mean(axis=1))) for kind in self.kinds)

    @property
    def acceptance(self) -> Array:
        """The mean over the kinds: chain x draw."""
        return sum(self.kinds[1:], self.kinds[0]) / len(self.kinds)

    @property
    def every_second(self) -> "Moved":
        """The draws that lie twice as far apart, each with the acceptance of all moves before it."""
        twice = ((kind[:, ::2] + kind[:, 1::2]) / 2.0 for kind in self.kinds)
        return Moved(self.theta[:, 1::2], tuple(twice))


def joined(parts: Sequence[Moved]) -> Moved:
    """Return draws that chains made one part after the other."""
    kinds = zip(*(part.kinds for part in parts), strict=True)
    return Moved(
        np.concatenate([part.theta for part in parts], axis=1),
        tuple(np.concatenate(kind, axis=1) for kind in kinds),
    )


@dataclass(frozen=True, eq=False)
class Pilots:
    """Chains of a compiled build, which can be run with any values of what is to be chosen."""

    sampler: Sampler
    """With any values of what is to be chosen."""
    chains: tuple[Chain, ...]
    rest: Mapping[str, Array]
    """Where other blocks start: at zero, momenta at rest; where zero is outside of their domain, inside of it."""
    entries: float
    """What a step costs, in entries of the data that are read."""
    budget: Budget
    """What they may take."""
    steps: float = 1.0
    """Gradients of a move, on average."""
    damping: float = 1.0
    """Friction over that of one time of the bulk."""
    lengths: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """The most steps of a move, by the names of the parameters that say so."""

    @classmethod
    def begun(cls, sampler: Sampler, budget: Budget, damping: float = 1.0) -> "Pilots":
        """Return chains where those of a run would begin, momenta at rest: moves draw them anew.

        Args:
            sampler: with any values of what is to be chosen.
            budget: the processor time that they may take.
            damping: friction over that of one time of the bulk.
        """
        build, data, first = sampler.build, sampler.data, sampler.first_states
        states = [at_rest(build, first(SEED, k)) for k in range(CHAINS)]
        part = (build.run.batch_size or 1) / max(1, data.rows) if sampler.module.variant == "minibatch" else 1.0
        entries = max(float(LEAST_ENTRIES), part * sum(field.values.size for field in data.fields))
        return cls(sampler, _started(sampler, states, 0), states[0], entries, budget, damping=damping)

    @property
    def theta(self) -> Array:
        """Where the chains are, chain by chain."""
        return np.array([self._at(chain) for chain in self.chains])

    @property
    def width(self) -> int:
        """Coordinates of the potential's block."""
        return self._at(self.chains[0]).size

    def metric(self, open_ones: tuple[Open, ...]) -> Metric:
        """Return what a step multiplies forces by, where a plan chooses parameters."""
        return metric_of(self.sampler.build, self.sampler.point, open_ones)

    def at(self, theta: Array, seed: int) -> "Pilots":
        """Return other chains, which stand at the rows of theta; their seed is counted from `SEED`."""
        states = [{**self.rest, self._own: row} for row in theta]
        return replace(self, chains=_started(self.sampler, states, seed))

    @property
    def longest(self) -> float:
        """The most steps of a move, where a parameter says it; 1 where none does."""
        return max(map(float, self.lengths.values()), default=1.0)

    def lasting(self, longest: float, names: Iterable[str]) -> "Pilots":
        """Return the same chains with moves of so many steps at most, where parameters of these names say how many."""
        lengths = {name: np.array(float(longest)) for name in names}
        return replace(self, lengths=lengths, steps=self.sampler.gradients_of_step(lengths))

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
        found = np.full((len(theta), draws, theta.shape[1]), np.nan)
        chains = self.at(theta, seed).advanced(settings, draws)
        for k, chain in enumerate(chains or ()):
            found[k, : chain.done] = self._draws(chain)[: chain.done]
        if np.isfinite(found).all():
            self.budget.keep(found, settings.thin)
        build, point = self.sampler.build, self.sampler.point
        own, bind = potential_block(build), dict(build.bind)
        block = by_name(build.dynamics.declarations.blocks)[own]
        if block.domain.name not in UNBOUNDED:
            first = leaves(block, bind, point, theta[:, None])
            found[np.logical_or.accumulate(first | leaves(block, bind, point, found), axis=1)] = np.nan
        return found

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
        found = self.advanced(Settings(values, eps, thin), draws)
        if found is None:
            theta = np.stack([np.tile(self._at(chain), (draws, 1)) for chain in self.chains])
            return Moved(theta, (np.zeros(theta.shape[:2]),))  # of all kinds
        lost = next((k for k, chain in enumerate(found) if chain.done < draws), None)
        if lost is not None:
            raise RunError(
                f"step_size: auto: U is not finite where chain {lost + 1} of warm-up begins, so no move can be "
                "accepted or rejected; state an `init` where it is"
            )
        names = self.sampler.module.reported
        theta = np.stack([self._draws(chain) for chain in found])
        self.budget.keep(theta, self.steps * thin)
        if not names:  # draws by laws are always taken
            return Moved(theta, (np.ones(theta.shape[:2]),))
        own = [name for k in range(MOST_MOVES) if (name := of_kind(ACCEPTANCE, k)) in names] or names[:1]
        kinds = ([chain.draws[f"{name}_draws"][:, 0] for chain in found] for name in own)
        return Moved(theta, tuple(np.nan_to_num(np.array(kind), nan=0.0) for kind in kinds))

    def advanced(self, settings: Settings, draws: int) -> list[Chain] | None:
        """Return the chains with some draws more, and nothing but these; None for a step size above eps_max."""
        try:
            module = self.sampler.module
            values = {**settings.values, **self.lengths}
            given = with_parameters(module, self.sampler.build, self.sampler.inputs, values)
            inputs = replace(stepping(module, given, settings.eps), thin=settings.thin, draws=draws)
        except NoStepError:
            return None
        room = {name: one.shape[1] for name, one in self.chains[0].draws.items()}
        chains = [
            replace(chain, draws={name: np.empty((draws, width)) for name, width in room.items()}, done=0)
            for chain in self.chains
        ]
        if draws * settings.thin * self.steps * self.entries * len(chains) < BRIEF:  # threads would take longer
            for chain in chains:
                advance(module, inputs, [chain], draws)
            self.budget.demand()
            return chains
        stopped = run_chains(module, inputs, chains, available_cores(), self._watched)
        if stopped is not None:
            signal.raise_signal(stopped)  # it was meant for the whole run, not for these chains alone
        return chains

    def _watched(self, done: Sequence[int], total: int) -> None:
        if total > 1:
            self.budget.say(f"pilot chains: {min(done)} of {total} draws")
        self.budget.demand()

    def restart(self, chain: int, other: int) -> None:
        """Let a chain go on from where another one is; its streams stay its own."""
        for name, _ in (*self.sampler.module.blocks, *self.sampler.module.carried):
            self.chains[chain].state[name][:] = self.chains[other].state[name]

    def around(self, starts: Array) -> "Pilots":
        """Return chains of which every second one is at a start around a mode, the others where they are.

        A mode need not be where the mass is: in the neck of a funnel all chains would be stuck. What the build states
        under `init` stays where it says; where the state is not all of a real space no chain is moved.
        """
        sampler, build = self.sampler, self.sampler.build
        if sampler.bounded or sampler.is_discrete or potential_block(build) in dict(build.init):
            return self
        stated, first = stated_coordinates(build, sampler.point.sizes), sampler.first_states
        theta = self.theta
        theta[::2] = starts
        for k in range(len(starts) if stated.any() else 0):
            theta[2 * k, stated] = first(SEED, k)[self._own][stated]
        return self.at(theta, 0)

    @property
    def _own(self) -> str:
        return self.sampler.module.potential_block

    def _at(self, chain: Chain) -> Array:
        return chain.state[self._own]

    def _draws(self, chain: Chain) -> Array:
        return chain.draws[f"{self._own}_draws"]


def _started(sampler: Sampler, states: Sequence[Mapping[str, Array]], seed: int) -> tuple[Chain, ...]:
    """Return chains at states; their streams are of a seed that no run has."""
    module, inputs = sampler.module, replace(sampler.inputs, draws=1)
    noise, batch = module.seed_streams(SEED + seed, len(states))
    return tuple(start_chain(module, inputs, state, noise[k], batch[k]) for k, state in enumerate(states))


def value_of(array: Array) -> Value:
    """Return numbers as a build has the value of a parameter."""
    return Value(tuple(tuple(Fraction(float(entry)) for entry in row) for row in np.atleast_2d(array)))
