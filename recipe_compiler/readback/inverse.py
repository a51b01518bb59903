"""The inverse that an emitted kernel asks for, in exact arithmetic."""

import flint
import numpy as np
import sympy as sp

from recipe_compiler.algebra.scalars.matrices import inverse


def exact_inverse(matrix: np.ndarray) -> np.ndarray:
    """Return the inverse of an array of expressions, by rational arithmetic where all entries are numbers."""
    size = matrix.shape[0]
    if all(isinstance(entry, sp.Rational) for entry in matrix.ravel()):
        numbers = flint.fmpq_mat(size, size, [flint.fmpq(int(x.p), int(x.q)) for x in matrix.ravel()]).inv()
        found = [[sp.Rational(int(x.p), int(x.q)) for x in row] for row in numbers.table()]
    else:
        found = [list(row) for row in inverse(tuple(tuple(row) for row in matrix))]
    return np.array(found, object)
