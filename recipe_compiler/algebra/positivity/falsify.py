"""An exact point of the domain and an exact direction in which a symmetric matrix is negative.

Floats propose: heavy-tailed samples, then descent without derivatives on the smallest eigenvalue, from the best of them
(Nelder, Mead 1965). A proposal is rounded to simple rationals and counts only if, exactly or by balls, every
declaration holds there and v.T A v < 0.

Worked example, [[1, x], [x, 1]] with eigenvalues 1 - x and 1 + x: descent leads to some x > 1, which is rounded to x =
2, say; there v = (1, -1) has v.T A v = 2 - 2 x = -2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from flint import arb
from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.positivity.region import Point, Region, solved
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, compares, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.rational_matrices import form, negative_direction

SEED = 20150
DENOMINATORS = (1, 10, 1_000, 10**6, 10**9)
INWARDS = (0.0, 0.01, 0.1, 0.4)
"""How far an end is moved back towards its start: descent ends on the boundary, where rounding leaves the domain."""
OUTSIDE = 1e6
"""Above every eigenvalue: what a point outside the domain counts as, more where it is further outside."""


@dataclass(frozen=True, slots=True)
class Direction:
    """A point, a direction v, and v.T A v there: certainly negative.

    v.T A v < 0 for the symmetric n x n matrix A there.
    """

    at: Point
    direction: tuple[Fraction, ...]
    value: Value


def find_negative_direction(a: Rows, region: Region, names: tuple[Expr, ...]) -> Direction | None:
    """Return a point of a region and a direction in which the symmetric part of a matrix is negative; None if unknown.

    `names` are the symbols to choose, all that occur in the matrix and the region among them. `a` is n x n; the
    direction v has n rationals and v.T (a + a.T) v/2 < 0 at the point, exactly or by balls.
    """
    n = len(a)
    half = sympy.Rational(1, 2)
    symmetric: Rows = tuple(tuple(half * (a[i][j] + a[j][i]) for j in range(n)) for i in range(n))
    if not names:
        return confirm_negative_direction(symmetric, region, {})
    for proposal in _propose_points(symmetric, region, names):
        for largest in DENOMINATORS:
            at = {x: Fraction(float(v)).limit_denominator(largest) for x, v in zip(names, proposal, strict=True)}
            found = confirm_negative_direction(symmetric, region, solved(at, region))
            if found is not None:
                return found
    return None


def confirm_negative_direction(symmetric: Rows, region: Region, at: Point) -> Direction | None:
    """Return the negative direction v.T A v < 0 of a symmetric n x n matrix at a point; None if it has none.

    None, too, if the point is outside the region, or an entry has no value there.
    """
    try:
        if not all(compares(fact.op, evaluate(fact.value, _look_up_in(at))) for fact in region):
            return None
        values = [[evaluate(x, _look_up_in(at)) for x in row] for row in symmetric]
    except NoValueError:
        return None
    return _negative_direction_of(values, at)


def _look_up_in(at: Mapping[Expr, Any]) -> Any:
    """Return a function that reads the value of a symbol from a mapping, or raises NoValueError."""

    def leaf(e: Expr) -> Value:
        if e not in at:
            raise NoValueError(f"{e} has no value")
        return at[e]

    return leaf


def _negative_direction_of(values: list[list[Value]], at: Point) -> Direction | None:
    """Return v with v.T A v < 0 for a matrix of values, certified exactly or in balls; None if there is none."""
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


def _propose_points(a: Rows, region: Region, names: tuple[Expr, ...]) -> Iterator[np.ndarray]:
    """Yield points where the smallest eigenvalue seems negative: samples, then local minima by descent."""
    from scipy.optimize import minimize

    least = _Least(a, region, names)
    points = _sample_points(region, names)
    values = np.array([least(x) for x in points])
    starts = points[np.argsort(values, kind="stable")[: limits.TRIALS]]
    yield from (x for x in starts if least.is_hopeful(x))
    for start in starts:
        end: np.ndarray = minimize(least, start, method="Nelder-Mead", options={"maxfev": limits.SAMPLES}).x
        yield from (x for x in (end + share * (start - end) for share in INWARDS) if least.is_hopeful(x))


def _sample_points(region: Region, names: tuple[Expr, ...]) -> np.ndarray:
    """Return points of several scales: near 0, a few, tens, and integers."""
    random = np.random.default_rng(SEED)
    count = limits.SAMPLES
    points = random.normal(size=(count, len(names))) * random.choice([0.3, 1.0, 3.0, 10.0], size=(count, 1))
    signed = {fact.value for fact in region if fact.op in {">", ">="}}
    positive = np.array([x in signed for x in names])
    points[:, positive] = abs(points[:, positive])
    points[: count // 6] = np.round(points[: count // 6])
    return points


@dataclass(frozen=True, slots=True)
class _Least:
    """The smallest eigenvalue of a matrix at a point, in floats; outside the region, how far outside it is."""

    a: Rows
    region: Region
    names: tuple[Expr, ...]

    def __call__(self, x: np.ndarray) -> float:
        at = {name: arb(float(v)) for name, v in zip(self.names, x, strict=True)}

        def value(e: Expr) -> float:
            found = float(ball(evaluate(e, _look_up_in(at))).mid())
            if not np.isfinite(found) or abs(found) > OUTSIDE**2:
                raise NoValueError(f"{e} is too large")
            return found

        try:
            sides = [(fact.op, value(fact.value)) for fact in self.region if fact.op != "!="]
            away = sum(abs(v) for op, v in sides if op == "==")
            outside = [v for op, v in sides if v < 0 and op != "=="] or [v for op, v in sides if v == 0 and op == ">"]
            if outside:
                return OUTSIDE * (2 + away - sum(outside))
            below = [[value(e) if j <= i else 0.0 for j, e in enumerate(row)] for i, row in enumerate(self.a)]
        except NoValueError:
            return OUTSIDE**3
        return float(np.linalg.eigvalsh(np.array(below), "L")[0]) + 1e3 * away

    def is_hopeful(self, x: np.ndarray) -> bool:
        """Whether the eigenvalue is negative; where an equality is declared, whether rounding may move there."""
        equal = any(fact.op == "==" for fact in self.region)
        return self(x) < (OUTSIDE if equal else -1e-13)
