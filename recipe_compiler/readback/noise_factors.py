"""What an emitted kernel's factors of the noise stand for: matrices L of symbols, with L L^T the covariance asked for.

A step may use them as L @ noise alone, which is checked where the step is read. How they are computed is support code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.errors import CompilerError
from recipe_compiler.tensor.scalars import Scalar

Value = Any
Find = Callable[[sp.Matrix], np.ndarray]
"""What gives a factor of a covariance."""


@dataclass(frozen=True, slots=True)
class NoiseFactor:
    """A factor L the kernel asked for: its entries are symbols, and L L^T = covariance is what they stand for."""

    entries: np.ndarray
    covariance: sp.Matrix


def symbolic(number: int, covariance: sp.Matrix) -> NoiseFactor:
    """Return the factor of a covariance as a matrix of symbols, the `number`-th of its kernel."""
    size = covariance.rows
    names = [[sp.Symbol(f"L{number}[{i},{j}]", real=True) for j in range(size)] for i in range(size)]
    return NoiseFactor(np.array(names, object), covariance)


def constant_factor(two_D: list[Value], B_hat: list[Value] | None, eps: Scalar, find: Find) -> list[np.ndarray]:
    """Return the factor that `_noise_factor` returns, of eps (2D - eps B_hat), row block by row block."""
    doubled = np.block(two_D)
    excess = doubled * 0 if B_hat is None else np.block(B_hat)
    entries = find(sp.Matrix(eps * (doubled - eps * excess)))
    ends = np.cumsum([row[0].shape[0] for row in two_D])
    return np.split(entries, ends[:-1])


def state_factor(arguments: list[Value], find: Find) -> Value:
    """Return the entries that `_noise_root_2` returns, or write those of `_noise_root` into its second argument.

    The covariance is what they read of it: its lower triangle.
    """
    if len(arguments) == 4:
        s00, s10, s11, _ = arguments
        entries = find(sp.Matrix([[s00, s10], [s10, s11]]))
        entries[0, 1] = sp.Integer(0)
        return entries[0, 0], entries[1, 0], entries[1, 1]
    S, L, _ = arguments
    size = len(S)
    lower = [[S[max(i, j), min(i, j)] for j in range(size)] for i in range(size)]
    if L.shape != S.shape or any(entry is None for row in lower for entry in row):
        raise CompilerError("the emitted kernel factors a covariance that it has not set")
    L[:] = find(sp.Matrix(lower))
    return None
