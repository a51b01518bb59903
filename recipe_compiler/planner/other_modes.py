"""Other modes of U than the one a plan is made around: chains that all start around one say nothing of the others.

In coordinates w with theta = mode + A w, A^T K A = 1, a quadratic U falls straight to w = 0 from everywhere. Searches
begin far out in w, and where chains would start without a plan. What another minimum that they end in holds of exp(-U)
is compared by Laplace's method:

    log of the ratio = -(U(other) - U(mode)) - (log det Hess U(other) - log det K)/2

That none is found proves nothing: a mode that is narrow beside the way to it is passed by.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.planner.not_gaussian import NotGaussianError
from recipe_compiler.run.linear_step import curvature
from recipe_compiler.run.map_estimate import Mode, PotentialOnLine, Slope, Start, minimum

Array = NDArray[np.float64]

RADII = (4.0, 12.0, 40.0)
"""Where searches begin: as many posterior sds from the mode, times a normal number in each coordinate."""

DIRECTIONS = 4
"""Random ones, each both ways, for each radius."""

APART = 1.0
"""The distance, in posterior sds, from which two minima count as different."""

FLATTEST = 1e-6
"""The least curvature of another mode, in units of that at the mode; less is a plateau."""

NEGLIGIBLE = 1e-3
"""What a mode may hold of exp(-U), over what another does, to be left out."""

NEAR = 1e-2
"""The slope of U over a posterior sd at which a search ends."""

ROUNDS = 4
"""How often the plan moves on to a mode that holds more."""

ITERATIONS = 60
"""Of one search."""

READ = 3e9
"""Entries of the data that may be read: some seconds."""

SHOWN = 4
"""Coordinates of a mode that are shown."""


class _SpentError(Exception):
    """The data were read as often as they may be."""


def main_mode(slope: Slope, mode: Mode, starts: Sequence[Start], entries: int) -> Mode:
    """Return the mode that holds exp(-U): the one given, or another that holds all but `NEGLIGIBLE` of the mass.

    Masses are compared by Laplace's method: log ratio = -(U(other) - U(mode)) - (log det Hess U(other) - log det K)/2.

    Args:
        slope: theta to grad U.
        mode: found already, with a positive definite Hessian of U.
        starts: where chains would start without a plan.
        entries: of the data, each of which one grad U reads.

    Raises:
        NotGaussianError: several hold more; says where they are, and what to do.
    """
    counted = _counted(slope, entries)
    for _ in range(ROUNDS):
        K, heavier = curvature(slope, mode.theta), None
        held: list[tuple[Array, float]] = []
        try:
            for theta, began in _others(counted, mode.theta, K, starts):
                if not _apart(theta, (one for one, _ in held), K):
                    continue
                log_ratio = _log_ratio(counted, mode.theta, K, theta)
                if log_ratio > -math.log(NEGLIGIBLE):
                    heavier = Mode(theta, began)
                    break
                if not log_ratio < math.log(NEGLIGIBLE):
                    held.append((theta, log_ratio))
        except _SpentError:
            heavier = None
        if heavier is None:
            if held:
                raise _several(mode.theta, *held[0], tuple(theta for theta, _ in held))
            return mode
        mode = heavier
    return mode


def minima(slope: Slope, mode: Array, K: Array, starts: Sequence[Start], entries: int) -> tuple[Array, ...]:
    """Return a minimum of U and others that are apart from it, in the metric of the precision K (d x d) around it."""
    found = [mode]
    try:
        for theta, _ in _others(_counted(slope, entries), mode, K, starts):
            if _apart(theta, found, K):
                found.append(theta)
    except _SpentError:
        pass
    return tuple(found)


def _apart(theta: Array, others: Iterable[Array], K: Array) -> bool:
    return all((theta - one) @ K @ (theta - one) > APART**2 for one in others)


def _counted(slope: Slope, entries: int) -> Slope:
    """Return grad U as a function that raises _SpentError once the data have been read as often as allowed."""
    left = [READ / max(1, entries)]

    def counted(theta: Array) -> Array:
        left[0] -= 1.0
        if left[0] < 0.0:
            raise _SpentError
        return slope(np.ascontiguousarray(theta))

    return counted


def _several(mode: Array, other: Array, log_ratio: float, others: tuple[Array, ...]) -> NotGaussianError:
    share = 1.0 / (1.0 + math.exp(-log_ratio))
    held = f", which holds about {100.0 * share:.2g} % of exp(-U) beside it" if math.isfinite(log_ratio) else ""
    return NotGaussianError(
        f"U has several modes: {_shown(mode)}, and {_shown(other)}{held}. Chains that a plan starts around one do not "
        "tell what the others hold",
        "state a step size, a value of every parameter, and an `init` from which chains reach all of them: R-hat then "
        "tells whether they pass from one to another. Components that may change places: break the symmetry in the "
        "target",
        (mode, *others),
    )


def _shown(theta: Array) -> str:
    return f"({', '.join(f'{value:.4g}' for value in theta[:SHOWN])}{', ...' if theta.size > SHOWN else ''})"


def _others(slope: Slope, mode: Array, K: Array, starts: Sequence[Start]) -> Iterator[tuple[Array, str]]:
    """Yield minima of U that are apart from the mode, as searches end in them, and where these began."""
    values, vectors = np.linalg.eigh(K)
    A, back = vectors / np.sqrt(values), (vectors * np.sqrt(values)).T
    rng = np.random.default_rng(0)
    far = [radius * rng.standard_normal(mode.size) for radius in RADII for _ in range(DIRECTIONS)]
    began = [(back @ (start.theta - mode), start.says) for start in starts]
    began += [(sign * w, "far from another mode") for w in far for sign in (1.0, -1.0)]
    for w, says in began:
        ended = _fallen(lambda at: A.T @ slope(mode + A @ at), w)
        if not np.isfinite(ended).all() or np.linalg.norm(ended) <= APART:
            continue
        theta, trouble = minimum(slope, mode + A @ ended)
        if trouble or np.linalg.norm(back @ (theta - mode)) <= APART:
            continue
        bent = A.T @ curvature(slope, theta) @ A
        if np.isfinite(bent).all() and np.linalg.eigvalsh(bent)[0] > FLATTEST:
            yield theta, says


def _fallen(slope: Slope, start: Array) -> Array:
    """Return where a search ends (L-BFGS, `ITERATIONS` steps at most)."""
    from scipy import optimize

    with np.errstate(all="ignore"):
        if not np.isfinite(slope(start)).all():
            return np.full_like(start, np.nan)
        line = PotentialOnLine(slope)
        found = cast("Any", optimize).minimize(
            line.value, start, jac=slope, callback=line.accept, method="L-BFGS-B",
            options={"gtol": NEAR, "maxiter": ITERATIONS, "maxfun": 4 * ITERATIONS},
        )  # fmt: skip
    return np.asarray(found.x, dtype=np.float64)


def _log_ratio(slope: Slope, mode: Array, K: Array, other: Array) -> float:
    """Return the log of what another mode holds over what the mode does; not a number where that is not known."""
    from scipy import integrate

    way = other - mode

    def rising(t: float) -> float:
        return float(slope(mode + t * way) @ way)

    with np.errstate(all="ignore"):
        risen = cast("Any", integrate).quad(rising, 0.0, 1.0, limit=200, full_output=True)[0]
        return float(-risen - (np.linalg.slogdet(curvature(slope, other))[1] - np.linalg.slogdet(K)[1]) / 2.0)
