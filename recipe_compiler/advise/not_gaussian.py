"""A target around whose mode a Gaussian does not describe its bulk: what the audit of a linear step knows is not it."""

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError


class NotGaussianError(RunError):
    """U is no quadratic where exp(-U) is: singular at its mode, bent, or with several modes; says which."""

    def __init__(self, what: str, serves: str, minima: tuple[NDArray[np.float64], ...] = ()) -> None:
        super().__init__(f"step_size: auto: {what}; {serves}")
        self.what = what
        self.serves = serves
        """What to do where pilot chains tell nothing either."""
        self.minima = minima
        """Those of U that were found, where there are several."""
