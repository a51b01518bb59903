"""The coefficients e_k of the characteristic polynomial: a symmetric M is positive semidefinite iff all e_k(M) >= 0.

det(t I - M) = t**n - e_1 t**(n-1) + e_2 t**(n-2) - ...; e_k is the sum of the principal minors of size k. With real
eigenvalues, all e_k >= 0 leave no sign change for a negative root. Also right for singular M, where leading minors are
not.
"""

from flint import fmpq, fmpq_mpoly

from recipe_compiler.algebra.positivity.polynomial_problem import Problem
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError

LARGEST_SIZE = 8
LARGEST_WORK = 2_000_000
"""Pairs of terms multiplied, and a hundred for each term of a result, before the coefficients count as too large."""


def connected(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Return the rows of a matrix in groups with nothing but zeros between them."""
    a = problem.matrix
    left = set(range(len(a)))
    groups: list[tuple[int, ...]] = []
    while left:
        group = {min(left)}
        while more := {j for i in group for j in left if not (a[i][j].is_zero() and a[j][i].is_zero())} - group:
            group |= more
        groups.append(tuple(sorted(group)))
        left -= group
    return tuple(groups)


def coefficients(problem: Problem) -> tuple[fmpq_mpoly, ...]:
    """Return e_1, ..., e_n of the matrix of a problem (Faddeev and LeVerrier: M_k = A M_(k-1) + c I, c = -tr/k).

    Raises:
        NoNormalFormError: too many terms.
    """
    a = problem.matrix
    n = range(len(a))
    zero = problem.context.constant(fmpq(0))
    work = 0
    powers = [[problem.context.constant(fmpq(int(i == j))) for j in n] for i in n]
    found: list[fmpq_mpoly] = []
    for k in range(1, len(a) + 1):
        grown: list[list[fmpq_mpoly]] = [[] for _ in n]
        for i in n:
            for j in n:
                work += sum(len(a[i][m]) * len(powers[m][j]) for m in n)
                if work > LARGEST_WORK:
                    raise NoNormalFormError("the characteristic coefficients are too large")
                entry = problem.reduced(sum((a[i][m] * powers[m][j] for m in n), zero))
                work += 100 * len(entry)
                grown[i].append(entry)
        powers = grown
        c = sum((powers[i][i] for i in n), zero) * fmpq(-1, k)
        found.append(c * fmpq((-1) ** k))
        for i in n:
            powers[i][i] = powers[i][i] + c
    return tuple(found)
