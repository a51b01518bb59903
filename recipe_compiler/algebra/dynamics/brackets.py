"""Hoermander's condition at fixed sizes, in scalars: the span of the columns of D and their brackets with b.

Operators d_i (D_ij d_j) + b . grad with b = -Q grad H + div Q are hypoelliptic if the columns of D, and their brackets
with b and among themselves, span all directions (Hoermander 1967; Oleinik, Radkevich 1973); for the semigroup b itself
is left out of the span.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import count

import flint
import sympy
from flint import arb_mat
from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics.system import System, Vector, correction, gradient
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.positivity.prove import scalar
from recipe_compiler.algebra.positivity.region import Fact, names_of
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, evaluate
from recipe_compiler.algebra.scalars.matrices import dot, total
from recipe_compiler.algebra.scalars.rational_matrices import rank


def circulation(s: System) -> Vector:
    """Return b = -Q grad H + div Q, a vector over n coordinates: the drift without -D grad H + div D."""
    grad_H = gradient(s.H, s.z)
    own = correction(s.Q, s.z)
    return tuple(dot([-q for q in row], grad_H) + c for row, c in zip(s.Q, own, strict=True))


def work(s: System) -> int:
    """Return an estimate of the cost of brackets: n times the number of operations in b."""
    return len(s.z) * sum(int(x.count_ops()) for x in circulation(s))


@dataclass(slots=True)
class _BracketCache:
    """The bracket fields computed so far, and the iterator that computes the next ones."""

    more: Iterator[Vector]
    known: list[Vector] = field(default_factory=list[Vector])


def fields(s: System) -> Iterator[Vector]:
    """Yield the columns of D, then their brackets level by level, without those that vanish as written.

    [X, Y]_i = sum_j (X_j d_j Y_i - Y_j d_j X_i) over n coordinates, Y among the columns and b = -Q grad H + div Q.
    """
    formed = _cached_brackets(s)
    for k in count():
        if k == len(formed.known):
            found = next(formed.more, None)
            if found is None:
                return
            formed.known.append(found)
        yield formed.known[k]


@lru_cache(maxsize=limits.SUBJECTS)
def _cached_brackets(s: System) -> _BracketCache:
    """Return one cache per system, so that all callers share the brackets already computed."""
    return _BracketCache(_generate_brackets(s))


def _generate_brackets(s: System) -> Iterator[Vector]:
    """Yield the nonzero columns of D, then brackets of each level with b and the columns, level by level."""
    columns = [v for v in zip(*s.D, strict=True) if any(x != 0 for x in v)]
    yield from columns
    b = circulation(s)
    fresh = columns
    formed = len(columns)
    for _ in range(limits.DEPTH):
        level: list[Vector] = []
        for v in fresh:
            for w in (b, *columns):
                found = bracket(w, v, s.z)
                if all(x == 0 for x in found) or formed >= limits.CANDIDATES:
                    continue
                formed += 1
                level.append(found)
                yield found
        fresh = [v for v in level if total(list(v)).count_ops() < limits.TERMS]


def bracket(X: Vector, Y: Vector, z: tuple[sympy.Symbol, ...]) -> Vector:
    """Return [X, Y]_i = sum_j X_j d_j Y_i - Y_j d_j X_i of two vector fields over the coordinates z.

    For X = (0, 1) and Y = (z_2, 0) it is (1, 0): noise in the second coordinate reaches the first by way of Y.

        >>> import sympy
        >>> z = sympy.symbols("z1 z2", real=True)
        >>> bracket((sympy.S(0), sympy.S(1)), (z[1], sympy.S(0)), z)
        (1, 0)
    """

    def along(V: Vector, e: Expr) -> Expr:
        return dot(V, [slope(e, x) for x in z])

    return tuple(sympy.expand(along(X, v) - along(Y, u)) for u, v in zip(X, Y, strict=True))


def rank_at(s: System, at: Point) -> int:
    """Return the rank, up to n, of the matrix of brackets at an exact point: a lower bound of the rank there.

    Fields (vectors of n scalars) without a value there do not count. Of values that are not rational, balls contain the
    determinant (Johansson 2017).
    """
    return len(independent(fields(s), at, len(s.z)))


def independent(every: Iterable[Vector], at: Point, n: int) -> list[Vector]:
    """Return the first vector fields, n at most, that are certainly linearly independent at an exact point."""
    found: list[tuple[Vector, tuple[Value, ...]]] = []
    for v in every:
        try:
            row = tuple(evaluate(x, at.leaf) for x in v)
        except NoValueError:
            continue
        if _are_independent((*(known for _, known in found), row)):
            found.append((v, row))
            if len(found) == n:
                break
    return [v for v, _ in found]


def _are_independent(rows: tuple[tuple[Value, ...], ...]) -> bool:
    """Whether rows of n values are certainly linearly independent: exactly, or as their Gram determinant is not 0."""
    exact = tuple(tuple(x for x in row if isinstance(x, Fraction)) for row in rows)
    if all(len(known) == len(row) for known, row in zip(exact, rows, strict=True)):
        return rank(exact, len(rows[0])) == len(rows)
    with flint.ctx.workprec(limits.BITS):
        a = arb_mat([[ball(x) for x in row] for row in rows])
        return bool((a * a.transpose()).det() > 0)


def never_zero(e: Expr) -> bool:
    """Whether a scalar vanishes nowhere, as the signs of its terms and factors show; those of symbols are SymPy's.

    1 + x**2 does. False says nothing.
    """
    signs = (
        (x, {">": x.is_positive, ">=": x.is_nonnegative, "!=": x.is_nonzero}) for x in sorted(names_of(e), key=str)
    )
    region = tuple(Fact(x, op, "") for x, known in signs for op, holds in known.items() if holds)
    return scalar(e, "!=", region, light=True) is not None
