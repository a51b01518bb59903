"""What the dynamics never change: functions C of the state with D grad C = 0 and b . grad C = 0.

With b = -Q grad H + div Q both the generator and its adjoint with respect to exp(-H) act on C by b . grad C alone, so
every g(C) exp(-H) is stationary as well: exp(-H) is not the only stationary law.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from sympy import Expr
from sympy.utilities.iterables import connected_components

from recipe_compiler.algebra.dynamics.brackets import circulation
from recipe_compiler.algebra.dynamics.system import System, gradient
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.evaluate import rationals
from recipe_compiler.algebra.scalars.matrices import dot
from recipe_compiler.algebra.scalars.rational_matrices import Row, nullspace
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.zero.zero import is_zero


@dataclass(frozen=True, slots=True)
class EnergyPart:
    """Coordinates whose own part of H is conserved, and its slopes."""

    coordinates: tuple[int, ...]
    slopes: tuple[Expr, ...]


def conserved_energies(s: System) -> Iterator[EnergyPart]:
    """Yield groups of coordinates without noise, coupled to no other, whose part h of H the drift leaves unchanged.

    D grad h = 0 and b . grad h = 0 with b = -Q grad H + div Q: [n]. In HMC, D = 0 and all of H is one: b = (inv(M) r,
    -grad U) and grad H = (grad U, inv(M) r) are orthogonal.

    Raises:
        NoNormalFormError: an expression outside the normal form.
    """
    b, grad_H = circulation(s), gradient(s.H, s.z)
    for group in _group_coupled_coordinates(s, grad_H):
        if any(not is_zero(s.D[i][j]) for i in range(len(s.z)) for j in group):
            continue
        slopes = tuple(grad_H[i] for i in group)
        if all(is_zero(x) for x in slopes):
            continue
        if is_zero(dot([b[i] for i in group], [grad_H[i] for i in group])):
            yield EnergyPart(group, slopes)


def linear_invariants(s: System) -> tuple[Row, ...]:
    """Return vectors v: [n] of rational numbers with D v = 0 and v . b = 0 at every state, b = -Q grad H + div Q.

    Then d(v . z) = v . f dt + v . sqrt(2D) dW = 0: v . z never changes, and exp(-H) is not the only stationary law.
    Candidates solve the equations at random values of the state and of all derivatives of abstract functions; each that
    is returned was then shown by the normal form.

    Raises:
        NoNormalFormError: an expression outside the normal form.
    """
    b, n = circulation(s), len(s.z)
    random = Random(0)
    rows: list[Row] = []
    for _ in range(3 * n + 2):
        values = _evaluate_at_random_point(s, b, random)
        if values is not None:
            rows += values
    found = nullspace(tuple(rows), n) if rows else ()
    return tuple(v for v in found if _is_linear_invariant(s, b, v))


def _is_linear_invariant(s: System, b: tuple[Expr, ...], v: Row) -> bool:
    """Whether D v = 0 and v . b = 0 by the normal form: v . z never changes."""
    numbers = [rational(x) for x in v]
    return is_zero(dot(numbers, b)) and all(is_zero(dot(numbers, row)) for row in s.D)


def _evaluate_at_random_point(s: System, b: tuple[Expr, ...], random: Random) -> list[Row] | None:
    """Return the rows of D and b with a random rational for every symbol; None if a value is irrational."""
    known: dict[Expr, Fraction] = {}

    def leaf(e: Expr) -> Fraction:
        if e not in known:
            known[e] = Fraction(random.randint(1, 40), random.randint(1, 5))
        return known[e]

    rows: list[Row] = []
    for line in (*s.D, b):
        exact = rationals(line, leaf)
        if exact is None:
            return None
        rows.append(exact)
    return rows


def _group_coupled_coordinates(s: System, grad_H: tuple[Expr, ...]) -> list[tuple[int, ...]]:
    """Return the coordinates in groups, two in one group if an entry of D, Q or the Hessian of H couples them."""
    n = range(len(s.z))

    def tied(i: int, j: int) -> bool:
        coupled = slope(grad_H[i], s.z[j])
        return any(x != 0 and not is_zero(x) for x in (s.D[i][j], s.D[j][i], s.Q[i][j], s.Q[j][i], coupled))

    pairs = [(i, j) for i in n for j in n if i < j and tied(i, j)]
    return sorted(tuple(sorted(group)) for group in connected_components(([*n], pairs)))
