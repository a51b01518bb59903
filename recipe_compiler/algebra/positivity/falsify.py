"""An exact point of the domain and an exact direction in which a symmetric matrix is negative.

Floats propose: heavy-tailed samples, then descent without derivatives on the smallest eigenvalue, from the best of them
(Nelder, Mead 1965). A proposal is rounded to simple rationals and counts only if, exactly or by balls, every
declaration holds there and v.T A v < 0.

Worked example, [[1, x], [x, 1]] with eigenvalues 1 - x and 1 + x: descent leads to some x > 1, which is rounded to x =
2, say; there v = (1, -1) has v.T A v = 2 - 2 x = -2.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import sympy
from sympy import Expr

from recipe_compiler.algebra.positivity.boxes import bounds_of
from recipe_compiler.algebra.positivity.region import Region, satisfies
from recipe_compiler.algebra.positivity.straight_line_program import ProgramArithmetic, ProgramSteps, steps
from recipe_compiler.algebra.scalars.elementwise import SCALAR_FUNCTIONS, with_arrays
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.rational_matrices import form, negative_direction
from recipe_compiler.algebra.scalars.rationals import fraction, rational

ROUNDS = 160
"""Each evaluates every candidate move of every simplex, 4 k points, and a shrink where none helps."""
Values = Callable[[np.ndarray], np.ndarray]
"""Takes points (k, n), returns values (k,); what is outside is infinite."""

SAMPLES = 600
STARTS = 12
SEED = 20150
DENOMINATORS = (1, 10, 1_000, 10**6, 10**9)
TRIED = 6
"""Proposals whose rounding is tried."""

INWARDS = (0.0, 0.01, 0.1, 0.4)
"""How far an end is moved back towards its start: descent ends on the boundary, where rounding leaves the domain."""

Point = dict[Expr, Fraction]


def descended(f: Values, starts: np.ndarray) -> np.ndarray:
    """Return the best point that descent reaches from each start, an array of shape (k, n).

    Args:
        f: takes points of shape (k, n), returns values of shape (k,); infinite outside the domain.
        starts: of shape (k, n).
    """
    count, n = starts.shape
    simplex = np.repeat(starts[:, None, :], n + 1, axis=1)
    for i in range(n):
        simplex[:, i + 1, i] += np.where(starts[:, i] != 0, 0.05 * starts[:, i], 0.01)
    values = f(simplex.reshape(-1, n)).reshape(count, n + 1)
    rows = np.arange(count)
    for _ in range(ROUNDS):
        order = np.argsort(values, axis=1, kind="stable")
        simplex, values = simplex[rows[:, None], order], values[rows[:, None], order]
        centre, worst = simplex[:, :-1].mean(axis=1), simplex[:, -1]
        moves = np.stack([centre + t * (worst - centre) for t in (-1.0, -2.0, -0.5, 0.5)])
        found = f(moves.reshape(-1, n)).reshape(4, count)
        best = found.argmin(axis=0)
        better = found[best, rows] < values[:, -1]
        simplex[better, -1] = moves[best, rows][better]
        values[better, -1] = found[best, rows][better]
        if not better.all():
            small = ~better
            shrunk = simplex[small, :1] + 0.5 * (simplex[small, 1:] - simplex[small, :1])
            simplex[small, 1:] = shrunk
            values[small, 1:] = f(shrunk.reshape(-1, n)).reshape(-1, n)
    at = values.argmin(axis=1)
    return simplex[rows, at]


def _float_power(base: Any, exponent: Any, rational: sympy.Rational | None) -> Any:
    if rational is not None and rational.q == 1:
        return np.power(base, float(rational.p))
    return np.power(base, exponent)


FLOATS = ProgramArithmetic(
    lambda p, q: p / q,
    _float_power,
    {**{row.name: with_arrays(row) for row in SCALAR_FUNCTIONS.values()}, "Cell": np.sign},
    lambda: np.pi,
)
"""Arrays of floats; what is undefined is nan."""


@dataclass(frozen=True, slots=True)
class Direction:
    """A point, a direction v, and v.T A v there: certainly negative.

    v.T A v < 0 for the symmetric n x n matrix A there.
    """

    at: Point
    direction: tuple[Fraction, ...]
    value: Value


def falsified(a: Rows, region: Region, names: tuple[Expr, ...]) -> Direction | None:
    """Return a point of a region and a direction in which the symmetric part of a matrix is negative; None if unknown.

    `names` are the symbols to choose, all that occur in the matrix and the region among them. `a` is n x n; the
    direction v has n rationals and v.T (a + a.T) v/2 < 0 at the point, exactly or by balls.
    """
    n = len(a)
    half = sympy.Rational(1, 2)
    symmetric: Rows = tuple(tuple(half * (a[i][j] + a[j][i]) for j in range(n)) for i in range(n))
    if not names:
        return confirmed(symmetric, region, {})
    search = _Search(symmetric, region, names)
    try:
        for proposal in search.proposals():
            for at in _rounded(names, proposal, region):
                found = confirmed(symmetric, region, at)
                if found is not None:
                    return found
    except NoValueError:  # a function that has no floats: nothing is proposed
        return None
    return None


def confirmed(symmetric: Rows, region: Region, at: Point) -> Direction | None:
    """Return the negative direction v.T A v < 0 of a symmetric n x n matrix at a point; None if it has none.

    None, too, if the point is outside the region, or an entry has no value there.
    """

    def leaf(e: Expr) -> Fraction:
        if e not in at:
            raise NoValueError(f"{e} has no value")
        return at[e]

    try:
        if not all(satisfies(fact, evaluate(fact.value, leaf)) for fact in region):
            return None
        values = [[evaluate(x, leaf) for x in row] for row in symmetric]
    except NoValueError:
        return None
    return _direction(values, at)


def _direction(values: list[list[Value]], at: Point) -> Direction | None:
    exact = tuple(tuple(x for x in row if isinstance(x, Fraction)) for row in values)
    if all(len(row) == len(values) for row in exact):
        v = negative_direction(exact)
        return None if v is None else Direction(at, v, form(exact, v))
    near = np.array([[float(ball(x).mid()) for x in row] for row in values])
    if not np.all(np.isfinite(near)):
        return None
    v = np.linalg.eigh(near)[1][:, 0]
    simple = tuple(Fraction(float(x)).limit_denominator(1_000) for x in v / abs(v).max())
    total = sum(
        (ball(x * y) * ball(values[i][j]) for i, x in enumerate(simple) for j, y in enumerate(simple)),
        ball(Fraction(0)),
    )
    return Direction(at, simple, total) if is_certainly(total, -1) else None


def _rounded(names: tuple[Expr, ...], proposal: np.ndarray, region: Region) -> Iterator[Point]:
    """Yield rational points near a proposal, the simplest first; equalities that name one symbol are solved for it."""
    for largest in DENOMINATORS:
        at = {x: Fraction(float(v)).limit_denominator(largest) for x, v in zip(names, proposal, strict=True)}
        yield _solved(at, region)


def _solved(at: Point, region: Region) -> Point:
    """Return a point moved onto equalities that are linear in a symbol with a rational slope."""
    found = dict(at)
    for fact in region:
        if fact.op != "==":
            continue
        for name in sorted(fact.names & found.keys(), key=str):
            slope = sympy.diff(fact.value, name) if isinstance(name, sympy.Symbol) else sympy.Integer(0)
            if isinstance(slope, sympy.Rational) and slope != 0:
                value = fact.value.xreplace({x: rational(v) for x, v in found.items()})
                if isinstance(value, sympy.Rational):
                    found[name] -= fraction(value) / fraction(slope)
                break
    return found


class _Search:
    """Floats of the matrix and the domain at many points at once."""

    def __init__(self, a: Rows, region: Region, names: tuple[Expr, ...]) -> None:
        self.n = len(a)
        self.names = names
        self.facts = [fact for fact in region if fact.op in {">", ">="}]
        self.strict = np.array([fact.op == ">" for fact in self.facts], dtype=bool)
        self.steps: ProgramSteps = steps([x for row in a for x in row] + [fact.value for fact in self.facts])
        self.random = np.random.default_rng(SEED)
        signs = {fact.value: fact.op for fact in self.facts}
        self.positive = np.array([x in signs for x in names])

    def proposals(self) -> Iterator[np.ndarray]:
        """Yield points where the smallest eigenvalue seems negative: samples, then what descent made of the best."""
        points = self._samples()
        values = self._least(points)
        order = np.argsort(values, kind="stable")
        yield from (points[k] for k in islice(order, TRIED // 2) if values[k] < -1e-9)
        starts = points[[k for k in order[:STARTS] if np.isfinite(values[k])]]
        if len(starts):
            found = descended(self._least, starts)
            best = np.argsort(self._least(found), kind="stable")[:TRIED]
            for share in INWARDS:
                moved = found[best] + share * (starts[best] - found[best])
                values = self._least(moved)
                yield from (moved[k] for k in range(len(best)) if values[k] < -1e-13)

    def _samples(self) -> np.ndarray:
        """Return points of several scales: near 0, a few, tens, and integers."""
        shape = (SAMPLES, len(self.names))
        scales = self.random.choice([0.3, 1.0, 3.0, 10.0], size=(SAMPLES, 1))
        points = self.random.normal(size=shape) * scales
        points[:, self.positive] = abs(points[:, self.positive])
        points[: SAMPLES // 6] = np.round(points[: SAMPLES // 6])
        low_high = self._intervals()
        for k, (low, high) in low_high.items():
            points[:, k] = low + (high - low) * self.random.uniform(size=SAMPLES)
        return points

    def _intervals(self) -> dict[int, tuple[float, float]]:
        """Return bounds of names that facts of the form `x - c` and `c - x` with numbers c give."""
        bounds = bounds_of(tuple(self.facts))
        return {k: (float(bounds[x][0]), float(bounds[x][1])) for k, x in enumerate(self.names) if x in bounds}

    def _least(self, points: np.ndarray) -> np.ndarray:
        """Return the smallest eigenvalue at each point; infinite outside the domain and where it is undefined."""
        with np.errstate(all="ignore"):
            values = self.steps.run({x: points[:, k] for k, x in enumerate(self.names)}, FLOATS)
            table = np.array([np.broadcast_to(np.asarray(v, dtype=float), len(points)) for v in values])
        n = self.n
        matrices = np.moveaxis(table[: n * n].reshape(n, n, -1), -1, 0)
        facts = table[n * n :]
        allowed = np.where(self.strict[:, None], facts > 0, facts >= 0).all(axis=0)
        inside = np.isfinite(table).all(axis=0) & allowed & (abs(table) < 1e150).all(axis=0)
        least = np.full(len(points), np.inf)
        if inside.any():
            least[inside] = np.linalg.eigvalsh(matrices[inside])[:, 0]
        return least
