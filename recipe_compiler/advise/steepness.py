"""How much steeper U is away from its mode than at it: what a step that stays the same has to bear there."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.map_estimate import PotentialOnLine, Slope

AWAY = 3.0
"""Posterior sds from the mode that a chain of a thousand draws comes to, where U is quadratic: it has risen by
AWAY^2/2 there. Where U is steeper chains come as high, and so less far."""

LOOKED_AT = (0.5, 1.0)
"""Parts of the way there at which is looked."""

HALVINGS = 12
"""Halvings of the interval that holds the end of the way."""

APART = 0.05
"""Half of the difference that gives the curvature, in the same unit."""

STEEPEST = 30.0
"""The most that the curvature there may be of that at the mode for one step size to serve both."""

TURNS = 4
"""Turns of the power iteration for the largest curvature."""

FLATTEST = 0.1
"""The least that grad U may rise on the way, of what it would rise on the Gaussian's."""

SINGULAR = 0.1
"""Posterior sds by the Hessian within which chains stay where U is as flat as x^4 at its mode."""

OTHERS = (
    "use Metropolis moves (the dynamics `hmc`, a cycle with `metropolis`), a scheme with an implicit "
    "flow (`flows:`), a metric that depends on the state, or another parameterisation"
)


class NotGaussianError(RunError):
    """U is no quadratic where exp(-U) is: singular at its mode, bent, or with several modes; says which."""

    def __init__(self, what: str, serves: str, minima: tuple[Array, ...] = ()) -> None:
        super().__init__(f"step_size: auto: {what}; {serves}")
        self.what = what
        self.serves = serves
        """What to do where pilot chains tell nothing either."""
        self.minima = minima
        """Those of U that were found, where there are several."""


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What chains meet around a mode."""

    steepest: float
    """The largest curvature, in units of that at the mode."""
    flattest: float
    """The least slope, in units of the Gaussian's there; less than 1 where its tails are heavier."""
    spread: Array
    """The covariance of a Gaussian around the mode that has its sd on every axis of K, or less where U is steeper."""


def surroundings(slope: Slope, theta: Array, K: Array) -> Surroundings:
    """Return the curvature and slopes that chains meet around a mode of U, in units of the Gaussian there.

    In coordinates w with theta = mode + A w, A.T K A = 1, the Gaussian has curvature 1. Along each axis of K, both
    ways, the spectral norm of the Hessian is estimated by power iteration half and all of the way to where U has risen
    by `AWAY`**2/2.

    Raises:
        NotGaussianError: no constant step size works both there and at the mode.
    """
    values, vectors = np.linalg.eigh(K)
    A, most, least, rng = vectors / np.sqrt(values), 1.0, 1.0, np.random.default_rng(0)
    reached = np.ones(len(K))

    def scaled(at: Array) -> Array:
        return A.T @ slope(theta + A @ at)

    for k, sign in product(range(len(K)), (1.0, -1.0)):
        axis = AWAY * sign * np.eye(len(K))[k]
        far = min(1.0, extent(scaled, np.zeros(len(K)), axis, 1.0, 1, HALVINGS))
        reached[k] = min(reached[k], far)
        for w in (part * far * axis for part in LOOKED_AT):
            away = float(np.linalg.norm(w))
            rise = float(scaled(w) @ w) / away**2
            bent = bent_at(scaled, w, rng.standard_normal(len(K)), APART)
            if not (rise >= FLATTEST and bent <= STEEPEST):
                raise _far_from_quadratic(away, rise, bent, values)
            most, least = max(most, bent), min(least, rise)
    return Surroundings(most, least, (A * reached**2) @ A.T)


def _far_from_quadratic(away: float, rise: float, bent: float, values: Array) -> NotGaussianError:
    """Return why no step is chosen at a mode: `away` sds from it the slope is `rise` times the quadratic's."""
    if away < SINGULAR and bent > STEEPEST:
        return NotGaussianError(
            f"the Hessian of U at its mode is nearly singular (eigenvalues {values[0]:.2g} to "
            f"{values[-1]:.2g}): U is flatter there than any quadratic, so the width of the posterior is not "
            "known there",
            "state a step size and a value of every parameter, or another parameterisation: where U is constant "
            "along a direction, as for factors known up to rotation, one without it (a factor with zeros above its "
            "diagonal)",
        )
    where = f"its slope there is {rise:.2g} and its curvature {bent:.2g} of the quadratic's"
    return NotGaussianError(
        f"U is far from a quadratic {away:.2g} sds from its mode ({where}): no constant step size chosen at the mode "
        "suits it",
        f"{OTHERS}, or state a step size",
    )


def extent(slope: Slope, origin: Array, way: Array, first: float, doublings: int, halvings: int) -> float:
    """Return the part of a way on which U has risen by `AWAY`^2/2, though it may fall again; infinite for none.

    Args:
        slope: theta to grad U.
        origin: where the way begins.
        way: its direction.
        first: the part that is looked at first.
        doublings: how often it is looked twice as far.
        halvings: of the interval that holds the end.
    """
    line, near, far = PotentialOnLine(slope), 0.0, first

    def is_below(part: float) -> bool:
        """Whether U has not risen so far there; the line goes on from the last place where it has not."""
        below = line.value(origin + part * way) < AWAY**2 / 2.0
        if below:
            line.accept(origin + part * way)
        return below

    with np.errstate(all="ignore"):
        is_below(0.0)
        for _ in range(doublings):
            if not is_below(far):
                break
            near, far = far, 2.0 * far
        else:
            return np.inf
        for _ in range(halvings):
            middle = (near + far) / 2.0
            near, far = (middle, far) if is_below(middle) else (near, middle)
    return far


def bent_at(slope: Slope, w: Array, start: Array, apart: float) -> float:
    """Return an estimate from below of the spectral norm of the derivative of a slope at w, by power iteration.

    Args:
        slope: to be differentiated.
        w: where.
        start: any direction to begin with.
        apart: half of the difference, in the unit of w.
    """
    found, largest = start, 0.0
    for _ in range(TURNS):
        direction = found / np.linalg.norm(found)
        found = (slope(w + apart * direction) - slope(w - apart * direction)) / (2.0 * apart)
        largest = float(np.linalg.norm(found))
        if not 0.0 < largest < np.inf:
            break
    return largest
