"""Arithmetic on arrays of floats: enough to search with. Apart from the balls, which prove and need no NumPy."""

from typing import Any

import numpy as np
import sympy

from recipe_compiler.algebra.positivity.straight_line_program import Arithmetic
from recipe_compiler.algebra.scalars.elementwise import KERNELS, with_arrays


def _float_power(base: Any, exponent: Any, rational: sympy.Rational | None) -> Any:
    if rational is not None and rational.q == 1:
        return np.power(base, float(rational.p))
    return np.power(base, exponent)


FLOATS = Arithmetic(
    lambda p, q: p / q,
    _float_power,
    {**{kernel.name: with_arrays(kernel) for kernel in KERNELS.values()}, "Cell": np.sign},
    lambda: np.pi,
)
"""Arrays of floats; what is undefined is nan."""
