"""Other minima of U than one that is known, by searches that begin far out around it, and where chains would start.

In coordinates w with theta = mode + A w, A^T K A = 1, a quadratic U falls straight to w = 0 from everywhere. That no
other is found proves nothing: a minimum that is narrow beside the way to it is passed by.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.run.differences import curvature
from recipe_compiler.run.map_estimate import PotentialOnLine, Slope, Start, minimum

Array = NDArray[np.float64]
Potential = Callable[[Array], float]

RADII = (4.0, 12.0, 40.0)
"""Where searches begin: as many posterior sds from the mode, times a normal number in each coordinate."""

DIRECTIONS = 4
"""Random ones, each both ways, for each radius."""

APART = 1.0
"""The distance, in posterior sds, from which two minima count as different."""

FLATTEST = 1e-6
"""The least curvature of another mode, in units of that at the mode; less is a plateau."""

NEAR = 1e-2
"""The slope of U over a posterior sd at which a search ends."""

ITERATIONS = 60
"""Most iterations of one search."""


class SpentError(Exception):
    """The data were read as often as they may be."""


def counted(slope: Slope, entries: float, read: float) -> Slope:
    """Return grad U as a function that raises SpentError once so many entries of the data have been read.

    Args:
        slope: theta to grad U.
        entries: of the data, each of which one grad U reads.
        read: the most that may be.
    """
    left = [read / max(1, entries)]

    def called(theta: Array) -> Array:
        left[0] -= 1.0
        if left[0] < 0.0:
            raise SpentError
        return slope(np.ascontiguousarray(theta))

    return called


def minima(
    slope: Slope, mode: Array, K: Array, starts: Sequence[Start], potential: Potential | None = None
) -> tuple[Array, ...]:
    """Return a minimum of U and others that are apart from it, in the metric of the precision K (d x d) around it.

    Args:
        slope: theta to grad U; where it raises SpentError, what was found before is returned.
        mode: the minimum.
        K: d x d.
        starts: where searches begin before they do so far out.
        potential: theta to U; None: its differences are integrals of the slope.
    """
    found = [mode]
    try:
        for theta, _ in others(slope, mode, K, starts, potential):
            if are_apart(theta, found, K):
                found.append(theta)
    except SpentError:
        pass
    return tuple(found)


def are_apart(theta: Array, minima: Iterable[Array], K: Array) -> bool:
    """Whether a minimum is none of those that are known, in the metric of K (d x d)."""
    return all((theta - one) @ K @ (theta - one) > APART**2 for one in minima)


def others(
    slope: Slope, mode: Array, K: Array, starts: Sequence[Start], potential: Potential | None = None
) -> Iterator[tuple[Array, str]]:
    """Yield minima of U that are apart from the mode, as searches end in them, and where these began."""
    values, vectors = np.linalg.eigh(K)
    A, back = vectors / np.sqrt(values), (vectors * np.sqrt(values)).T
    rng = np.random.default_rng(0)
    far = [radius * rng.standard_normal(mode.size) for radius in RADII for _ in range(DIRECTIONS)]
    began = [(back @ (start.theta - mode), start.says) for start in starts]
    began += [(sign * w, "far from another mode") for w in far for sign in (1.0, -1.0)]
    value = None if potential is None else partial(_value, potential, mode, A)
    for w, says in began:
        ended = _fallen(lambda at: A.T @ slope(mode + A @ at), w, value)
        if not np.isfinite(ended).all() or np.linalg.norm(ended) <= APART:
            continue
        theta, trouble = minimum(slope, mode + A @ ended)
        if trouble or np.linalg.norm(back @ (theta - mode)) <= APART:
            continue
        bent = A.T @ curvature(slope, theta) @ A
        if np.isfinite(bent).all() and np.linalg.eigvalsh(bent)[0] > FLATTEST:
            yield theta, says


def _value(potential: Potential, mode: Array, A: Array, w: Array) -> float:
    """Return U at theta = mode + A w."""
    return potential(np.ascontiguousarray(mode + A @ w))


def _fallen(slope: Slope, start: Array, potential: Potential | None) -> Array:
    """Return where a search ends (L-BFGS, `ITERATIONS` steps at most)."""
    from scipy import optimize

    with np.errstate(all="ignore"):
        if not np.isfinite(slope(start)).all():
            return np.full_like(start, np.nan)
        line = PotentialOnLine(slope)
        value, accept = (line.value, line.accept) if potential is None else (potential, None)
        found = cast("Any", optimize).minimize(
            value, start, jac=slope, callback=accept, method="L-BFGS-B",
            options={"gtol": NEAR, "maxiter": ITERATIONS, "maxfun": 4 * ITERATIONS},
        )  # fmt: skip
    return np.asarray(found.x, dtype=np.float64)
