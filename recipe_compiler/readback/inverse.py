"""The inverse that an emitted kernel asks for, in exact arithmetic."""

import numpy as np

from recipe_compiler.algebra.scalars.matrices import inverse


def exact_inverse(matrix: np.ndarray) -> np.ndarray:
    """Return the inverse of an array of expressions."""
    return np.array(inverse(tuple(tuple(row) for row in matrix)), object)
