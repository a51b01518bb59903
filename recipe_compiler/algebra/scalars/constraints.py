"""The sets of `formula/constraints.py` in scalars, at fixed sizes: b = g(u), and the log Jacobian J(u).

Emitted code, its gradient included, is read back against these; that the two agree with each other is decided for every
target that has such a set (`verify/builds/constrained.py`).
"""

from collections.abc import Mapping, Sequence

import sympy
from sympy import Add, Expr, Integer, Mul

from recipe_compiler.formula.constraints import OF_MATRICES_IN_CONES, VECTORS, Constraint, sampled_place

Entries = Mapping[tuple[int, ...], Expr]


def value(constraint: Constraint, u: Sequence[Expr], rows: int) -> Entries:
    """Return g(u) entry by entry, of a column or a matrix with `rows` rows.

    Of a simplex g(u)_k = exp(u_k)/sum_l exp(u_l); of an ordered column u_0, u_0 + exp(u_1), ...; of a covariance L L.T.
    """
    if constraint in VECTORS:
        return {(k,): entry for k, entry in enumerate(_map_to_column(constraint, u))}
    L = _map_to_factor(constraint, u, rows)
    if constraint in {Constraint.CORR, Constraint.COV}:
        return {(i, j): Add(*(L[i][k] * L[j][k] for k in range(rows))) for i in range(rows) for j in range(rows)}
    return {(i, j): L[i][j] for i in range(rows) for j in range(rows)}


def log_jacobian(constraint: Constraint, u: Sequence[Expr], rows: int) -> Expr:
    """Return J(u) = log |det dg/du|, up to a constant; of a unit vector or simplex with the law of the free direction.

    For a unit vector g(u) = u/|u| that direction is |u|, and J = -|u|**2/2.
    """
    below = [(i, j) for i in range(rows) for j in range(i)]
    match constraint:
        case Constraint.ORDERED:
            return Add(*u[1:])
        case Constraint.POSITIVE_ORDERED:
            return Add(*u)
        case Constraint.SIMPLEX:
            total = Add(*u)
            return total - rows * sympy.log(Add(*map(sympy.exp, u))) - total**2 / (2 * rows)
        case Constraint.UNIT_VECTOR:
            return -Add(*(x**2 for x in u)) / 2
        case Constraint.CHOLESKY_CORR:
            return -Add(*((i - j + 1) * _log_cosh(u[sampled_place(constraint, i, j)]) for i, j in below))
        case Constraint.CORR:
            return -Add(*((rows - j) * _log_cosh(u[sampled_place(constraint, i, j)]) for i, j in below))
        case Constraint.CHOLESKY_COV:
            return Add(*(u[sampled_place(constraint, i, i)] for i in range(rows)))
        case Constraint.COV:
            return Add(*((rows - i + 1) * u[sampled_place(constraint, i, i)] for i in range(rows)))


def _log_cosh(x: Expr) -> Expr:
    """Return log cosh(x) + log 2."""
    return sympy.log(sympy.exp(x) + sympy.exp(-x))


def _map_to_column(constraint: Constraint, u: Sequence[Expr]) -> list[Expr]:
    """Return g(u) for the constraints of columns: ordered, simplex, and else a unit vector."""
    exponentials = [sympy.exp(x) for x in u]
    match constraint:
        case Constraint.ORDERED:
            return [Add(u[0], *exponentials[1 : k + 1]) for k in range(len(u))]
        case Constraint.POSITIVE_ORDERED:
            return [Add(*exponentials[: k + 1]) for k in range(len(u))]
        case Constraint.SIMPLEX:
            return [x / Add(*exponentials) for x in exponentials]
        case _:
            return [x / sympy.sqrt(Add(*(y**2 for y in u))) for x in u]


def _map_to_factor(constraint: Constraint, u: Sequence[Expr], rows: int) -> list[list[Expr]]:
    """Return the lower triangular factor, whose rows have length 1 in a correlation."""
    L: list[list[Expr]] = [[Integer(0)] * rows for _ in range(rows)]
    cone = constraint in OF_MATRICES_IN_CONES
    for i in range(rows):
        own = [u[sampled_place(constraint, i, j)] for j in range(i)]
        for j, x in enumerate(own):
            L[i][j] = x if cone else Mul(sympy.tanh(x), *(1 / sympy.cosh(y) for y in own[:j]))
        last = sympy.exp(u[sampled_place(constraint, i, i)]) if cone else Mul(*(1 / sympy.cosh(y) for y in own))
        L[i][i] = last
    return L
