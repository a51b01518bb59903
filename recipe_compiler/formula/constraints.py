"""Sets that a whole block of a target lies in, and how many real numbers it is sampled in.

Of a block b of such a set, u are the unconstrained variables, b = g(u), and J(u) the logarithm of what the measure of
the set is in them (Lebesgue measure of the free entries; of directions, the surface):

    ordered               b_0 = u_0, b_k = b_(k-1) + exp(u_k)                J = sum_(k > 0) u_k
    positive_ordered      b_0 = exp(u_0), b_k = b_(k-1) + exp(u_k)           J = sum u
    simplex               b = softmax(u)                                     J = sum log b - sum(u)**2/(2 K)
    unit_vector           b = u/|u|                                          J = -|u|**2/2
    cholesky_factor_corr  b_ij = tanh(u_ij) prod_(l < j) 1/cosh(u_il),       J = -sum_(j < i) (i - j + 1) log cosh(u_ij)
                          b_ii = prod_(l < i) 1/cosh(u_il)
    corr_matrix           that times its transpose                           J = -sum_(j < i) (K - j) log cosh(u_ij)
    cholesky_factor_cov   b_ij = u_ij, b_ii = exp(u_ii)                      J = sum u_ii
    cov_matrix            that times its transpose                           J = sum (K - i + 1) u_ii

A simplex of K shares and a direction in K dimensions have K - 1 dimensions and K variables: what they do not depend on,
sum(u)/sqrt(K) and |u|, is independent of them with a law of its own, N(0, 1) and chi of K degrees. The softmax of the
K - 1 others of u is that of isometric log ratios.

Lewandowski, Kurowicka, Joe 2009 (correlations by partial ones); Egozcue et al. 2003 (isometric log ratios); Stan
Reference Manual, "Constraint transforms".
"""

from enum import StrEnum

from recipe_compiler.formula.shapes import Shape


class Constraint(StrEnum):
    """A set that a block lies in as a whole; of one in which each entry has an interval of its own, see `Domain`."""

    ORDERED = "ordered"
    POSITIVE_ORDERED = "positive_ordered"
    SIMPLEX = "simplex"
    UNIT_VECTOR = "unit_vector"
    CHOLESKY_CORR = "cholesky_factor_corr"
    CORR = "corr_matrix"
    CHOLESKY_COV = "cholesky_factor_cov"
    COV = "cov_matrix"


VECTORS = frozenset({Constraint.ORDERED, Constraint.POSITIVE_ORDERED, Constraint.SIMPLEX, Constraint.UNIT_VECTOR})
"""Constraints of columns; the others are of square matrices."""

THIN = frozenset({Constraint.SIMPLEX, Constraint.UNIT_VECTOR, Constraint.CHOLESKY_CORR, Constraint.CORR})
"""Bounded, and of fewer dimensions than entries."""

OF_MATRICES_IN_CONES = frozenset({Constraint.CHOLESKY_COV, Constraint.COV})
"""Unbounded, and of fewer dimensions than entries."""

FACTORS = frozenset({Constraint.CHOLESKY_CORR, Constraint.CHOLESKY_COV})
"""Zero above the diagonal, which is positive."""

DEFINITE = frozenset({Constraint.CORR, Constraint.COV})
"""Symmetric, positive definite."""


def sampled_shape(constraint: Constraint, shape: Shape) -> Shape:
    """Return the shape of the unconstrained variables of a set.

    Columns keep theirs. A K x K matrix has a column of K(K - 1)/2 variables, K more if its diagonal is free; K is a
    number.
    """
    if constraint in VECTORS or not isinstance(shape.rows, int):
        return shape
    return Shape(strict_entries(shape.rows) + (shape.rows if constraint in OF_MATRICES_IN_CONES else 0))


def is_fixed(constraint: Constraint, i: int, j: int) -> bool:
    """Whether an entry of a matrix is constant on the set: a zero of a factor, the diagonal of a correlation."""
    match constraint:
        case Constraint.CHOLESKY_CORR:
            return j > i or i == j == 0
        case Constraint.CHOLESKY_COV:
            return j > i
        case Constraint.CORR:
            return i == j
        case _:
            return False


def strict_entries(K: int) -> int:
    """Return the number of entries of a K x K matrix below its diagonal, K(K - 1)/2."""
    return K * (K - 1) // 2


def sampled_place(constraint: Constraint, i: int, j: int) -> int:
    """Return the place of u_ij, j <= i, in the variables of a matrix: row by row, with the diagonal or without."""
    return i * (i + 1) // 2 + j if constraint in OF_MATRICES_IN_CONES else strict_entries(i) + j
