"""The matrices of dz = (b - F z) dt + sqrt(2D) dW after a time t = s eps, F and D constant, by their equations.

With Y = int_0^t exp(-uF) du and Z = int_0^t exp(-uF) 2D exp(-uF).T du,

    exp(-tF) = 1 - F Y,     dY/deps = s (1 - F Y),     dZ/deps = s (2D - F Z - Z F.T),     Y = Z = 0 at eps = 0.

Of one coordinate both are written by exponentials; of several their entries are undefined functions of eps of which
nothing but this is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol
from sympy.core.function import UndefinedFunction

from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.matrices import Rows, add, identity, product, transpose


@dataclass(frozen=True, slots=True)
class Propagated:
    """exp(-tF) - 1, Y = int_0^t exp(-uF) du and Z, all [n, n], with the equations for the functions in them."""

    change: Rows
    integral: Rows
    covariance: Rows
    rates: Mapping[Expr, Expr]
    """Derivatives by eps to what they are."""
    first: Mapping[Expr, Expr]
    """Functions to what they are at eps = 0."""


def solve_linear_sde(name: str, F: Rows, two_D: Rows, share: Expr, eps: Symbol) -> Propagated:
    """Return exp(-t F) - 1, int_0^t exp(-u F) du and int_0^t exp(-u F) 2D exp(-u F).T du, t = s eps, F and 2D: [n, n].

    (Arnold 1974, Sec. 8.2.) For n = 1 they are written out: exp(-F t) - 1, (1 - exp(-F t))/F and 2D (1 - exp(-2 F
    t))/(2 F), or 0, t and 2D t where F = 0. Else entries are functions of eps of which their equations are known alone.

    Args:
        name: distinguishes the functions of one flow from those of another.
        F: of the drift b - F z.
        two_D: of the noise.
        share: s.
        eps: the step size.
    """
    n = len(F)
    if n == 1:
        return _solve_scalar_sde(F[0][0], two_D[0][0], share * eps)
    Y = tuple(tuple(UndefinedFunction(f"{name}.Y[{i},{j}]")(eps) for j in range(n)) for i in range(n))
    Z = tuple(tuple(UndefinedFunction(f"{name}.Z[{min(i, j)},{max(i, j)}]")(eps) for j in range(n)) for i in range(n))
    decayed = _negate_rows(product(F, Y))
    spent = _negate_rows(product(F, Z))
    slopes = (
        *_derivative_rules(Y, add((identity(n), decayed)), share, eps),
        *_derivative_rules(Z, add((two_D, spent, transpose(spent))), share, eps),
    )
    zero = sympy.Integer(0)
    return Propagated(decayed, Y, Z, dict(slopes), {f: zero for rows in (Y, Z) for row in rows for f in row})


def _derivative_rules(functions: Rows, rates: Rows, share: Expr, eps: Symbol) -> list[tuple[Expr, Expr]]:
    """Return, for every entry, its derivative by eps and the rate that replaces it."""
    lines = zip(functions, rates, strict=True)
    return [(slope(f, eps), share * rate) for fs, row in lines for f, rate in zip(fs, row, strict=True)]


def _solve_scalar_sde(F: Expr, two_D: Expr, t: Expr) -> Propagated:
    """Return the closed forms for one coordinate, for F = 0 by their limits."""
    if F == 0:
        return Propagated(((F,),), ((t,),), ((two_D * t,),), {}, {})
    E = sympy.exp(-F * t)
    return Propagated(((E - 1,),), (((1 - E) / F,),), ((two_D * (1 - E**2) / (2 * F),),), {}, {})


def _negate_rows(a: Rows) -> Rows:
    """Return -a, entry by entry."""
    return tuple(tuple(-x for x in row) for row in a)
