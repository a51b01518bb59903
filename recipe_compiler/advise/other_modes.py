"""Other modes of U than the one a plan is made around: chains that all start around one say nothing of the others.

What another minimum that searches end in (`advise/other_minima.py`) holds of exp(-U) is compared by Laplace's method:

    log of the ratio = -(U(other) - U(mode)) - (log det Hess U(other) - log det K)/2
"""

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.not_gaussian import NotGaussianError
from recipe_compiler.advise.other_minima import SpentError, are_apart, counted, minima, others
from recipe_compiler.run.differences import curvature
from recipe_compiler.run.map_estimate import Mode, Slope, Start

Array = NDArray[np.float64]

NEGLIGIBLE = 1e-3
"""What a mode may hold of exp(-U), over what another does, to be left out."""

ROUNDS = 4
"""How often the plan moves on to a mode that holds more."""

READ = 3e9
"""Entries of the data that may be read: some seconds."""

SHOWN = 4
"""Coordinates of a mode that are shown."""


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
    limited = counted(slope, entries, READ)
    for _ in range(ROUNDS):
        K, heavier = curvature(slope, mode.theta), None
        held: list[tuple[Array, float]] = []
        try:
            for theta, began in others(limited, mode.theta, K, starts):
                if not are_apart(theta, (one for one, _ in held), K):
                    continue
                log_ratio = _log_ratio(limited, mode.theta, K, theta)
                if log_ratio > -math.log(NEGLIGIBLE):
                    heavier = Mode(theta, began)
                    break
                if not log_ratio < math.log(NEGLIGIBLE):
                    held.append((theta, log_ratio))
        except SpentError:
            heavier = None
        if heavier is None:
            if held:
                raise _several(mode.theta, *held[0], tuple(theta for theta, _ in held))
            return mode
        mode = heavier
    return mode


def known_minima(slope: Slope, mode: Array, K: Array, starts: Sequence[Start], entries: int) -> tuple[Array, ...]:
    """Return a minimum of U and others that are apart from it, in the metric of the precision K (d x d) around it."""
    return minima(counted(slope, entries, READ), mode, K, starts)


def _several(mode: Array, other: Array, log_ratio: float, others: tuple[Array, ...]) -> NotGaussianError:
    share = 1.0 / (1.0 + math.exp(-log_ratio))
    held = f", which holds about {100.0 * share:.2g} % of exp(-U) beside it" if math.isfinite(log_ratio) else ""
    return NotGaussianError(
        f"U has several modes: {_shown(mode)}, and {_shown(other)}{held}. Chains started around one do not show "
        "the mass of the others",
        "state a step size, a value of every parameter, and an `init` from which chains reach all of them: R-hat then "
        "shows whether they mix. For exchangeable components, break the symmetry in the target: `mu: {shape: K, "
        "constraint: ordered}` orders means",
        (mode, *others),
    )


def _shown(theta: Array) -> str:
    return f"({', '.join(f'{value:.4g}' for value in theta[:SHOWN])}{', ...' if theta.size > SHOWN else ''})"


def _log_ratio(slope: Slope, mode: Array, K: Array, other: Array) -> float:
    """Return the log of what another mode holds over what the mode does; not a number where that is not known."""
    from scipy import integrate

    way = other - mode

    def rising(t: float) -> float:
        return float(slope(mode + t * way) @ way)

    with np.errstate(all="ignore"):
        risen = cast("Any", integrate).quad(rising, 0.0, 1.0, limit=200, full_output=True)[0]
        return float(-risen - (np.linalg.slogdet(curvature(slope, other))[1] - np.linalg.slogdet(K)[1]) / 2.0)
