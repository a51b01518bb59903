"""What a chain samples of the posterior, by its step made linear around the mode: asked for one setting at a time."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.audit.figures import figures, largest_stable
from recipe_compiler.audit.thermostat import SHARPNESS, thermostats
from recipe_compiler.emit.module import Module
from recipe_compiler.program.atoms import noise_is_steady
from recipe_compiler.run.chain import Array, Inputs
from recipe_compiler.run.gradients import gradients
from recipe_compiler.run.linear_step import ALL_DATA, Batches, LinearStep, Slope, curvature, matrix_at
from recipe_compiler.run.load_module import Emitted, users_name
from recipe_compiler.run.map_estimate import Mode, refined
from recipe_compiler.run.one_step import OneStep, one_step
from recipe_compiler.run.sizes import declared_parameters
from recipe_compiler.run.thermostat import settled
from recipe_compiler.spec.model import Build

MOST_COORDINATES = 200
"""The longest state that is made linear."""

WORK = 5e8
"""Entries of the data that may be read to make a step linear."""

FEWER = 8.0
"""The part of `WORK` that rows take which stand for all data: a plan asks many times."""

LEAST_ROWS = 5_000
"""The fewest that may; where these are too many too, there is no answer."""

TURNS = 12
"""About how often a step is made linear to find where a thermostat settles."""

BENT = 3.0
"""How many times as much, or as little, grad U may be one sd from the mode as by the curvature there."""

LAGS = 100
"""The most draws apart whose correlation is worked out."""

LOOKS = 30
"""About how many steps are looked at for the largest stable one."""

AS_IT_IS, SUBTRACTED, CONTROL_VARIATES = "as it is", "subtracted", "control variates"


@dataclass(frozen=True, slots=True)
class Width:
    """What a chain samples of the posterior, by its step made linear: sds, temperature, and how fast."""

    sds: tuple[float, ...]
    """Of the chain, by coordinate of theta."""
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

    compiled: Module
    module: Emitted
    build: Build
    inputs: Inputs
    slope: Slope
    """grad U of all data."""
    theta: Array
    """The mode of the target."""
    noise: str = AS_IT_IS
    sharpness: float = SHARPNESS
    """The relative error of the value at which a thermostat is held."""
    sample: NDArray[np.uint64] | None = None
    """Rows that stand for all data, drawn at random; None: all do."""

    @property
    def too_long(self) -> str:
        """Say that the state is too long to be made linear; empty where it is not."""
        width = self.step.width
        long = width > MOST_COORDINATES
        return f"a step passes on {width} numbers, at most {MOST_COORDINATES} are made linear" if long else ""

    @property
    def uneven(self) -> str:
        """Say that the noise of a step depends on the state; empty where it does not.

        It is balanced by friction that depends on the state alike, of which a step made linear has one value alone.
        """
        if noise_is_steady(self.compiled.program):
            return ""
        return "the noise of a step depends on the state: what it samples does not follow from a linear step"

    def refused(self) -> str:
        """Return why there can be no forecast, empty where there may be one."""
        if self.has_batches and self.inputs.rows < 2:
            return "one datum alone tells nothing of the noise of a minibatch"
        if self.work > WORK:
            return "there are too many data to make the step linear in less than some seconds"
        return ""

    def of_few(self, most: float | None = None, least: int | None = None) -> "LinearizedChain":
        """Return the chain with a random sample of rows in the place of all data, where these would take long.

        With n rows, drawn without replacement, the Hessian is off by a relative error of about 1/sqrt(n).

        Args:
            most: entries of the data that may be read to make a step linear; None: `WORK`.
            least: the fewest rows of the sample; None: `LEAST_ROWS`.
        """
        rows, most, least = self.inputs.rows, most or WORK, least or LEAST_ROWS
        if self.work <= most or not self.has_batches:
            return self
        few = min(rows, max(least, int(rows * most / (FEWER * replace(self, sample=None).work))))
        return replace(self, sample=np.sort(np.random.default_rng(0).permutation(rows)[:few]).astype(np.uint64))

    @property
    def has_batches(self) -> bool:
        """Whether gradients are estimated."""
        return self.module.variant == "minibatch"

    @property
    def step(self) -> OneStep:
        """The step at these settings."""
        return one_step(self.compiled, self.module, self.inputs)

    @property
    def work(self) -> float:
        """Entries of the data that are read to make a step linear."""
        return (4.0 * TURNS if thermostats(self.compiled.program) else 4.0) * self.work_of_matrix

    @property
    def work_of_matrix(self) -> float:
        """Entries of the data that are read to work out the matrix of a step, on one side of its differences."""
        return float(self.step.width * self.entries)

    @property
    def entries(self) -> int:
        """How many of the data one gradient reads."""
        every = sum(field.size for field in self.inputs.data)
        return every if self.sample is None else every * self.sample.size // self.inputs.rows

    @property
    def batches(self) -> Batches:
        """What gradients are estimated from."""
        inputs = self.inputs
        if not self.has_batches:
            return ALL_DATA
        return Batches(inputs.rows, inputs.batch_size or 1, self.module.replacement, self.noise, self.sample)

    @property
    def slope_of_few(self) -> Slope:
        """The gradient of U by the rows that stand for all data."""
        if self.sample is None:
            return self.slope
        sizes = dict(zip(self.module.sizes, self.inputs.numbers, strict=True))
        of_batch, sample = gradients(self.compiled, self.module, self.inputs, sizes).of_batch, self.sample
        return lambda theta: of_batch(theta, sample)

    @property
    def of_how_many(self) -> str:
        """What data the answer is from, where it is not from all."""
        return "" if self.sample is None else f"by {self.sample.size} of {self.inputs.rows} data, drawn at random"

    def refined(self, near: Mode) -> Mode:
        """Return the mode of all data near that of the rows that stand for them.

        Raises RunError where there is none.
        """
        if self.sample is None:
            return near
        K = curvature(self.slope_of_few, near.theta)
        return replace(near, theta=refined(self.slope, near.theta, K))

    def linear(self) -> tuple[OneStep, LinearStep]:
        """Return the step, a thermostat held, made linear. Raises ValueError where it cannot be."""
        with np.errstate(all="ignore"):
            return settled(self.step, self.slope_of_few, self.theta, self.batches, self.sharpness)

    def width(self) -> Width:
        """Return the answer. Raises ValueError where the step cannot be made linear."""
        return self.width_of(*self.linear())

    def width_of(self, step: OneStep, found: LinearStep) -> Width:
        """Return what a linear step samples, against the covariance inv(K) of exp(-U), K = Hess U.

        sds sqrt(S_ii), factors sqrt(S_ii/inv(K)_ii), temperature tr(S K)/d; steps worth one independent draw, of
        coordinates and squares, by sum_k rho_k and sum_k rho_k**2 (Sokal 1997).
        """
        block = step.place(self.module.potential_block)
        K = np.linalg.inv(found.target)
        here = figures(found.F, found.chain, K, block)
        kept = figures(np.linalg.matrix_power(found.F, self.inputs.thin), found.chain, K, block)
        return Width(
            tuple(map(float, here.sds)),
            tuple(map(float, here.factors)),
            here.temperature,
            float(np.trace(found.exact[block, block] @ K)) / len(K) - 1.0,
            tuple(map(float, found.z[block] if self.sample is None else self.theta)),
            here.slowest,
            int(np.argmax(np.maximum(here.times, here.times_of_squares))),
            kept.slowest,
        )

    def autocorrelations(self, found: LinearStep) -> Array:
        """Return the autocorrelations of theta between draws k = 0, 1, ... apart: `[k, coordinate]`.

        (F**(thin k) S)_ii/S_ii under the law S of the linear step F, k up to `LAGS`.
        """
        block = self.step.place(self.module.potential_block)
        kept = np.linalg.matrix_power(found.F, self.inputs.thin)
        after, rows = found.chain, [np.diag(found.chain)]
        for _ in range(LAGS):
            after = kept @ after
            rows.append(np.diag(after))
        return np.array(rows)[:, block] / rows[0][block]

    def bends(self, found: LinearStep) -> bool:
        """Whether U is far from quadratic one sd away from the mode: grad U . delta is far from delta.T K delta there.

        Both ends of the axes of the ellipsoid delta.T K delta = 1 are looked at.
        """
        values, vectors = np.linalg.eigh(found.target)
        axes = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        slope, mode = self.slope_of_few, self.theta
        if self.sample is not None:
            mode = found.z[self.step.place(self.module.potential_block)]
        rises = np.array([sign * slope(mode + sign * axis) @ axis for axis in axes for sign in (1.0, -1.0)])
        return not bool(((rises > 1.0 / BENT) & (rises < BENT)).all())

    def largest_stable(self, found: LinearStep) -> float | None:
        """Return the step size above which an eigenvalue of F leaves the unit circle; None where it is not known.

        With exact gradients. Unknown where it would take long, and for a thermostat, whose value changes with the step
        size.
        """
        if thermostats(self.compiled.program) or 2.0 * LOOKS * self.work_of_matrix > WORK:
            return None

        def F_at(eps: float) -> Array:
            return matrix_at(self.with_step(eps).step, found.z, self.batches.every, found.widths)

        try:
            with np.errstate(all="ignore"):
                return largest_stable(F_at, self.inputs.eps, 2.0, 0.02)
        except (ValueError, np.linalg.LinAlgError):  # a step size for which there is no noise to draw
            return None

    def with_step(self, eps: float) -> "LinearizedChain":
        """Return the chain with another step size."""
        return replace(self, inputs=replace(self.inputs, eps=eps))

    def with_batch(self, size: int) -> "LinearizedChain":
        """Return the chain with another batch size."""
        return replace(self, inputs=replace(self.inputs, batch_size=size))

    def place_of(self, name: str) -> int:
        """Return where a parameter of the documents stands among those of the module."""
        declared = {parameter.name for parameter in declared_parameters(self.build)}
        return [users_name(own, declared) for own in self.module.parameters].index(name)

    def with_parameter(self, place: int, value: float | Array) -> "LinearizedChain":
        """Return the chain with another value of a parameter."""
        old = self.inputs.parameters
        return replace(self, inputs=replace(self.inputs, parameters=(*old[:place], value, *old[place + 1 :])))
