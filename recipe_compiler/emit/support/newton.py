"""Newton's iteration for the equation of an implicit step: how far apart its sides are, and the next value."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

from recipe_compiler.emit.support.jit import inlined, jitted


@inlined
def _progress(change, size, start, value, other):
    """Return the largest difference of two sides so far and the largest entry, with those of one more entry.

    The entry from which the iteration started counts, too: what crosses zero has no size of its own.
    """
    return max(change, abs(other - value)), max(size, abs(start), abs(other))


@jitted
def _solve(matrix, right):
    """Overwrite `right` by the solution of a linear equation, by elimination with row pivots; both are overwritten."""
    n = len(right)
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(k, n):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
            right[k], right[pivot] = right[pivot], right[k]
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k + 1, n):
                matrix[i, j] -= factor * matrix[k, j]
            right[i] -= factor * right[k]
    for k in range(n - 1, -1, -1):
        total = right[k]
        for j in range(k + 1, n):
            total -= matrix[k, j] * right[j]
        right[k] = total / matrix[k, k]
