"""Parts of vectors under other names, as the emitted gradient takes them: `W = theta[0:6].reshape((2, 3))`."""

import ast
from math import prod
from typing import Any

import numpy as np

from recipe_compiler.errors import CompilerError

Value = Any


def part_of(array: Value, start: int, end: int, node: ast.expr) -> np.ndarray:
    """Return entries start to end - 1 of a vector: the entries themselves, so that writing there writes them."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or not 0 <= start < end <= array.shape[0]:
        raise CompilerError(f"the emitted kernel takes what is no part of a vector: {ast.unparse(node)}")
    return array[start:end]


def reshaped(array: Value, shape: Value, node: ast.expr) -> np.ndarray:
    """Return a vector as a matrix, row by row, or a matrix as a vector; again the entries themselves."""
    if isinstance(array, np.ndarray) and array.ndim == 2 and array.flags.c_contiguous and shape == array.size:
        return array.reshape(-1)
    fits = isinstance(array, np.ndarray) and array.ndim == 1 and isinstance(shape, tuple)
    if not fits or not all(isinstance(n, int) and n > 0 for n in shape) or prod(shape) != array.size:
        raise CompilerError(f"the emitted kernel gives a vector a shape it does not have: {ast.unparse(node)}")
    return array.reshape(shape)
