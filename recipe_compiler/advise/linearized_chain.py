"""What a chain samples of the posterior, by its step made linear around the mode: asked for one setting at a time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.linear_step import AS_IT_IS, LinearStep, StepAtMode, with_thermostat_held
from recipe_compiler.advise.quadratic_target import QuadraticModule
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.target_at_mode import TargetAtMode, target_at_mode
from recipe_compiler.audit.figures import figures, largest_stable
from recipe_compiler.audit.thermostat import SHARPNESS, thermostats
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.estimates import share_of_row
from recipe_compiler.run.map_estimate import Mode, Slope, Start, find_mode_of_all, refined
from recipe_compiler.run.one_step import one_step
from recipe_compiler.run.sample import parameter_names, with_parameters

MOST_COORDINATES = 200
"""The longest state that is made linear."""

BENT = 3.0
"""How many times as much, or as little, grad U may be one sd from the mode as by the curvature there."""

LAGS = 100
"""The most draws apart whose correlation is worked out."""


@dataclass(frozen=True, slots=True)
class Width:
    """What a chain samples of the posterior, by its step made linear: sds, temperature, and how fast."""

    sds: tuple[float, ...]
    """The chain's sds, by coordinate of theta."""
    factors: tuple[float, ...]
    """By which they are wider than those of exp(-H), linearised alike."""
    temperature: float
    """tr(S Hess U)/d: 1 where the covariance S of the chain is that of exp(-H)."""
    of_step: float
    """temperature - 1 with exact gradients: the part of the step size, and of a V that is subtracted."""
    mode: tuple[float, ...] = ()
    """theta where the step stands still on average, around which the step is made linear."""
    steps: float = math.nan
    """Steps that are worth one independent draw of every coordinate and its square."""
    slowest: int = 0
    """The coordinate that takes them."""
    draws: float = math.nan
    """Draws of the run that are worth one."""

    @property
    def widest(self) -> float:
        """The largest factor."""
        return max(self.factors)

    @property
    def off(self) -> float:
        """The largest of all factors and their inverses: 1 where the posterior is as wide as it should be."""
        return max(self.widest, 1.0 / self.narrowest)

    @property
    def worst(self) -> int:
        """The coordinate whose sd is off most."""
        return max(range(len(self.factors)), key=lambda k: abs(math.log(self.factors[k])))

    @property
    def narrowest(self) -> float:
        """The smallest factor."""
        return min(self.factors)


@dataclass(frozen=True, slots=True)
class LinearizedChain:
    """A chain at some settings, whose step is made linear to see what it samples."""

    sampler: Sampler
    slope: Slope
    """grad U of all data."""
    quadratic: QuadraticModule
    target: TargetAtMode | None = None
    """The target around its mode; None before that is known."""
    noise: str = AS_IT_IS
    sharpness: float = SHARPNESS
    """The relative error of the value at which a thermostat is held."""
    sample: NDArray[np.uint64] | None = None
    """Rows that represent the data, drawn at random; None: all."""
    steps: dict[tuple[object, ...], StepAtMode] = field(default_factory=dict)
    """The steps around this mode that are known, by step size and parameters."""
    stable: dict[tuple[bytes, ...], float | None] = field(default_factory=dict)
    """The largest stable step sizes that are known, by parameters."""

    @property
    def inputs(self) -> Inputs:
        """What chains are given."""
        return self.sampler.inputs

    @property
    def too_long(self) -> str:
        """Say that the state is too long to be made linear; empty where it is not."""
        width = one_step(self.sampler.compiled, self.sampler.module, self.inputs).width
        long = width > MOST_COORDINATES
        return f"a step passes on {width} numbers, at most {MOST_COORDINATES} are made linear" if long else ""

    def of_few(self, most: float) -> "LinearizedChain":
        """Return the chain with a random sample of rows in the place of all data, where these would take long.

        Args:
            most: entries of the data that one gradient may read.
        """
        return replace(self, sample=self.sampler.gradients.sample(most)) if self.has_batches else self

    @property
    def has_batches(self) -> bool:
        """Whether gradients are estimated."""
        return self.sampler.module.variant == "minibatch"

    @property
    def entries(self) -> int:
        """How many of the data one gradient reads."""
        every = sum(array.size for array in self.inputs.data.values())
        return every if self.sample is None else every * self.sample.size // self.inputs.rows

    @property
    def share(self) -> float:
        """The variance of the mean of a batch over that of one row; 0 where steps take all data."""
        inputs = self.inputs
        if not self.has_batches:
            return 0.0
        drawn = "with replacement" if self.sampler.module.replacement else "without replacement"
        return share_of_row(inputs.rows, inputs.batch_size or 1, drawn)

    @property
    def slope_of_few(self) -> Slope:
        """The gradient of U by these rows."""
        if self.sample is None:
            return self.slope
        of_batch, sample = self.sampler.gradients.of_batch, self.sample
        return lambda theta: of_batch(theta, sample)

    @property
    def of_how_many(self) -> str:
        """What data the answer is from, where it is not from all."""
        return "" if self.sample is None else f"by {self.sample.size} of {self.inputs.rows} data, drawn at random"

    def refined(self, near: Mode) -> Mode:
        """Return the mode of all data near that of a sample of them. Raises RunError where there is none."""
        return near if self.sample is None else refined(self.slope, near, self.slope_of_few)

    def mode_from(self, starts: Sequence[Start], names: Sequence[str]) -> Mode:
        """Return the mode of all data. Raises RunError where none is found."""
        return find_mode_of_all(self.slope, None if self.sample is None else self.slope_of_few, starts, names)

    def slope_around(self, mode: Array) -> Slope:
        """Return the gradient by the rows that represent the data, shifted so that it is zero at the mode of all."""
        slope = self.slope_of_few
        if self.sample is None:
            return slope
        level = slope(mode)
        return lambda theta: slope(theta) - level

    def around(self, mode: Array) -> "LinearizedChain":
        """Return the chain with its target around a mode. Raises ValueError where U does not curve upwards there."""
        estimated = self.sampler.gradients if self.has_batches else None
        return replace(self, target=target_at_mode(self.slope_of_few, mode, estimated), steps={}, stable={})

    @property
    def step(self) -> StepAtMode:
        """The step at these settings, the same for all batches."""
        key = self.inputs.eps, self._key()
        if key not in self.steps:
            self.steps[key] = StepAtMode.of(self.quadratic, self.inputs, self.at_mode)
        return self.steps[key]

    @property
    def at_mode(self) -> TargetAtMode:
        """The target around its mode."""
        if self.target is None:
            raise CompilerError("a step is linearised at a mode, and none is known")
        return self.target

    def linear(self) -> tuple[StepAtMode, LinearStep]:
        """Return the step, a thermostat held, made linear. Raises ValueError where it cannot be."""
        with np.errstate(all="ignore"):
            return with_thermostat_held(self.step, self.share, self.noise, self.sharpness)

    def width(self) -> Width:
        """Return the answer. Raises ValueError where the step cannot be made linear."""
        return self.width_of(*self.linear())

    def width_of(self, step: StepAtMode, found: LinearStep) -> Width:
        """Return what a linear step samples, against the covariance inv(K) of exp(-U), K = Hess U.

        sds sqrt(S_ii), factors sqrt(S_ii/inv(K)_ii), temperature tr(S K)/d; steps worth one independent draw, of
        coordinates and squares, by sum_k rho_k and sum_k rho_k**2 (Sokal 1997).
        """
        block, K = step.place, self.at_mode.K
        here = figures(found.F, found.chain, K, block)
        thin = self.inputs.thin
        kept = here if thin == 1 else figures(np.linalg.matrix_power(found.F, thin), found.chain, K, block)
        return Width(
            tuple(map(float, here.sds)),
            tuple(map(float, here.factors)),
            here.temperature,
            float(np.trace(found.exact[block, block] @ K)) / len(K) - 1.0,
            tuple(map(float, found.z[block])),
            here.slowest,
            int(np.argmax(np.maximum(here.times, here.times_of_squares))),
            kept.slowest,
        )

    def autocorrelations(self, step: StepAtMode, found: LinearStep) -> Array:
        """Return the autocorrelations of theta between draws k = 0, 1, ... apart: `[k, coordinate]`.

        (F**(thin k) S)_ii/S_ii under the law S of the linear step F, k up to `LAGS`.
        """
        kept = np.linalg.matrix_power(found.F, self.inputs.thin)
        after, rows = found.chain, [np.diag(found.chain)]
        for _ in range(LAGS):
            after = kept @ after
            rows.append(np.diag(after))
        return np.array(rows)[:, step.place] / rows[0][step.place]

    @property
    def bends(self) -> bool:
        """Whether U is far from quadratic one sd away from the mode: grad U . delta is far from delta.T K delta there.

        Both ends of the axes of the ellipsoid delta.T K delta = 1 are looked at.
        """
        values, vectors = np.linalg.eigh(self.at_mode.K)
        axes, mode = (vectors / np.sqrt(values)).T, self.at_mode.mode
        slope = self.slope_around(mode)
        rises = np.array([sign * slope(mode + sign * axis) @ axis for axis in axes for sign in (1.0, -1.0)])
        return not bool(((rises > 1.0 / BENT) & (rises < BENT)).all())

    def largest_stable(self, found: LinearStep) -> float | None:
        """Return the step size above which an eigenvalue of F leaves the unit circle; None where it is not known.

        With exact gradients. Unknown for a thermostat, whose value changes with the step size.
        """
        if thermostats(self.sampler.compiled.program):
            return None

        def F_at(eps: float) -> Array:
            return self.with_step(eps).step.matrix_at(found.z)

        key = self._key(*filter(None, [self.sampler.build.estimated]))
        if key not in self.stable:
            try:
                with np.errstate(all="ignore"):
                    self.stable[key] = largest_stable(F_at, self.inputs.eps, 2.0, 0.02)
            except (ValueError, np.linalg.LinAlgError):  # a step size for which there is no noise to draw
                self.stable[key] = None
        return self.stable[key]

    def _key(self, *others: str) -> tuple[bytes, ...]:
        """Return the values of all parameters but some, as a key."""
        names = parameter_names(self.sampler.module, self.sampler.build)
        left = {names[name] for name in others if name in names}
        return tuple(np.asarray(x).tobytes() for name, x in self.inputs.parameters.items() if name not in left)

    def with_step(self, eps: float) -> "LinearizedChain":
        """Return the chain with another step size."""
        return self._given(replace(self.inputs, eps=eps))

    def with_batch(self, size: int) -> "LinearizedChain":
        """Return the chain with another batch size; of its gradient's noise as much is subtracted as this one has."""
        found, name = self._given(replace(self.inputs, batch_size=size)), self.sampler.build.estimated
        if name is None or self.share == 0.0:
            return found
        return found.with_values({name: found.share / self.share * self.parameter(name)})

    def parameter(self, name: str) -> float | Array:
        """Return the value of a parameter, by its name in the documents."""
        return self.inputs.parameters[parameter_names(self.sampler.module, self.sampler.build)[name]]

    def with_values(self, values: Mapping[str, float | Array]) -> "LinearizedChain":
        """Return the chain with other values of parameters, by their names in the documents."""
        return self._given(with_parameters(self.sampler.module, self.sampler.build, self.inputs, values))

    def _given(self, inputs: Inputs) -> "LinearizedChain":
        return replace(self, sampler=replace(self.sampler, inputs=inputs))
