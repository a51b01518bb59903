"""One step made linear around the state where it stands still on average: its matrix, and the covariance of its chain.

What modules with minibatches carry as `forecast` is done here with any step: of a word, or with all data, which is a
batch that never varies.
"""

# The support code of emitted modules has names of its own.

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.support.forecast import _forecast, _jacobian, _standstill, _widths
from recipe_compiler.run.one_step import OneStep

Array = NDArray[np.float64]
Slope = Callable[[Array], Array]
Take = Callable[[Array, NDArray[np.uint64], Array], Array]
"""A state, rows and normals to the next state."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearStep:
    """A step made linear, z' - z* = F (z - z*) + noise; z is the n numbers a step passes on, matrices n x n."""

    z: Array
    """Where the step stands still on average."""
    F: Array
    """Of a step with exact gradients."""
    target: Array
    """The covariance of theta under exp(-H): the inverse of the Hessian of U."""
    exact: Array
    """The covariance of z in a chain with exact gradients."""
    chain: Array
    """The covariance of z in this chain."""
    widths: Array
    """Of the differences that F was worked out by."""


@dataclass(frozen=True, slots=True)
class Batches:
    """What gradients are estimated from: how many rows, and how batches of them are drawn."""

    rows: int
    size: int
    replacement: bool
    noise: str
    """What is made of the noise of the gradient (`emit/support/forecast.py`)."""
    sample: NDArray[np.uint64] | None = None
    """Rows, drawn at random, that stand for all of them; None: all do."""

    @property
    def every(self) -> NDArray[np.uint64]:
        """The rows of a batch that has the gradient of all data, up to what a sample leaves out."""
        return np.arange(self.rows, dtype=np.uint64) if self.sample is None else self.sample

    @property
    def size_among_every(self) -> float:
        """The size of a batch, drawn from `every`, whose mean varies as that of one drawn from all rows."""
        if self.sample is None or self.replacement:
            return self.size
        return self.sample.size / (1.0 + self.share * (self.sample.size - 1.0))

    @property
    def share(self) -> float:
        """The variance of the mean of a batch over that of one row: 1/n, or (N - n)/(n (N - 1)) without replacement."""
        if self.replacement or self.rows == 1:
            return 1.0 / self.size
        return (self.rows - self.size) / (self.size * (self.rows - 1.0))


AGREE = 0.1
"""How far Hessians by differences of several widths may be apart, in units in which one is the identity."""

ALL_DATA = Batches(2, 2, replacement=False, noise="as it is")
"""No batches: what a step makes of its rows is always the same."""


def linear_step(step: OneStep, slope: Slope, theta: Array, batches: Batches) -> LinearStep:
    """Return a step made linear near a mode: z* with E[z'] = z*, F = dE[z']/dz there, and the covariance of its chain.

    The covariance S solves S = F S F.T + N, with N the covariance of a step's noise, that of the gradient averaged over
    N(z*, S). By central differences of the emitted step, whose noise is set to zero for F.

    Args:
        step: to be made linear; the covariances that it draws from do not depend on its state.
        slope: grad U, of the rows that stand for all data.
        theta: the mode.
        batches: what its gradients are estimated from.

    Raises:
        ValueError: no chain stays there; says why.
    """
    gradient = step.compiled.program.gradient
    block = step.place("" if gradient is None else gradient.block.name)
    start = np.zeros(step.width)
    start[block] = theta
    units = np.ones(step.width)
    if gradient is not None and step.compiled.program.carried:
        carried = step.place(gradient.name)
        start[carried] = slope(theta)
        widths = _widths(slope, theta, slice(0, theta.size))
        units[carried] = np.maximum(np.abs(np.diag(_jacobian(slope, theta, widths))), 1e-300)

    def bent(z: Array) -> Array:
        found = z / units
        found[block] = slope(np.ascontiguousarray(z[block]))
        return found

    every = slice(0, step.width)
    widths = cast("Array", _widths(bent, start, every))
    rows, quiet = batches.every, np.zeros(step.normals)
    z, _ = cast("tuple[Array, Array]", _standstill(lambda at: step.after(at, rows, quiet) - at, start, widths))
    of_step = _with_steady_noise(step, z, rows)

    def take(at: Array, chosen: NDArray[np.uint64], normals: Array) -> Array:
        return of_step(at, rows[chosen], normals)

    z, target, exact, chain = cast(
        "tuple[Array, Array, Array, Array]",
        _forecast(
            take, bent, z, every, step.normals, rows.size, batches.size_among_every, batches.replacement, batches.noise
        ),
    )
    return LinearStep(z, matrix_at(step, z, rows, widths), target[block, block], exact, chain, widths)


def curvature(slope: Slope, theta: Array) -> Array:
    """Return Hess U, d x d and symmetric, by central differences of grad U; not finite where these are not."""
    return _symmetric_jacobian(slope, theta, _widths(slope, theta, slice(0, theta.size)))


def known_curvature(slope: Slope, theta: Array) -> Array | None:
    """Return Hess U as `curvature` does; None where it is not positive definite, or differences do not tell it.

    They do where half the widths and twice them give the same, `AGREE`, along every axis: beside a curvature of 1e12
    rounding hides one of 1.
    """
    widths = cast("Array", _widths(slope, theta, slice(0, theta.size)))
    K = _symmetric_jacobian(slope, theta, widths)
    if not is_definite(K):
        return None
    root = np.linalg.cholesky(K)
    for part in (0.5, 2.0):
        other = np.linalg.solve(root, _symmetric_jacobian(slope, theta, part * widths))
        if not (np.isfinite(other).all() and np.abs(np.linalg.solve(root, other.T) - np.eye(len(K))).max() <= AGREE):
            return None
    return K


def _symmetric_jacobian(slope: Slope, theta: Array, widths: Array) -> Array:
    found = cast("Array", _jacobian(slope, theta, widths))
    return (found + found.T) / 2.0


def is_definite(S: Array) -> bool:
    """Whether all numbers of a symmetric matrix, or of its diagonal alone, are finite, and all eigenvalues positive."""
    return bool(np.isfinite(S).all() and (S if S.ndim == 1 else np.linalg.eigvalsh(S)).min() > 0.0)


def _with_steady_noise(step: OneStep, z: Array, every: NDArray[np.uint64]) -> Take:
    """Return a step to which normals add what they add to first order at z, with the gradient of the rows `every`.

    A word may take the gradient where its noise has moved theta to. That the noise then depends on the state is
    curvature of grad U, which a linear step leaves out everywhere; and one row alone has another curvature than all.
    """
    quiet = np.zeros(step.normals)
    G = cast("Array", _jacobian(lambda normals: step.after(z, every, normals), quiet))
    return lambda at, batch, normals: step.after(at, batch, quiet) + G @ normals


def matrix_at(step: OneStep, z: Array, every: NDArray[np.uint64], widths: Array) -> Array:
    """Return F = dz'/dz of a step without noise, with the gradient of the rows `every`, by central differences at z."""
    quiet = np.zeros(step.normals)
    return cast("Array", _jacobian(lambda at: step.after(at, every, quiet), z, widths))
