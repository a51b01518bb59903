"""Elementwise functions of arrays of doubles that NumPy and `math` lack. What needs no arrays imports no NumPy."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import flint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def softplus(x: "Array") -> "Array":
    """Return max(x, 0) + log1p(exp(-|x|)): no overflow."""
    import numpy as np

    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(x: "Array") -> "Array":
    """Return e/(1 + e) with e = exp(-|x|) for x < 0, else 1/(1 + e): no overflow, small values kept."""
    import numpy as np

    e = np.exp(-np.abs(x))
    return np.where(x < 0.0, e, 1.0) / (1.0 + e)


def digamma(x: "Array") -> "Array":
    """Return the derivative of log gamma."""
    return entrywise(lambda value: float(flint.arb(value).digamma()))(x)


def trigamma(x: "Array") -> "Array":
    """Return zeta(2, x), the second derivative of log gamma."""
    return entrywise(lambda value: float(flint.arb(2).zeta(flint.arb(value))))(x)


def entrywise(function: Callable[[float], float]) -> "Callable[[Array], Array]":
    """Return a function of numbers as one of arrays."""

    def applied(x: "Array") -> "Array":
        import numpy as np

        return np.array([function(float(value)) for value in x.reshape(-1)]).reshape(x.shape)

    return applied
