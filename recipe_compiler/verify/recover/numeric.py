"""Numbers of a Q at a point, by the homotopy from infinity: constructive, for any number of coordinates; no proof.

With J = W exp(-H), which is free of divergence where exp(-H) is stationary and which decays at infinity,
A_ij(z) = -int_1^oo t^(n-2) (z_j J_i(tz) - z_i J_j(tz)) dt is skew and has div A = J, so that Q = A exp(H). One integral
over t per pair and point (Poincare's lemma from infinity; Ma, Chen, Fox 2015, Theorem 2, with another gauge).
"""

import math
from collections.abc import Callable
from itertools import combinations

import sympy
from sympy import Expr

from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import as_fraction
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, evaluate
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.recover.skew_problem import Fields, SkewProblem, fields

LARGEST_EXPONENT = 700.0
MANY = 200
"""Intervals the quadrature may use."""
GOOD = 1e-6
"""The relative error a number may have by the quadrature's own estimate."""
CLOSE = 1e-8
"""Errors below this are good whatever the value."""


Numbers = tuple[tuple[float, ...], ...]
"""A matrix over all coordinates."""


def numbers_of(problem: SkewProblem, at: Point, sizes: Sizes) -> Numbers | None:
    """Return numbers of a Q for the claimed drift at a point, n x n floats; no proof. None where they are not known.

    Q = A exp(H) with A_ij(z) = -int_1^oo t**(n-2) (z_j J_i(tz) - z_i J_j(tz)) dt, J = W exp(-H): A is skew and div A =
    J where div J = 0 and J decays (the Poincare lemma from infinity; Ma, Chen, Fox 2015, Theorem 2, in another gauge).
    Not known: on a domain that is not all of R^n, as the rays leave it; where an integral does not converge; at z = 0.

    Example: H = (x**2 + r**2)/2 and J = (r, -x) exp(-H) have A_12 = -int_1^oo t (x**2 + r**2) exp(-t**2 (x**2 +
    r**2)/2) dt = -exp(-H), hence Q_12 = -1 at every point.

    Raises:
        NotScalarisableError, TooLargeError: the second engine has no scalars for the document.
    """
    if any(block.domain.name is not DomainName.REAL for block in problem.dynamics.declarations.blocks):
        return None
    found = fields(problem, sizes)
    n = len(found.z)
    rows = [[0.0] * n for _ in range(n)]
    for i, j in combinations(range(n), 2):
        value = _integral(found, at, i, j)
        if value is None:
            return None
        rows[i][j], rows[j][i] = 0.0 - value, value
    return tuple(tuple(row) for row in rows)


def _integral(found: Fields, at: Point, i: int, j: int) -> float | None:
    """Return int_1^oo t^(n-2) (z_j W_i(tz) - z_i W_j(tz)) exp(H(z) - H(tz)) dt."""
    here = {x: at.numbers[x] for x in found.z}
    energy = float(_at(found.H, at))
    if not any(here.values()):
        return None
    z = [float(here[x]) for x in found.z]
    broken: list[Exception] = []

    def integrand(u: float) -> float:
        t = 1 / u
        moved = _scaled(at, found, t)
        try:
            weight = energy - float(_at(found.H, moved))
            if weight < -LARGEST_EXPONENT:
                return 0.0
            flow = z[j] * float(_at(found.W[i], moved)) - z[i] * float(_at(found.W[j], moved))
            return t ** len(z) * flow * math.exp(weight)
        except (NoValueError, OverflowError) as reason:
            broken.append(reason)
            return 0.0

    value, error = _quadrature(integrand)
    if broken or not math.isfinite(value) or error > max(GOOD * abs(value), CLOSE):
        return None
    return value


def _quadrature(integrand: Callable[[float], float]) -> tuple[float, float]:
    """Return the integral over (0, 1) in u = 1/t with an estimate of its error."""
    from scipy.integrate import quad  # slow to import, and rarely needed

    found = quad(integrand, 0.0, 1.0, limit=MANY, full_output=1)
    return float(found[0]), math.inf if len(found) > 3 else float(found[1])


def _scaled(at: Point, found: Fields, t: float) -> Point:
    """Return the point t z, the fields and parameters as they were."""
    factor = as_fraction(sympy.Rational(t))
    numbers = dict(at.numbers) | {x: at.numbers[x] * factor for x in found.z}
    return Point(numbers, at.fields, at.text)


def _at(e: Expr, at: Point) -> float:
    value: Value = evaluate(e, at.leaf)
    return float(ball(value).mid())
