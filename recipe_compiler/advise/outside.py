"""After a run: whether much of exp(-U) is outside of where its draws are, as chains in a narrow part of it do not tell.

In w = L^-1 (theta - m), with m and L L^T the mean and covariance of the draws, the outside is |w| > r_0, `EDGE` times
what 99 % of them keep to. What exp(-U) holds there is a mean over directions u,

    Z = |det A| S_d E_u int r^d exp(-U(c + r A u)) 1[outside] d log r,

S_d being the surface of the unit sphere: one number of every stretch of log r, up to `FAR` r_0. At first c = m, A = L.
Where exp(-U) has another shape than the draws few directions find it; the heaviest points of these lie in it, though.
With the Hessian K of U at one of them c = theta - K^-1 grad U and A A^T = K^-1 are those of the Gaussian it is of.
Every such estimate is right on average, for any c and A. What is taken is the largest of them less `ERRORS` standard
errors: of nonnegative numbers with heavy tails few make too small a mean, and an error as large as itself.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from recipe_compiler.advise.visits import Array, Visited, Visits
from recipe_compiler.run.differences import curvature
from recipe_compiler.run.map_estimate import Slope

EDGE = 1.25
"""Where the outside begins, over what `WITHIN` of the draws keep to: draws that are some per cent too narrow, as a step
leaves them, are not outside of themselves, whatever d is."""

WITHIN = 0.99
"""The part of the draws that is well inside."""

FAR = 1e3
"""How far out is looked, in units of where the outside begins."""

WIDE = 8.0
"""The same around another centre, in posterior sds times sqrt(d), and its inverse as near."""

DIRECTIONS, STRETCHES = (16, 64), (16, 48)
"""The fewest, of large data, and the most."""

READ = 2e8
"""Entries of the data that may be read for each estimate: a tenth of what Stein's identity may read."""

SHAPES = 3
"""Points whose Hessian is computed; one for large data."""

ERRORS = 3.0
"""Standard errors that an estimate has to be above zero."""

SINGULAR = 1e-8
"""The least eigenvalue of a Hessian, over its largest, that gives a width."""

SHOWN = 4
"""Coordinates of a state that are shown."""

CURE = "Try `init` farther out, to see whether chains return from there, or another parameterisation."


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """Points on rays, `[direction, stretch, coordinate]`, and the logarithms of the weight of each."""

    theta: Array
    log_held: Array

    @property
    def by_direction(self) -> Array:
        return np.logaddexp.reduce(self.log_held, axis=1)

    @property
    def log_least(self) -> float:
        """The log of the mean over directions, less its errors; both ways of one are no two numbers."""
        half = len(self.log_held) // 2
        both = np.logaddexp(self.by_direction[:half], self.by_direction[half:]) - math.log(2.0)
        largest = float(both.max())
        if not math.isfinite(largest):
            return -math.inf
        parts = np.exp(both - largest)
        least = float(parts.mean() - ERRORS * parts.std(ddof=1) / math.sqrt(half))
        return largest + math.log(least) if least > 0.0 else -math.inf

    @property
    def heaviest(self) -> Iterator[Array]:
        """The heaviest point of every direction in which there is anything, the heaviest of all first."""
        for k in np.argsort(-self.by_direction, kind="stable"):
            if np.isfinite(self.by_direction[k]):
                yield np.ascontiguousarray(self.theta[k, np.argmax(self.log_held[k])])


def visits_outside(potential: Callable[[Array], float], slope: Slope, visited: Visited, entries: float) -> Visits:
    """Return what part of the draws is outside of where they are, beside what part has to be there.

    Args:
        potential: theta to U.
        slope: theta to grad U.
        visited: where the draws are.
        entries: of the data, each of which one U reads.
    """
    d = len(visited.mean)
    edge = EDGE * float(np.quantile(visited.distances(visited.draws), WITHIN))
    few = DIRECTIONS[1] * STRETCHES[1] * entries > READ
    directions, stretches = (DIRECTIONS[0], STRETCHES[0]) if few else (DIRECTIONS[1], STRETCHES[1])
    rng = np.random.default_rng(0)

    def on_rays(centre: Array, A: Array, low: float, high: float, stretches: int) -> _Points:
        u = rng.standard_normal((directions // 2, d))
        u /= np.linalg.norm(u, axis=1)[:, None]
        u = np.concatenate([u, -u])
        width = math.log(high / low) / stretches
        r = low * np.exp(width * (np.arange(stretches) + rng.random((directions, stretches))))
        theta = centre + (r[:, :, None] * u[:, None, :]) @ A.T
        surface = math.log(2.0) + d / 2.0 * math.log(math.pi) - math.lgamma(d / 2.0)
        volume = surface + np.linalg.slogdet(A)[1] + math.log(width) + d * np.log(r)
        flat = theta.reshape(-1, d)
        outside = (visited.distances(flat) > edge) & np.isfinite(flat).all(axis=1)
        rises = [
            potential(np.ascontiguousarray(one)) if out else np.inf for one, out in zip(flat, outside, strict=True)
        ]
        U = np.where(np.isfinite(rises), rises, np.inf).reshape(r.shape)
        return _Points(theta, volume - U)

    with np.errstate(all="ignore"):
        first = on_rays(visited.mean, visited.root, edge, FAR * edge, stretches)
        best = first
        for theta in islice(first.heaviest, 1 if few else SHAPES):
            shape = _gaussian_at(slope, theta)
            if shape is not None:
                span = math.sqrt(d) / WIDE, math.sqrt(d) * WIDE
                best = max(best, on_rays(*shape, *span, STRETCHES[0]), key=lambda points: points.log_least)
    near = next(best.heaviest, visited.mean)
    at = f"{', '.join(f'{value:.3g}' for value in near[:SHOWN])}{', ...' if d > SHOWN else ''}"
    region = f"the region more than {EDGE} times as far out as {100.0 * WITHIN:g} % of them, as at ({at})"
    found = float(np.mean(visited.distances(visited.draws) > edge))
    return Visits(visited.share(best.log_least), found, region, "there", CURE)


def _gaussian_at(slope: Slope, theta: Array) -> tuple[Array, Array] | None:
    """Return mean and root of the covariance of the Gaussian with grad U and Hess U at theta; None where none has."""
    K = curvature(slope, theta)
    if not np.isfinite(K).all():
        return None
    values, vectors = np.linalg.eigh(K)
    if not values[0] > SINGULAR * values[-1] > 0.0:
        return None
    A = vectors / np.sqrt(values)
    return theta - A @ (A.T @ slope(theta)), A
