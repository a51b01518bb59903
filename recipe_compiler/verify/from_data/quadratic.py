"""Quadratic forms as sums of squares, exactly."""

from collections.abc import Iterator, Mapping

from flint import fmpq, fmpq_mat

from recipe_compiler.verify.from_data.energy import Form
from recipe_compiler.verify.from_data.values import NotReadError


def squares(form: Mapping[tuple[int, int], fmpq], width: int) -> Iterator[Form]:
    """Yield forms l_k with q(theta) = sum_k c_k l_k**2, all c_k > 0, by exact symmetric elimination (L D L.T).

    q = theta.T A theta, A: [m, m] of rationals; q >= 0 everywhere if and only if no pivot is negative, and a pivot 0
    has a row of zeros (Sylvester's law of inertia). theta_1**2 + 2 theta_1 theta_2 + 2 theta_2**2 gives theta_1 +
    theta_2, and theta_2.

        >>> [tuple(map(int, form)) for form in squares({(0, 0): fmpq(1), (0, 1): fmpq(2), (1, 1): fmpq(2)}, 2)]
        [(1, 1, 0), (0, 1, 0)]

    Args:
        form: coefficients of theta_i theta_j by (i, j), i <= j.
        width: how many coordinates theta has.

    Raises:
        NotReadError: the quadratic form takes negative values.
    """
    used = sorted({i for key, a in form.items() if a != 0 for i in key})
    A = fmpq_mat(len(used), len(used))
    for (i, j), a in form.items():
        if a != 0:
            A[used.index(i), used.index(j)] += a / 2
            A[used.index(j), used.index(i)] += a / 2
    for k in range(len(used)):
        pivot = A[k, k]
        if pivot == 0 and all(A[k, j] == 0 for j in range(k, len(used))):
            continue
        if pivot <= 0:
            raise NotReadError("a quadratic form that takes negative values")
        row = [A[k, j] / pivot for j in range(len(used))]
        own = [fmpq(0)] * (width + 1)
        for j in range(k, len(used)):
            own[used[j]] = row[j]
        yield tuple(own)
        for i in range(k + 1, len(used)):
            if A[i, k] != 0:
                for j in range(k, len(used)):
                    A[i, j] -= A[i, k] * row[j] if j != k else 0
        for i in range(k + 1, len(used)):
            A[i, k] = fmpq(0)
