"""A gradient that is code, tried before a chain trusts it: what every gradient is, and what this one may not be.

A gradient has a symmetric Jacobian, the Hessian of U: for all directions u, v

    v . J u = u . J v,      J u = (g(theta + h u) - g(theta - h u))/(2 h) + O(h^2)

Both sides are differences, and those at 2 h show how wrong these are. The estimate from a minibatch is tried as
an average: over batches that share the data out it gives the gradient of all data, and of two batches the mean of what
they give apart. A symmetric error goes unnoticed: a term left out, such as the Jacobian of a transform.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.run.code_gradient import Array, CodeGradient
from recipe_compiler.run.map_estimate import units_of

POINTS = 3
"""States at which it is tried."""

PAIRS = 20
"""Pairs of directions at each."""

STEPS = (1e-4, 1e-2)
"""h in units of 1/sqrt(|d^2 U/d theta_i^2|): the second for gradients in single precision."""

SIGNIFICANT = 10.0
"""How many times its own error an asymmetry must be."""

LEAST = 1e-6
"""The smallest asymmetry, over v . J u, that is one."""

ROUNDING = 1e-6
"""How far averages over minibatches may be apart, over the size of their parts."""

SHARES = 16
"""Into how many batches the data are shared out."""

NAMED = 60
"""Most coordinates among which the entry that is most asymmetric is named."""


def try_gradient(gradient: CodeGradient, starts: Sequence[Array]) -> None:
    """Check a gradient that is code at the states where chains start, and between them.

    A gradient g has a symmetric Jacobian J (the Hessian of U): v . J u = u . J v for all directions, compared by
    central differences. A wrong g with a symmetric J, such as one without the Jacobian of a transform, goes unnoticed.

    Raises:
        RunError: it is not finite at a start, differs at a second call, writes to its arguments, has an asymmetric
            Jacobian, or its average over minibatches is not the gradient of all data; with numbers.
    """
    with np.errstate(all="ignore"):
        for k, start in enumerate(starts):
            _demand_finite(gradient, start, k)
        _demand_pure(gradient, starts[0])
        for theta in _points(starts):
            if np.isfinite(gradient.full(theta)).all():
                _demand_symmetry(gradient, theta)
                _demand_average(gradient, theta)


def _points(starts: Sequence[Array]) -> Iterator[Array]:
    """Yield starts, each moved a little: at a start as simple as zero much is symmetric by luck."""
    rng = np.random.default_rng(0)
    for k in range(POINTS):
        start = starts[k % len(starts)]
        yield start + 0.1 * (0.1 + np.abs(start)) * rng.standard_normal(start.size)


def _demand_finite(gradient: CodeGradient, theta: Array, chain: int) -> None:
    found = gradient.full(theta)
    bad = np.flatnonzero(~np.isfinite(found))
    if bad.size:
        where = f"out[{bad[0]}] = {found[bad[0]]} where chain {chain + 1} starts, at theta = {shown(theta)}"
        raise RunError(f"{gradient.call} gives {where}: expected finite numbers; state another `init`")


def _demand_pure(gradient: CodeGradient, theta: Array) -> None:
    """Two calls with the same arguments give the same bits, and leave the arguments as they are."""
    batch = None if gradient.batch_size is None else np.arange(gradient.batch_size, dtype=np.uint64) % gradient.rows
    arrays = [("theta", theta), *((f"argument {k + 3}", one) for k, one in enumerate(gradient.given))]
    arrays += [] if batch is None else [("batch", batch)]
    before = [bits(one) for _, one in arrays]
    first = gradient.of_batch(theta, batch)
    for (name, one), old in zip(arrays, before, strict=True):
        if bits(one) != old:
            raise RunError(f"{gradient.call} writes to {name}: expected it to write to `out` alone")
    second = gradient.of_batch(theta, batch)
    differ = np.flatnonzero(first.view(np.uint64) != second.view(np.uint64))
    if differ.size:
        k = differ[0]
        found = f"out[{k}] = {first[k]:.17g} at one call and {second[k]:.17g} at the next"
        raise RunError(f"{gradient.call} gives {found}, with the same arguments: expected the same")


def bits(value: Any) -> int:
    """Return a checksum of an array."""
    array: NDArray[Any] = np.ascontiguousarray(value)
    return hash(array.tobytes()) if array.flags.writeable else 0


@dataclass(frozen=True, slots=True)
class _Asymmetry:
    """Root mean squares over pairs of directions."""

    found: float
    """v . J u - u . J v."""
    error: float
    """Its differences between h and 2 h."""
    scale: float
    """v . J u."""

    @property
    def is_one(self) -> bool:
        return self.found > max(SIGNIFICANT * self.error, LEAST * self.scale)


def _demand_symmetry(gradient: CodeGradient, theta: Array) -> None:
    if theta.size < 2:
        return
    units = units_of(gradient.full, theta)

    def scaled(y: Array) -> Array:
        return units * gradient.full(theta + units * y)

    for h in STEPS:
        found = _asymmetry(scaled, theta.size, h)
        if found.is_one:
            says = (
                f"v.Ju and u.Jv differ by {found.found:.2g} where they are about {found.scale:.2g} and known within "
                f"{found.error:.1g}"
            )
            raise RunError(
                f"{gradient.call} is no gradient: its Jacobian is not symmetric at theta = {shown(theta)}: {says}"
                f"{_worst(scaled, units, h)}. Expected the gradient of one function U"
            )


def _asymmetry(scaled: Any, width: int, h: float) -> _Asymmetry:
    rng = np.random.default_rng(1)
    apart: list[tuple[float, float, float]] = []
    for _ in range(PAIRS):
        u, v = rng.choice([-1.0, 1.0], (2, width))

        def sides(step: float, u: Array = u, v: Array = v) -> tuple[float, float]:
            along = [(scaled(step * w) - scaled(-step * w)) / (2.0 * step) for w in (u, v)]
            return float(v @ along[0]), float(u @ along[1])

        (left, right), (wide_left, wide_right) = sides(h), sides(2.0 * h)
        apart.append((left - right, (wide_left - wide_right) - (left - right), left))
    found, error, scale = (float(one) for one in np.sqrt(np.mean(np.square(apart), axis=0)))
    return _Asymmetry(found, error, scale)


def _worst(scaled: Any, units: Array, h: float) -> str:
    """Return the pair of entries of the Jacobian that is furthest apart, in words."""
    if units.size > NAMED:
        return ""
    slopes = np.array([(scaled(h * e) - scaled(-h * e)) / (2.0 * h) for e in np.eye(units.size)]).T
    i, j = (int(k) for k in np.unravel_index(int(np.argmax(np.abs(slopes - slopes.T))), slopes.shape))
    one, other = (float(slopes[place] / (units[i] * units[j])) for place in ((i, j), (j, i)))
    return f"; d out[{i}]/d theta[{j}] = {one:.6g}, d out[{j}]/d theta[{i}] = {other:.6g}"


def _demand_average(gradient: CodeGradient, theta: Array) -> None:
    """The estimates from batches that share the data out have the gradient of all data as their mean."""
    size = gradient.batch_size
    if size is None:
        return
    order = np.random.default_rng(2).permutation(gradient.rows).astype(np.uint64)
    for batches, where in (
        (np.array_split(order, min(SHARES, gradient.rows)), "all data"),
        ((order[:size], order[-size:]), f"two batches of {size} together"),
    ):
        together = gradient.full(theta) if where == "all data" else gradient.of_batch(theta, np.concatenate(batches))
        parts = np.array([gradient.of_batch(theta, np.ascontiguousarray(batch)) for batch in batches])
        shares = np.array([len(batch) for batch in batches]) / sum(len(batch) for batch in batches)
        mean = shares @ parts
        allowed = ROUNDING * (np.abs(parts).max(axis=0) + np.abs(together))
        off = np.abs(mean - together) - allowed
        if not off.max() <= 0.0:
            k = int(np.nanargmax(off)) if np.isfinite(off).any() else 0
            found = f"out[{k}] is {mean[k]:.6g} on average over {len(batches)} batches, {together[k]:.6g} for {where}"
            expected = "expected the same: grad of -log prior + (N/n) times the sum over a batch of n rows, of any n"
            raise RunError(f"{gradient.call} is no unbiased estimate at theta = {shown(theta)}: {found}; {expected}")


def shown(theta: Array) -> str:
    """Return the first entries of a state, for messages."""
    return f"[{', '.join(f'{x:.4g}' for x in theta[:4])}{', ...' if theta.size > 4 else ''}]"
