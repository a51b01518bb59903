"""Elementwise functions that SymPy, NumPy or `math` lack. Each imports what it needs when it is called.

The table of functions is read by commands that compute nothing, and by the process that follows a step.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def log1p(x: Any) -> Any:
    """Return log(1 + x) of a SymPy scalar."""
    import sympy

    return sympy.log(1 + x)


def expm1(x: Any) -> Any:
    """Return exp(x) - 1 of a SymPy scalar."""
    import sympy

    return sympy.exp(x) - 1


def softplus(x: Any) -> Any:
    """Return log(1 + exp(x)) of a SymPy scalar."""
    import sympy

    return sympy.log(1 + sympy.exp(x))


def sigmoid(x: Any) -> Any:
    """Return 1/(1 + exp(-x)) of a SymPy scalar."""
    import sympy

    return 1 / (1 + sympy.exp(-x))


def softplus_of_array(x: "Array") -> "Array":
    """Return max(x, 0) + log1p(exp(-|x|)): no overflow."""
    import numpy as np

    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid_of_array(x: "Array") -> "Array":
    """Return e/(1 + e) with e = exp(-|x|) for x < 0, else 1/(1 + e): no overflow, small values kept."""
    import numpy as np

    e = np.exp(-np.abs(x))
    return np.where(x < 0.0, e, 1.0) / (1.0 + e)


def digamma_of_array(x: "Array") -> "Array":
    """Return the derivative of log gamma."""
    import flint

    return entrywise(lambda value: float(flint.arb(value).digamma()))(x)


def trigamma_of_array(x: "Array") -> "Array":
    """Return zeta(2, x), the second derivative of log gamma."""
    import flint

    return entrywise(lambda value: float(flint.arb(2).zeta(flint.arb(value))))(x)


def entrywise(function: Callable[[float], float]) -> "Callable[[Array], Array]":
    """Return a function of numbers as one of arrays."""

    def applied(x: "Array") -> "Array":
        import numpy as np

        return np.array([function(float(value)) for value in x.reshape(-1)]).reshape(x.shape)

    return applied
