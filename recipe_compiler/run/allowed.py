"""Which numbers a field of the data may hold: finite ones, of its kinds, among the values it lists."""

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.declaration import Datum
from recipe_compiler.formula.shapes import Kind


def places_of_others(datum: Datum, array: NDArray[np.floating]) -> NDArray[np.intp]:
    """Return the places of numbers that a field may not hold, a row for each, in order."""
    allowed = np.isin(array, datum.values) if datum.values else np.isfinite(array)
    for kind in datum.kinds:
        match kind:
            case Kind.POSITIVE:
                allowed &= array > 0
            case Kind.NONNEGATIVE:
                allowed &= array >= 0
            case Kind.NONZERO:
                allowed &= array != 0
            case Kind.INTEGER:
                allowed &= array == np.floor(array)
            case _:
                pass
    return np.argwhere(~allowed)


def says(datum: Datum, finite: str = "finite numbers") -> str:
    """Say what a field may hold: `positive integers`, `numbers of 0, 1`."""
    if datum.values:
        return f"one of {', '.join(map(str, datum.values))}"
    kinds = [kind.value for kind in datum.kinds if kind is not Kind.REAL]
    return f"{', '.join(kinds)} numbers" if kinds else finite
