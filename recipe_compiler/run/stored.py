"""Numbers in the type that data are stored in, and which of them it does not hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def stored(numbers: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Return numbers in another type: infinite where it has none so large, 0 where it has none so small."""
    with np.errstate(over="ignore", under="ignore"):  # to be refused by `places_not_held`
        return np.ascontiguousarray(numbers, dtype=dtype)


def places_not_held(numbers: NDArray[Any], made: NDArray[Any]) -> NDArray[np.intp]:
    """Return the places of numbers that are other ones, not rounded ones, as they are stored; a row for each, in order.

    Those are finite numbers that became infinite, and those below the normal numbers of the type, of which it keeps few
    digits or none: with 32 bits 1e-46 is 0 and 3e-45 is 2.8e-45. What is stored exactly is held, however small.
    """
    if made.dtype == numbers.dtype:
        return np.empty((0, numbers.ndim), np.intp)
    small = (np.abs(made) < np.finfo(made.dtype).tiny) & (made != numbers)
    return np.argwhere(small | (np.isfinite(numbers) & ~np.isfinite(made)))
