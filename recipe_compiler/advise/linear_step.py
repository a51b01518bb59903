"""One step made linear around the state where it stands still on average: its matrix, and the covariance of its chain.

The step is that of an emitted module, of a word or any other, on the quadratic of the target at its mode: no data are
read, so that another step size, batch or parameter takes no longer for more of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from recipe_compiler.advise.quadratic_target import QuadraticModule
from recipe_compiler.advise.target_at_mode import TargetAtMode
from recipe_compiler.audit.figures import NEUTRAL, covariance, is_stable, radius
from recipe_compiler.audit.thermostat import SHARPNESS, settles_at, thermostats
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.chain import Inputs
from recipe_compiler.run.differences import jacobian, standstill
from recipe_compiler.run.one_step import OneStep, one_step

WIDTH = 1e-4
"""Width of differences, in units of the target."""

MOST, ALIKE, WITHOUT_BOUND = 30, 1e-3, 1e4
"""How often the covariance of a chain is worked out anew, the relative change that ends this, and how many times wider
than with exact gradients it may be."""

AS_IT_IS, SUBTRACTED, CONTROL_VARIATES = "as it is", "subtracted", "control variates"
"""What is made of the noise of the gradient: nothing; V at the mode is known and given up; only what the gradient
differs by from that at the mode counts."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearStep:
    """A step made linear, z' - z* = F (z - z*) + noise; z is the n numbers a step passes on, matrices n x n."""

    z: Array
    """Where the step stands still on average."""
    F: Array
    """The matrix of a step with exact gradients."""
    target: Array
    """The covariance of theta under exp(-H): the inverse of the Hessian of U."""
    exact: Array
    """The covariance of z in a chain with exact gradients."""
    chain: Array
    """The covariance of z in this chain."""
    of_gradient: Array
    """The covariance of the gradient's noise in this chain, d x d."""


@dataclass(frozen=True, slots=True, eq=False)
class StepMatrices:
    """A step made linear, for any size of batch, z' - z* = F (z - z*) + G e + W w.

    e is the error of the gradient, evaluated at E z, and w are the normals; z has n numbers, theta d.
    """

    z: Array
    """Where the step stands still on average."""
    F: Array
    own: Array
    """W W.T, n x n."""
    exact: Array
    """The covariance of z in a chain with exact gradients."""
    G: Array
    """n x d; without columns where steps take all data."""
    E: Array
    """d x n; without rows where steps take all data."""


@dataclass(frozen=True, eq=False)
class StepAtMode:
    """A step at some settings, as a function of state, error of the gradient and normals, on a target around its mode.

    Its matrices are worked out once, for all sizes of batches and all that may be made of their noise.
    """

    step: OneStep
    hessian: str
    """The parameter of the step that is K."""
    block: str
    """That of theta."""
    target: TargetAtMode

    @classmethod
    def of(cls, module: QuadraticModule, inputs: Inputs, target: TargetAtMode) -> "StepAtMode":
        """Return the step of a module at the settings of `inputs`."""
        emitted, parameters = module.emitted, module.compiled.program.parameters
        is_array = any(parameter.name == module.shift and parameter.shape.sizes for parameter in parameters)
        K, shift = (target.K, target.mode) if is_array else (target.K.item(), 0.0)  # each call gives another shift
        given = {**inputs.parameters, module.hessian: K, module.shift: shift}
        own = replace(
            inputs,
            parameters={name: given[name] for name in emitted.parameters},
            sizes={size: inputs.sizes[size] for size in emitted.sizes},
            data={},
        )
        step = replace(one_step(module.compiled, emitted, own), drawn=module.shift)
        return cls(step, module.hessian, emitted.potential_block, target)

    def holding(self, name: str, value: Array) -> "StepAtMode":
        """Return the step with a block held at a value."""
        return replace(self, step=self.step.holding(name, value))

    @property
    def place(self) -> slice:
        """The positions of theta in the state."""
        return self.step.place(self.block)

    @property
    def shift(self) -> Array:
        """The shift of the gradient that is zero at the mode."""
        return -self.target.K @ self.target.mode

    @property
    def widths(self) -> tuple[Array, Array]:
        """Widths of differences, by the state and by the gradient: for theta 1e-4/sqrt(d^2 U/d theta_i^2)."""
        units = np.sqrt(np.diag(self.target.K))
        widths = np.ones(self.step.width)
        widths[self.place] = 1.0 / units
        gradient = self.step.compiled.program.gradient
        if gradient is not None and self.step.compiled.program.carried:
            widths[self.step.place(gradient.name)] = units
        return WIDTH * widths, WIDTH * units

    @property
    def start(self) -> Array:
        """The state at the mode."""
        z = np.zeros(self.step.width)
        z[self.place] = self.target.mode
        return z

    def quiet(self, z: Array) -> Array:
        """Return the state after a step with the exact gradient and without noise."""
        return self.step.after(z, self.shift, np.zeros(self.step.normals))

    def matrix_at(self, z: Array) -> Array:
        """Return F = dz'/dz, n x n."""
        return jacobian(self.quiet, z, self.widths[0])

    def seen(self, z: Array, F: Array, G: Array) -> Array:
        """Return where a step evaluates the gradient: E = d theta/dz, d x n.

        From the step on twice the Hessian, whose matrix differs from F by G K E.
        """
        shift, quiet = 2.0 * self.shift, np.zeros(self.step.normals)
        given = self.step.given
        twice = replace(self.step, given={**given, self.hessian: 2.0 * given[self.hessian]})
        doubled = jacobian(lambda at: twice.after(at, shift, quiet), z, self.widths[0])
        seen = np.linalg.solve(self.target.K, np.linalg.lstsq(G, doubled - F, rcond=None)[0])
        return np.asarray(seen, dtype=np.float64)

    @cached_property
    def matrices(self) -> StepMatrices:
        """The step made linear at z* with E[z'] = z*. Raises ValueError where no chain stays there; says why."""
        z, slopes = standstill(lambda at: self.quiet(at) - at, self.start, self.widths[0])
        F = np.eye(z.size) + slopes
        if is_stable(F) and radius(F) >= 1.0 - NEUTRAL:
            raise ValueError("a step of this size moves the chain too little to tell whether it comes back to the mode")
        quiet = np.zeros(self.step.normals)
        W = jacobian(lambda normals: self.step.after(z, self.shift, normals), quiet, np.full(quiet.size, WIDTH))
        own = W @ W.T
        exact = covariance(F, own)
        if not len(self.target.of_rows):
            return StepMatrices(z, F, own, exact, np.zeros((z.size, 0)), np.zeros((0, z.size)))
        G = jacobian(lambda shift: self.step.after(z, shift, quiet), self.shift, self.widths[1])
        return StepMatrices(z, F, own, exact, G, self.seen(z, F, G))

    def linear(self, share: float, noise: str) -> LinearStep:
        """Return the step made linear, with the covariance of its chain.

        The covariance S solves S = F S F.T + N, with N the covariance of a step's noise, that of the gradient averaged
        over N(z*, S).

        Args:
            share: the variance of the mean of a batch over that of one row; 0 of all data.
            noise: what is made of the noise of the gradient.

        Raises:
            ValueError: no chain stays there; says why.
        """
        of, target = self.matrices, np.asarray(np.linalg.inv(self.target.K), dtype=np.float64)
        if share == 0.0:
            return LinearStep(of.z, of.F, target, of.exact, of.exact, np.zeros_like(target))
        V = share * self.target.V
        if noise == SUBTRACTED and np.linalg.eigvalsh(of.own - of.G @ V @ of.G.T)[0] < -1e-9 * np.abs(of.own).max():
            raise ValueError("2D - eps B_hat is not positive semidefinite")
        kept = V if noise == AS_IT_IS else 0.0 * V

        def of_gradient(S: Array) -> Array:
            return kept + share * self.target.away_from_mode(of.E @ S @ of.E.T)

        def chain(of_gradient: Array) -> Array:
            return covariance(of.F, of.own + of.G @ of_gradient @ of.G.T)

        most = WITHOUT_BOUND * np.abs(of.exact).max()
        S = _settled_covariance(lambda S: chain(of_gradient(S)), chain(kept), most)
        return LinearStep(of.z, of.F, target, of.exact, S, of_gradient(S))


def _settled_covariance(next_of: Callable[[Array], Array], first: Array, most: float) -> Array:
    """Return the covariance S = next_of(S), from a first guess. Raises ValueError where it has entries above `most`."""
    old = first
    for _ in range(MOST):
        new = next_of(old)
        if np.abs(new - old).max() <= ALIKE * np.abs(new).max():
            return new
        if not np.abs(new).max() < most:
            break
        old = new
    raise ValueError("the noise of the gradient grows without bound: the step size is too large")


def with_thermostat_held(
    step: StepAtMode, share: float, noise: str, sharpness: float = SHARPNESS
) -> tuple[StepAtMode, LinearStep]:
    """Return a step with its thermostat held at the x with E[xi' - xi] = 0, and that step made linear.

    The mean is over the law that the rest has with xi held at x. Each trial x needs one step made linear; `sharpness`
    is the relative error allowed in x, `share` and `noise` are what `StepAtMode.linear` takes.

    Raises:
        ValueError: no chain stays near the mode; says why.
    """
    names = thermostats(step.step.compiled.program)
    if not names:
        return step, step.linear(share, noise)
    if sum(step.step.place(name).stop - step.step.place(name).start for name in names) > 1:
        raise ValueError(f"{', '.join(names)} are more than one thermostat")
    (name,) = names

    @cache
    def at(x: float) -> tuple[StepAtMode, LinearStep]:
        held = step.holding(name, np.array([x]))
        return held, held.linear(share, noise)

    return at(settles_at(lambda x: _mean_change(*at(x)), name, sharpness))


def _mean_change(at: StepAtMode, found: LinearStep) -> float:
    """Return E[xi' - xi] over the law of the rest, its normals and its batches, exactly where it is quadratic in them.

    Over a Gaussian of k coordinates: the mean over the 2k points +- sqrt(k) L_j.
    """
    step = at.step
    n, m = step.width, step.width + step.normals
    k = m + len(found.of_gradient)
    L = np.zeros((k, k))
    L[:n, :n], L[n:m, n:m], L[m:, m:] = _root(found.chain), np.eye(m - n), _root(found.of_gradient)

    def held(point: Array) -> float:
        return float(step.held_after(found.z + point[:n], at.shift + point[m:], point[n:m])[0])

    total = sum(held(sign * np.sqrt(k) * one) for one in L.T for sign in (1.0, -1.0)) / (2 * k)
    return total - float(step.held[0][1][0])


def _root(S: Array) -> Array:
    values, vectors = np.linalg.eigh(S)
    return vectors * np.sqrt(np.maximum(values, 0.0))
