"""The mode of a target: a minimum of U, sought from several starts by SciPy's trust-region methods, by grad U alone.

U itself is not emitted. What the method needs of it are differences, and along the line from the state it is at

    U(theta + w) - U(theta) = int_0^1 grad U(theta + t w) . w dt

is summed by Gauss and Legendre, without the cancellation that a difference of two large values has. Coordinates are
measured in units of 1/sqrt(|d^2 U/d theta_i^2|), so that scales that differ by powers of ten are no hindrance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from recipe_compiler.emit.support.trial import _units_of
from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.differences import curvature, is_definite, jacobian

Slope = Callable[[Array], Array]
"""theta to grad U."""

ENTRIES = 5e5
"""Entries of the data that give the Hessian at a mode; larger data are represented by a sample."""

DENSE = 200
"""Most coordinates for which the Hessian is worked out column by column (trust-exact); of more, trust-krylov."""

ITERATIONS, ROUNDS = 100, 4
"""The most steps of one search, and how often it goes on in new units, or from beside a saddle."""

TURNS = 20
"""How often a mode is moved that is known already from some of the data."""

SLACK = 1e-6
"""Largest decrement grad U^T Hess(U)^-1 grad U at a mode, the square of its distance in posterior deviations."""

NEAR = 10.0
"""The largest decrement, by coordinate, of a state that is near a mode: draws have 1, and chains start at 4."""

ENOUGH = 1e-9
"""A norm of grad U, in units, at which the search ends."""

FALL = 1e-8
"""For longer blocks: the largest norm of grad U at a mode over that where the search began."""

FLAT = 1e-5
"""The part of the largest curvature below which differences cannot separate one from zero."""

SHORTEST = 1e-12
"""The smallest unit over what theta has, beside which no minimum is found: a scale tau that goes to zero has walls as
steep as 1/tau^2 around what it is the scale of."""

CLEFT, CLEFTS = "the search ran into a narrow valley of U", 3
"""What ends a search where that is so, and how many such searches end all: the others would run into it too."""

DIRECTIONS = 16
"""Directions in which the curvature of a longer block is measured."""

FAR = 1e9
"""The longest step, in units: at a poor start they are short."""

STEP = 1e-4
"""Width of a central difference, in units."""


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Where a search begins."""

    says: str
    """`init`, `zero`, `random state 2`."""
    theta: Array


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """A minimum of U: theta, and where the search began that led to it."""

    theta: Array
    says: str
    """Where the search for it began."""


class NoModeError(RunError):
    """No search reached a minimum of U."""

    def __init__(self, what: str, falling: str) -> None:
        super().__init__(
            f"the mode: {what}. {falling}State `init` closer to the mode, if there is one; dynamics with Metropolis "
            "moves (`hmc`) are planned without"
        )
        self.what = what
        self.falling = falling
        """Along which coordinate U falls where the first search ended, and what that may mean."""


def find_mode(slope: Slope, starts: Sequence[Start], names: Sequence[str] = ()) -> Mode:
    """Return theta with grad U(theta) = 0 and Hess U positive semidefinite, from the first start that leads to one.

    By a trust-region method on grad U alone (SciPy); differences of U are int_0^1 grad U(theta + t w) . w dt, by Gauss
    and Legendre. The Hessian is checked by central differences along coordinates or random directions.

    Args:
        slope: theta to grad U.
        starts: where searches begin, one after another.
        names: of the coordinates, to say along which U still falls where no search has found a minimum.

    Raises:
        NoModeError: no start did; says how far the first search came, and what to do.
    """
    met: list[tuple[Start, Array, str]] = []
    for start in starts:
        theta, trouble = minimum(slope, np.ascontiguousarray(start.theta, dtype=np.float64))
        if not trouble:
            return Mode(theta, start.says)
        met.append((start, theta, trouble))
        if sum(why.startswith(CLEFT) for _, _, why in met) >= CLEFTS:
            break
    first, theta, trouble = met[0]
    others = f"; {len(met) - 1} more search{'es' if len(met) > 2 else ''} found none" if len(met) > 1 else ""
    raise NoModeError(f"no minimum of U was found: from {first.says} {trouble}{others}", _falling(slope, theta, names))


def _falling(slope: Slope, theta: Array, names: Sequence[str]) -> str:
    """Return the coordinate along which U falls most where a search has ended, and what that may mean."""
    with np.errstate(all="ignore"):
        left = slope(theta)
    if not names or not np.isfinite(left).all():
        return ""
    k = int(np.argmax(np.abs(left)))
    way = "down" if left[k] > 0.0 else "up"
    return (
        f"There U falls as {names[k]} goes {way} from {theta[k]:.3g}. Where it does so without end there is no mode: "
        "a scale tau of other coordinates, theta of N(mu, tau**2), draws them together; with eta of N(0, 1) in their "
        "place, and mu + tau*eta in the likelihood, it does not. Anything else needs a prior. "
    )


def find_mode_of_all(slope: Slope, of_few: Slope | None, starts: Sequence[Start], names: Sequence[str] = ()) -> Mode:
    """Return the mode of all data: `refined` from the first start where that is as near as draws are, else found.

    Args:
        slope: theta to grad U of all data.
        of_few: the same by a random sample; None where all are few.
        starts: as of `find_mode`.
        names: as of `find_mode`.

    Raises:
        NoModeError: the sample has none.
        RunError: none of all data is near that of the sample.
    """
    if of_few is None:
        return find_mode(slope, starts, names)
    try:
        theta = np.asarray(starts[0].theta, dtype=np.float64)
        return refined(slope, Mode(theta, starts[0].says), of_few, NEAR * theta.size)
    except RunError:
        return refined(slope, find_mode(of_few, starts, names), of_few)


def refined(slope: Slope, near: Mode, of_few: Slope, most: float = np.inf) -> Mode:
    """Return the mode of all data near that of a sample, by theta - inv(K) grad U(theta), K the Hessian of the sample.

    The distance shrinks by the relative error of K in each iteration; where it does not to a half, K is that of all.

    Args:
        slope: theta to grad U of all data.
        near: where the search begins.
        of_few: the same by the sample.
        most: the largest decrement there.

    Raises:
        RunError: it does not converge, or the mode is farther away.
    """
    theta, K, is_of_all = near.theta, curvature(of_few, near.theta), False
    with np.errstate(all="ignore"):
        gradient = slope(theta)
        for _ in range(TURNS):
            if not is_definite(K):
                break
            move = np.linalg.solve(K, gradient)
            decrement = float(gradient @ move)
            if decrement <= SLACK:
                return Mode(theta - move, near.says)
            if not decrement < most:
                break
            ahead = slope(theta - move)
            if float(ahead @ np.linalg.solve(K, ahead)) <= decrement / 4.0:
                theta, gradient, is_of_all = theta - move, ahead, False
            elif is_of_all:
                break
            else:
                K, is_of_all = curvature(slope, theta), True
    raise RunError("the mode: state `init` closer to it: none of all data was found near that of a random sample")


def minimum(slope: Slope, start: Array) -> tuple[Array, str]:
    """Return where a search ended, and why that is no minimum of U; the empty string if it is one."""
    with np.errstate(all="ignore"):
        first = slope(start)
        if not np.isfinite(first).all():
            return start, "grad U is not finite"
        theta, trouble, began = start, "", float(np.linalg.norm(first))
        units = _units_of(slope, theta)
        for _ in range(ROUNDS):
            theta, iterations = _descended(slope, theta, units)
            units = _units_of(slope, theta)
            trouble, aside = _trouble(slope, theta, units, began, iterations)
            if not trouble:
                nearer, _ = _descended(slope, theta, units)  # the units there are the best
                return (theta if _trouble(slope, nearer, units, began, 0)[0] else nearer), ""
            if trouble.startswith(CLEFT):
                break
            if aside.any():
                theta = theta + aside
                units = _units_of(slope, theta)
    return theta, trouble


class PotentialOnLine:
    """U up to a constant, along lines: U(y) - U(x) = int_0^1 grad U(x + t (y - x)) . (y - x) dt."""

    def __init__(self, slope: Slope) -> None:
        self.slope = slope
        self.level = 0.0
        self.at: Array | None = None
        self.last: tuple[Array, float, Array] | None = None
        places, weights = np.polynomial.legendre.leggauss(5)
        self.places, self.weights = (places + 1.0) / 2.0, weights / 2.0

    def value(self, y: Array) -> float:
        """Return U(y) - U(start); infinite where the gradient is not finite on the way."""
        return self._looked(y)[0]

    def gradient(self, y: Array) -> Array:
        """Return grad U(y)."""
        return self._looked(y)[1]

    def accept(self, y: Array) -> None:
        """Move the search to y."""
        self.level, self.at = self.value(y), y.copy()

    def _looked(self, y: Array) -> tuple[float, Array]:
        """Return U(y) - U(start) and grad U(y), which are asked for more than once."""
        if self.last is None or not np.array_equal(self.last[0], y):
            if self.at is None:
                self.at = y.copy()
            away, risen, slopes = y - self.at, self.level, self.slope(y)
            if away.any():
                parts = zip(self.places, self.weights, strict=True)
                risen += float(np.sum([w * (self.slope(self.at + t * away) @ away) for t, w in parts]))
                risen = risen if np.isfinite(risen) and np.isfinite(slopes).all() else np.inf
            self.last = y.copy(), risen, slopes
        return self.last[1:]


def _descended(slope: Slope, theta: Array, units: Array) -> tuple[Array, int]:
    """Return where the trust-region method ends in at most `ITERATIONS` steps, and how many it took."""
    from scipy import optimize

    def scaled(y: Array) -> Array:
        return units * slope(np.ascontiguousarray(theta + units * y))

    def hessian(y: Array) -> Array:
        found = _hessian(scaled, y)
        return found if np.isfinite(found).all() else np.eye(y.size)  # asked for also where a step is not taken

    def along(y: Array, direction: Array) -> Array:
        return _along(scaled, y, direction)

    line = PotentialOnLine(scaled)
    dense = theta.size <= DENSE
    how = {"method": "trust-exact", "hess": hessian} if dense else {"method": "trust-krylov", "hessp": along}
    options = {"gtol": ENOUGH, "maxiter": ITERATIONS, "max_trust_radius": FAR}
    try:
        found = cast("Any", optimize).minimize(
            line.value, np.zeros_like(theta), jac=line.gradient, callback=line.accept, options=options, **how
        )
    except (np.linalg.LinAlgError, ValueError, OverflowError):  # curvature that is not finite
        return theta if line.at is None else theta + units * line.at, ITERATIONS
    return theta + units * np.asarray(found.x, dtype=np.float64), int(found.nit)


def _trouble(slope: Slope, theta: Array, units: Array, began: float, iterations: int) -> tuple[str, Array]:
    """Return why a state is no minimum, and a way on from there; nothing where it is one."""
    left, nowhere = slope(theta), np.zeros_like(theta)
    if not np.isfinite(left).all():
        return "the search reached a non-finite grad U", nowhere
    reached = f"grad U has norm {np.linalg.norm(left):.3g} there, {began:.3g} where the search began"
    if theta.size > DENSE:
        bends = [float(v @ _along(slope, theta, v)) for v in _directions(theta.size)]
        close, least, downwards = bool(np.linalg.norm(left) <= FALL * max(began, 1.0)), min(bends), nowhere
        largest = max(np.abs(bends))
    else:
        if (units < SHORTEST * np.maximum(np.abs(theta), 1.0)).any():
            return f"{CLEFT}, too narrow to measure ({reached})", nowhere
        hessian = _hessian(lambda y: units * slope(theta + units * y), nowhere)
        if not np.isfinite(hessian).all():
            return f"the search reached a non-finite curvature of U ({reached})", nowhere
        values, vectors = np.linalg.eigh(hessian)
        least, largest, downwards = float(values[0]), float(np.abs(values).max()), units * vectors[:, 0]
        inside = vectors.T @ (units * left)
        close = bool(np.sum(inside**2 / np.maximum(np.abs(values), FLAT * largest)) <= SLACK)
    curved = least >= -FLAT * largest
    if close and curved:
        return "", nowhere
    if close:
        return f"the search reached a saddle of U ({reached})", downwards
    bent = "" if curved else ", where U curves downwards"
    ended = f"reached its limit of {ITERATIONS} steps a round" if iterations >= ITERATIONS else "made no progress"
    return f"the search {ended}{bent} ({reached})", nowhere


def _hessian(slope: Slope, y: Array) -> Array:
    found = jacobian(slope, y, np.full(y.size, STEP))
    return (found + found.T) / 2.0


def _directions(size: int) -> Array:
    directions = np.random.default_rng(0).standard_normal((DIRECTIONS, size))
    return directions / np.linalg.norm(directions, axis=1)[:, None]


def _along(slope: Slope, y: Array, direction: Array) -> Array:
    """Return the Hessian of U times a direction, by a central difference of the gradient."""
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        return np.zeros_like(y)
    h = STEP / length
    return (slope(y + h * direction) - slope(y - h * direction)) / (2.0 * h)
